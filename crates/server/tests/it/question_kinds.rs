//! Questions of every kind, with a wrong answer first, and what they live through.

use crate::{home, write};
use planwright_testkit::client::{last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn waiting(event: &Value) -> bool {
    event["data"]["state"] == "awaiting_answer"
}

fn ask(schema: &Value) -> Value {
    json!({ "tool": "ask_user", "args": { "questions": [{ "name": "it", "question": "Which?", "schema": schema }] } })
}

#[tokio::test]
async fn a_question_of_every_kind_refuses_a_wrong_answer_and_goes_on_with_a_right_one() {
    let person = json!({ "type": "object", "properties": { "name": { "type": "string" }, "age": { "type": "integer" } }, "required": ["name"], "additionalProperties": false });
    let parts = json!({ "type": "array", "items": { "type": "string", "enum": ["web", "api"] }, "minItems": 1, "uniqueItems": true });
    let kinds = [
        ("boolean", json!({ "type": "boolean" }), json!("yes"), json!(true)),
        ("enum", json!({ "type": "string", "enum": ["dev", "prod"] }), json!("moon"), json!("prod")),
        ("string", json!({ "type": "string", "pattern": "^v[0-9]+$", "maxLength": 5 }), json!("7"), json!("v7")),
        ("multi-select", parts, json!(["web", "moon"]), json!(["api", "web"])),
        ("object", person, json!({ "age": "old" }), json!({ "name": "Ada", "age": 36 })),
        ("other", json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] }), json!(0), json!(42)),
    ];
    let home = home(&json!({ "turns": [{ "text": "Hello." }] }));
    let server = home.serve().await;
    for (kind, schema, wrong, right) in kinds {
        let heard = format!("[Answered: {}]", right.as_str().map_or_else(|| right.to_string(), str::to_owned));
        home.write_script(&json!({ "turns": [{ "calls": [ask(&schema)] }, { "text": "Thank you.", "told": [heard] }] }));
        let chat = server.chat(json!({})).await;
        chat.say("Ask me").await;
        let asking = chat.events(0, waiting).await;
        let question = of_type(&asking, "question_pending")[0].clone();
        assert_eq!(question["questions"][0]["schema"], schema, "{kind}");

        let (status, body) = chat.answer(&question["question_id"], json!({ "it": wrong })).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("VALIDATION_FAILED")), "{kind}: {body}");
        let fields = body["error"]["details"]["fields"].as_object().unwrap();
        assert!(!fields.is_empty() && fields.keys().all(|field| field.starts_with("it")), "{kind}: {body}");
        let shown = chat.show().await;
        assert_eq!(
            (&shown["state"], &shown["pending_question"]["question_id"]),
            (&json!("awaiting_answer"), &question["question_id"]),
            "{kind}"
        );

        let (status, body) = chat.answer(&question["question_id"], json!({ "it": right })).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{kind}: {body}");
        assert_eq!(body["message"]["metadata"]["question_answer"]["answers"], json!({ "it": right }), "{kind}");
        let answered = chat.run_to_end(last_id(&asking)).await;
        assert_eq!(of_type(&answered, "run_finished"), [&json!({ "outcome": "done" })], "{kind}: the model hears the answer");
    }
}

#[tokio::test]
async fn a_question_outlives_reload_disconnect_and_a_wrong_answer_and_is_over_at_once_with_a_stop() {
    let home = home(&json!({ "turns": [{ "calls": [ask(&json!({ "type": "boolean" }))] }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let snapshot = async || server.get(&format!("{}/snapshot", chat.path)).await;
    let before = snapshot().await["last_event_id"].as_u64().unwrap();
    chat.say("Ask me").await;
    // One client sees it come and goes away; others come back with what they knew, or with nothing.
    let asking = chat.events(before, waiting).await;
    let question = of_type(&asking, "question_pending")[0].clone();
    let again = chat.events(before, waiting).await;
    assert_eq!(of_type(&again, "question_pending"), [&question], "a client that was away hears of it");
    assert_eq!(snapshot().await["pending_question"]["question_id"], question["question_id"], "a page that is loaded anew has it");
    assert_eq!(chat.answer(&question["question_id"], json!({ "it": "perhaps" })).await.0, StatusCode::BAD_REQUEST);
    let reloaded = snapshot().await;
    assert_eq!(
        (&reloaded["pending_question"]["questions"], &reloaded["chat"]["state"]),
        (&question["questions"], &json!("awaiting_answer"))
    );

    let (status, stopped) = chat.post("stop").await;
    assert_eq!((status, &stopped["pending_question"], &stopped["state"]), (StatusCode::OK, &Value::Null, &json!("idle")));
    assert_eq!(snapshot().await["pending_question"], Value::Null);
    let over = chat.run_to_end(last_id(&asking)).await;
    assert_eq!(of_type(&over, "question_resolved"), [&json!({ "question_id": question["question_id"], "outcome": "stopped" })]);
    let (status, body) = chat.answer(&question["question_id"], json!({ "it": true })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("QUESTION_NOT_PENDING")));
}

#[tokio::test]
async fn question_json_pauses_the_work_and_the_answer_decides_how_it_goes_on() {
    let question = json!({"type": "question", "question": "Delete the old file?", "context": "Nobody uses it", "severity": "critical",
        "options": [{"label": "Keep it", "value": "keep"}, {"label": "Delete it", "value": "delete"}], "default": "keep"});
    let home = home(&json!({ "turns": [
        { "text": format!("First this.\n\n```json\n{question}\n```") },
        { "text": "Then I keep it.", "calls": [write("/kept.txt", "kept\n")], "told": ["[Answered: Keep it]"] },
        { "text": "Done." },
    ] }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Clear up").await;
    let asking = chat.events(0, waiting).await;
    let card = of_type(&asking, "question_pending")[0].clone();
    assert_eq!((&card["kind"], &card["severity"]), (&json!("user"), &json!("critical")));
    let stored = chat.messages().await.last().unwrap().clone();
    assert_eq!((&stored["message_type"], &stored["metadata"]["question_id"]), (&json!("question"), &card["question_id"]));
    assert_eq!(stored["metadata"]["questions"], card["questions"]);
    assert!(stored["content"].as_str().unwrap().starts_with("First this."), "{stored}");
    let path = chat.path.clone();
    server.kill().await;

    let server = home.serve().await;
    let chat = server.reopened(&path);
    let (status, body) = chat.answer(&card["question_id"], json!({ "answer": "burn" })).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert_eq!(home.file("kept.txt"), None, "the work waits");
    assert_eq!(chat.answer(&card["question_id"], json!({ "answer": "keep" })).await.0, StatusCode::ACCEPTED);
    let events = chat.run_to_end(last_id(&asking)).await;
    assert_eq!(of_type(&events, "run_finished"), [&json!({ "outcome": "done" })]);
    assert_eq!(home.file("kept.txt").as_deref(), Some("kept\n"));
}
