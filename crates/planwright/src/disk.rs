//! Watches the disk of the data folder while a server runs.

use crate::output;
use planwright_chat::Sessions;
use planwright_sandbox::Reserve;
use planwright_store::Room;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Interval of the checks for a full disk.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of the checks of the commands' caches.
const CACHE_INTERVAL: Duration = Duration::from_hours(1);

/// The disk reserve, for the database.
#[derive(Debug)]
pub struct DiskReserve(pub Reserve);

impl Room for DiskReserve {
    fn is_needed(&self) -> bool {
        self.0.is_needed()
    }

    fn make(&self) {
        self.0.make_room();
    }
}

/// The message about a full disk.
pub fn full(folder: &Path) -> String {
    format!(
        "the disk of the data folder {} is full; only the reserve is left for storing messages. Free some space there",
        folder.display()
    )
}

/// Reports a full disk, restores the reserve when there is space again, and limits the caches of commands.
pub async fn watch_disk(reserve: Reserve, folder: std::path::PathBuf, sessions: Sessions, closing: CancellationToken) {
    let mut was_full = false;
    let mut tidied = None::<Instant>;
    loop {
        let is_full = reserve.is_in_use();
        if is_full && !was_full {
            output::note(&full(&folder));
        } else if was_full && !is_full {
            output::note("the disk of the data folder has space again");
        }
        was_full = is_full;
        let commands = sessions
            .workspaces()
            .everywhere()
            .settings
            .commands
            .clone()
            .filter(|_| tidied.is_none_or(|tidied| tidied.elapsed() > CACHE_INTERVAL));
        tidied = if commands.is_some() { Some(Instant::now()) } else { tidied };
        let keeper = reserve.clone();
        let work = move || {
            keeper.refill();
            if let Some(commands) = commands {
                commands.tidy();
            }
        };
        let _ = tokio::task::spawn_blocking(work).await;
        tokio::select! {
            () = closing.cancelled() => return,
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
    }
}
