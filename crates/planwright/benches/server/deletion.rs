//! Deleting chats makes nobody wait.

use crate::place::{chat_with, home, percentile_ms, store};
use futures::StreamExt as _;
use planwright_testkit::bench::report;
use planwright_testkit::server::Server;
use reqwest::Method;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CHATS: usize = 2000;
const MESSAGES: u64 = 40;
/// How often the chat is read when nothing else goes on.
const QUIET_READS: usize = 2000;

pub async fn measure() -> bool {
    let home = home(&json!({ "turns": [{ "text": "Hello." }], "repeat": true }));
    let store = store(&home).await;
    let read = chat_with(&store, &home, 100).await;
    let mut gone = Vec::with_capacity(CHATS);
    for _ in 0..CHATS {
        gone.push(chat_with(&store, &home, MESSAGES).await.id);
    }
    store.close().await;
    let server = home.serve().await;
    let path = format!("/workspaces/{}/chats", read.workspace_id);
    let reading = format!("{path}/{}", read.id);
    let over = AtomicBool::new(false);
    read_times(&server, &reading, 200, &over).await;
    let quiet = percentile_ms(read_times(&server, &reading, QUIET_READS, &over).await, 99);
    let begun = Instant::now();
    let deleting = async {
        let delete = async |id| {
            let path = format!("{path}/{id}");
            let (status, _) = server.request(Method::DELETE, &path, None).await;
            assert!(status.is_success(), "{status}");
        };
        futures::stream::iter(gone).for_each_concurrent(4, delete).await;
        over.store(true, Ordering::Relaxed);
        begun.elapsed().as_secs_f64()
    };
    let (times, took) = tokio::join!(read_times(&server, &reading, usize::MAX, &over), deleting);
    let count = times.len();
    let busy = percentile_ms(times, 99);
    println!("GET chat, 99 of 100 within: quiet; while {CHATS} are deleted  {quiet:>8.2}ms {busy:>8.2}ms ({count} in {took:.1} s)");
    report("GET chat while 2,000 chats are deleted, against quiet", busy / quiet, "", 2.0)
}

/// Reads a chat so often, or until it is over, with a short pause after each.
async fn read_times(server: &Server, path: &str, most: usize, over: &AtomicBool) -> Vec<Duration> {
    let mut times = Vec::new();
    while times.len() < most && !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        server.get(path).await;
        times.push(begun.elapsed());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    times
}
