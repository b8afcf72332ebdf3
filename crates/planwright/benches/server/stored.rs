//! The snapshot of a chat costs the same however long the chat is.

use crate::place::{chat_with, home, store};
use planwright_testkit::bench::{median_ms, report};
use serde_json::json;
use std::time::Instant;

const ROUNDS: usize = 200;

pub async fn measure() -> bool {
    let home = home(&json!({ "turns": [{ "text": "Hello." }], "repeat": true }));
    let store = store(&home).await;
    let (short, long) = (chat_with(&store, &home, 100).await, chat_with(&store, &home, 100_000).await);
    store.close().await;
    let server = home.serve().await;
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (chat, times) in [&short, &long].into_iter().zip(&mut times) {
            let path = format!("/workspaces/{}/chats/{}/snapshot", chat.workspace_id, chat.id);
            let begun = Instant::now();
            let snapshot = server.get(&path).await;
            if round > 0 {
                times.push(begun.elapsed());
            }
            assert_eq!(snapshot["messages"].as_array().unwrap().len(), 50);
        }
    }
    let [short, long] = times.map(median_ms);
    println!("snapshot of a chat with 100 messages; with 100,000         {short:>8.2}ms {long:>8.2}ms");
    report("a snapshot with 100,000 messages, against one with 100", long / short, "", 2.0)
}
