//! Searching all chats.

use crate::world::{World, append, chat_in, on_both};
use planwright_protocol::message::{ToolOutcome, ToolResult, UserText};
use planwright_protocol::{CallId, Envelope, Event, Message, Timestamp};
use planwright_store::Append;

on_both!(what_was_said_is_found_newest_first_however_far_back_it_is);

async fn what_was_said_is_found_newest_first_however_far_back_it_is(world: World) {
    let store = world.open().await;
    let (chat, other) = (chat_in(&store).await, chat_in(&store).await);
    let begin = Timestamp::now().as_microsecond() - 10_000_000;
    let at = |micros: i64| Timestamp::from_microsecond(begin + micros).unwrap();
    let said = |chat: &planwright_store::ChatRow, text: String, micros: i64| Message {
        created_at: at(micros),
        ..Message::new(chat.id, UserText::default(), text)
    };
    // Several messages with the same time, also across the ends of steps.
    let mut messages: Vec<Message> = (0..4500).map(|number| said(&chat, format!("word {number}"), number / 7)).collect();
    "An 100% OLD_ needle".clone_into(&mut messages[3].content);
    "the middle NEEDLE".clone_into(&mut messages[2100].content);
    let outcome = ToolOutcome::Succeeded(None);
    let result = ToolResult { call_id: CallId::generate(), tool: "read".to_owned(), outcome, question_id: None, body_size: None };
    messages.push(Message::new(chat.id, result, "a needle in a file"));
    let of_other = vec![said(&other, "needle of another chat".to_owned(), 5000)];
    for (row, messages) in [(&chat, messages), (&other, of_other)] {
        let events: Vec<_> = messages
            .into_iter()
            .zip(1..)
            .map(|(message, seq)| Envelope { event: Event::MessageCreated { message }, seq, at: at(0) })
            .collect();
        append(&store, row, Append { events: &events, ..Append::default() }).await.unwrap();
    }
    let found = async |text: &str, limit| {
        let found = store.search_all(None, text, limit).await.unwrap();
        found.into_iter().map(|found| found.message.content).collect::<Vec<_>>()
    };
    let all = ["needle of another chat", "the middle NEEDLE", "An 100% OLD_ needle"];
    assert_eq!(found("Needle", 10).await, all);
    assert_eq!(found("needle", 2).await, all[..2]);
    assert_eq!(found("needle", 1).await, all[..1]);
    assert_eq!(found("100% old_", 10).await, all[2..]);
    assert_eq!(found("nothing of the kind", 10).await, <[&str; 0]>::default());
    assert_eq!(found("word", 5000).await.len(), 4498, "each once");
}
