//! Guarantees of an append: it follows the previous one, is stored once, and its outcome is known.

use crate::proxy::{Cut, Proxy};
use crate::world::{World, append, chat_in, chat_of, created, on_both};
use planwright_protocol::{ErrorCode, Event, Image, MessageId, Problem};
use planwright_store::{Append, ChatRow, Content, FileChangeRow, Store, StoreError, Versions};
use planwright_testkit::postgres::Database;
use std::io::Read as _;

on_both!(
    an_append_that_does_not_follow_the_newest_one_is_refused_and_stores_nothing,
    of_two_appends_that_follow_the_same_one_exactly_one_is_stored,
    an_append_with_thousands_of_rows_and_megabytes_is_stored_whole_or_not_at_all,
    a_message_that_is_created_and_changed_in_one_append_has_its_first_place_and_last_content,
);

async fn texts(store: &Store, chat: &ChatRow) -> Vec<String> {
    store.messages(chat.id).await.unwrap().into_iter().map(|message| message.content).collect()
}

async fn an_append_that_does_not_follow_the_newest_one_is_refused_and_stores_nothing(world: World) {
    let store = world.open().await;
    let first = chat_in(&store).await;
    let version = store.append(&first, Append { events: &[created(&first, 1, "one")], ..Append::default() }).await.unwrap();
    assert_eq!(version, 1);
    let stale = ChatRow { title: "stale".into(), ..first.clone() };
    let refused = store.append(&stale, Append { events: &[created(&first, 2, "two")], ..Append::default() }).await;
    assert!(matches!(refused, Err(StoreError::Stale)), "{refused:?}");
    let early = ChatRow { version: 2, ..stale };
    assert!(matches!(store.append(&early, Append::default()).await, Err(StoreError::Stale)));
    assert_eq!((texts(&store, &first).await, store.chat(first.id).await.unwrap().unwrap().title), (vec!["one".to_owned()], "T".to_owned()));
    let next = ChatRow { version, ..first };
    assert_eq!(store.append(&next, Append { events: &[created(&next, 2, "two")], ..Append::default() }).await.unwrap(), 2);
    assert_eq!(texts(&store, &next).await, ["one", "two"]);
}

async fn of_two_appends_that_follow_the_same_one_exactly_one_is_stored(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let (one, other) = ([created(&chat, 1, "one")], [created(&chat, 2, "other")]);
    let (one, other) = tokio::join!(
        store.append(&chat, Append { events: &one, ..Append::default() }),
        store.append(&chat, Append { events: &other, ..Append::default() }),
    );
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    assert_eq!(texts(&store, &chat).await, [if one.is_ok() { "one" } else { "other" }]);
}

async fn an_append_with_thousands_of_rows_and_megabytes_is_stored_whole_or_not_at_all(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let events: Vec<_> = (1..=2500).map(|seq| created(&chat, seq, &format!("m{seq}"))).collect();
    let message_id = MessageId::generate();
    let contents: Vec<Content> =
        (0..6u8).map(|number| Content { sha256: format!("{number}"), bytes: vec![number; 1 << 20].into() }).collect();
    let change = |content: &Content| FileChangeRow {
        message_id,
        path: format!("/{}", content.sha256),
        before: Image::Absent,
        after: Image::File { mode: None, sha256: content.sha256.clone() },
    };
    let versions = Versions { rows: contents.iter().map(change).collect(), contents, ..Versions::default() };
    let all = || Append { events: &events, versions: Some(&versions), ..Append::default() };
    let late = ChatRow { version: 7, ..chat.clone() };
    assert!(matches!(store.append(&late, all()).await, Err(StoreError::Stale)));
    let clash = [&events[..], &[created(&chat, 1, "again")]].concat();
    assert!(store.append(&chat, Append { events: &clash, ..all() }).await.is_err());
    assert!(texts(&store, &chat).await.is_empty() && !store.has_content("5").await.unwrap());
    assert_eq!(store.append(&chat, all()).await.unwrap(), 1);
    assert_eq!(store.count_events_after(chat.id, 0, 5000).await.unwrap(), 2500);
    assert_eq!((texts(&store, &chat).await.len(), store.file_changes(chat.id).await.unwrap().len()), (2500, 6));
    assert_eq!(store.content("5").await.unwrap().unwrap().len(), 1 << 20);
}

async fn a_message_that_is_created_and_changed_in_one_append_has_its_first_place_and_last_content(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let mut events = vec![created(&chat, 1, "first"), created(&chat, 2, "second"), created(&chat, 3, "third")];
    for (seq, content) in [(4, "changed"), (5, "changed again")] {
        let mut changed = events[0].clone();
        let Event::MessageCreated { message } = &mut changed.event else { unreachable!("just made") };
        message.content = content.into();
        let event = Event::MessageUpdated { message: message.clone() };
        events.push(planwright_protocol::Envelope { event, seq, ..changed });
    }
    let Event::MessageCreated { message } = &events[2].event else { unreachable!("just made") };
    let event = Event::MessageDeleted { message_id: message.id };
    events.push(planwright_protocol::Envelope { event, seq: 6, at: chat.created_at });
    store.append(&chat, Append { events: &events, ..Append::default() }).await.unwrap();
    assert_eq!(texts(&store, &chat).await, ["changed again", "second"]);
    assert_eq!(store.count_events_after(chat.id, 0, 10).await.unwrap(), 6);
}

/// A store behind a proxy, and a chat with an append, so that connections exist and statements are prepared.
async fn behind_proxy(database: &Database) -> (Proxy, Store, ChatRow) {
    let proxy = Proxy::to(&database.url).await;
    let store = Store::connect(&proxy.url).await.unwrap();
    let mut chat = chat_in(&store).await;
    for seq in 1..=2 {
        chat.version = store.append(&chat, Append { events: &[created(&chat, seq, "before")], ..Append::default() }).await.unwrap();
    }
    (proxy, store, chat)
}

/// Cuts seven appends in this way, each followed by an append that is not cut.
async fn cut_seven_times(cut: Cut) {
    let database = Database::fresh();
    let (proxy, store, mut chat) = behind_proxy(&database).await;
    let mut expected = vec!["before".to_owned(), "before".to_owned()];
    for time in 1..=7 {
        let seq = 1 + 2 * time;
        let (marked, plain) = (format!("marked {time}"), format!("plain {time}"));
        proxy.cut(&marked, cut);
        chat.title.clone_from(&marked);
        for (seq, text) in [(seq, &marked), (seq + 1, &plain)] {
            chat.version = store.append(&chat, Append { events: &[created(&chat, seq, text)], ..Append::default() }).await.unwrap();
        }
        expected.extend([marked, plain]);
        assert_eq!(proxy.cuts() as u64, time, "the append was cut");
        assert_eq!(texts(&store, &chat).await, expected);
        assert_eq!(store.chat(chat.id).await.unwrap().unwrap(), chat, "the version in memory is the stored one");
    }
    assert_eq!(store.count_events_after(chat.id, 0, 100).await.unwrap(), 16);
}

#[tokio::test]
async fn an_append_whose_answer_is_lost_is_stored_once_and_the_chat_goes_on() {
    cut_seven_times(Cut::AfterTheServer).await;
}

#[tokio::test]
async fn an_append_that_never_reached_the_server_is_sent_again_and_the_chat_goes_on() {
    cut_seven_times(Cut::BeforeTheServer).await;
}

#[tokio::test]
async fn an_append_that_arrives_after_it_was_given_up_changes_nothing() {
    let database = Database::fresh();
    let (proxy, store, mut chat) = behind_proxy(&database).await;
    proxy.cut("marked", Cut::Late);
    chat.version = store.append(&chat, Append { events: &[created(&chat, 3, "marked")], ..Append::default() }).await.unwrap();
    proxy.release().await;
    assert_eq!(texts(&store, &chat).await, ["before", "before", "marked"]);
    chat.version = store.append(&chat, Append { events: &[created(&chat, 4, "after")], ..Append::default() }).await.unwrap();
    assert_eq!(store.chat(chat.id).await.unwrap().unwrap(), chat);
}

#[tokio::test]
async fn an_append_that_fails_after_its_connection_was_cut_leaves_the_chat_working() {
    let database = Database::fresh();
    let (proxy, store, mut chat) = behind_proxy(&database).await;
    proxy.cut("marked", Cut::BeforeTheServer);
    // The sequence number is taken, so the retry is refused.
    let refused = store.append(&chat, Append { events: &[created(&chat, 1, "marked")], ..Append::default() }).await;
    assert!(matches!(refused, Err(StoreError::Database(_))), "{refused:?}");
    chat.version = store.append(&chat, Append { events: &[created(&chat, 3, "after")], ..Append::default() }).await.unwrap();
    assert_eq!(texts(&store, &chat).await, ["before", "before", "after"]);
    assert_eq!(store.chat(chat.id).await.unwrap().unwrap(), chat);
}

#[tokio::test]
async fn forty_appends_wait_for_a_database_that_is_away_and_are_all_stored_once() {
    let database = Database::fresh();
    let (proxy, store, _) = behind_proxy(&database).await;
    let mut chats = Vec::new();
    for _ in 0..40 {
        chats.push(chat_in(&store).await);
    }
    proxy.go_down();
    let mut tasks = tokio::task::JoinSet::new();
    for chat in chats.clone() {
        let store = store.clone();
        tasks.spawn(
            async move { store.append(&chat, Append { events: &[created(&chat, 1, "waited")], ..Append::default() }).await.unwrap() },
        );
    }
    // By then each of them has tried, most more than once.
    proxy.refused(200).await;
    assert!(tasks.try_join_next().is_none(), "no append is answered before its outcome is known");
    proxy.come_back();
    tasks.join_all().await;
    for chat in &chats {
        assert_eq!(texts(&store, chat).await, ["waited"]);
    }
}

#[tokio::test]
async fn a_read_while_the_database_is_away_says_so_and_can_be_retried() {
    let database = Database::fresh();
    let (proxy, store, chat) = behind_proxy(&database).await;
    store.messages(chat.id).await.unwrap();
    proxy.go_down();
    let problem = Problem::from(store.messages(chat.id).await.unwrap_err());
    assert_eq!((problem.code, problem.retryable), (ErrorCode::NotReady, true));
    assert!(problem.message.starts_with("Can't reach the database") && !problem.message.contains("Nothing was changed"), "{problem}");
    proxy.come_back();
    assert_eq!(texts(&store, &chat).await, ["before", "before"]);
}

#[tokio::test]
async fn an_append_is_one_round_trip() {
    let database = Database::fresh();
    let (proxy, store, chat) = behind_proxy(&database).await;
    proxy.count_anew();
    store.append(&chat, Append { events: &[created(&chat, 3, "counted")], ..Append::default() }).await.unwrap();
    assert_eq!(proxy.round_trips("counted"), 1);
}

#[tokio::test]
async fn appends_that_wait_at_the_same_time_share_a_commit() {
    let world = World::sqlite();
    let store = world.open().await;
    let mut chats = Vec::new();
    for _ in 0..60 {
        chats.push(chat_of(&store, "/w").await);
    }
    let World::Sqlite(folder) = &world else { unreachable!("it is one") };
    let log = folder.path().join("a.db-wal");
    let before = commits(&log);
    // Another connection locks the database, so that all appends wait.
    let holder = world.hold().await;
    let mut tasks = tokio::task::JoinSet::new();
    for chat in chats.clone() {
        let store = store.clone();
        tasks.spawn(async move { store.append(&chat, Append { events: &[created(&chat, 1, "x")], ..Append::default() }).await.unwrap() });
    }
    tokio::task::yield_now().await;
    holder.close().await;
    tasks.join_all().await;
    let made = commits(&log) - before;
    assert!((1..=10).contains(&made), "60 appends made {made} commits");
    for chat in &chats {
        assert_eq!(texts(&store, chat).await, ["x"]);
    }
    // A failed append does not affect the others.
    let clash = [created(&chats[0], 1, "again")];
    let fine = [created(&chats[1], 2, "fine")];
    let (failed, stored) = tokio::join!(
        append(&store, &chats[0], Append { events: &clash, ..Append::default() }),
        append(&store, &chats[1], Append { events: &fine, ..Append::default() }),
    );
    assert!(failed.is_err() && stored.is_ok(), "{failed:?} {stored:?}");
}

/// The commits in a SQLite write-ahead log: frames with a nonzero database size.
fn commits(log: &std::path::Path) -> usize {
    let mut bytes = Vec::new();
    std::fs::OpenOptions::new().read(true).open(log).unwrap().read_to_end(&mut bytes).unwrap();
    let page = u32::from_be_bytes(bytes[8..12].try_into().unwrap()) as usize;
    bytes[32..].chunks_exact(24 + page).filter(|frame| frame[4..8] != [0; 4]).count()
}
