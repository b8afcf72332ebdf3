//! The model that reads what the rules can't: asked rarely, beside the run, and able to suggest only.

use crate::{home, plan, write};
use planwright_testkit::server::{ChatClient, Home, last_id};
use serde_json::{Value, json};
use std::process::Stdio;

/// A message that the rules can't read: neither an order nor none.
const UNCLEAR: &str = "Yes";
/// The tokens that the classifier's reply reports, by which a test recognises it.
const COST: f64 = 0.25;

fn script(intent: &str, delay_ms: u64) -> Value {
    json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }, { "text": "Still planning." }, { "text": "Still planning." }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
        "intent": { "text": intent, "delay_ms": delay_ms, "usage": { "input_tokens": 90, "output_tokens": 3, "cost": COST } },
    })
}

fn configured(intent: &str, delay_ms: u64) -> Home {
    let home = home(&script(intent, delay_ms));
    home.put_config("[chat]\nintent_classifier = \"model\"\n");
    home
}

async fn planned(chat: &ChatClient<'_>) -> u64 {
    chat.say("Say goodbye").await;
    last_id(&chat.run_to_end(0).await)
}

fn stays(home: &Home, shown: &Value) {
    assert_eq!((home.file("bye.txt"), &shown["config"]["mode"]), (None, &json!("plan")));
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_not_waited_for() {
    let home = configured("EXECUTE_NOW", 600_000);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLANWRIGHT_LOG", "planwright=info").stderr(Stdio::piped());
    let (server, mut log) = home.serve_logged(command).await;
    let chat = server.chat(json!({})).await;
    let last = planned(&chat).await;
    chat.say(UNCLEAR).await;
    chat.run_to_end(last).await;
    let told = async { while !log.next_line().await.unwrap().unwrap().contains("the intent classifier took too long") {} };
    tokio::time::timeout(planwright_testkit::PATIENCE, told).await.unwrap();
    stays(&home, &chat.show().await);
}
