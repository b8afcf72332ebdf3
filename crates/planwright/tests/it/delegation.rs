//! A Commander that hands tasks to a Planner and an Actor, in one chat.

use crate::{home, plan, write};
use planwright_testkit::server::{ChatClient, Home, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

pub fn delegate(role: &str, task: &str) -> Value {
    json!({ "tool": "delegate", "args": { "role": role, "task": task } })
}

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

/// A home with a chat's script: what the Commander says, and what its delegates say, by their tasks.
fn home_of(act: &Value, tasks: &Value) -> Home {
    home(&json!({ "act": act, "tasks": tasks }))
}

fn rests(event: &Value) -> bool {
    event["type"] == "run_finished" || event["data"]["state"] == "awaiting_answer"
}

/// The user has a Commander do something; everything until it rests.
async fn commanded(chat: &ChatClient<'_>) -> Vec<Value> {
    chat.say("Say goodbye").await;
    chat.events(0, rests).await
}

async fn answered(chat: &ChatClient<'_>, before: &[Value], answers: Value) -> Vec<Value> {
    let question = of_type(before, "question_pending").last().unwrap()["question_id"].clone();
    let (status, body) = chat.answer(&question, answers).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{body}");
    chat.events(last_id(before), rests).await
}

/// Of each message that is not the user's: its role, and whether it belongs to a delegate.
fn badges(messages: &[Value], message_type: &str) -> Vec<(String, bool)> {
    let of_type = messages.iter().filter(|message| message["message_type"] == message_type && message["author"] == "assistant");
    of_type
        .map(|message| (message["agent_role"].as_str().unwrap_or_default().to_owned(), !message["metadata"]["delegation"].is_null()))
        .collect()
}

/// The results of the Commander's own calls: their texts.
fn reports(messages: &[Value]) -> Vec<&str> {
    let results = messages.iter().filter(|message| message["message_type"] == "tool_result");
    results.filter(|result| result["metadata"]["delegation"].is_null()).filter_map(|result| result["content"].as_str()).collect()
}

fn outcome(events: &[Value]) -> &Value {
    &of_type(events, "run_finished").last().unwrap()["outcome"]
}

#[tokio::test]
async fn a_commander_has_a_planner_plan_and_an_actor_carry_out_what_the_user_approved() {
    let home = home_of(
        &json!([
            { "text": "A plan first.", "calls": [delegate("planner", "Plan the farewell")], "told": ["You are operating in COMMANDER role"] },
            {
                "text": "Now the work.", "calls": [delegate("actor", "Write the farewell")],
                "told": ["The plan is ready.", "The user approved revision 1", "APPROVED EXECUTION PLAN"], "not_told": ["Let me look.", "Plan the farewell"],
            },
            { "text": "All is done.", "told": ["Written as planned."], "not_told": ["Writing now."] },
        ]),
        &json!({
            "Plan the farewell": [
                { "text": "Let me look.", "calls": [call("ls", json!({}))], "told": ["PLANNER role", "The Commander handed you one task", "Plan the farewell"], "not_told": ["Say goodbye", "delegate: "] },
                { "calls": [call("write_plan", plan("bye.txt"))] },
                { "calls": [call("exit_plan_mode", json!({ "plan_file_path": "/plans/say-goodbye.plan" }))] },
                { "text": "The plan is ready." },
            ],
            "Write the farewell": [
                { "text": "Writing now.", "calls": [write("/bye.txt", "Goodbye\n"), json!({ "tool": "update_step", "args": { "step_number": 1, "status": "done" } })], "told": ["ACTOR role", "APPROVED EXECUTION PLAN", "report back"], "not_told": ["A plan first."] },
                { "text": "Written as planned." },
            ],
        }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let asked = commanded(&chat).await;
    let card = of_type(&asked, "question_pending")[0].clone();
    assert_eq!((&card["kind"], &card["plan"]["goal"]), (&json!("plan_approval"), &json!("Say goodbye")), "{asked:#?}");
    assert_eq!(chat.show().await["pending_question"]["agent_role"], "planner");
    assert_eq!(home.file("bye.txt"), None);

    let events = answered(&chat, &asked, json!({ "approve": true })).await;
    assert_eq!(outcome(&events), "done", "{events:#?}");
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
    assert!(home.file("plans/say-goodbye.plan").unwrap().contains("- [x] 1."));
    let shown = chat.show().await;
    assert_eq!((&shown["config"]["agent_role"], &shown["state"]), (&json!("commander"), &json!("idle")));
    let messages = chat.messages().await;
    let of = |role: &str, delegated| (role.to_owned(), delegated);
    assert_eq!(
        badges(&messages, "tool_call"),
        [
            of("commander", false),
            of("planner", true),
            of("planner", true),
            of("planner", true),
            of("commander", false),
            of("actor", true),
            of("actor", true)
        ]
    );
    assert_eq!(reports(&messages), ["The plan is ready.\n\nIts plan: /plans/say-goodbye.plan", "Written as planned."]);
}

#[tokio::test]
async fn a_delegate_has_the_rights_of_its_role_and_is_held_to_the_approved_plan() {
    let home = home(&json!({
        "plan": [{ "calls": [call("write_plan", plan("bye.txt"))] }, { "text": "Ready." }],
        "act": [{ "calls": [delegate("planner", "Look around")] }, { "calls": [delegate("actor", "Write elsewhere")] }, { "text": "Done." }],
        "tasks": {
            "Look around": [{ "calls": [write("/bye.txt", "x\n"), delegate("actor", "Write elsewhere"), call("run", json!({ "command": "true" }))] }, { "text": "Could not." }],
            "Write elsewhere": [{ "calls": [delegate("actor", "Look around"), write("/bye.txt", "Goodbye\n"), write("/other.txt", "x\n")] }, { "text": "Tried." }],
        },
    }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = crate::progress::approved(&chat).await;
    // The approval made it an Actor's chat, and the Actor's part is the Commander's here.
    let first = chat.events(planned, |event| event["type"] == "run_finished").await;
    assert_eq!(of_type(&first, "tool_result")[0]["error"]["code"], "TOOL_NOT_PERMITTED");
    assert_eq!(chat.patch(json!({ "agent_role": "commander" })).await.0, StatusCode::OK);

    home.write_script(&json!({ "turns": [{ "text": "unused" }] }));
    let after = last_id(&first);
    chat.say("Go on").await;
    let events = chat.events(after, rests).await;
    let _ = events;
}
