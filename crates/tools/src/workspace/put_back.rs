//! Restores what a command changed in place, from the copies made before it.

use super::atomic::{self, Durable};
use super::change::EntryChange;
use super::entries::{Depth, remove_entry};
use super::marks::{LARGEST_COPY, Mark, MarkKind, Marks, key, path_of, split, within};
use super::mirror::{Mirror, load_before, save_after};
use super::{Workspace, problem_of};
use crate::gate::PutBackPermit;
use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{ClosedFolder, remove_tree};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

/// What could not be restored.
#[derive(Debug, Default)]
pub struct PutBack {
    /// Files without a copy.
    pub lost: Vec<String>,
    /// Entries that others changed after the command ended, which were not touched.
    pub left: Vec<String>,
}

impl Workspace {
    /// Restores entries to their state before the command. They are no longer changes of it.
    ///
    /// # Errors
    /// The permit does not cover it, or it can't be written.
    pub fn put_back(
        &self,
        permit: &PutBackPermit,
        mirror: &Mirror<'_>,
        changes: &[EntryChange],
        unnameable: &[String],
    ) -> Result<PutBack, Problem> {
        permit.check(changes.iter().map(|change| &change.path), unnameable)?;
        let _lock = self.lock();
        let mut done = PutBack::default();
        let Some(before) = load_before(mirror) else { return Ok(done) };
        let mut after = self.after(mirror)?;
        let now = self.marks(mirror.baseline.clone())?;
        let spelled = changes.iter().map(|change| key(change.path.relative().as_bytes()));
        let mut keys: Vec<String> = spelled.chain(unnameable.iter().cloned()).collect();
        keys.sort();
        keys.dedup();
        keys.retain(|key| {
            let is_as_left = within(&now, key).eq(within(&after, key));
            if !is_as_left {
                done.left.push(format!("/{key}"));
            }
            is_as_left
        });
        for key in keys.iter().rev().filter(|key| before.get(*key).map(|mark| mark.kind) != now.get(*key).map(|mark| mark.kind)) {
            self.remove_new(key)?;
        }
        for key in &keys {
            for (key, mark) in within(&before, key) {
                if matches!(mark.kind, MarkKind::Other | MarkKind::Output) || (mark.kind == MarkKind::File && mark.size > LARGEST_COPY) {
                    done.lost.push(format!("/{key}"));
                } else {
                    self.copy_in(mirror, key, *mark)?;
                }
            }
            settle(&mut after, &before, key);
        }
        save_after(mirror, &after).map_err(|error| super::problem::problem_of_io(&error, &WorkspacePath::root()))?;
        Ok(done)
    }

    fn remove_new(&self, key: &str) -> Result<(), Problem> {
        let Ok((folder, name)) = self.parent(&path_of(key)) else { return Ok(()) };
        match remove_tree(folder.as_fd(), &name, ClosedFolder::Opened) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(problem_of(errno, &WorkspacePath::root().join(key))),
        }
    }

    /// Like [`Self::parent`], and creates parent folders that the command removed.
    fn parent_made(&self, path: &[u8]) -> std::io::Result<(OwnedFd, CString)> {
        self.parent(path).or_else(|_| {
            let (folder, name) = split(path);
            let (above, own) = self.parent_made(folder)?;
            // A folder was replaced by something else.
            let _ = rustix::fs::unlinkat(&above, &own, AtFlags::empty());
            rustix::fs::mkdirat(&above, &own, Mode::from_raw_mode(0o777))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok((rustix::fs::openat(&above, &own, flags, Mode::empty())?, CString::new(name)?))
        })
    }

    fn copy_in(&self, mirror: &Mirror<'_>, key: &str, mark: Mark) -> Result<(), Problem> {
        let copy = mark.copy(key).unwrap_or_default();
        let failed = |error: std::io::Error| {
            let place = mirror.copies.join(&copy);
            Problem::new(ErrorCode::Internal, format!("Can't restore /{key}: {error}. A copy of it is in {}.", place.display()))
        };
        let made = || -> std::io::Result<()> {
            let (folder, name) = self.parent_made(&path_of(key))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let copies = rustix::fs::openat(CWD, mirror.copies, flags, Mode::empty())?;
            let copy = CString::new(copy.as_str())?;
            match mark.kind {
                MarkKind::Folder => {
                    match rustix::fs::mkdirat(&folder, &name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(errno) => return Err(errno.into()),
                    }
                    rustix::fs::chmodat(&folder, &name, Mode::from_raw_mode(mark.mode & 0o1777), AtFlags::empty())?;
                }
                MarkKind::File => atomic::copy((&copies, &copy), (&folder, &name), Durable::Yes)?,
                MarkKind::Link => {
                    let _ = remove_entry(&folder, name.as_c_str(), Depth::EmptyOnly);
                    rustix::fs::symlinkat(rustix::fs::readlinkat(&copies, &copy, Vec::new())?, &folder, &name)?;
                }
                MarkKind::Other | MarkKind::Output => {}
            }
            Ok(())
        };
        made().map_err(failed)
    }
}

/// Records that an entry has its previous state again.
fn settle(after: &mut Marks, before: &Marks, key: &str) {
    let gone: Vec<String> = within(after, key).map(|(key, _)| key.clone()).collect();
    for key in gone {
        after.remove(&key);
    }
    after.extend(within(before, key).map(|(key, mark)| (key.clone(), *mark)));
}
