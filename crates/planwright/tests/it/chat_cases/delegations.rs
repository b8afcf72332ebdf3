//! A Commander's delegates: switched, stopped, asking.

use super::scenarios;
use super::seen::Seen;
use super::stage::{Stage, newest, pending, say};
use planwright_testkit::server::{last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

scenarios! {
    "SA-007" => back_to_plan_while_a_delegate_writes,
    "SA-008" => stopped_while_a_delegate_runs_a_command,
    "SA-009" => a_delegate_s_deletion,
}

/// The Commander makes the case's call; its delegate makes these.
fn script(stage: &Stage, calls: &[Value]) -> Value {
    let (role, task) = (&stage.case.args["role"], stage.case.args["task"].as_str().unwrap());
    let call = json!({ "tool": stage.case.tool, "args": { "role": role, "task": task } });
    json!({ "act": [{ "calls": [call] }, { "text": "Done." }], "plan": [{ "text": "Planning." }], "tasks": { task: [{ "calls": calls }, { "text": "Reported." }] } })
}

async fn back_to_plan_while_a_delegate_writes(stage: Arc<Stage>) -> Seen {
    let calls: Vec<Value> =
        (0..100).map(|number| json!({ "tool": "write", "args": { "path": format!("/{number}.txt"), "content": "x\n" } })).collect();
    stage.home.write_script(&script(&stage, &calls));
    let server = stage.serve_with("PLANWRIGHT_HOLD_POINT", "result_stored:stop_fenced").await;
    let chat = stage.chat(&server).await;
    let after = newest(&chat).await;
    chat.say("Go").await;
    chat.events(after, |event| event["type"] == "tool_result").await;
    let (status, body) = chat.patch(json!({ "mode": "plan", "confirm": true })).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    stage.begin();
    let written = || (0..100).filter(|number| stage.fixture.path(&format!("{number}.txt")).exists()).count();
    let before = written();
    assert!((1..100).contains(&before), "the delegate should be in the middle, and has written {before}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let late = written() - before;
    let events = stage.events(&chat).await;
    Seen::last_call(&chat, events).await.refused_by_result().fact("writes_committed_under_plan_epoch", late)
}

async fn stopped_while_a_delegate_runs_a_command(stage: Arc<Stage>) -> Seen {
    let seconds = format!("{}.25", 10_000 + std::process::id());
    let command = json!({ "tool": "run", "args": { "command": format!("echo up; sleep {seconds}") } });
    stage.home.write_script(&script(&stage, &[command]));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let after = newest(&chat).await;
    chat.say("Go").await;
    chat.events(after, |event| event["type"] == "tool_output").await;
    crate::delegation::runs(&seconds).await;
    assert_eq!(chat.post("stop").await.0, StatusCode::OK);
    let processes = crate::delegation::running(&seconds);
    let runs = usize::from(chat.show().await["state"] != "idle");
    let events = chat.run_to_end(after).await;
    Seen::last_call(&chat, events).await.fact("processes_left", processes).fact("runs_left", runs)
}

async fn a_delegate_s_deletion(stage: Arc<Stage>) -> Seen {
    stage.home.write_script(&script(&stage, &[json!({ "tool": "rm", "args": { "path": "/src/lib.rs" } })]));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let asked = say(&chat, "Go").await;
    assert_eq!(of_type(&asked, "tool_result").len(), 0, "the parent has nothing to answer with: its call waits");
    let question = pending(&chat).await;
    assert_eq!(chat.answer(&question, json!({ "decision": "deny" })).await.0, StatusCode::ACCEPTED);
    chat.run_to_end(last_id(&asked)).await;
    let messages = chat.messages().await;
    let answers: Vec<&Value> =
        messages.iter().filter(|message| message["metadata"]["question_answer"]["question_id"] == question).collect();
    let [answer] = answers.as_slice() else { panic!("one answer, not {answers:#?}") };
    Seen::last_call(&chat, asked).await.fact("question_answered_by", answer["author"].clone())
}
