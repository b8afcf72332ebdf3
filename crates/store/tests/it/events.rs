//! The log of a chat's events.

use crate::world::{World, append, chat_in, created, envelopes, on_both};
use planwright_protocol::{Envelope, Event, Message};
use planwright_store::{Append, ChatRow};

on_both!(
    events_are_read_in_order_and_in_pieces,
    the_newest_event_of_a_name_is_found_at_the_end_of_a_chat_however_its_numbers_jump,
    a_message_is_stored_once_and_its_events_are_put_together_when_they_are_read,
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
    // Old rows have the whole envelope.
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
