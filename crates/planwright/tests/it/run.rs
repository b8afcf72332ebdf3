//! `planwright run`

use crate::{home, plan, write};
use serde_json::{Value, json};

#[tokio::test]
async fn run_writes_a_plan_and_then_carries_it_out() {
    let home = home(&json!({
        "plan": [{ "calls": [write("/bye.txt", "no"), { "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
    }));
    let planned = home.command(&["run", "Say goodbye"]).output().await.unwrap();
    let text = String::from_utf8(planned.stdout).unwrap();
    assert_eq!(planned.status.code(), Some(0), "{text}");
    assert!(text.starts_with("Ready.\n") && text.contains("Plan: Say goodbye") && text.ends_with("Written to /plans/say-goodbye.plan\n"), "{text}");
    let beside = String::from_utf8(planned.stderr).unwrap();
    assert!(beside.contains("TOOL_BLOCKED_BY_MODE") && beside.contains("--mode act --plan plans/say-goodbye.plan\n"), "{beside}");
    assert_eq!(home.file("bye.txt"), None);

    let acted = home.command(&["run", "Go", "--mode", "act", "--plan", "plans/say-goodbye.plan"]).output().await.unwrap();
    assert_eq!(acted.status.code(), Some(0), "{}", String::from_utf8_lossy(&acted.stderr));
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
}

#[tokio::test]
async fn run_with_json_prints_one_event_a_line() {
    let home = home(&json!({ "turns": [{ "text": "Hello there" }] }));
    let output = home.command(&["run", "Hi", "--json"]).output().await.unwrap();
    let events: Vec<Value> = String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["type"], "message_created");
    assert_eq!(
        events
            .iter()
            .filter(|event| event["type"] == "text_delta")
            .map(|event| event["data"]["text"].as_str().unwrap())
            .collect::<String>(),
        "Hello there"
    );
    assert!(events.iter().any(|event| event["type"] == "run_finished" && event["data"]["outcome"] == "done"));
}

#[tokio::test]
async fn run_says_by_its_exit_code_how_it_ended() {
    let secret = json!({ "turns": [{ "calls": [{ "tool": "read", "args": { "path": "/.env" } }] }, { "text": "Done." }] });
    for (script, args, code) in [
        (json!({ "turns": [{ "error": "PROVIDER_UNAVAILABLE" }] }), &["run", "Hi"][..], 1),
        (json!({ "turns": [{ "text": "x" }] }), &["run", "Hi", "--mode", "sideways"], 2),
        (secret.clone(), &["run", "Hi"], 3),
        (secret, &["run", "Hi", "--yes"], 0),
    ] {
        let home = home(&script);
        home.put(".env", "KEY=1\n");
        let output = home.command(args).output().await.unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
