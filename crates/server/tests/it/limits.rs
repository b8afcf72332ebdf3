//! Runs that would go on for ever, or cost too much.

use crate::ground::Home;
use crate::{home, write};
use planwright_testkit::client::{last_id, of_type};
use serde_json::{Value, json};

fn read(path: &str) -> Value {
    json!({ "tool": "read", "args": { "path": path } })
}

fn configure(home: &Home, text: &str) {
    let folder = home.workspace().with_file_name(".config").join("planwright");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

fn codes(events: &[Value]) -> Vec<String> {
    of_type(events, "tool_result").iter().map(|result| result["error"]["code"].as_str().unwrap_or("done").to_owned()).collect()
}

#[tokio::test]
async fn the_same_failing_call_again_and_again_is_told_so_and_ends_the_run() {
    let home = home(&json!({ "turns": [{ "text": "Again.", "calls": [read("/nowhere.txt")] }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    let (looping, missing) = ("LOOP_DETECTED", "PATH_NOT_FOUND");
    assert_eq!(codes(&events), [missing, missing, looping, looping, looping, looping]);
    let third = of_type(&events, "tool_result")[2].clone();
    let told = third["error"]["message"].as_str().unwrap();
    assert!(told.contains("3 times") && told.contains("/nowhere.txt does not exist") && told.contains("something else"), "{told}");
    let finished = of_type(&events, "run_finished")[0].clone();
    assert_eq!((&finished["outcome"], &finished["error"]["code"]), (&json!("failed"), &json!(looping)));
    assert_eq!(chat.show().await["state"], "failed");

    chat.say("Try once more").await;
    let again = chat.run_to_end(last_id(&events)).await;
    assert_eq!(codes(&again)[..3], [missing, missing, looping], "the user's word begins a new row");
}

#[tokio::test]
async fn calls_that_differ_or_succeed_in_between_are_no_loop() {
    let (a, b) = (json!({ "calls": [read("/a.txt")] }), json!({ "calls": [read("/b.txt")] }));
    let works = json!({ "calls": [write("/c.txt", "x")] });
    let home = home(&json!({ "turns": [a, a, b, a, a, works, a, a, b, { "text": "Done." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    assert!(!codes(&events).contains(&"LOOP_DETECTED".to_owned()), "{:?}", codes(&events));
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done");
}

#[tokio::test]
async fn a_chat_that_has_cost_its_limit_ends_and_says_how_to_raise_it() {
    let turn = json!({ "text": "Working.", "calls": [read("/a.txt")], "usage": { "input_tokens": 10, "output_tokens": 5, "cost": 0.4 } });
    let home = home(&json!({ "turns": [turn], "repeat": true }));
    home.put("a.txt", "a\n");
    configure(&home, "[limits]\ncost = 1.0\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    let finished = of_type(&events, "run_finished")[0].clone();
    assert_eq!((&finished["outcome"], &finished["error"]["code"]), (&json!("failed"), &json!("LIMIT_REACHED")));
    let message = finished["error"]["message"].as_str().unwrap();
    assert!(message.contains("1.20") && message.contains("[limits]") && message.contains("`cost`"), "{message}");
    let usage = chat.show().await["usage"].clone();
    assert_eq!((&usage["input_tokens"], format!("{:.2}", usage["cost"].as_f64().unwrap())), (&json!(30), "1.20".to_owned()));
    chat.say("Go on").await;
    let again = chat.run_to_end(last_id(&events)).await;
    assert_eq!(of_type(&again, "run_finished")[0]["error"]["code"], "LIMIT_REACHED", "more words cost as much");

    let path = chat.path.clone();
    assert!(server.terminate().await);
    configure(&home, "[limits]\ncost = inf\nturns = 2\n");
    let server = home.serve().await;
    let chat = server.reopened(&path);
    chat.say("Now").await;
    let finished = chat.run_to_end(last_id(&again)).await;
    let error = of_type(&finished, "run_finished")[0]["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("2 requests") && error["message"].as_str().unwrap().contains("`turns`"), "{error}");
}
