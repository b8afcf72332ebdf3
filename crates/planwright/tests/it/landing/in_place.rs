//! Where the kernel allows no overlay, commands change files in place: what they may not is put back before anybody is asked.

use super::output;
use crate::command_effects::{IN_PLACE, actor, project, result, run, to_question};
use planwright_testkit::server::Home;
use serde_json::json;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn odd(home: &Home, name: &[u8]) -> std::path::PathBuf {
    home.workspace().join(OsStr::from_bytes(name))
}

#[tokio::test]
async fn files_with_odd_names_and_hooks_of_repositories_are_put_back_before_the_card_waits() {
    let home = project(&[run("echo evil > \"$(printf 'bad\\377')\"; rm \"$(printf 'nl\\nname')\"; echo new > \"$(printf 'new\\377')\"; \
         mkdir \"$(printf 'folder\\377')\"; echo x > \"$(printf 'folder\\377')/x\"; \
         mkdir -p sub/.git/hooks node_modules/x/.git/hooks; echo evil > sub/.git/hooks/x; echo evil > node_modules/x/.git/hooks/x; rm src/lib.rs")]);
    std::fs::write(odd(&home, b"bad\xff"), "mine\n").unwrap();
    std::fs::write(odd(&home, b"nl\nname"), "mine\n").unwrap();
    let server = home.serve_with(IN_PLACE).await;
    let chat = actor(&server).await;
    let (question, last) = to_question(&chat).await;
    let check = || {
        assert_eq!(std::fs::read_to_string(odd(&home, b"bad\xff")).unwrap(), "mine\n");
        assert_eq!(std::fs::read_to_string(odd(&home, b"nl\nname")).unwrap(), "mine\n");
        assert!(!odd(&home, b"new\xff").exists() && !odd(&home, b"folder\xff").exists());
        assert_eq!((home.file("sub/.git/hooks/x"), home.file("node_modules/x/.git/hooks/x")), (None, None));
    };
    check();
    home.put("sub/.git/HEAD", "made by the user while the card waits\n");
    chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
    let result = result(&chat, last).await;
    check();
    assert!(output(&result).contains("not kept"), "{result}");
    assert_eq!(home.file("src/lib.rs"), None);
    assert!(home.file("sub/.git/HEAD").is_some(), "what the user made meanwhile stays: {result}");
}

#[tokio::test]
async fn taking_back_leaves_alone_what_the_user_changed_while_the_card_waited() {
    let home = project(&[run("echo theirs > src/lib.rs; echo theirs > src/main.rs; mkdir made; echo x > made/x; rm local.cfg")]);
    let server = home.serve_with(IN_PLACE).await;
    let chat = actor(&server).await;
    let (question, last) = to_question(&chat).await;
    home.put("src/lib.rs", "by hand\n");
    home.put("made/mine", "by hand\n");
    chat.answer(&question["question_id"], json!({ "decision": "deny" })).await;
    let result = result(&chat, last).await;
    assert_eq!(home.file("src/lib.rs").as_deref(), Some("by hand\n"), "{result}");
    assert_eq!(home.file("made/mine").as_deref(), Some("by hand\n"), "{result}");
    assert_eq!(home.file("src/main.rs").as_deref(), Some("fn main() {}\n"), "{result}");
    assert_eq!(home.file("local.cfg").as_deref(), Some("mine\n"), "{result}");
    assert!(output(&result).contains("others changed"), "{result}");
}

#[tokio::test]
async fn build_output_that_is_deleted_as_a_whole_is_asked_about_and_a_loss_is_said() {
    let home = project(&[run("rm -rf target")]);
    let server = home.serve_with(IN_PLACE).await;
    let chat = actor(&server).await;
    let (question, last) = to_question(&chat).await;
    assert!(question["call"]["reason"].as_str().unwrap().contains("/target"), "{question}");
    chat.answer(&question["question_id"], json!({ "decision": "deny" })).await;
    let result = result(&chat, last).await;
    assert!(output(&result).contains("can't restore") && output(&result).contains("/target"), "{result}");
}
