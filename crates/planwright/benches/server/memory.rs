//! Looking at chats leaves nothing in memory.

use crate::place::{chat_with, home, resident, store};
use futures::StreamExt as _;
use planwright_testkit::bench::report;
use serde_json::json;

const CHATS: usize = 20_000;
const AT_ONCE: usize = 16;

pub async fn measure() -> bool {
    let home = home(&json!({ "turns": [{ "text": "Hello." }], "repeat": true }));
    let store = store(&home).await;
    let mut paths = Vec::with_capacity(CHATS);
    for _ in 0..CHATS {
        let chat = chat_with(&store, &home, 4).await;
        paths.push(format!("/workspaces/{}/chats/{}/snapshot", chat.workspace_id, chat.id));
    }
    store.close().await;
    let server = home.serve().await;
    let look = async |paths: &[String]| {
        futures::stream::iter(paths).for_each_concurrent(AT_ONCE, |path| async { drop(server.get(path).await) }).await;
    };
    // The caches of the database and the allocator fill with the first of them, whatever they are.
    look(&paths[..1000]).await;
    let before = resident(server.process());
    look(&paths).await;
    let after = resident(server.process());
    println!("memory after looking at 1,000 chats; at {CHATS}            {before:>8.1}MB {after:>8.1}MB");
    report("memory after looking at 20,000 chats, against before", after / before, "", 1.3)
}
