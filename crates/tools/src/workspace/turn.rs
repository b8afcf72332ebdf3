//! The lock that is held from looking at files of a workspace until they are replaced: two that both saw the same file don't
//! both replace it, and no landing falls into the middle of another change.
//!
//! Lock order: the chat's fence first (the guard of a permit), then the turn. Nobody who holds the turn waits for a user, a
//! command, or the turn of another workspace.

use super::Workspace;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Workspaces whose folders fall on the same place share a lock, which only makes them wait.
static TURNS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// How often the lock against other processes is tried. A program that keeps the folder locked for itself must not stop us.
const PATIENCE: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// The turn of one workspace.
pub struct Turn {
    _process: MutexGuard<'static, ()>,
    /// Against other processes that serve the same folder.
    folder: Option<OwnedFd>,
}

impl Workspace {
    pub(super) fn take_turn(&self) -> Turn {
        let place = rustix::fs::fstat(&self.root).map_or(0, |stat| stat.st_ino ^ stat.st_dev);
        let turn = &TURNS[usize::try_from(place % TURNS.len() as u64).unwrap_or_default()];
        let process = turn.lock().unwrap_or_else(PoisonError::into_inner);
        Turn { _process: process, folder: self.lock_folder() }
    }

    fn lock_folder(&self) -> Option<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.root, ".", flags, Mode::empty()).ok()?;
        for _ in 0..PATIENCE {
            match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(folder),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => std::thread::sleep(PAUSE),
                // Where folders can't be locked, the lock of this process is all there is.
                Err(_) => return None,
            }
        }
        None
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // Said in so many words, because a process that is just being started may hold a copy of the descriptor.
            let _ = rustix::fs::flock(folder, FlockOperation::Unlock);
        }
    }
}
