//! The workspace's lock, held from reading files until they are replaced: two calls that saw the same file can't both replace it,
//! and no landing happens during another change.
//!
//! Lock order: the chat's fence first (the guard of a permit), then this lock. A holder never waits for a user, a command, or the
//! lock of another workspace.

use super::Workspace;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Workspaces with the same hash share a lock, which only makes them wait.
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// How often the lock against other processes is tried. A program that holds it must not stop us.
const ATTEMPTS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// The lock of one workspace, while it is held.
pub struct WorkspaceLock {
    _process: MutexGuard<'static, ()>,
    /// Against other processes that serve the same folder.
    folder: Option<OwnedFd>,
}

impl Workspace {
    pub(super) fn lock(&self) -> WorkspaceLock {
        let place = rustix::fs::fstat(&self.root).map_or(0, |stat| stat.st_ino ^ stat.st_dev);
        let lock = &LOCKS[usize::try_from(place % LOCKS.len() as u64).unwrap_or_default()];
        let process = lock.lock().unwrap_or_else(PoisonError::into_inner);
        WorkspaceLock { _process: process, folder: self.lock_folder() }
    }

    fn lock_folder(&self) -> Option<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.root, ".", flags, Mode::empty()).ok()?;
        for _ in 0..ATTEMPTS {
            match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(folder),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => std::thread::sleep(PAUSE),
                // If folders can't be locked, only the lock of this process applies.
                Err(_) => return None,
            }
        }
        None
    }
}

impl Drop for WorkspaceLock {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // Unlocked explicitly, because a child process that is being started may hold a copy of the descriptor.
            let _ = rustix::fs::flock(folder, FlockOperation::Unlock);
        }
    }
}
