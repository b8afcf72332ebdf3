//! The event log of a chat.

use crate::world::{World, append, chat_in, created, envelopes, on_both};
use planwright_protocol::event::ToolResponse;
use planwright_protocol::message::{ToolCall, ToolOutcome, ToolResult};
use planwright_protocol::{CallId, Envelope, ErrorCode, Event, Message, Problem};
use planwright_store::{Append, ChatRow};
use serde_json::{Value, json};

on_both!(
    events_are_read_in_order_and_in_pieces,
    the_newest_event_of_a_name_is_found_at_the_end_of_a_chat_however_its_numbers_jump,
    a_message_is_stored_once_and_its_events_are_put_together_when_they_are_read,
    a_call_and_its_result_are_stored_once_and_told_as_they_were,
);

async fn events_are_read_in_order_and_in_pieces(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let events = [created(&chat, 1, "one"), created(&chat, 5000, "two"), created(&chat, 5001, "three")];
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    assert_eq!(envelopes(&store, &chat, 0, 2).await, events[..2]);
    assert_eq!(envelopes(&store, &chat, 5000, 2).await, events[2..]);
    assert_eq!(envelopes(&store, &chat, u64::MAX, 2).await, []);
    for (after, most, counted) in [(0, 10, 3), (0, 2, 2), (1, 10, 2), (5001, 10, 0)] {
        assert_eq!(store.count_events_after(chat.id, after, most).await.unwrap(), counted, "after {after}, at most {most}");
    }
}

async fn the_newest_event_of_a_name_is_found_at_the_end_of_a_chat_however_its_numbers_jump(world: World) {
    let store = world.open().await;
    let (chat, other) = (chat_in(&store).await, chat_in(&store).await);
    let found = async |chat: &ChatRow| store.newest_named(chat.id, "message_created").await.unwrap().map(|event| event.seq);
    assert_eq!(found(&chat).await, None);
    let mut events = vec![created(&chat, 1, "one"), created(&chat, 2, "two")];
    events.extend((5000..5199).map(|seq| Envelope { event: Event::ChatDeleted {}, seq, at: chat.created_at }));
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    assert_eq!((found(&chat).await, found(&other).await), (Some(2), None));
    let one_more = [Envelope { event: Event::ChatDeleted {}, seq: 9000, at: chat.created_at }];
    append(&store, &chat, Append { events: &one_more, ..Append::default() }).await.unwrap();
    assert_eq!(found(&chat).await, None, "further back nobody looks");
}

async fn a_message_is_stored_once_and_its_events_are_put_together_when_they_are_read(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let first = [created(&chat, 1, "a text that is long"), created(&chat, 2, "another")];
    append(&store, &chat, Append { events: &first, ..Append::default() }).await.unwrap();
    assert_eq!(envelopes(&store, &chat, 0, 10).await, first);
    assert!(world.look("select envelope from events").await.iter().all(|stored| !stored.contains("text")));
    // Old rows have the complete envelope.
    let whole = serde_json::to_string(&first[0]).unwrap().replace('\'', "''");
    world.tamper(format!("update events set message_id = null, envelope = '{whole}' where seq = 1")).await;
    assert_eq!(envelopes(&store, &chat, 0, 10).await, first);

    let Event::MessageCreated { message } = &first[1].event else { unreachable!("just made") };
    let changed = Envelope {
        event: Event::MessageUpdated { message: Message { content: "newer".into(), ..message.clone() } },
        seq: 3,
        at: chat.created_at,
    };
    append(&store, &chat, Append { events: std::slice::from_ref(&changed), ..Append::default() }).await.unwrap();
    let read = envelopes(&store, &chat, 1, 10).await;
    let Event::MessageCreated { message: earlier } = &read[0].event else { unreachable!("{read:?}") };
    assert_eq!((earlier.content.as_str(), &read[1]), ("newer", &changed));

    let gone = Envelope { event: Event::MessageDeleted { message_id: message.id }, seq: 4, at: chat.created_at };
    append(&store, &chat, Append { events: std::slice::from_ref(&gone), ..Append::default() }).await.unwrap();
    let read = envelopes(&store, &chat, 1, 10).await;
    assert!(read.iter().all(|envelope| envelope.event == gone.event), "{read:?}");
    assert_eq!(read.iter().map(|envelope| envelope.seq).collect::<Vec<_>>(), [2, 3, 4]);
}

async fn a_call_and_its_result_are_stored_once_and_told_as_they_were(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let succeeded = |facts: Value| ToolOutcome::Succeeded(facts.as_object().cloned());
    let failed = Problem::new(ErrorCode::Conflict, "a long text of an error");
    // The text and the facts of a result, and the result in the event.
    let results = [
        (
            "a long text",
            succeeded(json!({"exit_code": 0, "lines": [1, 2]})),
            Ok(json!({"exit_code": 0, "lines": [1, 2], "output": "a long text"})),
        ),
        ("a long text", succeeded(json!({})), Ok(json!({"output": "a long text"}))),
        ("", succeeded(json!({"found": 3})), Ok(json!({"found": 3, "output": ""}))),
        (r#"{"found":"a long text"}"#, succeeded(json!({"found": "a long text"})), Ok(json!({"found": "a long text"}))),
        (r#"["a long text"]"#, succeeded(Value::Null), Ok(json!(["a long text"]))),
        ("CONFLICT: a long text of an error", ToolOutcome::Failed(failed.clone()), Err(failed)),
    ];
    let mut events = Vec::new();
    for (text, outcome, told) in results {
        let call = ToolCall::new(CallId::generate(), "read", json!({"path": "/a", "note": "a long text"}));
        let call_id = call.call_id;
        let told_call = Event::ToolCall { call_id, tool: call.tool.clone(), args: call.args.clone() };
        events.extend([Event::MessageCreated { message: Message::new(chat.id, call, "read") }, told_call]);
        let result = ToolResult { call_id, tool: "read".to_owned(), outcome, question_id: None, body_size: None };
        let message = Message::new(chat.id, result, text);
        events.extend([Event::MessageCreated { message }, Event::ToolResult { call_id, result: ToolResponse::from(told) }]);
    }
    let events: Vec<_> = events.into_iter().zip(1..).map(|(event, seq)| Envelope { event, seq, at: chat.created_at }).collect();
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    assert_eq!(envelopes(&store, &chat, 0, 100).await, events);
    let raw = store.stored_after(chat.id, 0, 100).await.unwrap();
    assert!(raw.iter().zip(&events).all(|(read, event)| read.envelope == serde_json::to_string(event).unwrap()), "to the byte");
    assert!(world.look("select envelope from events").await.iter().all(|stored| !stored.contains("text")));

    // An event without its message, and one with other content, are stored completely, as in earlier versions.
    let alone = Event::ToolCall { call_id: CallId::generate(), tool: "ls".to_owned(), args: json!({}) };
    let call = ToolCall::new(CallId::generate(), "ls", json!({"path": "/"}));
    let other = Event::ToolCall { call_id: call.call_id, tool: "ls".to_owned(), args: json!({"path": "/b"}) };
    let more = [alone, Event::MessageCreated { message: Message::new(chat.id, call, "ls") }, other];
    let more: Vec<_> = more.into_iter().zip(100..).map(|(event, seq)| Envelope { event, seq, at: chat.created_at }).collect();
    append(&store, &chat, Append { events: &more, ..Append::default() }).await.unwrap();
    assert_eq!(envelopes(&store, &chat, 99, 10).await, more);
}
