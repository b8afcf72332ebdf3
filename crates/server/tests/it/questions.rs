//! The model asks; the user answers, or does something else.

use crate::{home, plan, write};
use planwright_testkit::client::{last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn ask() -> Value {
    json!({ "tool": "ask_user", "args": { "questions": [{ "name": "environment", "question": "Which environment?", "schema": { "type": "string", "enum": ["dev", "prod"] } }] } })
}

fn waiting(event: &Value) -> bool {
    event["data"]["state"] == "awaiting_answer"
}

#[tokio::test]
async fn a_question_waits_for_its_answer_and_the_model_goes_on_with_it() {
    let home = home(&json!({ "turns": [{ "calls": [ask()] }, { "text": "Thank you." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Deploy").await;
    let asking = chat.events(0, waiting).await;
    let question = of_type(&asking, "question_pending")[0].clone();
    assert_eq!((&question["kind"], &question["questions"][0]["name"]), (&json!("user"), &json!("environment")));
    let result = chat.messages().await.into_iter().find(|message| message["message_type"] == "tool_result").unwrap();
    assert_eq!(result["metadata"]["facts"], json!({"status": "question_pending", "question_id": question["question_id"]}));

    let (status, body) = chat.answer(&question["question_id"], json!({ "environment": "moon" })).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body["error"]["details"]["fields"]["environment"].is_string(), "{body}");
    let (status, body) = chat.answer(&question["question_id"], json!({ "environment": "dev" })).await;
    assert_eq!((status, &body["message"]["content"]), (StatusCode::ACCEPTED, &json!("[Answered: dev]")));
    let answered = chat.run_to_end(last_id(&asking)).await;
    assert_eq!(of_type(&answered, "question_resolved"), [&json!({"question_id": question["question_id"], "outcome": "answered"})]);
    assert_eq!(chat.messages().await.last().unwrap()["content"], "Thank you.");
}

#[tokio::test]
async fn a_batch_of_questions_is_answered_by_name_in_one_go() {
    let questions = json!([
        { "name": "branch", "question": "Which name?", "schema": { "type": "string", "pattern": "^[a-z-]+$", "minLength": 3 } },
        { "name": "parts", "question": "Which parts?", "schema": { "type": "array", "items": { "type": "string", "enum": ["web", "api"] }, "minItems": 1 } },
        { "name": "confirm", "question": "Sure?", "schema": { "type": "boolean" }, "buttons": [{ "label": "Yes", "value": true, "variant": "primary" }] },
    ]);
    let home =
        home(&json!({ "turns": [{ "calls": [{ "tool": "ask_user", "args": { "questions": questions } }] }, { "text": "Thanks." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Ask me").await;
    let asking = chat.events(0, waiting).await;
    let question = of_type(&asking, "question_pending")[0].clone();
    let id: uuid::Uuid = question["question_id"].as_str().unwrap().parse().unwrap();
    assert_eq!(id.get_version_num(), 7);
    assert!(question["created_at"].as_str().unwrap().parse::<planwright_protocol::Timestamp>().is_ok());

    let (status, body) = chat.answer(&question["question_id"], json!({ "branch": "X", "parts": [], "confirm": "maybe" })).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let fields = body["error"]["details"]["fields"].as_object().unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["branch", "parts", "confirm"]);
    let (status, body) =
        chat.answer(&question["question_id"], json!({ "branch": "fix-it", "parts": ["web", "api"], "confirm": true })).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let text = body["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("[Answers: branch=fix-it, ") && text.contains("confirm="), "{text}");
    chat.run_to_end(last_id(&asking)).await;
}

#[tokio::test]
async fn another_message_supersedes_a_question_and_stop_clears_it() {
    let home = home(&json!({ "turns": [{ "calls": [ask()] }, { "text": "Never mind." }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Deploy").await;
    let asking = chat.events(0, waiting).await;
    chat.say("Forget it").await;
    let after = chat.run_to_end(last_id(&asking)).await;
    assert_eq!(of_type(&after, "question_resolved")[0]["outcome"], "superseded");

    chat.say("Deploy").await;
    let asking = chat.events(last_id(&after), waiting).await;
    assert_eq!(chat.post("stop").await.0, StatusCode::OK);
    let stopped = chat.run_to_end(last_id(&asking)).await;
    assert_eq!(of_type(&stopped, "question_resolved")[0]["outcome"], "stopped");
    assert_eq!(chat.show().await["pending_question"], Value::Null);
}

#[tokio::test]
async fn leaving_plan_mode_raises_the_servers_own_card_and_only_a_yes_switches() {
    for (approve, mode) in [(true, "build"), (false, "plan")] {
        let home = home(&json!({
            "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "calls": [{ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } }] }, { "text": "As you like." }],
            "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
        }));
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        chat.say("Plan it").await;
        let asking = chat.events(0, waiting).await;
        let card = of_type(&asking, "question_pending")[0].clone();
        assert_eq!(
            (&card["kind"], &card["plan"]["goal"], &card["plan"]["revision"]),
            (&json!("plan_approval"), &json!("Say goodbye"), &json!(1))
        );
        let labels: Vec<&Value> = card["questions"][0]["buttons"].as_array().unwrap().iter().map(|button| &button["label"]).collect();
        assert_eq!(labels, ["Accept & Build", "Keep Planning"]);

        assert_eq!(chat.answer(&card["question_id"], json!({ "approve": approve })).await.0, StatusCode::ACCEPTED);
        chat.run_to_end(last_id(&asking)).await;
        assert_eq!(chat.show().await["config"]["mode"], mode);
        assert_eq!(home.file("bye.txt").is_some(), approve);
    }
}
