//! From a request to a plan, a refusal, an approval and a file on disk.

use crate::{home, plan, write};
use planwright_testkit::server::{last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn script() -> Value {
    json!({
        "plan": [
            { "text": "Let me look.", "calls": [{ "tool": "read", "args": { "path": "/hello.txt" } }] },
            { "text": "I will just do it.", "calls": [write("/bye.txt", "Goodbye\n")] },
            { "text": "Then I plan.", "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] },
            { "text": "The plan is ready." },
        ],
        "act": [
            { "text": "Working.", "calls": [write("/bye.txt", "Goodbye\n")] },
            { "text": "Done." },
        ],
    })
}

#[tokio::test]
async fn from_request_to_plan_to_refused_write_to_approval_to_file_on_disk() {
    let home = home(&script());
    home.put("hello.txt", "Hello\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    assert_eq!(chat.show().await["config"], json!({"agent_role": "planner", "agent_mode": "plan", "mode": "plan", "plan_file": null}));

    chat.say("Say goodbye, please").await;
    let planning = chat.run_to_end(0).await;
    let results = of_type(&planning, "tool_result");
    assert_eq!(results.iter().map(|result| result["success"].as_bool().unwrap()).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(results[1]["error"]["code"], "TOOL_BLOCKED_BY_MODE");
    assert!(results[1]["error"]["message"].as_str().unwrap().starts_with("System is in Plan Mode."));
    assert_eq!(of_type(&planning, "violation"), [&json!({"code": "TOOL_BLOCKED_BY_MODE", "tool": "write", "agent_role": "planner"})]);
    assert_eq!(home.file("bye.txt"), None, "plan mode changed a file");
    assert_eq!(of_type(&planning, "run_finished"), [&json!({"outcome": "done"})]);

    let plan_file = chat.show().await["config"]["plan_file"].clone();
    assert_eq!(plan_file, "/plans/say-goodbye.plan");
    assert!(home.file("plans/say-goodbye.plan").unwrap().contains("- [ ] 1. Write the file"));
    let messages = chat.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "The plan is ready.", "the model has the last word");
    let plan_message = messages.iter().find(|message| message["message_type"] == "plan").unwrap();
    assert_eq!(plan_message["metadata"]["plan"]["goal"], "Say goodbye");
    assert_eq!(plan_message["metadata"]["plan_file"], plan_file);

    let (status, approved) = chat.post("execute").await;
    assert_eq!(status, StatusCode::OK, "{approved}");
    let acting = chat.run_to_end(last_id(&planning)).await;
    let changed = of_type(&acting, "mode_changed");
    assert_eq!(changed, [&json!({"agent_role": "actor", "agent_mode": "act", "mode": "build", "plan_file": plan_file, "by": "approval"})]);
    assert!(of_type(&acting, "tool_result").iter().all(|result| result["success"] == true));
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
    assert_eq!(chat.show().await["state"], "idle");
}

#[tokio::test]
async fn execute_without_a_plan_is_refused() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let (status, body) = chat.post("execute").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("NO_PLAN")));
    assert_eq!(chat.show().await["config"]["mode"], "plan");
}

#[tokio::test]
async fn a_change_outside_the_approved_plan_asks_and_follows_the_answer() {
    for (decision, expected) in [("approve", Some("x\n")), ("deny", None)] {
        let home = home(&json!({
            "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }],
            "act": [{ "calls": [write("/other.txt", "x\n")] }, { "text": "Done." }],
        }));
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        chat.say("Plan it").await;
        let planning = chat.run_to_end(0).await;
        chat.post("execute").await;
        let asking = chat.events(last_id(&planning), |event| event["data"]["state"] == "awaiting_answer").await;
        let question = of_type(&asking, "question_pending")[0].clone();
        assert_eq!((&question["kind"], &question["severity"]), (&json!("tool_approval"), &json!("major")));
        assert_eq!(home.file("other.txt"), None, "written before the answer");

        let (status, body) = chat.answer(&question["question_id"], json!({ "decision": "perhaps" })).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("VALIDATION_FAILED")));
        assert_eq!(chat.answer(&question["question_id"], json!({ "decision": decision })).await.0, StatusCode::ACCEPTED);
        chat.run_to_end(last_id(&asking)).await;
        assert_eq!(home.file("other.txt").as_deref(), expected, "{decision}");
        let (status, body) = chat.answer(&question["question_id"], json!({ "decision": decision })).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("QUESTION_NOT_PENDING")));
    }
}

#[tokio::test]
async fn leaving_act_mode_during_a_run_needs_confirmation_and_stops_it() {
    let home = home(
        &json!({ "turns": [{ "text": "a b c d e f g h i j k l m n o p q r s t u v w x y z", "delay_ms": 400, "calls": [write("/late.txt", "x")] }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    let (status, body) = chat.patch(json!({ "mode": "plan" })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFIRMATION_REQUIRED")));
    let (status, body) = chat.patch(json!({ "mode": "plan", "confirm": true })).await;
    assert_eq!((status, &body["config"]["agent_role"], &body["state"]), (StatusCode::OK, &json!("planner"), &json!("idle")));
    assert_eq!(home.file("late.txt"), None);
    let note = chat.messages().await.into_iter().find(|message| message["author"] == "system").unwrap();
    assert_eq!(note["metadata"]["mode_change"], json!({"from": "actor", "to": "planner", "by": "user"}));
}
