//! Many chats that call tools at once: turns in a second, how long others wait meanwhile, and memory for each chat.

use crate::place::{home, percentile_ms, resident};
use futures::StreamExt as _;
use planwright_testkit::bench::report;
use planwright_testkit::postgres::Database;
use planwright_testkit::server::{Home, Server};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many calls each chat makes.
const CALLS: usize = 6;
/// How many clients speak at the same time; the server accepts only so many connections from one address.
const CONNECTIONS: usize = 100;
/// The bars for memory and waiting.
const KB_PER_CHAT: f64 = 200.0;
const GET_MS: f64 = 50.0;

pub async fn measure() -> bool {
    let mut is_within = true;
    for chats in [200, 1000] {
        let home = home(&script());
        is_within &= measured("SQLite", &home.serve().await, chats).await;
        let (home, database) = (self::home(&script()), Database::fresh());
        is_within &= measured("PostgreSQL", &serve_on(&home, &database).await, chats).await;
    }
    is_within
}

async fn serve_on(home: &Home, database: &Database) -> Server {
    home.serve_command(home.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url])).await
}

fn script() -> Value {
    let call = |number: usize| json!({ "calls": [{ "tool": "ls", "args": { "path": "/", "depth": number } }] });
    let mut turns: Vec<Value> = (1..=CALLS).map(call).collect();
    turns.push(json!({ "text": "Done." }));
    json!({ "turns": turns })
}

async fn measured(database: &str, server: &Server, count: usize) -> bool {
    let mut chats = Vec::with_capacity(count);
    for _ in 0..count {
        chats.push(server.chat(json!({})).await);
    }
    let watched = server.chat(json!({})).await;
    let before = resident(server.process());
    let (over, begun) = (AtomicBool::new(false), Instant::now());
    let running = async {
        futures::stream::iter(&chats).for_each_concurrent(CONNECTIONS, async |chat| drop(chat.say("Look around").await)).await;
        for chat in &chats {
            chat.run_to_end(0).await;
        }
        over.store(true, Ordering::Relaxed);
        begun.elapsed().as_secs_f64()
    };
    let watching = async {
        let (mut times, mut most) = (Vec::new(), before);
        while !over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            watched.show().await;
            times.push(begun.elapsed());
            most = most.max(resident(server.process()));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        (times, most)
    };
    let (took, (times, most)) = tokio::join!(running, watching);
    let turns = (count * CALLS) as f64 / took;
    let (waits, memory) = (percentile_ms(times, 99), (most - before).max(0.0) * 1024.0 / count as f64);
    println!("{count} chats at once on {database}: {turns:.0} tool turns a second");
    report("GET chat meanwhile, 99 of 100 within", waits, "ms", GET_MS) & report("memory for each running chat", memory, "KB", KB_PER_CHAT)
}
