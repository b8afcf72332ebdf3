//! Changes by file, and taking back files and single changes.

use super::ground::{Ground, done, write};
use planwright_chat::ChangesQuery;
use planwright_protocol::op::{FileToRevert, OnConflict, RevertTarget};
use planwright_protocol::{ErrorCode, Message, Notice, Op, sha256_hex};
use serde_json::json;

fn lines(changed: &[usize]) -> String {
    (0..40).map(|line| if changed.contains(&line) { format!("new {line}\n") } else { format!("line {line}\n") }).collect()
}

fn file(path: &str, after: Option<&str>, hunks: Option<&[usize]>) -> FileToRevert {
    let after_sha256 = after.map(|text| sha256_hex(text.as_bytes()));
    FileToRevert { path: path.to_owned(), after_sha256, hunks: hunks.map(<[usize]>::to_vec) }
}

fn revert(files: Vec<FileToRevert>, conflicts: OnConflict) -> Op {
    Op::Revert { target: RevertTarget::Files(files), conflicts }
}

/// A chat that changed three places of one file, made one and deleted one with its folder.
async fn changed() -> Ground {
    let ground = Ground::new(&[("a.txt", &lines(&[])), ("c.txt/old.txt", "old\n")]).await;
    ground.reply(&[("read", json!({ "path": "/a.txt" })), ("read", json!({ "path": "/c.txt/old.txt" }))]);
    ground.reply(&[
        ("update_step", json!({ "step_number": 1, "status": "in_progress" })),
        write("/a.txt", &lines(&[3, 20, 38])),
        done(1),
        ("update_step", json!({ "step_number": 2, "status": "in_progress" })),
        write("/b.txt", "b\n"),
        ("rm", json!({ "path": "/c.txt", "recursive": true })),
    ]);
    ground.run(ground.execute(None, None, None)).await;
    ground.run(ground.answer("approve", "")).await;
    assert!(!ground.host("c.txt").exists());
    ground
}

async fn paths(ground: &Ground, query: ChangesQuery) -> Vec<String> {
    let changes = ground.handle.chat().changes(ChangesQuery { summary: true, ..query }).await.unwrap();
    changes.total.files.into_iter().map(|file| file.path).filter(|path| !path.starts_with("/plans")).collect()
}

fn notice(message: &Message) -> &planwright_protocol::message::RevertNotice {
    let Some(Notice::Revert(notice)) = message.body.notice() else { panic!("{message:?}") };
    notice
}

#[tokio::test]
async fn changes_are_listed_by_step_and_one_file_has_numbered_hunks() {
    let ground = changed().await;
    assert_eq!(paths(&ground, ChangesQuery::default()).await, ["/a.txt", "/b.txt", "/c.txt", "/c.txt/old.txt"]);
    assert_eq!(paths(&ground, ChangesQuery { step: Some(1), ..ChangesQuery::default() }).await, ["/a.txt"]);
    assert_eq!(paths(&ground, ChangesQuery { step: Some(3), ..ChangesQuery::default() }).await, [""; 0]);
    let chat = ground.handle.chat();
    let shown = chat.changed_file("/a.txt", None, ChangesQuery::default()).await.unwrap();
    assert_eq!((shown.hunks.len(), shown.file.added, shown.file.removed, shown.file.step), (3, 3, 3, Some(1)));
    assert_eq!(shown.after_sha256, Some(sha256_hex(lines(&[3, 20, 38]).as_bytes())));
    let wide = chat.changed_file("a.txt", Some(50), ChangesQuery::default()).await.unwrap();
    assert_eq!((wide.hunks.len(), wide.hunks[0].numbers.clone()), (1, vec![0, 1, 2]));
    assert!(wide.file.diff.contains(" line 30\n") && !wide.changed_since);
    let missing = chat.changed_file("/nothing", None, ChangesQuery::default()).await.map(|_| ()).unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound);
    assert!(chat.changed_file("/../etc/passwd", None, ChangesQuery::default()).await.is_err());
}

#[tokio::test]
async fn single_changes_are_taken_back_and_that_can_be_undone_after_a_restart() {
    let ground = changed().await;
    let files = || vec![file("/a.txt", Some(&lines(&[3, 20, 38])), Some(&[0, 2]))];
    let preview = ground.handle.chat().revert_of(&RevertTarget::Files(files())).await.unwrap();
    let diffs = ground.handle.chat().revert_diffs(&preview).await.unwrap();
    assert_eq!((diffs[0].added, diffs[0].removed), (2, 2));
    assert_eq!(ground.text("a.txt"), lines(&[3, 20, 38]), "a preview changes nothing");

    let message = ground.handle.submit(revert(files(), OnConflict::Refuse)).await.unwrap().message.unwrap();
    assert_eq!(ground.text("a.txt"), lines(&[20]));
    assert_eq!((notice(&message).message_id, notice(&message).hunks["/a.txt"].clone()), (None, vec![0, 2]));
    let ground = ground.restarted().await;
    let shown = ground.handle.chat().changed_file("/a.txt", None, ChangesQuery::default()).await.unwrap();
    assert_eq!(shown.hunks.len(), 1);
    let undo = Op::Revert { target: RevertTarget::Message(message.id), conflicts: OnConflict::Refuse };
    ground.handle.submit(undo).await.unwrap();
    assert_eq!(ground.text("a.txt"), lines(&[3, 20, 38]));
}

#[tokio::test]
async fn a_change_of_a_file_that_somebody_changed_meanwhile_is_a_conflict_and_the_rest_can_be_taken_back() {
    let ground = changed().await;
    std::fs::write(ground.host("a.txt"), lines(&[3, 20, 38]) + "by hand\n").unwrap();
    let files = || {
        let first = file("/a.txt", Some(&lines(&[3, 20, 38])), Some(&[1]));
        vec![first, file("/b.txt", Some("b\n"), None), file("/c.txt/old.txt", None, None), file("/<b>x</b>", None, None)]
    };
    let conflict = ground.handle.submit(revert(files(), OnConflict::Refuse)).await.map(|_| ()).unwrap_err();
    assert_eq!((conflict.code, conflict.details.unwrap()["conflict_count"].as_u64()), (ErrorCode::Conflict, Some(2)));
    assert!(ground.host("b.txt").exists(), "nothing was taken back");

    let message = ground.handle.submit(revert(files(), OnConflict::Skip)).await.unwrap().message.unwrap();
    assert!(!ground.host("b.txt").exists());
    assert_eq!(ground.text("c.txt/old.txt"), "old\n", "with the folder that it was in");
    assert!(ground.text("a.txt").ends_with("by hand\n"));
    let conflicts: Vec<&str> = notice(&message).conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
    assert_eq!(conflicts, ["/<b>x</b>", "/a.txt"]);
    assert_eq!(paths(&ground, ChangesQuery::default()).await, ["/a.txt"], "what was taken back is no change any more");
}

#[tokio::test]
async fn a_file_that_is_not_what_was_shown_and_a_change_that_is_not_there_are_refused() {
    let ground = changed().await;
    let code = async |files: Vec<FileToRevert>| ground.handle.submit(revert(files, OnConflict::Refuse)).await.map(|_| ()).unwrap_err().code;
    assert_eq!(code(vec![file("/a.txt", Some("other"), Some(&[0]))]).await, ErrorCode::Conflict);
    assert_eq!(code(vec![file("/a.txt", None, None)]).await, ErrorCode::Conflict);
    let after = lines(&[3, 20, 38]);
    for files in [
        vec![file("/a.txt", Some(&after), Some(&[3]))],
        vec![file("/a.txt", Some(&after), Some(&[]))],
        vec![file("/a.txt", Some(&after), None), file("a.txt", Some(&after), None)],
        vec![file("/../x", None, None)],
        Vec::new(),
    ] {
        assert_eq!(code(files.clone()).await, ErrorCode::ValidationFailed, "{files:?}");
    }
    assert_eq!(ground.text("a.txt"), after);
}

#[tokio::test]
async fn a_moved_file_goes_back_to_where_it_was() {
    let ground = Ground::new(&[("a.txt", "moved\n")]).await;
    ground.reply(&[("read", json!({ "path": "/a.txt" }))]);
    ground.reply(&[("mv", json!({ "from": "/a.txt", "to": "/b.txt" }))]);
    ground.run(ground.execute(None, None, None)).await;
    assert!(!ground.host("a.txt").exists() && ground.host("b.txt").exists());
    ground.handle.submit(revert(vec![file("/b.txt", Some("moved\n"), None)], OnConflict::Refuse)).await.unwrap();
    assert_eq!((ground.text("a.txt").as_str(), ground.host("b.txt").exists()), ("moved\n", false));
}
