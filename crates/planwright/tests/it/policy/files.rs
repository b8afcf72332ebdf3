//! `plan_requires_files`: a plan whose steps name no files can't be approved, whichever way it is tried.

use super::{FILE, codes, refusal, said};
use crate::{home, write};
use planwright_testkit::server::{Home, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

const POLICY: &str = "[policy]\nplan_requires_files = true\n";
const BARE: &str = "---\ngoal: Say goodbye\n---\n# Say goodbye\n\n## Steps\n\n- [ ] 1. Write the file\n  reason: It is asked for\n";

fn bare() -> Value {
    json!({ "goal": "Say goodbye", "steps": [{ "step_number": 1, "action": "Write the file" }] })
}

fn script() -> Value {
    let leave = json!({ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } });
    json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": bare() }] }, { "calls": [leave] }, { "text": "Ready." }, { "text": "Still planning." }],
        "act": [{ "calls": [write("/bye.txt", "x")] }, { "text": "Done." }],
    })
}

fn stays(home: &Home, shown: &Value) {
    assert_eq!((home.file("bye.txt"), &shown["config"]["mode"]), (None, &json!("plan")));
}

#[tokio::test]
async fn execute_the_models_wish_and_a_typed_order_are_refused_and_say_what_is_missing() {
    let home = home(&script());
    home.put_config(POLICY);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    said(&chat, "Say goodbye").await;
    let messages = chat.messages().await;
    assert_eq!(codes(&messages), ["ok", "PLAN_INVALID"], "no card for what can't be approved");
    assert!(refusal(&messages).contains("requires plans that name their files"), "{}", refusal(&messages));

    let (status, body) = chat.post("execute").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("NO_PLAN")), "{body}");
    assert_eq!(body["error"]["details"]["policy"], "plan_requires_files");
    assert!(body["error"]["message"].as_str().unwrap().contains("Add `files`"), "{body}");

    let events = said(&chat, "Go ahead").await;
    assert!(of_type(&events, "mode_changed").is_empty() && of_type(&events, "question_pending").is_empty(), "{events:#?}");
    let notes: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["author"] == "system").collect();
    assert!(notes.last().unwrap()["content"].as_str().unwrap().contains("name their files"), "{notes:?}");
    stays(&home, &chat.show().await);
    assert_eq!(chat.show().await["state"], "idle", "the run has an end");
}

#[tokio::test]
async fn a_card_that_was_shown_before_the_policy_can_t_be_accepted_any_more() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Say goodbye").await;
    let events = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let question = of_type(&events, "question_pending")[0]["question_id"].clone();
    home.put(FILE, POLICY);
    let (status, body) = chat.answer(&question, json!({ "approve": true })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("NO_PLAN")), "{body}");
    stays(&home, &chat.show().await);
    assert_eq!(chat.show().await["pending_question"]["question_id"], question, "it can still be declined");
    assert_eq!(chat.answer(&question, json!({ "approve": false })).await.0, StatusCode::ACCEPTED);
    chat.run_to_end(last_id(&events)).await;
}

#[tokio::test]
async fn a_run_with_such_a_plan_fails_and_the_linter_says_it_before() {
    let home = home(&script());
    home.put_config(POLICY);
    home.put("plans/bye.plan", BARE);
    let output = home.command(&["run", "Go", "--mode", "act", "--plan", "plans/bye.plan", "--yes"]).output().await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), home.file("bye.txt")), (Some(1), None), "{told}");
    assert!(told.contains("NO_PLAN") && told.contains("name their files"), "{told}");
    let linted = home.command(&["plan", "lint", "plans/bye.plan"]).output().await.unwrap();
    let told = String::from_utf8(linted.stdout).unwrap();
    assert!(told.contains("no step names a file") && told.contains("plan_requires_files"), "{told}");

    home.put("plans/bye.plan", &BARE.replace("It is asked for\n", "It is asked for\n  files: bye.txt\n"));
    let output = home.command(&["run", "Go", "--mode", "act", "--plan", "plans/bye.plan"]).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(home.file("bye.txt").as_deref(), Some("x"));
}
