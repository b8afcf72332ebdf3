//! What an approval card shows, reasons of denials, and what was always allowed.

use super::ground::{Ground, say, write};
use planwright_protocol::message::EntryKind;
use planwright_protocol::{ErrorCode, Op, QuestionKind, Severity};
use serde_json::json;

#[tokio::test]
async fn a_deletion_shows_what_would_be_lost_and_its_denial_reaches_the_model_with_the_reason() {
    let hostile = "c.txt/<img src=x onerror=alert(1)>.md";
    let ground = Ground::new(&[(hostile, "# Title\n\u{1b}[2Jtext\n"), ("c.txt/.env", "KEY=secret-value\n")]).await;
    ground.reply(&[("rm", json!({ "path": "/c.txt", "recursive": true }))]);
    ground.run(ground.execute(None, None, None)).await;
    let pending = ground.handle.chat().pending().unwrap();
    assert_eq!((pending.kind, pending.severity), (QuestionKind::ToolApproval, Severity::Critical));
    let call = pending.call.unwrap();
    let kinds: Vec<(&str, EntryKind, Option<u64>)> = call.deleted.iter().map(|one| (one.path.as_str(), one.kind, one.size)).collect();
    let expected = [
        ("/c.txt", EntryKind::Folder, None),
        ("/c.txt/.env", EntryKind::File, Some(17)),
        ("/c.txt/<img src=x onerror=alert(1)>.md", EntryKind::File, Some(17)),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(call.deleted[2].beginning.as_deref(), Some("# Title\n\u{fffd}[2Jtext\n"));
    assert_eq!((call.deleted_count, call.reversible, call.diff.is_none()), (3, Some(true), true));
    assert!(!serde_json::to_string(&ground.handle.chat().record().pending).unwrap().contains("secret-value"));

    ground.run(ground.answer("deny", "We need the folder for the audit.")).await;
    assert!(ground.host(hostile).exists());
    let error = ground.errors().await.pop().unwrap();
    assert_eq!(error.code, ErrorCode::ApprovalDenied);
    assert!(error.message.contains("We need the folder for the audit."), "{error}");
    assert!(ground.told().contains("We need the folder for the audit."));
}

#[tokio::test]
async fn what_was_always_allowed_is_listed_over_a_restart_and_asks_again_once_it_is_revoked() {
    let ground = Ground::new(&[]).await;
    ground.reply(&[write("/docs/a.md", "a\n")]);
    ground.run(ground.execute(None, None, None)).await;
    ground.run(ground.answer("approve_always", "")).await;
    ground.reply(&[write("/docs/b.md", "b\n")]);
    ground.run(say("Another one.", Vec::new())).await;
    assert!(ground.host("docs/b.md").exists() && ground.asked().is_none());

    let ground = ground.restarted().await;
    let grants = ground.handle.chat().record().grants.clone();
    assert_eq!((grants.len(), grants[0].tool.as_str(), grants[0].folder.as_str()), (1, "write", "/docs"));
    assert!(grants[0].at.is_some() && grants[0].by.as_deref() == Some("user"));
    let unknown = ground.handle.submit(Op::RevokeGrant { grant_id: "../x".to_owned() }).await.map(|_| ()).unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound);
    ground.handle.submit(Op::RevokeGrant { grant_id: grants[0].id() }).await.unwrap();
    ground.reply(&[write("/docs/c.md", "c\n")]);
    ground.run(say("And another.", Vec::new())).await;
    assert_eq!(ground.asked(), Some(QuestionKind::ToolApproval));
    assert!(!ground.host("docs/c.md").exists());
}
