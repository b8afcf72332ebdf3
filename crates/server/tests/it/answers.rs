//! Plans and questions that the model gives as JSON in its answer.

use crate::{home, plan};
use planwright_testkit::client::{last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn waiting(event: &Value) -> bool {
    event["data"]["state"] == "awaiting_answer"
}

#[tokio::test]
async fn a_plan_as_json_becomes_a_plan_message_and_a_file_and_feedback_gives_the_next_revision() {
    let fenced = |goal: &str| json!({ "text": format!("Here it is.\n```json\n{}\n```", { let mut plan = plan("bye.txt"); plan["goal"] = json!(goal); plan }) });
    let home = home(&json!({ "turns": [fenced("Say goodbye"), fenced("Say goodbye twice")] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let first = chat.run_to_end(0).await;
    chat.say("Twice, please").await;
    chat.run_to_end(last_id(&first)).await;
    let plans: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["message_type"] == "plan").collect();
    assert_eq!(plans.iter().map(|message| &message["metadata"]["revision"]).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(plans[0]["content"], "Here it is.");
    assert_eq!(plans[1]["metadata"]["plan"]["goal"], "Say goodbye twice");
    let file = home.file("plans/say-goodbye.plan").unwrap();
    assert!(file.contains("revision: 2") && file.contains("# Say goodbye twice"), "{file}");
}

#[tokio::test]
async fn json_that_is_no_valid_plan_is_text_and_says_why() {
    let home = home(&json!({ "turns": [{ "text": "{\"goal\": \"x\", \"steps\": [{\"reason\": \"no action\"}]}" }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    chat.run_to_end(0).await;
    let messages = chat.messages().await;
    let answer = &messages[1];
    assert_eq!(answer["message_type"], "text");
    assert!(answer["metadata"]["not_a_plan"].as_str().unwrap().contains("steps[0].action"), "{answer}");
    assert!(
        messages[2]["author"] == "system" && messages[2]["content"].as_str().unwrap().contains("not a valid plan or question"),
        "{messages:#?}"
    );
}

#[tokio::test]
async fn question_json_becomes_a_card_with_the_options_as_buttons_in_both_modes() {
    for mode in ["plan", "build"] {
        let question = json!({"type": "question", "question": "Also the tests?", "context": "They use the old API", "severity": "minor",
            "options": [{"label": "Yes", "value": "yes", "description": "Both"}, {"label": "No", "value": "no"}], "default": "no"});
        let home = home(&json!({ "turns": [{ "text": format!("One thing.\n```json\n{question}\n```") }, { "text": "Thanks." }] }));
        let server = home.serve().await;
        let chat = server.chat(json!({ "mode": mode })).await;
        chat.say("Go").await;
        let asking = chat.events(0, waiting).await;
        let card = of_type(&asking, "question_pending")[0].clone();
        assert_eq!(
            (&card["kind"], &card["severity"], &card["questions"][0]["name"], &card["questions"][0]["default"]),
            (&json!("user"), &json!("minor"), &json!("answer"), &json!("no"))
        );
        assert_eq!(card["questions"][0]["buttons"][0]["description"], "Both");
        let (status, body) = chat.answer(&card["question_id"], json!({ "answer": "yes" })).await;
        assert_eq!((status, &body["message"]["content"]), (StatusCode::ACCEPTED, &json!("[Answered: Yes]")));
        chat.run_to_end(last_id(&asking)).await;
        let kinds: Vec<Value> = chat.messages().await.iter().map(|message| message["message_type"].clone()).collect();
        assert_eq!(kinds, ["text", "question", "text", "text"]);
    }
}

#[tokio::test]
async fn a_boolean_approve_question_in_plan_mode_is_shown_as_the_servers_card() {
    let ask = json!({ "tool": "ask_user", "args": { "questions": [{ "name": "approve", "question": "Shall I?", "schema": { "type": "boolean" } }] } });
    let home = home(
        &json!({ "turns": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "calls": [ask] }, { "text": "Thanks." }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let card = of_type(&chat.events(0, waiting).await, "question_pending")[0].clone();
    assert_eq!(
        (&card["kind"], &card["questions"][0]["context"], &card["plan"]["goal"]),
        (&json!("plan_approval"), &json!("Shall I?"), &json!("Say goodbye"))
    );
}

#[tokio::test]
async fn a_plan_that_changed_after_its_card_was_shown_is_asked_about_again() {
    let home = home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "calls": [{ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } }] }],
        "act": [{ "text": "Done." }],
    }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let first = of_type(&chat.events(0, waiting).await, "question_pending")[0].clone();
    home.put("plans/say-goodbye.plan", &home.file("plans/say-goodbye.plan").unwrap().replace("bye.txt", "bye.md"));
    let (status, body) = chat.answer(&first["question_id"], json!({ "approve": true })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFLICT")));
    let shown = chat.show().await;
    assert_eq!(shown["config"]["mode"], "plan");
    let second = &shown["pending_question"];
    assert_ne!(second["question_id"], first["question_id"]);
    assert_eq!(second["plan"]["steps"][0]["files"], json!(["bye.md"]));
    assert_eq!(chat.answer(&second["question_id"], json!({ "approve": true })).await.0, StatusCode::ACCEPTED);
    assert_eq!(chat.show().await["config"]["mode"], "build");
}

#[tokio::test]
async fn a_plan_that_was_edited_by_hand_is_shown_again_before_an_order_or_the_button_approves_it() {
    for order in ["go ahead", ""] {
        let home = home(
            &json!({ "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }], "act": [{ "text": "Done." }] }),
        );
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        chat.say("Plan it").await;
        let planning = chat.run_to_end(0).await;
        home.put("plans/say-goodbye.plan", &home.file("plans/say-goodbye.plan").unwrap().replace("bye.txt", "bye.md"));
        if order.is_empty() {
            assert_eq!(chat.post("execute").await.0, StatusCode::CONFLICT);
        } else {
            chat.say(order).await;
        }
        let asking = chat.events(last_id(&planning), waiting).await;
        assert!(of_type(&asking, "mode_changed").is_empty(), "{order:?}");
        let card = of_type(&asking, "question_pending")[0].clone();
        assert_eq!(card["plan"]["steps"][0]["files"], json!(["bye.md"]));
        // Now that it has been shown, the button is enough.
        assert_eq!(chat.post("execute").await.0, StatusCode::OK);
        assert_eq!(chat.show().await["config"]["mode"], "build");
    }
}

#[tokio::test]
async fn approve_always_holds_for_the_tool_and_the_folder_and_over_a_restart() {
    let read = |path: &str| json!({ "calls": [{ "tool": "read", "args": { "path": path } }] });
    let home = home(
        &json!({ "turns": [read("/keys/a.pem"), read("/keys/b.pem"), { "text": "Two." }, read("/keys/a.pem"), read("/other/c.pem"), { "text": "Three." }] }),
    );
    for file in ["keys/a.pem", "keys/b.pem", "other/c.pem"] {
        home.put(file, "secret\n");
    }
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Read them").await;
    let asking = chat.events(0, waiting).await;
    chat.answer(&of_type(&asking, "question_pending")[0]["question_id"], json!({ "decision": "approve_always" })).await;
    let first = chat.run_to_end(last_id(&asking)).await;
    assert!(of_type(&first, "question_pending").is_empty(), "b.pem is in the same folder");
    let path = chat.path.clone();
    server.kill().await;

    let server = home.serve().await;
    let chat = server.reopened(&path);
    chat.say("Again").await;
    let asking = chat.events(last_id(&first), waiting).await;
    let cards = of_type(&asking, "question_pending");
    assert_eq!((cards.len(), &cards[0]["call"]["args"]["path"]), (1, &json!("/other/c.pem")));
}
