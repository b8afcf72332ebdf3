//! How the server and its disk fare while a command runs.

use planwright_testkit::PATIENCE;
use planwright_testkit::server::Server;
use planwright_testkit::stopwatch::Stopwatch;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Requests to the server, one after the other.
pub struct Pings {
    stop: Arc<AtomicBool>,
    took: tokio::task::JoinHandle<Vec<Duration>>,
}

/// Fewer requests say nothing about the slowest of a hundred.
const ENOUGH: usize = 100;

impl Pings {
    pub fn start(server: &Server) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, url) = (stop.clone(), format!("{}/healthz", server.base));
        let (process, client) = (server.process(), server.client().clone());
        let took = tokio::spawn(async move {
            let mut took = Vec::new();
            while took.len() < ENOUGH || !stopped.load(Ordering::SeqCst) {
                let begun = Stopwatch::start(&[process]);
                let answer = client.get(&url).timeout(PATIENCE).send().await;
                took.push(if answer.is_ok() { begun.elapsed() } else { Duration::MAX });
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            took
        });
        Self { stop, took }
    }

    /// What 99 of 100 requests took at most.
    pub async fn p99(self) -> Duration {
        self.stop.store(true, Ordering::SeqCst);
        let mut took = self.took.await.unwrap();
        took.sort();
        took[took.len() * 99 / 100]
    }
}

/// How much a folder grows, at most.
pub struct Growth {
    stop: Arc<AtomicBool>,
    before: u64,
    most: JoinHandle<u64>,
}

impl Growth {
    pub fn watch(folder: &Path) -> Self {
        let (stop, folder, before) = (Arc::new(AtomicBool::new(false)), folder.to_owned(), on_disk(folder));
        let stopped = stop.clone();
        let most = std::thread::spawn(move || {
            let mut most = 0;
            while !stopped.load(Ordering::SeqCst) {
                most = most.max(on_disk(&folder));
                std::thread::sleep(Duration::from_millis(50));
            }
            most.max(on_disk(&folder))
        });
        Self { stop, before, most }
    }

    pub fn megabytes(self) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        self.most.join().unwrap_or(u64::MAX).saturating_sub(self.before) >> 20
    }
}

/// The bytes that the files below a folder take.
fn on_disk(folder: &Path) -> u64 {
    let mut left: Vec<PathBuf> = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(path) = left.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        bytes += metadata.blocks() * 512;
        if metadata.is_dir() {
            left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    bytes
}
