//! Messages on the wire: what the server writes is read back as it was, and nothing that a client sent becomes a record.

mod any;

use any::{any_json, any_message};
use planwright_protocol::message::{UnknownBody, metadata_keys};
use planwright_protocol::{Author, CallId, ChatId, Message, MessageBody, MessageId, MessageType, Notice, WireMessage};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};

fn wire(author: Author, message_type: MessageType, metadata: Value) -> WireMessage {
    WireMessage {
        id: MessageId::generate(),
        chat_id: ChatId::generate(),
        author,
        agent_role: None,
        message_type,
        content: "words".to_owned(),
        metadata: metadata.as_object().unwrap().clone(),
        created_at: "2026-11-16T12:00:00Z".parse().unwrap(),
    }
}

fn unknown(message: &Message) -> Option<&UnknownBody> {
    if let MessageBody::Unknown(unknown) = &message.body { Some(unknown) } else { None }
}

/// The messages of a file with one line each.
fn stored(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/samples/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

proptest! {
    #[test]
    fn every_message_of_the_server_is_the_same_after_the_wire(message in any_message()) {
        let text = serde_json::to_string(&message).unwrap();
        let read: Message = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &message, "{}", text);
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn every_key_that_the_server_writes_is_among_the_known_ones(message in any_message()) {
        for key in WireMessage::from(&message).metadata.keys() {
            prop_assert!(metadata_keys().contains(key.as_str()), "{}", key);
        }
    }

    #[test]
    fn whatever_a_client_sends_stays_what_it_sent(sent in prop::collection::btree_map("[a-z_]{1,12}", any_json(), 1..6)) {
        let sent: Map<String, Value> = sent.into_iter().collect();
        let message = Message::new(ChatId::generate(), planwright_protocol::message::UserText::default(), "hi").with_client_metadata(sent.clone());
        let wire = WireMessage::from(&message);
        prop_assert_eq!(Value::Object(wire.metadata.clone()), json!({ "client": sent }));
        prop_assert_eq!(Message::from(wire), message);
    }

    #[test]
    fn a_record_in_the_users_name_is_nothing_but_the_clients_data(record in any_message()) {
        let forged = WireMessage { author: Author::User, message_type: MessageType::Text, ..WireMessage::from(&record) };
        let is_users = matches!(record.body, MessageBody::UserText(_) | MessageBody::Answer(_));
        let read = Message::from(forged);
        prop_assert!(matches!(read.body, MessageBody::UserText(_) | MessageBody::Answer(_)));
        prop_assert!(is_users || read.body.reply().is_none() && read.body.notice().is_none() && read.body.call_id().is_none());
    }

    #[test]
    fn no_metadata_breaks_the_reading(
        author in prop::sample::select(vec![Author::User, Author::Assistant, Author::Tool, Author::System]),
        kind in prop::sample::select(vec![MessageType::Text, MessageType::Plan, MessageType::Question, MessageType::ToolCall, MessageType::ToolResult]),
        keys in prop::collection::btree_map(prop::sample::select(metadata_keys().into_iter().collect::<Vec<_>>()), any_json(), 0..6),
    ) {
        let metadata: Map<String, Value> = keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let wire = wire(author, kind, Value::Object(metadata.clone()));
        let message = Message::from(wire.clone());
        prop_assert_eq!((message.author, message.content.as_str(), message.message_type()), (author, "words", kind));
        if let Some(unknown) = unknown(&message) {
            prop_assert!(!unknown.reason.is_empty());
            prop_assert_eq!(WireMessage::from(&message), wire, "what can't be read is kept as it is");
        }
    }
}

#[test]
fn rows_that_the_present_version_stored_load_and_are_written_as_they_were() {
    let rows = stored("messages.jsonl");
    for row in &rows {
        let message: Message = serde_json::from_value(row.clone()).unwrap();
        assert_eq!(unknown(&message), None, "{row:#}");
        assert_eq!(&serde_json::to_value(&message).unwrap(), row);
    }
    let keys: BTreeSet<&str> =
        rows.iter().filter_map(|row| row["metadata"].as_object()).flat_map(|metadata| metadata.keys().map(String::as_str)).collect();
    for key in [
        "answered",
        "approval",
        "begins_with",
        "client",
        "commit",
        "compaction",
        "drift",
        "landing",
        "mcp_trouble",
        "plan_changed",
        "question_answer",
        "review",
        "revert",
        "task",
    ] {
        assert!(keys.contains(key), "no sample has {key}: {keys:?}");
    }
}

#[test]
fn rows_of_version_0_1_0_load_and_are_written_as_they_were_but_for_what_clients_sent() {
    let rows = stored("messages-0.1.0.jsonl");
    let mut forged = 0;
    for row in &rows {
        let message: Message = serde_json::from_value(row.clone()).unwrap();
        assert_eq!(unknown(&message), None, "{row:#}");
        let mut written = serde_json::to_value(&message).unwrap();
        if let Some(sent) = message.client.as_ref().and_then(Value::as_object) {
            assert_eq!(message.author, Author::User);
            forged += 1;
            // Back to where version 0.1.0 had it.
            let metadata = written["metadata"].as_object_mut().unwrap();
            metadata.remove("client");
            metadata.extend(sent.clone());
        }
        assert_eq!(&written, row);
    }
    assert!(rows.len() > 50 && forged > 10, "{} rows, {forged} with what a client sent", rows.len());
}

#[test]
fn a_message_without_a_type_loads_as_text() {
    let old = json!({"id": MessageId::generate(), "chat_id": ChatId::generate(), "author": "user", "content": "hi", "created_at": "2024-01-01T00:00:00Z"});
    let message: Message = serde_json::from_value(old).unwrap();
    assert_eq!(message.message_type(), MessageType::Text);
    assert_eq!(serde_json::to_value(&message).unwrap()["message_type"], "text");
}

#[test]
fn keys_that_the_server_never_wrote_there_load_as_the_clients() {
    let of_user = |metadata: Value| Message::from(wire(Author::User, MessageType::Text, metadata));
    let old = of_user(json!({"compaction": true, "user": "ann", "mine": "x", "comment": "y"}));
    assert_eq!(old.client, Some(json!({"compaction": true, "mine": "x", "comment": "y"})), "no comment without an answer");
    assert_eq!(old.body.user_text().unwrap().user.as_deref(), Some("ann"));
    let both = of_user(json!({"client": {"a": 1}, "mine": "x"}));
    assert_eq!(both.client, Some(json!({"mine": "x", "client": {"a": 1}})), "a client of an early version may have sent `client` too");
    assert_eq!(of_user(json!({"client": {"a": 1}})).client, Some(json!({"a": 1})));
    let misformed = json!({"user": 1, "images": "x", "awaits_plan": "yes", "delegation": "x", "question_answer": {"answers": 3}});
    assert_eq!(of_user(misformed.clone()).client, Some(misformed), "the server never wrote such values");
    let result = json!({"call_id": CallId::generate(), "tool": "ls", "success": true, "later": 1});
    let result = Message::from(wire(Author::Tool, MessageType::ToolResult, result));
    assert_eq!((unknown(&result), &result.client), (None, &Some(json!({"later": 1}))));
}

#[test]
fn a_row_that_cannot_be_read_says_why_and_is_no_record() {
    let call = CallId::generate();
    let progress = json!({"from": "planner", "to": "actor", "by": "approval"});
    for (author, kind, metadata, reason) in [
        (Author::Assistant, MessageType::ToolCall, json!({"tool": "rm", "args": {}, "status": "pending"}), "call_id"),
        (Author::Assistant, MessageType::ToolCall, json!({"call_id": call, "tool": "rm", "args": {}, "status": "soon"}), "soon"),
        (Author::Assistant, MessageType::Plan, json!({"plan_file": "/plans/a.plan"}), "plan"),
        (Author::Assistant, MessageType::Text, json!({"reply": "no id"}), "UUID"),
        (Author::Assistant, MessageType::Text, json!({"status": "running"}), "running"),
        (Author::Tool, MessageType::ToolResult, json!({"call_id": call, "tool": "rm", "success": false}), "no error"),
        (Author::System, MessageType::Text, json!({"approval": {"plan_file": "x"}, "mode_change": progress}), "revision"),
        (Author::System, MessageType::Text, json!({"mode_change": "up"}), "mode_change"),
        (Author::System, MessageType::Text, json!({"weather": "fine"}), "weather"),
        (Author::System, MessageType::Text, json!({"task": true, "delegation": "x"}), "delegation"),
        (Author::User, MessageType::ToolCall, json!({}), "User"),
    ] {
        let row = wire(author, kind, metadata);
        let message = Message::from(row.clone());
        let unknown = unknown(&message).unwrap_or_else(|| panic!("{row:?} was read"));
        assert!(unknown.reason.contains(reason), "{:?} does not name {reason}", unknown.reason);
        assert!(message.to_call().is_none() && message.body.notice().is_none() && message.body.tool_result().is_none());
        assert_eq!(WireMessage::from(&message), row);
    }
    let lost = Message::from(wire(Author::Tool, MessageType::ToolResult, json!({"call_id": call})));
    assert_eq!(lost.body.call_id(), Some(call), "so that the call is not made again");
}

#[test]
fn a_copy_names_the_copies_and_leaves_the_clients_data_alone() {
    let (old, new, chat) = (MessageId::generate(), MessageId::generate(), ChatId::generate());
    let mut row = wire(Author::System, MessageType::Text, json!({"cut": {"message_id": old}, "client": {"about": old}}));
    row.id = old;
    let copy = row.copied(chat, &HashMap::from([(old, new)]));
    assert_eq!((copy.id, copy.chat_id), (new, chat));
    assert_eq!(Value::Object(copy.metadata.clone()), json!({"cut": {"message_id": new}, "client": {"about": old}}));
    assert!(matches!(Message::from(copy).body, MessageBody::Notice(Notice::Cut(cut)) if cut.message_id == new));
}
