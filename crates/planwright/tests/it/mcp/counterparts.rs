//! Servers that others wrote, as users run them.

use super::site::{call, checked, code, configured, counterpart, node, offered, output};
use crate::command_effects::to_question;
use crate::home;
use planwright_testkit::server::{Home, of_type};
use serde_json::{Value, json};

/// The filesystem server, on the workspace.
fn filesystem(home: &Home, more: &str) {
    home.put_config(&node("files", &[&counterpart("filesystem"), home.workspace().to_str().unwrap()], more));
}

fn script(calls: &[Value]) -> Value {
    let turns: Vec<Value> = calls.iter().map(|call| json!({ "calls": [call] })).chain([json!({ "text": "Done." })]).collect();
    json!({ "turns": turns })
}

fn tool(name: &str, args: Value) -> Value {
    json!({ "tool": name, "args": args })
}

#[tokio::test]
async fn a_planner_reads_with_a_trusted_server_and_everything_else_is_neither_listed_nor_carried_out() {
    let home = home(&json!({}));
    home.put("a.txt", "what the file says");
    let path = home.workspace().join("a.txt");
    home.write_script(&script(&[
        tool("files__read_text_file", json!({ "path": path })),
        tool("files__write_file", json!({ "path": path, "content": "changed" })),
    ]));
    filesystem(&home, "trust_read_only = true");
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "plan" })).await;
    chat.say("Look").await;
    let events = chat.run_to_end(0).await;
    let results = of_type(&events, "tool_result");
    assert!(results[0]["result"]["output"].as_str().unwrap().contains("what the file says"), "{results:#?}");
    assert_eq!(results[1]["error"]["code"], "TOOL_BLOCKED_BY_MODE", "{results:#?}");
    assert_eq!(of_type(&events, "violation")[0]["tool"], "files__write_file");
    assert_eq!(home.file("a.txt").as_deref(), Some("what the file says"));
    let calls: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["message_type"] == "tool_call").collect();
    let kinds: Vec<_> = calls.iter().map(|call| (call["metadata"]["category"].as_str(), call["metadata"]["risk"].as_str())).collect();
    assert_eq!(kinds, [(Some("read"), Some("low")), (Some("write"), Some("high"))]);
    let kinds = server.get("/audit?kind=disallowed_tool_attempt_in_planning").await;
    assert!(kinds.to_string().contains("files__write_file"), "{kinds}");
}

#[tokio::test]
async fn without_the_users_trust_in_its_hint_a_tool_that_reads_counts_as_one_that_writes() {
    let home = configured("");
    home.put("a.txt", "x");
    filesystem(&home, "");
    let server = home.serve().await;
    let path = json!({ "path": home.workspace().join("a.txt") });
    assert_eq!(code(&call(&server, "plan", "files__read_text_file", path.clone()).await), "TOOL_BLOCKED_BY_MODE");
    assert_eq!(output(&server, "act", "files__read_text_file", path).await, "x");
    let reports = checked(&server).await;
    assert!(reports[0]["tools"].as_array().unwrap().iter().all(|tool| tool["read_only"] == false), "{reports}");
}

#[tokio::test]
async fn what_an_approved_call_writes_lands_in_the_workspace_is_noted_and_can_be_taken_back() {
    for environment in [&[][..], &[("PLANWRIGHT_NO_OVERLAY", "1")]] {
        let home = home(&json!({}));
        home.put("src/a.txt", "old\n");
        let path = home.workspace().join("src/a.txt");
        home.write_script(&script(&[tool("files__write_file", json!({ "path": path, "content": "new\n" }))]));
        filesystem(&home, "");
        let server = home.serve_with(environment).await;
        let chat = server.chat(json!({ "mode": "build" })).await;
        chat.say("Write").await;
        let (question, after) = to_question(&chat).await;
        assert_eq!((&question["kind"], &question["severity"]), (&json!("tool_approval"), &json!("major")), "{question}");
        assert_eq!(question["call"]["effects"], json!([{ "effect": "call", "target": { "server": "files", "tool": "write_file" } }]));
        assert_eq!(home.file("src/a.txt").as_deref(), Some("old\n"), "nothing happens before the user's word");
        chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
        let events = chat.run_to_end(after).await;
        let results = of_type(&events, "tool_result");
        assert_eq!(results[0]["result"]["changed"], json!([{ "path": "/src/a.txt", "change": "changed" }]), "{results:#?}");
        assert_eq!(home.file("src/a.txt").as_deref(), Some("new\n"));
        let changes = server.get(&format!("{}/changes", chat.path)).await;
        assert!(changes.to_string().contains("+new"), "{changes}");
        let first = chat.messages().await[0]["id"].clone();
        let (status, body) = server.post(&format!("{}/revert", chat.path), json!({ "message_id": first })).await;
        assert!(status.is_success(), "{body}");
        assert_eq!(home.file("src/a.txt").as_deref(), Some("old\n"));
    }
}

#[tokio::test]
async fn what_a_server_writes_where_no_tool_may_is_left_out() {
    let home = configured("");
    home.put(".git/config", "[core]\n");
    home.put(".planwright/config.toml", "");
    filesystem(&home, "");
    let server = home.serve().await;
    for path in [".git/config", ".planwright/config.toml", ".git/hooks/pre-commit"] {
        let args = json!({ "path": home.workspace().join(path), "content": "evil\n" });
        call(&server, "act", "files__write_file", args).await;
        assert_ne!(home.file(path).as_deref(), Some("evil\n"), "{path}");
    }
    let args = json!({ "path": home.workspace().join("fine.txt"), "content": "fine\n" });
    assert_eq!(call(&server, "act", "files__write_file", args).await["success"], true);
    assert_eq!(home.file("fine.txt").as_deref(), Some("fine\n"));
}

#[tokio::test]
async fn always_holds_for_this_tool_in_this_chat() {
    let home = home(&json!({}));
    let write = |name: &str| tool("files__write_file", json!({ "path": home.workspace().join(name), "content": "x" }));
    let folder = tool("files__create_directory", json!({ "path": home.workspace().join("made") }));
    home.write_script(&script(&[write("a.txt"), write("b.txt"), folder]));
    filesystem(&home, "");
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Write").await;
    let (question, after) = to_question(&chat).await;
    chat.answer(&question["question_id"], json!({ "decision": "approve_always" })).await;
    let events = chat.events(after, |event| event["type"] == "question_pending").await;
    assert_eq!(of_type(&events, "tool_result").len(), 2, "{events:#?}");
    assert_eq!(of_type(&events, "question_pending")[0]["call"]["tool"], "files__create_directory");
    assert!(home.file("a.txt").is_some() && home.file("b.txt").is_some() && !home.workspace().join("made").exists());
}

#[tokio::test]
async fn the_everything_server_answers_with_text_images_links_and_errors() {
    let home = configured(&node("every", &[&counterpart("everything")], ""));
    let server = home.serve().await;
    let reports = checked(&server).await;
    assert_eq!(reports[0]["status"], "ready", "{reports}");
    assert!(offered(&reports[0]).contains(&"every__echo"), "{reports}");
    assert_eq!(output(&server, "act", "every__echo", json!({ "message": "hello" })).await, "Echo: hello");
    assert!(output(&server, "act", "every__get-sum", json!({ "a": 2, "b": 3 })).await.contains('5'));
    let image = output(&server, "act", "every__get-tiny-image", json!({})).await;
    assert!(image.contains("image/png: not shown]") && image.len() < 2000, "{image}");
    let refused = call(&server, "act", "every__get-sum", json!({ "a": "two" })).await;
    assert_eq!(code(&refused), "MCP_FAILED");
    assert_eq!(code(&call(&server, "act", "every__no-such-tool", json!({})).await), "TOOL_UNKNOWN");
    assert_eq!(code(&call(&server, "act", "nobody__echo", json!({})).await), "TOOL_UNKNOWN");
}
