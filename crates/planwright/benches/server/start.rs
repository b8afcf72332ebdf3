//! From the start of the process to the line that says it listens, with 1,000 chats stored; and what it takes then.

use crate::place::{chat_with, home, resident, store};
use planwright_testkit::bench::{median_ms, report};
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

const CHATS: usize = 1_000;
const ROUNDS: usize = 15;

pub async fn measure() -> bool {
    let home = home(&json!({ "turns": [{ "text": "Hello." }], "repeat": true }));
    let store = store(&home).await;
    for _ in 0..CHATS {
        chat_with(&store, &home, 4).await;
    }
    store.close().await;
    let (mut ours, mut nodes, mut memory) = (Vec::new(), Vec::new(), 0.0);
    // By turns, so that what else the machine does falls on both; the first of each finds nothing in any cache.
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        let server = home.serve().await;
        let ready = begun.elapsed();
        server.get("/workspaces").await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        memory = resident(server.process());
        assert!(server.terminate().await);
        let begun = Instant::now();
        assert!(Command::new("node").args(["-e", "0"]).status().unwrap().success());
        if round > 0 {
            nodes.push(begun.elapsed());
            ours.push(ready);
        }
    }
    let (ours, node) = (median_ms(ours), median_ms(nodes));
    println!("start of node; of the server with {CHATS} chats                {node:>8.2}ms {ours:>8.2}ms");
    let fast = report("ready with 1,000 chats stored, against the start of node", ours / node, "", 0.8);
    report("memory when idle, with 1,000 chats stored", memory, "MB", 40.0) && fast
}
