//! What counts as an approved plan: the chat's own, as it was approved, not taken back, with open steps.

use super::{REQUIRED, codes, planned, planning, refusal, run, said};
use crate::{home, write};
use planwright_testkit::server::{ChatClient, Home, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn step(status: &str) -> Value {
    json!({ "tool": "update_step", "args": { "step_number": 1, "status": status } })
}

fn required(script: &Value) -> Home {
    let home = home(script);
    home.put_config(REQUIRED);
    home
}

/// Approves the plan by words, which is an approval like any other; everything until the run ends.
async fn ordered(chat: &ChatClient<'_>, last: u64) -> Vec<Value> {
    chat.say("Go ahead").await;
    chat.run_to_end(last).await
}

fn writes(texts: &[&str]) -> Value {
    let turns = texts.iter().flat_map(|text| [json!({ "calls": [write("/bye.txt", text)] }), json!({ "text": "Done." })]);
    turns.collect()
}

#[tokio::test]
async fn a_plan_that_is_done_opens_nothing_more_until_a_step_of_it_is_taken_up_again() {
    let home = required(&planning(&json!([
        { "calls": [write("/bye.txt", "one"), step("done")] }, { "text": "Done." },
        { "calls": [write("/bye.txt", "two"), run("echo x > made.txt")] }, { "text": "I could not." },
        { "calls": [step("in_progress"), write("/bye.txt", "three")] }, { "text": "Done." },
    ])));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let last = planned(&chat).await;
    ordered(&chat, last).await;
    assert_eq!(home.file("bye.txt").as_deref(), Some("one"));
    said(&chat, "And now something else").await;
    let messages = chat.messages().await;
    assert_eq!(codes(&messages), ["ok", "ok", "ok", "PLAN_REQUIRED", "PLAN_REQUIRED"]);
    assert!(refusal(&messages).contains("the approved plan has no open step"), "{}", refusal(&messages));
    assert_eq!((home.file("bye.txt").as_deref(), home.file("made.txt")), (Some("one"), None));
    said(&chat, "Mend the first step").await;
    assert_eq!(home.file("bye.txt").as_deref(), Some("three"), "a step of the approved plan, and shown as open again");
}

#[tokio::test]
async fn a_plan_written_anew_needs_a_new_approval_and_going_back_and_forth_does_not() {
    let home = required(&planning(&writes(&["one", "two", "three", "four"])));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let last = planned(&chat).await;
    ordered(&chat, last).await;
    for mode in ["plan", "act"] {
        assert_eq!(chat.patch(json!({ "mode": mode })).await.0, StatusCode::OK);
    }
    said(&chat, "Once more").await;
    assert_eq!(home.file("bye.txt").as_deref(), Some("two"), "the same plan, approved before");

    assert_eq!(chat.patch(json!({ "mode": "plan" })).await.0, StatusCode::OK);
    said(&chat, "Plan it differently").await;
    assert_eq!(chat.patch(json!({ "mode": "act" })).await.0, StatusCode::OK);
    said(&chat, "Once more").await;
    let messages = chat.messages().await;
    assert_eq!(codes(&messages).last(), Some(&"PLAN_REQUIRED"));
    assert!(refusal(&messages).contains("has changed since the approval"), "{}", refusal(&messages));
    assert_eq!(home.file("bye.txt").as_deref(), Some("two"));
    // The new plan names another file, so the old one would ask.
    let snapshot = server.get(&format!("{}/snapshot", chat.path)).await["last_event_id"].as_u64().unwrap();
    assert_eq!(chat.post("execute").await.0, StatusCode::OK);
    let events = chat.events(snapshot, |event| event["data"]["state"] == "awaiting_answer").await;
    assert!(last_id(&events) > snapshot && !codes(&chat.messages().await).ends_with(&["PLAN_REQUIRED", "PLAN_REQUIRED"]));
}

#[tokio::test]
async fn taking_back_to_before_the_approval_needs_a_new_one_also_after_a_restart() {
    let home = required(&planning(&writes(&["one", "two", "three"])));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let last = planned(&chat).await;
    ordered(&chat, last).await;
    let messages = chat.messages().await;
    let order = messages.iter().find(|message| message["content"] == "Go ahead").unwrap()["id"].clone();
    let (status, body) = server.post(&format!("{}/revert", chat.path), json!({ "message_id": order })).await;
    assert_eq!((status, home.file("bye.txt")), (StatusCode::OK, None), "{body}");
    let path = chat.path.clone();
    assert!(server.terminate().await);
    let server = home.serve().await;
    let chat = server.reopened(&path);
    said(&chat, "Once more").await;
    let messages = chat.messages().await;
    assert_eq!((codes(&messages).last(), home.file("bye.txt")), (Some(&"PLAN_REQUIRED"), None));
    assert!(refusal(&messages).contains("reverted to before the approval"), "{}", refusal(&messages));
    let snapshot = server.get(&format!("{}/snapshot", chat.path)).await["last_event_id"].as_u64().unwrap();
    assert_eq!(chat.post("execute").await.0, StatusCode::OK);
    chat.run_to_end(snapshot).await;
    assert_eq!(home.file("bye.txt").as_deref(), Some("three"));
}

#[tokio::test]
async fn an_agent_in_act_mode_can_write_the_plan_that_it_lacks_and_have_it_approved() {
    let leave = json!({ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } });
    let script = json!({ "act": [
        { "calls": [write("/bye.txt", "one")] },
        { "calls": [{ "tool": "write_plan", "args": crate::plan("bye.txt") }, leave], "told": ["PLAN_REQUIRED"] },
        { "calls": [write("/bye.txt", "two"), leave] },
        { "text": "Done." },
    ] });
    let home = required(&script);
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "act" })).await;
    chat.say("Say goodbye").await;
    let asked = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let card = of_type(&asked, "question_pending")[0].clone();
    assert_eq!((&card["kind"], home.file("bye.txt")), (&json!("plan_approval"), None));
    assert_eq!(chat.answer(&card["question_id"], json!({ "approve": true })).await.0, StatusCode::ACCEPTED);
    chat.run_to_end(last_id(&asked)).await;
    assert_eq!(codes(&chat.messages().await), ["PLAN_REQUIRED", "ok", "ok", "ok", "ok"]);
    assert_eq!((home.file("bye.txt").as_deref(), &chat.show().await["config"]["agent_role"]), (Some("two"), &json!("actor")));
}

#[tokio::test]
async fn an_approval_is_for_the_plan_of_the_chat_and_a_fork_has_none() {
    let home = required(&planning(&writes(&["one", "two", "three"])));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let last = planned(&chat).await;
    ordered(&chat, last).await;
    assert_eq!(chat.patch(json!({ "plan_file": "/plans/another.plan" })).await.0, StatusCode::OK);
    said(&chat, "Once more").await;
    assert_eq!(codes(&chat.messages().await).last(), Some(&"PLAN_REQUIRED"));
    assert_eq!(chat.patch(json!({ "plan_file": null })).await.0, StatusCode::OK);
    let newest = chat.messages().await.last().unwrap()["id"].clone();
    let (status, fork) = server.post(&format!("{}/fork", chat.path), json!({ "message_id": newest })).await;
    assert_eq!(status, StatusCode::CREATED, "{fork}");
    let fork = server.reopened(&format!("{}/{}", chat.path.rsplit_once('/').unwrap().0, fork["id"].as_str().unwrap()));
    assert_eq!(fork.patch(json!({ "mode": "act" })).await.0, StatusCode::OK);
    said(&fork, "Once more").await;
    assert_eq!(codes(&fork.messages().await).last(), Some(&"PLAN_REQUIRED"));
    assert_eq!(home.file("bye.txt").as_deref(), Some("one"));
}

#[tokio::test]
async fn what_a_command_changed_does_not_land_when_the_plan_was_taken_from_the_chat_meanwhile() {
    let home = required(&planning(&json!([{ "calls": [run("echo begun; sleep 3; echo x > bye.txt")] }, { "text": "Done." }])));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let last = planned(&chat).await;
    chat.say("Go ahead").await;
    let begun = chat.events(last, |event| event["type"] == "tool_output").await;
    assert_eq!(chat.patch(json!({ "plan_file": null })).await.0, StatusCode::OK);
    chat.run_to_end(last_id(&begun)).await;
    let messages = chat.messages().await;
    assert_eq!(home.file("bye.txt"), None);
    let result = messages.iter().rfind(|message| message["message_type"] == "tool_result").unwrap()["content"].as_str().unwrap();
    assert!(result.contains("requires an approved plan") && result.contains("reverted"), "{result}");
}
