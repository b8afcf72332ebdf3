//! Whole chats while the PostgreSQL server is away.

use crate::home;
use planwright_testkit::postgres::OwnServer;
use planwright_testkit::server::{ChatClient, Server};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const CHATS: usize = 6;
const CALLS: usize = 8;

async fn is_ready(server: &Server) -> bool {
    let answer = server.client().get(format!("{}/readyz", server.base)).send().await;
    answer.is_ok_and(|answer| answer.status() == StatusCode::OK)
}

/// The chat, as soon as the server can tell.
async fn shown(chat: &ChatClient<'_>) -> Option<Value> {
    let (status, body) = chat.server.attempt(Method::GET, &chat.path, None).await?;
    (status == StatusCode::OK).then_some(body)
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test]
async fn runs_go_on_by_themselves_when_postgres_was_away_and_nothing_is_lost_or_doubled() {
    let call = |number: usize| json!({ "tool": "write", "args": { "path": format!("/notes/{number}.txt"), "content": "written\n" } });
    let mut turns: Vec<Value> =
        (0..CALLS).map(|number| json!({ "text": "Working on it", "delay_ms": 60, "calls": [call(number)] })).collect();
    turns.push(json!({ "text": "All done." }));
    let home = home(&json!({ "act": turns }));
    let postgres = OwnServer::start();
    let database = postgres.database();
    let server = home.serve_command(home.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url])).await;
    let mut chats = Vec::new();
    for _ in 0..CHATS {
        let chat = server.chat(json!({ "agent_role": "actor" })).await;
        chat.say("Write the notes").await;
        chats.push(chat);
    }
    for calls in [1, 4] {
        while chats[0].messages().await.iter().filter(|message| message["message_type"] == "tool_result").count() < calls {
            pause().await;
        }
        postgres.stop();
        while is_ready(&server).await {
            pause().await;
        }
        postgres.start_again();
        while !is_ready(&server).await {
            pause().await;
        }
    }
    for chat in &chats {
        let ended = loop {
            let state = shown(chat).await.map(|chat| chat["state"].clone());
            match state {
                Some(state) if state == "idle" || state == "failed" => break state,
                Some(_) | None => pause().await,
            }
        };
        let messages = chat.messages().await;
        assert_eq!(ended, "idle", "{messages:#?}");
        check(&messages);
        // The numbers of the events grow, and none is there twice.
        let events = chat.events(0, |event| event["type"] == "run_finished").await;
        let numbers: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    }
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Once more").await;
    chat.run_to_end(0).await;
}

/// Every call was made once and has one result, and what was said stands there once.
fn check(messages: &[Value]) {
    let count = |wanted: &dyn Fn(&Value) -> bool| messages.iter().filter(|message| wanted(message)).count();
    assert_eq!(count(&|message| message["author"] == "user"), 1);
    assert_eq!(count(&|message| message["content"] == "All done."), 1, "{messages:#?}");
    let mut calls: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for message in messages {
        let id = message["metadata"]["call_id"].as_str().unwrap_or_default().to_owned();
        match message["message_type"].as_str() {
            Some("tool_call") => calls.entry(id).or_default().0 += 1,
            Some("tool_result") => calls.entry(id).or_default().1 += 1,
            _ => {}
        }
    }
    assert_eq!(calls.len(), CALLS, "{messages:#?}");
    assert!(calls.values().all(|found| *found == (1, 1)), "{calls:?}");
}
