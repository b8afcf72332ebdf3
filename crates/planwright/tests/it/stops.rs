//! A stop while the chat does something else than a run: a tool call of the user, or taking changes back.

use crate::changes::{Work, one_call_a_message};
use crate::{home, write};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn a_stop_ends_a_command_that_the_user_runs_and_nothing_of_it_is_kept() {
    let home = home(&json!({ "turns": [{ "text": "Very well." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    let shown = chat.show().await;
    let path = format!("/workspaces/{}/tools", shown["workspace_id"].as_str().unwrap());
    let body = json!({ "tool": "run", "args": { "command": "echo half > half.txt; sleep 600" }, "chat_id": shown["id"] });
    let mut call = std::pin::pin!(server.post(&path, body));
    // A stop that comes before the call ends nothing, so the user tries again.
    let (status, answer) = loop {
        tokio::select! {
            answer = &mut call => break answer,
            (status, _) = chat.post("stop") => assert_eq!(status, StatusCode::OK),
        }
    };
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::OK, &json!("CANCELLED")), "{answer}");
    assert_eq!(home.file("half.txt"), None);
    assert_eq!(chat.show().await["state"], "idle");
}

#[tokio::test]
async fn a_stop_is_taken_while_changes_are_taken_back_and_answered_after_that() {
    let home = one_call_a_message(&[write("/a.txt", "a\n")]);
    // Taking back waits until the actor has taken the stop. If the actor took none meanwhile, the server would die here.
    let server = home.serve_with(&[("PLANWRIGHT_HOLD_POINT", "revert_intended:stop_begun:or_die")]).await;
    let mut work = Work::begin(&server).await;
    let (message, _) = work.next().await;
    let mut reverting = std::pin::pin!(work.revert(json!({ "message_id": message })));
    tokio::select! {
        answer = &mut reverting => panic!("taken back without the stop: {answer:?}"),
        _ = work.chat.events(0, |event| event["data"]["message"]["metadata"]["revert"].is_object()) => {}
    }
    assert_eq!(home.file("a.txt").as_deref(), Some("a\n"));
    let (reverted, stopped) = tokio::join!(reverting, work.chat.post("stop"));
    assert_eq!((reverted.0, stopped.0), (StatusCode::OK, StatusCode::OK), "{reverted:?} {stopped:?}");
    assert_eq!(reverted.1["message"]["metadata"]["revert"]["status"], "done", "a stop does not leave it half done: {reverted:?}");
    assert_eq!(home.file("a.txt"), None);
}
