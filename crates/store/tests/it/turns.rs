//! The part of a history that a model reads.

use crate::world::{World, append, chat_in, on_both};
use planwright_protocol::message::{ToolCall, ToolOutcome, ToolResult, UserText};
use planwright_protocol::{CallId, ChatId, Envelope, Event, Message};
use planwright_store::{Append, Store, TurnMessages, TurnStart, TurnWindow};
use serde_json::json;

on_both!(the_newest_messages_that_fit_are_read, work_that_was_handed_on_and_is_not_finished_is_read_whole);

fn said(chat: ChatId, bytes: usize) -> Message {
    Message::new(chat, UserText::default(), "x".repeat(bytes))
}

async fn read(store: &Store, chat: ChatId, start: Option<TurnStart>, bytes: u64, bytes_of_one: u64) -> (usize, bool) {
    let TurnMessages { messages, is_cut } = store.turn_messages(chat, start, TurnWindow { bytes, bytes_of_one }).await.unwrap();
    let whole = store.messages(chat).await.unwrap();
    assert_eq!(messages, whole[whole.len() - messages.len()..], "the end, in its order");
    (messages.len(), is_cut)
}

async fn store_all(store: &Store, messages: impl IntoIterator<Item = Message>, chat: &planwright_store::ChatRow) {
    let at = planwright_protocol::Timestamp::now();
    let events: Vec<_> =
        messages.into_iter().zip(1..).map(|(message, seq)| Envelope { event: Event::MessageCreated { message }, seq, at }).collect();
    append(store, chat, Append { events: &events, ..Append::default() }).await.unwrap();
}

async fn the_newest_messages_that_fit_are_read(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    assert_eq!(read(&store, chat.id, None, 1000, 1000).await, (0, false));
    store_all(&store, (0..1200).map(|_| said(chat.id, 1000)), &chat).await;
    let row = store.messages_before(chat.id, None, 1).await.unwrap();
    let metadata = serde_json::to_string(&planwright_protocol::WireMessage::from(&row[0]).metadata).unwrap().len() as u64;
    let one = 1000 + metadata;
    assert_eq!(read(&store, chat.id, None, u64::MAX, u64::MAX).await, (1200, false));
    assert_eq!(read(&store, chat.id, None, 1200 * one, u64::MAX).await, (1200, false));
    assert_eq!(read(&store, chat.id, None, 1200 * one - 1, u64::MAX).await, (1199, true));
    assert_eq!(read(&store, chat.id, None, 7 * one, u64::MAX).await, (7, true));
    assert_eq!(read(&store, chat.id, None, 0, u64::MAX).await, (1, true), "the newest one in any case");
    assert_eq!(read(&store, chat.id, None, 1000, 10).await, (100, true), "long ones count for less");
    let start = Some(TurnStart { seq: 1190, replies: 0, plan_replies: 0, act_replies: 0 });
    assert_eq!(read(&store, chat.id, start, u64::MAX, u64::MAX).await, (11, false));
    assert_eq!(read(&store, chat.id, start, 5 * one, u64::MAX).await, (5, true));
}

async fn work_that_was_handed_on_and_is_not_finished_is_read_whole(world: World) {
    let store = world.open().await;
    for is_finished in [false, true] {
        let chat = chat_in(&store).await;
        let call = ToolCall::new(CallId::generate(), "delegate", json!({}));
        let call_id = call.call_id;
        let handed_on = [said(chat.id, 10), Message::new(chat.id, call, "delegate")];
        let work = (0..50).map(|_| said(chat.id, 1000).in_thread(Some(call_id)));
        let outcome = ToolOutcome::Succeeded(None);
        let result = ToolResult { call_id, tool: "delegate".to_owned(), outcome, question_id: None, body_size: None };
        let end = is_finished.then(|| Message::new(chat.id, result, "done"));
        store_all(&store, handed_on.into_iter().chain(work).chain(end).chain([said(chat.id, 10)]), &chat).await;
        let (read, is_cut) = read(&store, chat.id, None, 3000, u64::MAX).await;
        assert!(if is_finished { read < 6 && is_cut } else { read >= 52 }, "{read} messages, finished: {is_finished}");
    }
}
