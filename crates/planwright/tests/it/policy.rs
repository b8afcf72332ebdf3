//! `[policy]`: no change without an approved plan, however act mode was entered, and no approval of a plan that names no files.

mod approval;
mod files;

use crate::{home, plan, write};
use planwright_testkit::server::{ChatClient, Home, Server, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

const FILE: &str = ".planwright/config.toml";
const REQUIRED: &str = "[policy]\nact_requires_plan = true\n";
const PLAN: &str = "---\ngoal: Say goodbye\n---\n# Say goodbye\n\n## Steps\n\n- [ ] 1. Write the file\n  reason: It is asked for\n  files: bye.txt, made.txt\n";

fn run(command: &str) -> Value {
    json!({ "tool": "run", "args": { "command": command } })
}

/// A model that tries to change and to run things in act mode, each time anew.
fn eager() -> Value {
    json!({ "plan": [{ "text": "Planning." }], "act": [{ "calls": [write("/bye.txt", "x"), run("echo x > made.txt")] }, { "text": "Done." }], "repeat": true })
}

/// The codes with which calls were refused, and that of each call that was not.
fn codes(messages: &[Value]) -> Vec<&str> {
    let results = messages.iter().filter(|message| message["message_type"] == "tool_result");
    results.map(|result| result["metadata"]["error"]["code"].as_str().unwrap_or("ok")).collect()
}

/// The message of the model's newest refusal.
fn refusal(messages: &[Value]) -> String {
    let refusals = messages.iter().rev().filter(|message| message["message_type"] == "tool_result");
    let mut texts = refusals.filter_map(|result| result["metadata"]["error"]["message"].as_str());
    texts.next().unwrap_or_default().to_owned()
}

fn untouched(home: &Home) {
    assert_eq!((home.file("bye.txt"), home.file("made.txt"), home.file("src/new.txt")), (None, None, None));
}

async fn said(chat: &ChatClient<'_>, text: &str) -> Vec<Value> {
    let last = chat.server.get(&format!("{}/snapshot", chat.path)).await["last_event_id"].as_u64().unwrap();
    chat.say(text).await;
    chat.run_to_end(last).await
}

async fn execute(chat: &ChatClient<'_>) -> Vec<Value> {
    let last = chat.server.get(&format!("{}/snapshot", chat.path)).await["last_event_id"].as_u64().unwrap();
    let (status, body) = chat.server.post(&format!("{}/execute", chat.path), json!({ "plan_file": "/plans/bye.plan" })).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    chat.run_to_end(last).await
}

#[tokio::test]
async fn however_a_chat_got_into_act_mode_nothing_changes_and_nothing_runs_without_an_approved_plan() {
    for config in ["", "[chat]\ndefault_mode = \"act\"\n", "[chat]\ndefault_mode = \"auto\"\n"] {
        let home = home(&eager());
        home.put_config(&format!("{REQUIRED}{config}"));
        let server = home.serve().await;
        for body in [json!({ "mode": "act" }), json!({ "agent_role": "actor" }), json!({})] {
            let chat = server.chat(body.clone()).await;
            if config.is_empty() && body == json!({}) {
                let (status, answer) = chat.patch(json!({ "mode": "build" })).await;
                assert_eq!(status, StatusCode::OK, "by hand it needs no plan, and approves nothing: {answer}");
            }
            let events = said(&chat, "Fix the typo in README.md").await;
            let messages = chat.messages().await;
            assert_eq!(codes(&messages), ["PLAN_REQUIRED", "PLAN_REQUIRED"], "{config} {body}: {events:#?}");
            assert!(
                refusal(&messages).starts_with("This workspace requires an approved plan before anything changes, and this chat has none.")
            );
            assert_eq!(of_type(&events, "violation").iter().filter(|violation| violation["code"] == "PLAN_REQUIRED").count(), 2);
        }
        untouched(&home);
        let logged = server.get("/audit?kind=tool_blocked").await;
        assert_eq!(logged.as_array().or(logged["entries"].as_array()).map(Vec::len), Some(6), "{logged}");
    }
}

#[tokio::test]
async fn a_run_in_act_mode_without_a_plan_says_so_and_changes_nothing_and_one_with_a_plan_works() {
    let home = home(&eager());
    home.put_config(REQUIRED);
    home.put("plans/bye.plan", PLAN);
    for role in [["--mode", "act"], ["--role", "actor"]] {
        let output = home.command(&[&["run", "Go", "--yes", "--trust"][..], &role].concat()).output().await.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("this workspace requires an approved plan") && told.contains("PLAN_REQUIRED"), "{told}");
        untouched(&home);
    }
    let output = home.command(&["run", "Go", "--mode", "act", "--plan", "plans/bye.plan"]).output().await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !told.contains("PLAN_REQUIRED") && !told.contains("requires an approved plan"), "{told}");
    assert_eq!((home.file("bye.txt").as_deref(), home.file("made.txt").as_deref()), (Some("x"), Some("x\n")));
}

#[tokio::test]
async fn a_commanders_actor_and_a_designer_change_nothing_without_an_approved_plan_and_a_tester_tests() {
    let delegate = json!({ "tool": "delegate", "args": { "role": "actor", "task": "Write the farewell" } });
    let home = home(&json!({
        "act": [{ "calls": [delegate] }, { "text": "Over." }],
        "tasks": { "Write the farewell": [{ "calls": [write("/bye.txt", "x"), run("echo x > made.txt")] }, { "text": "I could not." }] },
        "repeat": true,
    }));
    home.put_config(REQUIRED);
    home.put("plans/bye.plan", PLAN);
    let server = home.serve().await;
    let commander = server.chat(json!({ "agent_role": "commander" })).await;
    said(&commander, "Do it").await;
    assert_eq!(codes(&commander.messages().await)[..2], ["PLAN_REQUIRED", "PLAN_REQUIRED"]);
    untouched(&home);
    execute(&commander).await;
    assert_eq!((home.file("bye.txt").as_deref(), home.file("made.txt").as_deref()), (Some("x"), Some("x\n")));

    let tries = [write("/src/new.txt", "x"), json!({ "tool": "mkdir", "args": { "path": "/src" } })];
    home.write_script(&json!({ "act": [{ "calls": tries }, { "text": "Done." }], "repeat": true }));
    let designer = server.chat(json!({ "agent_role": "designer" })).await;
    said(&designer, "Draw it").await;
    assert_eq!(codes(&designer.messages().await), ["PLAN_REQUIRED", "PLAN_REQUIRED"]);
    assert!(!home.workspace().join("src").exists());

    home.write_script(&json!({ "act": [{ "calls": [run("echo tested")] }, { "text": "Done." }], "repeat": true }));
    let tester = server.chat(json!({ "agent_role": "tester" })).await;
    said(&tester, "Test it").await;
    let messages = tester.messages().await;
    assert_eq!(codes(&messages), ["ok"]);
    assert!(messages.iter().any(|message| message["content"].as_str().unwrap().contains("tested")));
}

#[tokio::test]
async fn the_users_own_calls_follow_the_rules_of_the_chat_and_without_one_there_is_no_plan() {
    let home = home(&eager());
    home.put_config(REQUIRED);
    home.put("plans/bye.plan", PLAN);
    let server = home.serve().await;
    let path = format!("/workspaces/{}/tools", server.get("/workspaces").await[0]["id"].as_str().unwrap());
    let call = async |server: &Server, mut body: Value, more: Value| {
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (status, answer) = server.post(&path, body).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer["error"]["code"].as_str().unwrap_or("ok").to_owned()
    };
    let chat = server.chat(json!({ "mode": "act" })).await;
    let id = json!({ "chat_id": chat.path.rsplit('/').next().unwrap() });
    let alone = json!({ "config": { "plan_mode": false } });
    for place in [&id, &alone] {
        assert_eq!(call(&server, write("/bye.txt", "x"), place.clone()).await, "PLAN_REQUIRED", "{place}");
        assert_eq!(call(&server, run("echo x > made.txt"), place.clone()).await, "PLAN_REQUIRED", "{place}");
        assert_eq!(call(&server, json!({ "tool": "read", "args": { "path": "/plans/bye.plan" } }), place.clone()).await, "ok");
    }
    untouched(&home);
    home.write_script(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }));
    execute(&chat).await;
    assert_eq!(call(&server, write("/bye.txt", "mine"), id).await, "ok");
    assert_eq!(call(&server, write("/made.txt", "mine"), alone).await, "PLAN_REQUIRED");
    assert_eq!((home.file("bye.txt").as_deref(), home.file("made.txt")), (Some("mine"), None));
}

#[tokio::test]
async fn a_workspaces_own_file_can_require_plans_without_trust_and_never_lift_what_the_user_requires() {
    let home = home(&eager());
    home.put(FILE, "[policy]\nact_requires_plan = true\nplan_requires_files = true\n");
    let server = home.serve().await;
    let rules = format!("/workspaces/{}/rules", server.get("/workspaces").await[0]["id"].as_str().unwrap());
    let policy = |act: bool, files: bool| json!({ "act_requires_plan": act, "plan_requires_files": files });
    assert_eq!(server.get(&rules).await["policy"], policy(true, true));
    let chat = server.chat(json!({ "mode": "act" })).await;
    said(&chat, "Go").await;
    assert_eq!(codes(&chat.messages().await), ["PLAN_REQUIRED", "PLAN_REQUIRED"]);
    home.put(FILE, "[policy]\nact_requires_plan = \"yes\"\n");
    let (status, answer) = server.post(&format!("{}/messages", chat.path), json!({ "content": "Go" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "a mistake in a guard is no permission: {answer}");
    untouched(&home);
    assert!(server.terminate().await);

    home.put_config(REQUIRED);
    home.put(FILE, "[policy]\nact_requires_plan = false\n");
    let output = home.command(&["run", "Go", "--mode", "act", "--trust"]).output().await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("policy.act_requires_plan is ignored: it would allow more") && told.contains("PLAN_REQUIRED"), "{told}");
    untouched(&home);
}

#[tokio::test]
async fn without_the_policy_act_mode_needs_no_plan() {
    let home = home(&eager());
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "act" })).await;
    said(&chat, "Go").await;
    assert_eq!(codes(&chat.messages().await), ["ok", "ok"]);
    assert_eq!((home.file("bye.txt").as_deref(), home.file("made.txt").as_deref()), (Some("x"), Some("x\n")));
}

/// A plan of one step, written by the model and carried out as far as `act` says.
async fn planned(chat: &ChatClient<'_>) -> u64 {
    chat.say("Say goodbye").await;
    last_id(&chat.run_to_end(0).await)
}

fn planning(act: &Value) -> Value {
    let write_plan = |file: &str| json!({ "calls": [{ "tool": "write_plan", "args": plan(file) }] });
    json!({ "plan": [write_plan("bye.txt"), { "text": "Ready." }, write_plan("made.txt"), { "text": "Ready again." }], "act": act })
}
