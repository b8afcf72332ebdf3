//! Many who listen, and many who do not read: what each takes, and how soon the others hear.

use crate::place::{home, resident};
use planwright_testkit::bench::report;
use planwright_testkit::server::Server;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc;

const CLIENTS: usize = 10_000;
const STALLED: usize = 1_000;
const ROUNDS: usize = 20;
/// What a client that does not read takes from the wire all the same.
const NARROW: u32 = 4096;

pub async fn measure_many() -> bool {
    let clients = CLIENTS.min(room());
    let home = home(&json!({ "turns": [{ "text": "Hello." }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let before = resident(server.process());
    let (heard, mut hearings) = mpsc::unbounded_channel();
    let open = Arc::new(AtomicUsize::new(0));
    for _ in 0..clients {
        tokio::spawn(listen(connect(&server, "/api/v1/events", None).await, open.clone(), heard.clone()));
    }
    while open.load(Ordering::Relaxed) < clients {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let each = (resident(server.process()) - before) * 1024.0 / clients as f64;
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let begun = Instant::now();
        assert!(chat.patch(json!({ "title": format!("Round {round}") })).await.0.is_success());
        for _ in 0..clients {
            times.push(hearings.recv().await.unwrap().duration_since(begun));
        }
    }
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e3;
    println!("an event to {clients} clients, p50 and p99                    {:>8.2}ms {:>8.2}ms", at(50), at(99));
    report(&format!("memory of each of {clients} clients"), each, "KB", 25.0)
}

pub async fn measure_stalled() -> bool {
    let text = vec!["word"; 10_000].join(" ");
    let home = home(&json!({ "turns": [{ "text": text }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let path = format!("/api/v1{}/events", chat.path);
    // Once without them, so that what the chat itself takes is not counted as theirs.
    run(&server, &chat.path).await;
    let before = resident(server.process());
    let mut idle = Vec::new();
    for _ in 0..STALLED {
        idle.push(connect(&server, &path, Some(NARROW)).await);
    }
    for _ in 0..4 {
        run(&server, &chat.path).await;
    }
    let added = resident(server.process()) - before;
    drop(idle);
    report(&format!("memory that {STALLED} stalled clients add, over 40,000 events"), added, "MB", 64.0)
}

/// A whole run, heard to its end by a client that reads.
async fn run(server: &Server, chat: &str) {
    let snapshot = server.get(&format!("{chat}/snapshot")).await;
    let mut stream = server.stream(&format!("{chat}/events"), Some(&snapshot["last_event_id"].to_string())).await;
    assert!(server.post(&format!("{chat}/messages"), json!({ "content": "Speak" })).await.0.is_success());
    stream.until(|event| event["type"] == "run_finished").await;
}

async fn connect(server: &Server, path: &str, window: Option<u32>) -> TcpStream {
    let address = server.base.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    if let Some(window) = window {
        socket.set_recv_buffer_size(window).unwrap();
    }
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\r\n", server.token);
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Tells when each event came.
async fn listen(mut stream: TcpStream, open: Arc<AtomicUsize>, heard: mpsc::UnboundedSender<Instant>) {
    let mut buffer = [0; 2048];
    let mut is_open = false;
    loop {
        let Ok(length @ 1..) = stream.read(&mut buffer).await else { return };
        let text = String::from_utf8_lossy(&buffer[..length]);
        if !is_open && text.contains("retry:") {
            is_open = true;
            open.fetch_add(1, Ordering::Relaxed);
        }
        for _ in text.matches("event: chat_updated") {
            let _ = heard.send(Instant::now());
        }
    }
}

/// How many clients this process and the server can have at once; each needs a descriptor here and one there.
fn room() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(500)
}
