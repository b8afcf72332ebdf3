//! File changes of calls.

use crate::world::{World, append, chat_in, chat_of, created, on_both};
use planwright_protocol::{Event, Image, MessageId};
use planwright_store::{Append, ChatRow, Content, FileChangeRow, Store, Versions};

on_both!(
    changes_come_back_in_their_order_with_their_contents,
    what_was_noted_first_of_a_message_stays,
    what_did_not_come_about_is_forgotten_and_what_it_took_back_counts_again,
    a_deleted_chat_takes_its_contents_with_it_unless_others_need_them,
    contents_that_are_left_when_the_process_ends_are_collected_after_the_next_start,
    a_deletion_beside_many_contents_holds_up_no_reader_and_no_append,
);

fn file(sha256: &str) -> Image {
    Image::File { mode: Some(0o644), sha256: sha256.into() }
}

fn row(message_id: MessageId, path: &str, before: Image, after: Image) -> FileChangeRow {
    FileChangeRow { message_id, path: path.into(), before, after }
}

fn content(sha256: &str, bytes: &[u8]) -> Content {
    Content { sha256: sha256.into(), bytes: bytes.into() }
}

async fn put(store: &Store, chat: &ChatRow, versions: Versions) {
    append(store, chat, Append { versions: Some(&versions), ..Append::default() }).await.unwrap();
}

async fn changes_come_back_in_their_order_with_their_contents(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let told = created(&chat, 7, "one");
    let Event::MessageCreated { message } = &told.event else { unreachable!("just made") };
    let unstored = MessageId::generate();
    let versions = Versions {
        contents: vec![content("aa", b"\0\xff"), content("aa", b"\0\xff"), content("bb", b"")],
        rows: vec![
            row(message.id, "/z", Image::Absent, file("aa")),
            row(message.id, "/a", file("aa"), file("bb")),
            row(unstored, "/l", Image::Folder { mode: None }, Image::Link { target: "ü".into() }),
        ],
        ..Versions::default()
    };
    append(&store, &chat, Append { events: std::slice::from_ref(&told), versions: Some(&versions), ..Append::default() }).await.unwrap();
    store.close().await;
    let store = world.open().await;
    let found = store.file_changes(chat.id).await.unwrap();
    assert_eq!(found.iter().map(|row| row.change.clone()).collect::<Vec<_>>(), versions.rows);
    assert_eq!(found.iter().map(|row| row.seq).collect::<Vec<_>>(), [Some(7), Some(7), None]);
    assert_eq!(store.content("aa").await.unwrap().as_deref(), Some(&b"\0\xff"[..]));
    assert_eq!((store.content("cc").await.unwrap(), store.has_content("bb").await.unwrap()), (None, true));
    assert_eq!(store.changing_messages(chat.id).await.unwrap(), std::slice::from_ref(message));
    assert_eq!(store.place(chat.id, message.id).await.unwrap(), Some(7));
}

async fn what_was_noted_first_of_a_message_stays(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let message = MessageId::generate();
    for before in ["first", "second"] {
        put(&store, &chat, Versions { rows: vec![row(message, "/a", file(before), Image::Absent)], ..Versions::default() }).await;
    }
    let found = store.file_changes_of(message).await.unwrap();
    assert_eq!((found.len(), &found[0].change.before), (1, &file("first")));
}

async fn what_did_not_come_about_is_forgotten_and_what_it_took_back_counts_again(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let (call, revert) = (MessageId::generate(), MessageId::generate());
    let rows = ["/a", "/b"].map(|path| row(call, path, Image::Absent, file("aa"))).to_vec();
    put(&store, &chat, Versions { rows, ..Versions::default() }).await;
    let made = store.file_changes_of(call).await.unwrap();
    let rows = ["/a", "/b"].map(|path| row(revert, path, file("aa"), Image::Absent)).to_vec();
    put(&store, &chat, Versions { rows, reverted: made.iter().map(|row| (row.id, revert)).collect(), ..Versions::default() }).await;
    store.forget_changes(revert, &["/b".to_owned()]).await.unwrap();
    let marks: Vec<Option<MessageId>> = store.file_changes_of(call).await.unwrap().iter().map(|row| row.reverted_by).collect();
    assert_eq!(marks, [Some(revert), None]);
    assert_eq!(store.file_changes_of(revert).await.unwrap().len(), 1);
}

/// Contents are collected in the background.
async fn until_gone(store: &Store, sha256: &str) {
    while store.has_content(sha256).await.unwrap() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn a_deleted_chat_takes_its_contents_with_it_unless_others_need_them(world: World) {
    let store = world.open().await;
    let (one, other) = (chat_in(&store).await, chat_of(&store, "/other").await);
    for (chat, own) in [(&one, "own"), (&other, "theirs")] {
        let message = MessageId::generate();
        let versions = Versions {
            contents: vec![content("shared", b"s"), content(own, b"o")],
            rows: vec![row(message, "/a", file("shared"), file(own))],
            ..Versions::default()
        };
        put(&store, chat, versions).await;
    }
    for (chat, images) in [(&one, ["own image", "image"]), (&other, ["image", "image"])] {
        let contents = images.map(|image| content(image, b"i")).to_vec();
        put(&store, chat, Versions { contents, images: images.map(str::to_owned).to_vec(), ..Versions::default() }).await;
    }
    store.delete_chat(one.id).await.unwrap();
    for gone in ["own", "own image"] {
        until_gone(&store, gone).await;
    }
    assert!(store.has_content("image").await.unwrap(), "another chat shows it as well");
    assert!(store.has_content("shared").await.unwrap() && store.has_content("theirs").await.unwrap());
    assert!(store.file_changes(one.id).await.unwrap().is_empty());
}

/// Contents of a chat, each with a row that refers to it.
fn many(contents: std::ops::Range<u32>) -> Versions {
    let message = MessageId::generate();
    let name = |number: u32| format!("{number:08}");
    Versions {
        contents: contents.clone().map(|number| content(&name(number), &number.to_le_bytes().repeat(64))).collect(),
        rows: contents.map(|number| row(message, &name(number), Image::Absent, file(&name(number)))).collect(),
        ..Versions::default()
    }
}

async fn contents_that_are_left_when_the_process_ends_are_collected_after_the_next_start(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    put(&store, &chat, many(0..1000)).await;
    store.close().await;
    // The state that a process leaves if it is killed after a deletion.
    world
        .tamper(
            "insert into loose_contents (sha256) select sha256 from contents where true on conflict do nothing; delete from file_changes",
        )
        .await;
    let store = world.open().await;
    until_gone(&store, "00000999").await;
    assert!(!store.has_content("00000000").await.unwrap());
    assert_eq!(world.look("select sha256 from contents").await, Vec::<String>::new());
}

async fn a_deletion_beside_many_contents_holds_up_no_reader_and_no_append(world: World) {
    let store = world.open().await;
    let (one, mut other) = (chat_in(&store).await, chat_of(&store, "/other").await);
    put(&store, &one, many(0..3000)).await;
    put(&store, &other, many(2900..9000)).await;
    other.version = store.chat(other.id).await.unwrap().unwrap().version;
    store.delete_chat(one.id).await.unwrap();
    // The chat is deleted, and its contents are collected while others write.
    let (mut steps, mut seq) = (0, 0);
    while store.has_content("00002899").await.unwrap() {
        seq += 1;
        other.version = store.append(&other, Append { events: &[created(&other, seq, "beside")], ..Append::default() }).await.unwrap();
        assert_eq!(store.messages(other.id).await.unwrap().len() as u64, seq);
        steps += 1;
    }
    assert!(steps >= 1, "others write between the steps");
    assert!(store.has_content("00002900").await.unwrap(), "another chat needs it");
    assert!(store.has_content("00008999").await.unwrap());
    assert_eq!(store.chat(one.id).await.unwrap(), None);
}
