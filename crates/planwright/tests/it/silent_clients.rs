//! Clients that open connections and do not read, or do not write, cost little and keep nobody else out.

use crate::home;
use planwright_testkit::server::{Home, Server, last_id};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn connect(server: &Server, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.base.trim_start_matches("http://")).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

fn head(server: &Server, first: &str, more: &str) -> String {
    let host = server.base.trim_start_matches("http://");
    format!("{first} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n{more}\r\n", server.token)
}

#[tokio::test]
async fn silent_streams_on_a_chat_with_large_messages_hold_little_memory_and_others_are_served() {
    const STREAMS: usize = 300;
    let home = home(&json!({ "turns": [{ "text": "", "error": "PROVIDER_REJECTED" }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let mut seen = 0;
    for _ in 0..6 {
        chat.say(&"x".repeat(1_900_000)).await;
        seen = last_id(&chat.run_to_end(seen).await);
    }
    let before = server.resident();
    let mut silent = Vec::new();
    for number in 0..STREAMS {
        // Some begin with the first event, some later, some listen to all chats.
        let path = match number % 3 {
            0 => format!("/api/v1{}/events", chat.path),
            1 => format!("/api/v1{}/events?after={}", chat.path, 1 + number % 12),
            _ => format!("/api/v1/events?chats={}@{}", chat.path.rsplit('/').next().unwrap(), 1 + number % 7),
        };
        silent.push(connect(&server, &head(&server, &format!("GET {path}"), "")).await);
    }
    // All of them have been answered, so each has what it will ever hold.
    for stream in &silent {
        let mut byte = [0];
        tokio::time::timeout(planwright_testkit::PATIENCE, stream.peek(&mut byte)).await.unwrap().unwrap();
    }
    let live = tokio::spawn({
        let (client, url, token) = (server.client().clone(), format!("{}/api/v1{}/events", server.base, chat.path), server.token.clone());
        async move {
            let mut response = client.get(url).bearer_auth(token).header("last-event-id", seen.to_string()).send().await.unwrap();
            let mut text = String::new();
            while !text.contains("run_finished") {
                text.push_str(&String::from_utf8_lossy(&response.chunk().await.unwrap().unwrap()));
            }
        }
    });
    assert_eq!(server.get("/me").await["auth"], "token");
    chat.say("Are you there?").await;
    tokio::time::timeout(planwright_testkit::PATIENCE, live).await.unwrap().unwrap();
    let held = server.peak().saturating_sub(before);
    assert!(held < 400 << 20, "{STREAMS} streams hold {} MiB", held >> 20);
    // Whoever does not read is let go, and can come back.
    let mut first = silent.swap_remove(0);
    let mut text = Vec::new();
    tokio::time::timeout(planwright_testkit::PATIENCE, first.read_to_end(&mut text)).await.unwrap().ok();
    assert!(text.starts_with(b"HTTP/1.1 200"));
}

/// A server that can have so many descriptors and no more.
async fn limited(home: &Home, soft: u32, hard: u32) -> Server {
    let binary = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let binary = binary.as_std();
    let mut command = home.command(&[]);
    command = {
        let mut shell = tokio::process::Command::new("sh");
        let script = format!("ulimit -S -n {soft} && ulimit -H -n {hard} && exec \"$0\" \"$@\"");
        shell.arg("-c").arg(script).arg(binary.get_program()).args(binary.get_args()).current_dir(home.workspace()).env_clear();
        shell.envs(command.as_std().get_envs().filter_map(|(name, value)| Some((name, value?)))).kill_on_drop(true);
        shell
    };
    home.serve_command(command).await
}

#[tokio::test]
async fn requests_that_never_end_do_not_make_the_server_deaf() {
    let home = home(&json!({ "turns": [{ "text": "Yes." }], "repeat": true }));
    let server = limited(&home, 400, 400).await;
    let chat = server.chat(json!({})).await;
    let path = format!("POST /api/v1{}/messages", chat.path);
    let body = head(&server, &path, "content-type: application/json\r\ncontent-length: 100000\r\n");
    let half = format!("{body}{{\"content\": \"{}", "x".repeat(1000));
    let mut held = Vec::new();
    for (request, count) in [(half.as_str(), 450), ("GET /api/v1/me HTTP/1.1\r\nhost:", 200), ("", 200)] {
        for _ in 0..count {
            held.push(connect(&server, request).await);
        }
        // By a connection of its own. The body of a request may take longer than this.
        let answer = reqwest::Client::new().get(format!("{}/api/v1/me", server.base)).bearer_auth(&server.token).send();
        let answer = tokio::time::timeout(Duration::from_secs(40), answer).await.expect("the server is deaf").unwrap();
        assert!(answer.status().is_success(), "after {} connections", held.len());
    }
    chat.say("Are you there?").await;
    chat.run_to_end(0).await;
}

#[tokio::test]
async fn large_bodies_that_never_end_hold_little_memory() {
    let home = home(&json!({ "turns": [{ "text": "Yes." }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let before = server.resident();
    let (chats, _) = chat.path.rsplit_once('/').unwrap();
    let length = "content-type: application/json\r\ncontent-length: 2000000\r\n";
    let heads = [
        head(&server, &format!("POST /api/v1{}/messages", chat.path), length),
        // Read before its handler reads it, because of the key.
        head(&server, &format!("POST /api/v1{chats}"), &format!("{length}idempotency-key: one\r\n")),
    ];
    let halves = heads.map(|head| format!("{head}{{\"content\": \"{}", "x".repeat(1_500_000)));
    let mut held = Vec::new();
    for number in 0..200 {
        let half = &halves[usize::from(number >= 60)];
        let mut stream = TcpStream::connect(server.base.trim_start_matches("http://")).await.unwrap();
        // Refused ones may be closed before all is written.
        let _ = tokio::time::timeout(Duration::from_secs(5), stream.write_all(half.as_bytes())).await;
        held.push(stream);
    }
    chat.say("Are you there?").await;
    chat.run_to_end(0).await;
    let grown = server.peak().saturating_sub(before);
    assert!(grown < 230 << 20, "{} MiB", grown >> 20);
}

#[tokio::test]
async fn the_server_takes_the_descriptors_it_may_have_and_leaves_no_core_dump() {
    let home = home(&json!({ "turns": [{ "text": "Yes." }] }));
    let server = limited(&home, 300, 900).await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.process())).unwrap();
    let limit = |name: &str| {
        limits.lines().find_map(|line| line.strip_prefix(name)).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(limit("Max open files")[..2], ["900", "900"], "{limits}");
    assert_eq!(limit("Max core file size")[..2], ["0", "0"], "{limits}");
}
