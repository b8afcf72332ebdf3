//! What the store promises.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::{Author, ChatConfig, ChatId, Envelope, Event, Message, MessageType, Mode, Role, Timestamp};
use planwright_store::{Append, ChatFilter, ChatRow, Store, StoreError};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::path::Path;

async fn chat_in(store: &Store) -> ChatRow {
    let workspace = store.ensure_workspace("w", "/w").await.unwrap();
    let now = Timestamp::from_microsecond(1_700_000_000_000_000).unwrap();
    let chat = ChatRow {
        id: ChatId::generate(),
        workspace_id: workspace.id,
        title: "T".into(),
        config: ChatConfig { role: Role::Planner, plan_file: None },
        state: ChatState::Idle,
        pending: None,
        grants: Vec::new(),
        epoch: 0,
        seq_ceiling: 0,
        usage: Usage::default(),
        run: None,
        created_at: now,
        updated_at: now,
    };
    store.create_chat(&chat).await.unwrap();
    chat
}

fn created(chat: &ChatRow, seq: u64, text: &str) -> Envelope {
    let mut message = Message::new(chat.id, Author::User, MessageType::Text, text);
    message.created_at = chat.created_at;
    Envelope { event: Event::MessageCreated { message }, seq, at: chat.created_at }
}

/// Changes the database as an older version, or somebody with a shell, would have.
async fn tamper(file: &Path, sql: &'static str) {
    let mut connection = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn what_was_stored_is_there_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let store = Store::open(&file).await.unwrap();
    let mut chat = chat_in(&store).await;
    chat.config.plan_file = Some("/plans/a.plan".into());
    chat.usage.input_tokens = 7;
    let events = [created(&chat, 1, "one"), created(&chat, 2, "two")];
    store.append(&chat, Append { events: &events, ..Append::default() }).await.unwrap();
    store.close().await;

    let store = Store::open(&file).await.unwrap();
    assert_eq!(store.chat(chat.id).await.unwrap(), Some(chat.clone()));
    assert_eq!(store.messages(chat.id).await.unwrap().iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(store.events_after(chat.id, 1, 10).await.unwrap(), events[1..]);
}

#[tokio::test]
async fn an_append_is_stored_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("a.db")).await.unwrap();
    let mut chat = chat_in(&store).await;
    let first = [created(&chat, 1, "one")];
    store.append(&chat, Append { events: &first, ..Append::default() }).await.unwrap();
    chat.title = "changed".into();
    // The second event has a number that is taken, so the first one must not be stored either.
    let clash = [created(&chat, 2, "two"), created(&chat, 1, "again")];
    assert!(store.append(&chat, Append { events: &clash, ..Append::default() }).await.is_err());
    assert_eq!(store.messages(chat.id).await.unwrap().len(), 1);
    assert_eq!(store.chat(chat.id).await.unwrap().unwrap().title, "T");
}

#[tokio::test]
async fn a_chat_and_a_message_from_before_roles_load_and_are_saved_with_the_field_on_the_next_update() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let store = Store::open(&file).await.unwrap();
    let chat = chat_in(&store).await;
    store.append(&chat, Append { events: &[created(&chat, 1, "one")], ..Append::default() }).await.unwrap();
    tamper(&file, "update chats set agent_role = null, agent_mode = null; update messages set message_type = null").await;

    let old = store.chat(chat.id).await.unwrap().unwrap();
    assert_eq!(old.config.role, Role::Actor);
    assert_eq!(store.messages(chat.id).await.unwrap()[0].message_type, MessageType::Text);
    let acting = ChatFilter { mode: Some(Mode::Act), ..ChatFilter::default() };
    assert_eq!(store.chats(chat.workspace_id, acting.clone()).await.unwrap().len(), 1);
    store.append(&old, Append::default()).await.unwrap();
    tamper(&file, "update chats set title = 'saved' where agent_role = 'actor' and agent_mode = 'act'").await;
    assert_eq!(store.chats(chat.workspace_id, acting).await.unwrap()[0].title, "saved");
}

#[tokio::test]
async fn a_role_that_nobody_knows_gets_the_least_rights() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let store = Store::open(&file).await.unwrap();
    let chat = chat_in(&store).await;
    tamper(&file, "update chats set agent_role = 'superuser'").await;
    assert_eq!(store.chat(chat.id).await.unwrap().unwrap().config.role, Role::Planner);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    Store::open(&file).await.unwrap().close().await;
    tamper(&file, "pragma user_version = 999").await;
    assert!(matches!(Store::open(&file).await, Err(StoreError::Newer { found: 999, .. })));
}
