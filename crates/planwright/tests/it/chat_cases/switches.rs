//! Switches of the mode or the role while calls are under way.

use super::scenarios;
use super::seen::Seen;
use super::stage::{OWN_PLAN, Stage, claim, newest, pending, say, settle};
use planwright_testkit::guard::{CaseDecision, FolderTree};
use planwright_testkit::server::{ChatClient, Server, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

scenarios! {
    "MS-002" => the_model_leaves_and_writes_in_one_reply,
    "MS-004" => back_to_plan_before_the_decision,
    "MS-005" => back_to_plan_before_the_change,
    "MS-007" => on_to_act_before_the_decision,
    "MS-008" => switches_against_many_writers,
    "MS-012" => another_role_between_two_calls,
    "MS-014" => killed_before_the_switch_is_stored,
    "MS-018" => a_chat_without_a_role,
    "MS-020" => a_chat_of_an_unknown_role,
}

/// One call that waits at a place until another is passed; the variable that says so.
const HOLD: &str = "PLANWRIGHT_HOLD_POINT";

fn once(stage: &Stage) -> Value {
    json!({ "turns": [{ "calls": [stage.call()] }, { "text": "Done." }] })
}

async fn the_model_leaves_and_writes_in_one_reply(stage: Arc<Stage>) -> Seen {
    let calls = &stage.case.args["calls"];
    stage.home.write_script(&json!({ "plan": [{ "calls": calls }], "act": [{ "text": "Done." }] }));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    say(&chat, "Leave").await;
    stage.begin();
    let after = newest(&chat).await;
    assert_eq!(chat.answer(&pending(&chat).await, json!({ "approve": true })).await.0, StatusCode::ACCEPTED);
    Seen::last_call(&chat, chat.run_to_end(after).await).await
}

/// The case's call is held at a place; the user switches; what becomes of the call.
async fn switched(stage: &Stage, hold: &str, script: &Value, to: Value, when: fn(&Value) -> bool) -> Seen {
    stage.home.write_script(script);
    let server = stage.serve_with(HOLD, hold).await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let after = newest(&chat).await;
    chat.say("Go").await;
    chat.events(after, when).await;
    let (status, body) = chat.patch(to).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    settle(&chat).await;
    let events = stage.events(&chat).await;
    Seen::last_call(&chat, events).await.refused_by_result()
}

fn called(event: &Value) -> bool {
    event["type"] == "tool_call"
}

/// The call is allowed and about to be made.
fn intended(event: &Value) -> bool {
    event["type"] == "message_updated" && event["data"]["message"]["metadata"]["status"] == "running"
}

async fn back_to_plan_before_the_decision(stage: Arc<Stage>) -> Seen {
    switched(&stage, "call_prepared:stop_fenced", &once(&stage), json!({ "mode": "plan", "confirm": true }), called).await
}

async fn back_to_plan_before_the_change(stage: Arc<Stage>) -> Seen {
    let other = switched(&stage, "intent_stored:switch_fenced", &once(&stage), json!({ "agent_role": "tester" }), intended).await;
    assert!(other.is_refused_with("MODE_CHANGED"), "{other:?}");
    switched(&stage, "intent_stored:stop_fenced", &once(&stage), json!({ "mode": "plan", "confirm": true }), intended).await
}

async fn on_to_act_before_the_decision(stage: Arc<Stage>) -> Seen {
    switched(&stage, "call_prepared:switch_stored", &once(&stage), json!({ "mode": "act" }), called).await
}

async fn another_role_between_two_calls(stage: Arc<Stage>) -> Seen {
    let mut calls = stage.case.args["calls"].clone();
    calls[0]["args"] = json!({ "path": "/src/lib.rs", "old_string": "pub", "new_string": "pub(crate)" });
    let script = json!({ "turns": [{ "calls": calls }, { "text": "Done." }] });
    let one_done: fn(&Value) -> bool = |event| event["type"] == "tool_result";
    let seen = switched(&stage, "result_stored:stop_fenced", &script, json!({ "agent_role": "Reviewer", "confirm": true }), one_done).await;
    let edited = std::fs::read_to_string(stage.fixture.path("src/lib.rs")).unwrap();
    assert_eq!(edited, "pub(crate) fn a(){}\n", "the first call was made before the switch");
    // That call was allowed; what the case is about is the second.
    std::fs::write(stage.fixture.path("src/lib.rs"), "pub fn a(){}\n").unwrap();
    stage.begin();
    seen
}

async fn killed_before_the_switch_is_stored(stage: Arc<Stage>) -> Seen {
    stage.home.write_script(&json!({ "plan": [{ "calls": [stage.call()] }], "act": [{ "text": "Done." }] }));
    let server = stage.serve_with("PLANWRIGHT_CRASH_POINT", "switch_fenced").await;
    let chat = stage.chat(&server).await;
    say(&chat, "Leave").await;
    stage.begin();
    let (path, question) = (chat.path.clone(), pending(&chat).await);
    let accept = json!({ "metadata": { "question_answer": { "question_id": question, "answers": { "approve": true } } } });
    server.post_unchecked(&format!("{path}/messages"), &accept).await;
    assert!(!server.ended().await, "the server should have died");
    let server = stage.serve().await;
    let chat = server.reopened(&path);
    let seen = Seen::new(CaseDecision::Error, None, &Value::Null).in_chat(&chat).await;
    assert_eq!(pending(&chat).await, question, "the card still waits");
    assert_eq!(chat.answer(&question, json!({ "approve": true })).await.0, StatusCode::ACCEPTED);
    assert_eq!(chat.show().await["config"]["agent_mode"], "act");
    seen
}

/// The case's call in a chat whose stored role is another.
async fn stored_as(stage: &Stage, role: &str) -> Seen {
    stage.home.write_script(&once(stage));
    let server = stage.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    claim(&chat, OWN_PLAN).await;
    let path = chat.path.clone();
    server.kill().await;
    stage.tamper(format!("update chats set {role}")).await;
    let server = stage.serve().await;
    let chat = server.reopened(&path);
    stage.begin();
    Seen::last_call(&chat, say(&chat, "Go").await).await
}

async fn a_chat_without_a_role(stage: Arc<Stage>) -> Seen {
    stored_as(&stage, "agent_role = null, agent_mode = null").await
}

async fn a_chat_of_an_unknown_role(stage: Arc<Stage>) -> Seen {
    stored_as(&stage, "agent_role = 'overlord', agent_mode = 'act'").await
}

/// How often each writer is switched.
const FLIPS: usize = 12;

async fn switches_against_many_writers(stage: Arc<Stage>) -> Seen {
    let calls: Vec<Value> =
        (0..10).map(|number| json!({ "tool": "write", "args": { "path": format!("/{number}.txt"), "content": "x\n" } })).collect();
    stage.home.write_script(&json!({ "act": [{ "calls": calls }], "plan": [{ "text": "Planning." }], "repeat": true }));
    let writers = stage.case.args["writers"].as_u64().unwrap();
    let folders: Vec<PathBuf> = (0..writers).map(|writer| stage.fixture.workspace().with_file_name(format!("writer-{writer}"))).collect();
    let mut command = stage.command();
    for folder in &folders {
        std::fs::create_dir(folder).unwrap();
        command.arg("--workspace").arg(folder);
    }
    let server = Arc::new(stage.home.serve_command(command).await);
    stage.begin();
    let listed = server.get("/workspaces").await;
    let mut writing = tokio::task::JoinSet::new();
    for folder in folders {
        let path = folder.canonicalize().unwrap();
        let workspace = listed.as_array().unwrap().iter().find(|row| row["path"] == path.to_str().unwrap()).unwrap()["id"].clone();
        let server = server.clone();
        writing.spawn(async move { flipped(&server, workspace.as_str().unwrap(), &folder).await });
    }
    let late: usize = writing.join_all().await.into_iter().sum();
    Seen::new(CaseDecision::Deny, None, &Value::Null).fact("writes_committed_under_plan_epoch", late)
}

/// Switches a chat that writes without end; how often something changed after a switch to plan was answered.
async fn flipped(server: &Server, workspace: &str, folder: &Path) -> usize {
    let (status, chat) = server.post(&format!("/workspaces/{workspace}/chats"), json!({ "mode": "build" })).await;
    assert_eq!(status, StatusCode::CREATED);
    let chat: ChatClient<'_> = server.reopened(&format!("/workspaces/{workspace}/chats/{}", chat["id"].as_str().unwrap()));
    let look = || FolderTree::except(folder, Some(&folder.join(".planwright")));
    let mut late = 0;
    for _ in 0..FLIPS {
        let after = newest(&chat).await;
        chat.say("Write").await;
        let written = chat.events(after, |event| event["type"] == "tool_result").await;
        assert_eq!(of_type(&written, "tool_result")[0]["success"], true);
        assert_eq!(chat.patch(json!({ "mode": "plan", "confirm": true })).await.0, StatusCode::OK);
        let before = look();
        tokio::time::sleep(Duration::from_millis(15)).await;
        late += before.changes(&look()).len();
        assert_eq!(chat.patch(json!({ "mode": "act" })).await.0, StatusCode::OK);
    }
    late
}
