//! What the user's words do: orders, suggestions, and everything else.

use crate::ground::Home;
use crate::{home, plan, write};
use planwright_testkit::client::{ChatClient, last_id, of_type};
use serde_json::{Value, json};

fn script() -> Value {
    json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }, { "text": "Still planning." }, { "text": "Still planning." }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
    })
}

fn settings(home: &Home, text: &str) {
    home.put("../.config/planwright/config.toml", text);
}

async fn planned(chat: &ChatClient<'_>) -> u64 {
    chat.say("Say goodbye").await;
    last_id(&chat.run_to_end(0).await)
}

#[tokio::test]
async fn a_whole_message_order_approves_the_plan_switches_and_starts() {
    for order in ["Go ahead!", "好的，开始执行吧"] {
        let home = home(&script());
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let last = planned(&chat).await;
        chat.say(order).await;
        let events = chat.run_to_end(last).await;
        assert_eq!(of_type(&events, "mode_changed")[0]["by"], "intent", "{order}");
        assert!(home.file("bye.txt").is_some());
    }
}

#[tokio::test]
async fn anything_less_than_an_order_stays_in_plan_mode() {
    for (text, suggested) in
        [("Shall we go ahead?", 0), ("Don't go ahead yet", 0), ("> go ahead", 0), ("Nice. Go ahead and also write docs.", 1)]
    {
        let home = home(&script());
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let last = planned(&chat).await;
        chat.say(text).await;
        let events = chat.run_to_end(last).await;
        assert!(of_type(&events, "mode_changed").is_empty(), "{text}");
        assert_eq!(of_type(&events, "intent_suggested").len(), suggested, "{text}");
        assert_eq!(home.file("bye.txt"), None);
    }
}

#[tokio::test]
async fn the_setting_makes_an_order_a_suggestion_or_nothing() {
    for (setting, suggested) in [("suggest", 1), ("off", 0)] {
        let home = home(&script());
        settings(&home, &format!("[chat]\nintent_switch = \"{setting}\"\n"));
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let last = planned(&chat).await;
        chat.say("Go ahead").await;
        let events = chat.run_to_end(last).await;
        assert!(of_type(&events, "mode_changed").is_empty(), "{setting}");
        assert_eq!(of_type(&events, "intent_suggested").len(), suggested, "{setting}");
    }
}

#[tokio::test]
async fn an_order_without_a_plan_drafts_one_and_asks_for_its_approval() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("直接实现").await;
    let events = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    assert_eq!(of_type(&events, "question_pending")[0]["kind"], "plan_approval");
    let notes: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["author"] == "system").collect();
    assert!(notes.len() == 1 && notes[0]["content"].as_str().unwrap().contains("no plan"), "{notes:?}");
    assert_eq!((home.file("bye.txt"), &chat.show().await["config"]["mode"]), (None, &json!("plan")));
}
