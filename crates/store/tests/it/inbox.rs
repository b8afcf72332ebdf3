//! Chats of all workspaces that need attention, and viewed files.

use crate::world::{World, append, chat_in, chat_of, created, moment, on_both};
use planwright_protocol::event::ChatState;
use planwright_protocol::{Image, MessageId, RunId, UserId};
use planwright_store::{Append, ChatFilter, ChatRow, FileChangeRow, InboxEntry, Rank, Right, Store, Versions, ViewedFile};
use serde_json::json;

on_both!(
    chats_in_progress_and_finished_ones_are_told_apart_and_archived_and_empty_ones_left_out,
    files_count_as_viewed_in_the_content_that_was_viewed_and_for_one_person,
    only_contents_that_a_chat_gave_a_file_can_be_viewed,
    members_see_their_workspaces_only,
    chats_are_found_by_state_title_and_whether_they_are_archived,
);

/// A chat with one message.
async fn spoken(store: &Store, workspace: &str, at: i64) -> ChatRow {
    let mut chat = chat_of(store, workspace).await;
    chat.updated_at = moment(at);
    append(store, &chat, Append { events: &[created(&chat, 1, "Hello")], ..Append::default() }).await.unwrap();
    chat
}

fn file(sha256: &str) -> Image {
    Image::File { mode: None, sha256: sha256.to_owned() }
}

/// One call that changes one path.
async fn change(store: &Store, chat: &ChatRow, path: &str, before: Image, after: Image) {
    let rows = vec![FileChangeRow { message_id: MessageId::generate(), path: path.to_owned(), before, after }];
    append(store, chat, Append { versions: Some(&Versions { rows, ..Versions::default() }), ..Append::default() }).await.unwrap();
}

async fn titles(store: &Store, user: Option<UserId>, which: InboxEntry) -> Vec<String> {
    store.inbox(user, which).await.unwrap().into_iter().map(|row| row.chat.title).collect()
}

async fn counts(store: &Store, user: Option<UserId>) -> Vec<(u64, u64)> {
    store.inbox(user, InboxEntry::Finished).await.unwrap().iter().map(|row| (row.files, row.viewed)).collect()
}

fn viewed(path: &str, sha256: Option<&str>) -> ViewedFile {
    ViewedFile { path: path.to_owned(), after_sha256: sha256.map(str::to_owned) }
}

async fn chats_in_progress_and_finished_ones_are_told_apart_and_archived_and_empty_ones_left_out(world: World) {
    let store = world.open().await;
    for (title, at) in [("waits", 5), ("runs", 4), ("done", 3), ("archived", 2), ("archived and waits", 1)] {
        let mut chat = spoken(&store, "/w", at).await;
        title.clone_into(&mut chat.title);
        chat.marks.archived = title.starts_with("archived");
        chat.pending = title.ends_with("waits").then(|| json!({ "question_id": "q" }));
        chat.run = (title == "runs").then(RunId::generate);
        append(&store, &chat, Append::default()).await.unwrap();
    }
    chat_in(&store).await;
    assert_eq!(titles(&store, None, InboxEntry::Active).await, ["waits", "runs", "archived and waits"]);
    assert_eq!(titles(&store, None, InboxEntry::Finished).await, ["done"]);
}

async fn files_count_as_viewed_in_the_content_that_was_viewed_and_for_one_person(world: World) {
    let store = world.open().await;
    let chat = spoken(&store, "/w", 1).await;
    change(&store, &chat, "/a", Image::Absent, file("a1")).await;
    change(&store, &chat, "/b", file("b1"), Image::Absent).await;
    change(&store, &chat, "/same", file("s"), file("t")).await;
    change(&store, &chat, "/same", file("t"), file("s")).await;
    change(&store, &chat, "/plans/a.plan", Image::Absent, file("p")).await;
    assert_eq!(counts(&store, None).await, [(2, 0)], "what is as before, and plans, do not count");
    let user = store.add_user("ann", "hash", Rank::Admin).await.unwrap().unwrap().id;
    for one in [viewed("/a", Some("a1")), viewed("/b", None)] {
        assert!(store.view_file(chat.id, None, &one, moment(2)).await.unwrap());
    }
    assert_eq!((counts(&store, None).await, counts(&store, Some(user)).await), (vec![(2, 2)], vec![(2, 0)]));
    assert_eq!(store.viewed_files(chat.id, None).await.unwrap(), [viewed("/a", Some("a1")), viewed("/b", None)]);
    change(&store, &chat, "/a", file("a1"), file("a2")).await;
    assert_eq!(counts(&store, None).await, [(2, 1)], "another content was not viewed");
    store.unview_file(chat.id, None, "/b").await.unwrap();
    assert_eq!(counts(&store, None).await, [(2, 0)]);
}

async fn only_contents_that_a_chat_gave_a_file_can_be_viewed(world: World) {
    let store = world.open().await;
    let (chat, other) = (spoken(&store, "/w", 1).await, spoken(&store, "/w", 2).await);
    change(&store, &chat, "/a", Image::Absent, file("a1")).await;
    for (chat, one) in [
        (&chat, viewed("/a", Some("b"))),
        (&chat, viewed("/a", None)),
        (&chat, viewed("/c", Some("a1"))),
        (&other, viewed("/a", Some("a1"))),
    ] {
        assert!(!store.view_file(chat.id, None, &one, moment(1)).await.unwrap(), "{one:?}");
        assert_eq!(store.viewed_files(chat.id, None).await.unwrap(), []);
    }
}

async fn members_see_their_workspaces_only(world: World) {
    let store = world.open().await;
    let (open, closed) = (spoken(&store, "/open", 1).await, spoken(&store, "/closed", 2).await);
    let admin = store.add_user("ann", "hash", Rank::Admin).await.unwrap().unwrap().id;
    let user = store.add_user("bob", "hash", Rank::Ordinary).await.unwrap().unwrap().id;
    store.put_member(open.workspace_id, user, Right::Owner, None).await.unwrap();
    let seen = store.inbox(Some(user), InboxEntry::Finished).await.unwrap();
    assert_eq!(seen.iter().map(|row| (row.chat.id, row.right)).collect::<Vec<_>>(), [(open.id, Right::Owner)]);
    let seen = store.inbox(Some(admin), InboxEntry::Finished).await.unwrap();
    assert_eq!(seen.iter().map(|row| (row.chat.id, row.right)).collect::<Vec<_>>(), [(closed.id, Right::Owner)]);
    assert_eq!(store.inbox(None, InboxEntry::Finished).await.unwrap().len(), 2);
}

async fn chats_are_found_by_state_title_and_whether_they_are_archived(world: World) {
    let store = world.open().await;
    for (title, state, archived) in
        [("100% sure", ChatState::Idle, false), ("Surely not", ChatState::Failed, false), ("1000 sure", ChatState::Idle, true)]
    {
        let mut chat = chat_in(&store).await;
        title.clone_into(&mut chat.title);
        (chat.state, chat.marks.archived, chat.marks.pinned) = (state, archived, archived);
        chat.version = append(&store, &chat, Append::default()).await.unwrap();
        assert_eq!(store.chat(chat.id).await.unwrap(), Some(chat));
    }
    let workspace = store.ensure_workspace("w", "/w").await.unwrap().id;
    for (filter, expected) in [
        (ChatFilter { state: Some(ChatState::Failed), ..ChatFilter::default() }, vec!["Surely not"]),
        (ChatFilter { archived: Some(true), ..ChatFilter::default() }, vec!["1000 sure"]),
        (ChatFilter { title: Some("SURE".to_owned()), archived: Some(false), ..ChatFilter::default() }, vec!["100% sure", "Surely not"]),
        (ChatFilter { title: Some("0%".to_owned()), ..ChatFilter::default() }, vec!["100% sure"]),
    ] {
        let mut found: Vec<String> = store.chats(workspace, filter).await.unwrap().into_iter().map(|chat| chat.title).collect();
        found.sort();
        assert_eq!(found, expected);
    }
}
