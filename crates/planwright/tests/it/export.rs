//! `planwright export`: a chat to read, and a chat to work with.

use crate::{home, plan};
use planwright_testkit::server::Home;
use serde_json::{Value, json};

/// A home whose chat has a plan, a call with a long result and text in two languages; gives the chat's path and history as clients have it.
async fn exported(home: &Home) -> (String, Value, Vec<Value>) {
    let server = home.serve().await;
    let chat = server.chat(json!({ "title": "Say: \"goodbye\" # 再见" })).await;
    chat.say("## Not a heading of ours\n\nPlease plan it, 谢谢").await;
    chat.events(0, |event| event["type"] == "run_finished").await;
    let kept = (chat.path.rsplit('/').next().unwrap().to_owned(), chat.show().await, chat.messages().await);
    assert!(server.terminate().await);
    kept
}

fn planning() -> Home {
    let plan = plan("bye.txt");
    let home = home(&json!({ "plan": [
        { "calls": [{ "tool": "read", "args": { "path": "/long.txt" } }] },
        { "text": "Here it is.", "calls": [{ "tool": "write_plan", "args": plan }] },
        { "text": "What do you think?" },
    ] }));
    home.put("long.txt", &"a line with hunter2 in it\n".repeat(5_000));
    home
}

async fn export(home: &Home, args: &[&str]) -> (Option<i32>, String, String) {
    let output = home.command(&[&["export"], args].concat()).output().await.unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[tokio::test]
async fn a_chat_as_json_has_all_that_clients_read_and_the_whole_of_long_results() {
    let home = planning();
    let (id, shown, messages) = exported(&home).await;
    let (code, out, err) = export(&home, &[&id, "--format", "json"]).await;
    assert_eq!(code, Some(0), "{err}");
    let chat: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&chat["format"], &chat["version"], &chat["chat"]), (&json!("planwright-chat"), &json!(1), &shown));
    assert_eq!(chat["workspace"]["path"], json!(home.workspace().canonicalize().unwrap()));
    let exported = chat["messages"].as_array().unwrap();
    assert_eq!(exported.len(), messages.len());
    for (exported, message) in exported.iter().zip(&messages) {
        assert_eq!((&exported["id"], &exported["message_type"]), (&message["id"], &message["message_type"]));
    }
    let long = exported.iter().find(|message| message["message_type"] == "tool_result").unwrap();
    assert!(long["content"].as_str().unwrap().matches("hunter2").count() > 1_000, "{}", long["content"].as_str().unwrap().len());
}

#[tokio::test]
async fn a_chat_as_markdown_has_what_was_said_and_the_plan_but_no_contents_of_files() {
    let home = planning();
    let (id, shown, _) = exported(&home).await;
    let (code, out, err) = export(&home, &[&id]).await;
    assert_eq!(code, Some(0), "{err}");
    let head = planwright_chat::chat_file::frontmatter(out.as_bytes()).unwrap();
    assert_eq!((&head["id"], &head["title"], &head["plan_file"]), (&shown["id"], &shown["title"], &shown["config"]["plan_file"]));
    for part in [
        "\n# Say: \"goodbye\" # 再见\n",
        "Please plan it, 谢谢",
        "\n> # Say goodbye\n",
        "> - [ ] 1. Write the file\n",
        "What do you think?",
        "- `read` ",
    ] {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
    assert!(!out.contains("hunter2"));
    // The same as the default.
    assert_eq!(export(&home, &[&id, "--format", "md"]).await.1, out);
}

#[tokio::test]
async fn a_chat_that_is_not_there_is_told_with_those_that_are() {
    let home = planning();
    let nobody = "01a1e121-e56c-750e-9c54-a1ee26594fe8";
    let (code, out, err) = export(&home, &[nobody]).await;
    assert!(code == Some(1) && out.is_empty() && err.contains("there are no chats in "), "{err}");
    assert!(!home.data().exists(), "looking makes nothing");
    let (id, shown, _) = exported(&home).await;
    let (code, _, err) = export(&home, &[nobody]).await;
    assert!(code == Some(1) && err.contains(&format!("there is no chat {nobody}")) && err.contains(&id), "{err}");
    assert!(err.contains(shown["title"].as_str().unwrap()), "{err}");
    let (code, _, err) = export(&home, &["not-an-id"]).await;
    assert!(code == Some(2) && err.contains("not-an-id"), "{err}");
}
