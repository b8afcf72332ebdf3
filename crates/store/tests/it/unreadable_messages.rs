//! Rows that can't be parsed as messages.

use crate::world::{World, append, chat_in, created, on_both};
use planwright_protocol::{MessageBody, MessageType};
use planwright_store::Append;

on_both!(a_message_that_cannot_be_read_is_shown_as_it_is_and_kept,);

async fn a_message_that_cannot_be_read_is_shown_as_it_is_and_kept(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let events = [created(&chat, 1, "one"), created(&chat, 2, "two"), created(&chat, 3, "three")];
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    world.tamper("update messages set message_type = 'dance' where content = 'one'").await;
    world.tamper("update messages set author = 'system', metadata = '{\"approval\": 1}' where content = 'two'").await;
    world.tamper("update messages set metadata = 'no json' where content = 'three'").await;

    let messages = store.messages(chat.id).await.unwrap();
    for (message, (text, reason)) in messages.iter().zip([("one", "dance"), ("two", "approval"), ("three", "expected")]) {
        let unknown = if let MessageBody::Unknown(unknown) = &message.body { Some(unknown) } else { None };
        assert_eq!((message.content.as_str(), message.message_type()), (text, MessageType::Text));
        assert!(unknown.unwrap().reason.contains(reason), "{unknown:?}");
    }
    assert_eq!(world.look("select metadata from messages where content = 'three'").await, ["no json"], "reading changes nothing");
}
