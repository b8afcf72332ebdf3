//! A server of the benchmark's own, and what its process takes.

use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::message::{AssistantText, UserText};
use planwright_protocol::{ChatConfig, ChatId, Envelope, Event, Message, MessageBody, Mode, Timestamp};
use planwright_store::{Append, ChatRow, Store};
use planwright_testkit::server::Home;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

pub const BINARY: &str = env!("CARGO_BIN_EXE_planwright");

pub fn home(script: &Value) -> Home {
    Home::new(BINARY, script)
}

fn data(home: &Home) -> PathBuf {
    home.workspace().parent().unwrap().join("data")
}

/// The database that the home's servers will use.
pub async fn store(home: &Home) -> Store {
    std::fs::create_dir_all(data(home)).unwrap();
    Store::open(&data(home).join("planwright.db")).await.unwrap()
}

/// A chat with so many messages, stored as a session would have.
pub async fn chat_with(store: &Store, home: &Home, messages: u64) -> ChatRow {
    let path = std::fs::canonicalize(home.workspace()).unwrap();
    let workspace = store.ensure_workspace("workspace", path.to_str().unwrap()).await.unwrap();
    let now = Timestamp::now();
    let mut chat = ChatRow {
        id: ChatId::generate(),
        version: 0,
        workspace_id: workspace.id,
        title: "A chat".into(),
        config: ChatConfig { role: Mode::Plan.default_role(), plan_file: None },
        state: ChatState::Idle,
        pending: None,
        grants: Vec::new(),
        progress: None,
        epoch: 0,
        seq_ceiling: 0,
        usage: Usage::default(),
        run: None,
        turn_start: None,
        marks: planwright_store::Marks::default(),
        created_at: now,
        updated_at: now,
    };
    store.create_chat(&chat).await.unwrap();
    let mut seq = 0;
    while seq < messages {
        let batch: Vec<Envelope> = (seq + 1..=messages.min(seq + 1000))
            .map(|seq| {
                let body: MessageBody = if seq % 2 == 1 { UserText::default().into() } else { AssistantText::default().into() };
                let text = format!("Message {seq}, which has some words in it, as messages have. ").repeat(4);
                Envelope { event: Event::MessageCreated { message: Message::new(chat.id, body, text) }, seq, at: now }
            })
            .collect();
        seq += batch.len() as u64;
        chat.seq_ceiling = seq;
        chat.version = store.append(&chat, Append { events: &batch, ..Append::default() }).await.unwrap();
    }
    chat
}

/// The resident memory of a process, in MB.
pub fn resident(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

/// The time within which so many of 100 are, in ms.
pub fn percentile_ms(mut times: Vec<Duration>, percent: usize) -> f64 {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1e3
}
