//! A plan while it is carried out: its boxes tell what is done, and done is what the server saw.

use crate::{home, write};
use planwright_testkit::server::{ChatClient, Home, last_id, of_type};
use serde_json::{Value, json};

pub const FILE: &str = "plans/say-goodbye.plan";

/// Two steps, the second with a check.
pub fn plan() -> Value {
    json!({
        "goal": "Say goodbye",
        "steps": [
            { "step_number": 1, "action": "Write the file", "reason": "It is asked for", "tools_needed": ["write"], "files": ["bye.txt"] },
            { "step_number": 2, "action": "Check it", "reason": "To be sure", "tools_needed": ["run"], "files": ["bye.txt", "log.txt"], "verify": "echo checking; grep -q Goodbye bye.txt" },
        ],
    })
}

pub fn step(number: u32, status: &str) -> Value {
    json!({ "tool": "update_step", "args": { "step_number": number, "status": status } })
}

pub fn turn(calls: &[Value]) -> Value {
    json!({ "calls": calls })
}

/// A home in whose script the plan is written, and then these turns are played.
pub fn home_of(plan: &Value, act: &[Value]) -> Home {
    let act: Vec<Value> = act.iter().cloned().chain([json!({ "text": "Done." })]).collect();
    home(&json!({ "plan": [{ "calls": [{ "tool": "write_plan", "args": plan }] }, { "text": "Ready." }], "act": act }))
}

/// Planned and approved; gives the number of the last event before the approval.
pub async fn approved(chat: &ChatClient<'_>) -> u64 {
    chat.say("Plan it").await;
    let planned = last_id(&chat.run_to_end(0).await);
    let (status, body) = chat.post("execute").await;
    assert!(status.is_success(), "{body}");
    planned
}

pub fn steps(events: &[Value]) -> Vec<(u64, &str)> {
    of_type(events, "plan_step").iter().map(|step| (step["step_number"].as_u64().unwrap(), step["status"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_plan_that_is_carried_out_headless_shows_its_steps_and_names_the_open_ones() {
    let home = home_of(&plan(), &[turn(&[write("/bye.txt", "Goodbye\n"), step(1, "done")])]);
    let planned = home.command(&["run", "Say goodbye"]).output().await.unwrap();
    let shown = String::from_utf8_lossy(&planned.stdout).into_owned();
    assert!(planned.status.success() && shown.contains("check: echo checking; grep -q Goodbye bye.txt"), "{shown}");
    let done = home.command(&["run", "Go", "--mode", "act", "--plan", FILE]).output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout).into_owned(), String::from_utf8_lossy(&done.stderr).into_owned());
    assert_eq!(done.status.code(), Some(0), "{err}");
    assert!(!out.contains("Plan:"), "{out}");
    assert!(err.contains("= step 1: done") && err.contains("still open: 2") && !err.contains("Execute it"), "{err}");
    assert!(home.file(FILE).unwrap().contains("- [x] 1. "), "also a plan that another chat wrote, once the user names it");
}

#[tokio::test]
async fn the_summary_of_changes_names_the_step_that_was_in_progress() {
    let home = home_of(
        &plan(),
        &[
            turn(&[write("/before.txt", "x\n")]),
            turn(&[step(1, "in_progress"), write("/bye.txt", "Hello\n"), step(1, "done")]),
            turn(&[step(2, "in_progress"), step(2, "done"), write("/log.txt", "checked\n")]),
            turn(&[write("/bye.txt", "Goodbye\n"), step(2, "done")]),
        ],
    );
    home.put("before.txt", "y\n");
    let server = home.serve_with(&[]).await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let waits = |event: &Value| event["type"] == "question_pending" || event["type"] == "run_finished";
    let events = chat.events(planned, waits).await;
    if let Some(card) = of_type(&events, "question_pending").first() {
        let (status, body) = chat.answer(&card["question_id"], json!({ "decision": "approve" })).await;
        assert!(status.is_success(), "{body}");
        chat.run_to_end(last_id(&events)).await;
    }
    let summary = server.get(&format!("{}/changes?summary=true", chat.path)).await;
    let files = summary["total"]["files"].as_array().unwrap();
    let step_of = |path: &str| files.iter().find(|file| file["path"] == path).map(|file| file["step"].clone());
    assert_eq!(step_of("/before.txt"), Some(Value::Null), "{summary:#}");
    assert_eq!(step_of("/bye.txt"), Some(json!(2)), "a step whose check failed is still in progress: {summary:#}");
    assert_eq!(step_of("/log.txt"), Some(json!(2)), "{summary:#}");
}
