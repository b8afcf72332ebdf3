//! Whether somebody else changed meanwhile what a command changed.

use super::Landing;
use crate::path::WorkspacePath;
use crate::workspace::overlay::{entries, is_changed_since, is_opaque, open_file, open_folder, open_shut_folder, same_content};
use crate::workspace::staged_tree::DEEPEST;
use crate::workspace::{Kind, kind_of};
use rustix::fs::Stat;
use std::ffi::CStr;
use std::os::fd::OwnedFd;

/// How much of build output is read to find out whether two left the same.
const MOST_COMPARED: u64 = 256 << 20;
/// How many files of build output are named.
const MOST_NAMED: usize = 100;

/// Files of build output that somebody else changed, so that they stay as they are.
#[derive(Debug, Default)]
pub struct OutputConflicts {
    pub count: usize,
    /// The first of them.
    pub named: Vec<WorkspacePath>,
}

impl OutputConflicts {
    pub(super) fn add(&mut self, path: WorkspacePath) {
        self.count += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(path);
        }
    }
}

/// What became of an entry of build output while the command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overtaken {
    No,
    /// Somebody else made the same of it.
    LeftSame,
    Changed,
}

/// An entry that is to land, with the folders that it comes from and goes to.
pub(super) struct StagedEntry<'e> {
    pub upper: &'e OwnedFd,
    pub below: &'e OwnedFd,
    pub name: &'e CStr,
    pub kind: Option<Kind>,
    pub size: i64,
}

impl StagedEntry<'_> {
    fn is_opaque(&self) -> bool {
        open_folder(self.upper, self.name).is_ok_and(|folder| is_opaque(&folder))
    }
}

impl Landing<'_> {
    pub(super) fn is_whole(&self, path: &WorkspacePath) -> bool {
        let mut path = Some(path.clone());
        while let Some(folder) = path {
            if self.whole.contains(&folder) {
                return true;
            }
            path = folder.split().map(|(parent, _)| parent);
        }
        false
    }

    /// Whether somebody else changed a file, or one anywhere in a folder, after the command began.
    pub(super) fn is_changed(&self, folder: &OwnedFd, name: &CStr, path: &WorkspacePath, stat: &Stat) -> bool {
        let path = path.relative().as_bytes();
        if kind_of(stat) == Kind::Folder { self.has_conflict(folder, name, path) } else { self.is_conflict(path, stat) }
    }

    /// By the time of the last change, and by what the command found: either alone can be deceived.
    fn is_conflict(&self, path: &[u8], stat: &Stat) -> bool {
        let is_released = self.released.contains(&(stat.st_dev, stat.st_ino));
        kind_of(stat) != Kind::Folder && !is_released && (is_changed_since(stat, self.since) || self.seen.is_other(path, stat))
    }

    /// Whether there is such a file anywhere in a folder; also if not all of it can be looked at.
    fn has_conflict(&self, folder: &OwnedFd, name: &CStr, path: &[u8]) -> bool {
        let Ok(inside) = open_shut_folder(folder, name) else { return true };
        let is_deep = path.iter().filter(|&&byte| byte == b'/').count() > DEEPEST;
        let Ok(found) = entries(&inside) else { return true };
        is_deep
            || found.iter().any(|(name, stat)| {
                let child = [path, b"/", name.to_bytes()].concat();
                self.is_conflict(&child, stat) || (kind_of(stat) == Kind::Folder && self.has_conflict(&inside, name, &child))
            })
    }

    /// Whether somebody else changed or deleted what a staged entry was made of.
    pub(super) fn is_overtaken(
        &self,
        (upper, below): (&OwnedFd, &OwnedFd),
        name: &CStr,
        path: &WorkspacePath,
        now: Option<Kind>,
        there: Option<&Stat>,
    ) -> bool {
        match there {
            Some(there) if kind_of(there) == Kind::Folder => {
                now != Some(Kind::Folder) && self.has_conflict(below, name, path.relative().as_bytes())
            }
            Some(there) => self.is_conflict(path.relative().as_bytes(), there),
            None => now.is_some() && (self.seen.has(path) || (self.only_adds && was_copied(upper, name))),
        }
    }

    /// Notes that nothing of what was to come into a folder did, because the folder is not there any more.
    pub(super) fn leave_within(&mut self, folder: &WorkspacePath) {
        self.conflicts.extend(folder.all_within(&self.kept).cloned());
    }

    /// The same for an entry of build output. A file that somebody else deleted lands again: the command may have moved it there.
    pub(super) fn is_output_overtaken(&mut self, staged: &StagedEntry<'_>, path: &WorkspacePath, there: Option<&Stat>) -> Overtaken {
        let Some(there) = there else {
            let is_removed = staged.kind == Some(Kind::Folder) && was_copied(staged.upper, staged.name) && !staged.is_opaque();
            return if is_removed { Overtaken::Changed } else { Overtaken::No };
        };
        let is_folder = kind_of(there) == Kind::Folder;
        match staged.kind {
            Some(Kind::Folder) if is_folder => Overtaken::No,
            Some(Kind::Other) => Overtaken::No,
            Some(Kind::Folder | Kind::File | Kind::Link) | None if !self.is_changed(staged.below, staged.name, path, there) => {
                Overtaken::No
            }
            Some(Kind::File | Kind::Link) if self.is_left_same(staged, there) => Overtaken::LeftSame,
            Some(Kind::Folder | Kind::File | Kind::Link) | None => Overtaken::Changed,
        }
    }

    /// Whether somebody else made of an entry what the command made of it. Reads a bounded amount.
    fn is_left_same(&mut self, staged: &StagedEntry<'_>, there: &Stat) -> bool {
        let size = u64::try_from(there.st_size).unwrap_or(u64::MAX);
        if staged.kind != Some(kind_of(there)) || staged.size != there.st_size || self.compared.saturating_add(size) > MOST_COMPARED {
            return false;
        }
        self.compared += size;
        if staged.kind == Some(Kind::Link) {
            let target = |folder: &OwnedFd| rustix::fs::readlinkat(folder, staged.name, Vec::new()).ok();
            return target(staged.upper).is_some_and(|own| target(staged.below) == Some(own));
        }
        let (Ok(mut own), Ok(mut other)) = (open_file(staged.upper, staged.name), open_file(staged.below, staged.name)) else {
            return false;
        };
        same_content(&mut own, &mut other)
    }

    /// Leaves a repository under another name than `.git` as it is.
    pub(super) fn leave_repository(&mut self, path: &WorkspacePath) {
        if self.is_whole(path) {
            self.own.push(path.clone());
        }
        self.leave_within(path);
    }

    /// Notes that one name of a file goes. The kernel then gives its other names a new time of change, which nobody else caused.
    pub(super) fn release(&mut self, stat: &Stat) {
        if kind_of(stat) == Kind::File && stat.st_nlink > 1 {
            self.released.insert((stat.st_dev, stat.st_ino));
        }
    }
}

/// Whether the kernel made a staged entry of one that was below it.
pub(super) fn was_copied(upper: &OwnedFd, name: &CStr) -> bool {
    let Ok(file) = open_file(upper, name) else { return false };
    let is_alone = rustix::fs::fstat(&file).is_ok_and(|stat| kind_of(&stat) == Kind::Folder || stat.st_nlink == 1);
    is_alone && rustix::fs::fgetxattr(&file, ORIGIN, &mut [0_u8; 256][..]).is_ok_and(|length| length > 0)
}

/// By this the overlay knows a copy.
pub(super) const ORIGIN: &CStr = c"user.overlay.origin";
