//! Many chats that stream at once: every client gets every event.

use crate::place::home;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Instant;

const CHATS: usize = 200;
const WORDS: usize = 100;

pub async fn measure() -> bool {
    let text = vec!["word"; WORDS].join(" ");
    let home = home(&json!({ "turns": [{ "text": text, "delay_ms": 5 }], "repeat": true }));
    let server = home.serve().await;
    let mut chats = Vec::new();
    for _ in 0..CHATS {
        chats.push(server.chat(json!({})).await);
    }
    let mut overview = server.stream("/events", None).await;
    let begun = Instant::now();
    let each = futures::future::join_all(chats.iter().map(|chat| async {
        let mut stream = server.stream(&format!("{}/events?after=0", chat.path), None).await;
        chat.say("Speak").await;
        let (mut heard, mut last) = (String::new(), 0);
        while let Some(event) = stream.next().await {
            let seq = event["seq"].as_u64().unwrap();
            assert!(seq > last, "an event came twice, or late");
            last = seq;
            if event["type"] == "text_delta" {
                assert_eq!(event["data"]["offset"], heard.chars().count());
                heard.push_str(event["data"]["text"].as_str().unwrap());
            }
            if event["type"] == "run_finished" {
                break;
            }
        }
        assert_eq!(heard, text);
    }));
    let of_all = async {
        let mut finished = BTreeSet::new();
        while finished.len() < CHATS {
            let event = overview.next().await.unwrap();
            assert_ne!(event["type"], "reset");
            if event["type"] == "run_finished" {
                finished.insert(event["chat_id"].as_str().map(str::to_owned));
            }
        }
    };
    let (_, ()) = tokio::join!(each, of_all);
    let took = begun.elapsed().as_secs_f64();
    let events = CHATS * WORDS;
    println!("{CHATS} chats streaming at once: {events} words in {took:.2} s, none lost, none twice");
    let left: Value = server.get("/workspaces").await;
    left.is_array()
}
