//! A Commander that hands tasks to a Planner and an Actor, in one chat.

mod explores;

use crate::{home, write};
use planwright_testkit::server::{Home, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

fn delegate(role: &str, task: &str) -> Value {
    json!({ "tool": "delegate", "args": { "role": role, "task": task } })
}

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

/// A home with a chat's script: what the Commander says, and what its delegates say, by their tasks.
fn home_of(act: &Value, tasks: &Value) -> Home {
    home(&json!({ "act": act, "tasks": tasks }))
}

/// The results of the Commander's own calls: their texts.
fn reports(messages: &[Value]) -> Vec<&str> {
    let results = messages.iter().filter(|message| message["message_type"] == "tool_result");
    results.filter(|result| result["metadata"]["delegation"].is_null()).filter_map(|result| result["content"].as_str()).collect()
}

fn outcome(events: &[Value]) -> &Value {
    &of_type(events, "run_finished").last().unwrap()["outcome"]
}

/// How many processes run this command.
pub fn running(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let is_it = |path: std::path::PathBuf| {
        let words = std::fs::read(path.join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    };
    processes.filter(|entry| is_it(entry.path())).count()
}

/// Waits until a command runs that has said so, but may not have begun to sleep.
pub async fn runs(mark: &str) {
    let begun = std::time::Instant::now();
    while running(mark) == 0 {
        assert!(begun.elapsed() < planwright_testkit::PATIENCE, "the command should run");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_delegate_whose_chat_gets_another_role_does_nothing_more() {
    let calls: Vec<Value> = (0..50).map(|number| write(&format!("/{number}.txt"), "x\n")).collect();
    let home = home_of(
        &json!([{ "calls": [delegate("actor", "Write many")] }, { "text": "Testing now.", "told": ["TESTER role", "MODE_CHANGED: The task was not finished"] }]),
        &json!({ "Write many": [{ "calls": calls }, { "text": "Never said." }] }),
    );
    let server = home.serve_with(&[("PLANWRIGHT_HOLD_POINT", "result_stored:switch_stored")]).await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    chat.say("Write").await;
    chat.events(0, |event| event["type"] == "tool_result").await;
    assert_eq!(chat.patch(json!({ "agent_role": "tester" })).await.0, StatusCode::OK);
    let events = chat.run_to_end(0).await;
    assert_eq!(outcome(&events), "done", "{events:#?}");
    assert_eq!((home.file("0.txt").as_deref(), home.file("1.txt"), home.file("49.txt")), (Some("x\n"), None, None));
    let codes: Vec<&str> = of_type(&events, "tool_result").iter().filter_map(|result| result["error"]["code"].as_str()).collect();
    assert_eq!(codes, ["MODE_CHANGED"; 50], "49 calls and the task itself");
}

/// Both conversations have something that would show if it were done twice.
fn twice_tasked() -> Home {
    let append = |word: &str| call("run", json!({ "command": format!("echo {word} >> log.txt") }));
    home_of(
        &json!([
            { "text": "One.", "calls": [delegate("actor", "First")] },
            { "text": "Two.", "calls": [delegate("actor", "Second")], "told": ["First is done."], "not_told": ["a.txt"] },
            { "text": "Done.", "told": ["First is done.", "Second is done."] },
        ]),
        &json!({
            "First": [{ "text": "A.", "calls": [write("/a.txt", "a\n")] }, { "calls": [append("first")] }, { "text": "First is done." }],
            "Second": [{ "calls": [append("second")], "not_told": ["First is done."] }, { "text": "Second is done." }],
        }),
    )
}

#[tokio::test]
async fn a_delegate_killed_in_the_middle_goes_on_after_the_restart_and_nothing_is_doubled() {
    // The Commander's own, its delegate's first and second, and the last ones.
    for point in [
        "intent_stored:1",
        "effect_done:1",
        "model_asked:2",
        "reply_received:2",
        "reply_stored:2",
        "call_decided:2",
        "intent_stored:2",
        "effect_done:2",
        "result_stored:1",
        "command_landing:1",
        "command_landed:1",
        "reply_stored:4",
        "result_stored:3",
        "intent_stored:4",
        "reply_stored:7",
    ] {
        let home = twice_tasked();
        let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", point)]).await;
        let chat = server.chat(json!({ "agent_role": "commander" })).await;
        let path = chat.path.clone();
        chat.say("Go").await;
        assert!(!server.ended().await, "the process should have died at {point}");
        let server = home.serve().await;
        let chat = server.reopened(&path);
        let events = chat.run_to_end(0).await;
        assert_eq!(outcome(&events), "done", "{point}: {events:#?}");
        assert_eq!((home.file("a.txt").as_deref(), home.file("log.txt").as_deref()), (Some("a\n"), Some("first\nsecond\n")), "{point}");
        let messages = chat.messages().await;
        let count = |kind: &str| messages.iter().filter(|message| message["message_type"] == kind).count();
        assert_eq!((count("tool_call"), count("tool_result")), (5, 5), "{point}: {messages:#?}");
        assert_eq!(messages.iter().filter(|message| message["metadata"]["task"] == true).count(), 2, "{point}");
        assert_eq!(reports(&messages), ["First is done.", "Second is done."], "{point}");
    }
}

#[tokio::test]
async fn a_stop_ends_the_delegate_its_command_and_the_commander() {
    let seconds = format!("{}.5", 1000 + std::process::id());
    let home = home_of(
        &json!([{ "calls": [delegate("actor", "Wait"), delegate("actor", "More")] }, { "text": "Stopped, I see.", "told": ["during this task", "before this call was made"] }]),
        &json!({ "Wait": [{ "calls": [write("/a.txt", "a\n"), call("run", json!({ "command": format!("echo up; sleep {seconds}") })), write("/b.txt", "b\n")] }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    chat.say("Wait").await;
    chat.events(0, |event| event["type"] == "tool_output").await;
    runs(&seconds).await;
    assert_eq!(chat.post("stop").await.0, StatusCode::OK);
    assert_eq!(running(&seconds), 0);
    let events = chat.run_to_end(0).await;
    assert_eq!(outcome(&events), "stopped");
    let shown = chat.show().await;
    assert_eq!((&shown["state"], &shown["pending_question"]), (&json!("idle"), &Value::Null));
    let messages = chat.messages().await;
    let count = |kind: &str| messages.iter().filter(|message| message["message_type"] == kind).count();
    assert_eq!((count("tool_call"), count("tool_result")), (5, 5), "each call has one result: {messages:#?}");
    assert_eq!(of_type(&events, "tool_result").iter().filter(|result| result["error"]["code"] == "CANCELLED").count(), 4);

    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(chat.messages().await.len(), messages.len(), "nothing happens after a stop");
    assert_eq!((home.file("a.txt").as_deref(), home.file("b.txt")), (Some("a\n"), None));
    chat.say("Well?").await;
    assert_eq!(outcome(&chat.run_to_end(last_id(&events)).await), "done");
}
