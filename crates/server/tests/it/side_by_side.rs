//! Calls of one reply that only read are made side by side.

use crate::{home, write};
use planwright_testkit::client::{last_id, of_type};
use serde_json::{Value, json};

fn read(path: &str) -> Value {
    json!({ "tool": "read", "args": { "path": path } })
}

/// What happened to calls, in order: `began` and `ended`, with their paths.
fn course(events: &[Value]) -> Vec<(&'static str, String)> {
    let path = |message: &Value| message["metadata"]["args"]["path"].as_str().unwrap_or_default().to_owned();
    let changed = events.iter().filter(|event| event["type"] == "message_updated").map(|event| &event["data"]["message"]);
    changed
        .filter_map(|message| match message["metadata"]["status"].as_str()? {
            "running" => Some(("began", path(message))),
            "done" | "failed" => Some(("ended", path(message))),
            _ => None,
        })
        .collect()
}

fn of(kind: &'static str, paths: &[&str]) -> Vec<(&'static str, String)> {
    paths.iter().map(|path| (kind, (*path).to_owned())).collect()
}

#[tokio::test]
async fn calls_that_only_read_overlap_and_their_results_keep_the_order_around_changes() {
    let calls = [
        read("/a"),
        read("/b"),
        read("/none"),
        write("/new", "x"),
        read("/new"),
        read("/c"),
        json!({ "tool": "grep", "args": { "pattern": "x", "path": "/new" } }),
    ];
    let home = home(&json!({ "turns": [{ "calls": calls }, { "text": "Done." }] }));
    for name in ["a", "b", "c"] {
        home.put(name, "text\n");
    }
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    let expected = [
        of("began", &["/a", "/b"]),
        of("ended", &["/a", "/b", "/none"]),
        of("began", &["/new"]),
        of("ended", &["/new"]),
        of("began", &["/new", "/c", "/new"]),
        of("ended", &["/new", "/c", "/new"]),
    ];
    assert_eq!(course(&events), expected.concat());
    let results: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["message_type"] == "tool_result").collect();
    assert_eq!(
        results.iter().map(|result| result["metadata"]["tool"].as_str().unwrap()).collect::<Vec<_>>(),
        ["read", "read", "read", "write", "read", "read", "grep"]
    );
    assert_eq!(results[2]["metadata"]["error"]["code"], "PATH_NOT_FOUND");
    assert!(results[4]["content"].as_str().unwrap().contains('x'), "a read behind a change sees the change");
}

#[tokio::test]
async fn a_question_between_reads_waits_and_the_rest_goes_on_after_it() {
    let home = home(&json!({ "turns": [{ "calls": [read("/a"), read("/.env"), read("/b")] }, { "text": "Done." }] }));
    for name in ["a", "b", ".env"] {
        home.put(name, "text\n");
    }
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    let asking = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    assert_eq!(course(&asking), [of("began", &["/a"]), of("ended", &["/a"])].concat());
    let question = of_type(&asking, "question_pending")[0]["question_id"].clone();
    chat.answer(&question, json!({ "decision": "approve" })).await;
    let events = chat.run_to_end(last_id(&asking)).await;
    assert_eq!(course(&events), [of("began", &["/.env", "/b"]), of("ended", &["/.env", "/b"])].concat());
}
