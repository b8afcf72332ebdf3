//! The disk of the data folder, while a server runs.

use crate::output;
use planwright_chat::Sessions;
use planwright_sandbox::Reserve;
use planwright_store::Room;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often it is looked whether the disk is full, or has room again.
const LOOK: Duration = Duration::from_secs(2);
/// How often caches of commands are looked at.
const TIDY: Duration = Duration::from_hours(1);

/// Room that is set aside, for the database.
#[derive(Debug)]
pub struct SetAside(pub Reserve);

impl Room for SetAside {
    fn is_needed(&self) -> bool {
        self.0.is_needed()
    }

    fn make(&self) {
        self.0.make_room();
    }
}

/// What is said of a full disk.
pub fn full(folder: &Path) -> String {
    format!(
        "the disk of the data folder {} is full; only what was set aside is left to store messages in. Free some space there",
        folder.display()
    )
}

/// Says when the disk is full, sets room aside again when it is not, and bounds the caches of commands.
pub async fn look_after(reserve: Reserve, folder: std::path::PathBuf, sessions: Sessions, closing: CancellationToken) {
    let mut was_full = false;
    let mut tidied = None::<Instant>;
    loop {
        let is_full = reserve.is_in_use();
        if is_full && !was_full {
            output::note(&full(&folder));
        } else if was_full && !is_full {
            output::note("the disk of the data folder has room again");
        }
        was_full = is_full;
        let commands =
            sessions.workspaces().everywhere().settings.commands.clone().filter(|_| tidied.is_none_or(|tidied| tidied.elapsed() > TIDY));
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
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}
