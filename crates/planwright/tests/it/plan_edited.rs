//! The file of a plan belongs to the user, also while the plan is carried out.

use crate::progress::{FILE, approved, home_of, plan, step, steps, turn};
use planwright_testkit::server::{ChatClient, Home, last_id, of_type};
use serde_json::{Value, json};

fn ask() -> Value {
    let question = json!({ "name": "go", "question": "Go on?", "schema": { "type": "boolean" } });
    json!({ "tool": "ask_user", "args": { "questions": [question] } })
}

/// Carries out the plan up to a question, lets `meddle` at the file, and goes on to the end; gives what happened after that.
async fn meddled(home: &Home, chat: &ChatClient<'_>, meddle: impl FnOnce(String)) -> Vec<Value> {
    let planned = approved(chat).await;
    let asking = chat.events(planned, |event| event["data"]["state"] == "awaiting_answer").await;
    meddle(home.file(FILE).unwrap());
    let question = of_type(&asking, "question_pending")[0]["question_id"].clone();
    chat.answer(&question, json!({ "go": true })).await;
    chat.run_to_end(last_id(&asking)).await
}

/// What was said about the file.
fn notices(events: &[Value]) -> Vec<String> {
    let messages = of_type(events, "message_created").into_iter().map(|event| &event["message"]["metadata"]["plan_changed"]);
    messages.filter(|change| change.is_object()).map(|change| change["change"].as_str().unwrap().to_owned()).collect()
}

fn script() -> [Value; 4] {
    [
        turn(&[step(1, "in_progress")]),
        turn(&[ask()]),
        turn(&[step(1, "done")]),
        turn(&[json!({ "tool": "update_step", "args": { "step_number": 2, "status": "skipped", "note": "Not needed" } })]),
    ]
}

#[tokio::test]
async fn a_plan_edited_by_hand_keeps_the_edit_gets_its_ticks_and_is_told_of_once() {
    let home = home_of(&plan(), &script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let events = meddled(&home, &chat, |text| {
        let text = text.replace("2. Check it", "2. Check it twice").replace("## Steps", "## My notes\n\nMind the gap.\n\n## Steps");
        home.put(FILE, &text);
    })
    .await;
    assert_eq!(notices(&events), ["edited"]);
    assert_eq!(steps(&events), [(1, "done"), (2, "skipped")]);
    let file = home.file(FILE).unwrap();
    assert!(
        file.contains("## My notes\n\nMind the gap.\n") && file.contains("- [x] 1. ") && file.contains("- [-] 2. Check it twice"),
        "{file}"
    );
    let progress = chat.show().await["progress"].clone();
    assert_eq!((&progress["done"], &progress["skipped"], &progress["steps"][1]["note"]), (&json!(1), &json!(1), &json!("Not needed")));
}

#[tokio::test]
async fn a_plan_deleted_meanwhile_is_not_made_again_and_its_progress_is_kept() {
    let home = home_of(&plan(), &script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let events = meddled(&home, &chat, |_| std::fs::remove_file(home.workspace().join(FILE)).unwrap()).await;
    assert_eq!(notices(&events), ["deleted"]);
    assert_eq!(steps(&events), [(1, "done"), (2, "skipped")]);
    assert_eq!(home.file(FILE), None, "the user deleted it");
    let path = chat.path.clone();
    server.kill().await;
    let server = home.serve().await;
    assert_eq!(server.reopened(&path).show().await["progress"]["done"], 1);
}

#[tokio::test]
async fn a_plan_that_is_none_any_more_stays_as_the_user_left_it() {
    let home = home_of(&plan(), &script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let events = meddled(&home, &chat, |_| home.put(FILE, "nothing to see\n")).await;
    assert_eq!(notices(&events), ["unreadable"]);
    assert_eq!(steps(&events), [(1, "done"), (2, "skipped")]);
    assert_eq!(home.file(FILE).as_deref(), Some("nothing to see\n"));
}

fn swapped(text: &str) -> String {
    let (one, rest) = text.split_once("- [~] 1. ").unwrap();
    let (first, second) = rest.split_once("- [ ] 2. ").unwrap();
    format!("{one}- [ ] 1. {second}- [~] 2. {first}")
}

fn shortened(text: &str) -> String {
    text.split("- [ ] 2. ").next().unwrap().to_owned()
}

#[tokio::test]
async fn a_step_that_the_user_took_out_or_moved_is_not_ticked_and_the_model_is_told() {
    let swap: fn(&str) -> String = swapped;
    for (change, expected) in [(swap, ["APPROVAL_STALE", "APPROVAL_STALE"]), (shortened, ["", "APPROVAL_STALE"])] {
        let home = home_of(&plan(), &script());
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let events = meddled(&home, &chat, |text| home.put(FILE, &change(&text))).await;
        let codes: Vec<&str> =
            of_type(&events, "tool_result").iter().map(|result| result["error"]["code"].as_str().unwrap_or_default()).collect();
        assert_eq!(codes, expected, "{events:#?}");
        let file = home.file(FILE).unwrap();
        assert!(!file.contains("[-]"), "{file}");
        assert_eq!(of_type(&events, "run_finished")[0]["open_steps"].as_array().unwrap().last().unwrap(), 2);
    }
}
