//! Detects changes by others of the entries that a command changed.

use super::Landing;
use crate::path::WorkspacePath;
use crate::workspace::overlay::{entries, is_changed_since, is_opaque, open_file, open_folder, open_shut_folder, same_content};
use crate::workspace::staged_tree::DEEPEST;
use crate::workspace::{Kind, kind_of};
use rustix::fs::Stat;
use std::ffi::CStr;
use std::os::fd::OwnedFd;

/// Maximum size of build output that is read to compare two results.
const MOST_COMPARED: u64 = 256 << 20;
/// Maximum number of listed files of build output.
const MOST_NAMED: usize = 100;

/// Files of build output that others changed, so that they stay unchanged.
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

/// What happened to an entry of build output while the command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overtaken {
    No,
    /// Others left the same result.
    LeftSame,
    Changed,
}

/// An entry to land, with its source and target folders.
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

    /// Whether others changed a file, or one anywhere in a folder, after the command began.
    pub(super) fn is_changed(&self, folder: &OwnedFd, name: &CStr, path: &WorkspacePath, stat: &Stat) -> bool {
        let path = path.relative().as_bytes();
        if kind_of(stat) == Kind::Folder { self.has_conflict(folder, name, path) } else { self.is_conflict(path, stat) }
    }

    /// By the change time and by what the command found: either alone can be wrong.
    fn is_conflict(&self, path: &[u8], stat: &Stat) -> bool {
        let is_released = self.released.contains(&(stat.st_dev, stat.st_ino));
        kind_of(stat) != Kind::Folder && !is_released && (is_changed_since(stat, self.since) || self.seen.is_other(path, stat))
    }

    /// Whether a folder contains such a file at any depth, or can't be examined completely.
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

    /// Whether others changed or deleted the entry on which a staged entry is based.
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

    /// Records that nothing landed in a folder, because the folder is missing.
    pub(super) fn leave_within(&mut self, folder: &WorkspacePath) {
        self.conflicts.extend(folder.all_within(&self.kept).cloned());
    }

    /// The same for an entry of build output. A file that others deleted lands again: the command may have moved it there.
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

    /// Whether others left the same result as the command. Reads a limited amount.
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

    /// Leaves a repository with another name than `.git` unchanged.
    pub(super) fn leave_repository(&mut self, path: &WorkspacePath) {
        if self.is_whole(path) {
            self.own.push(path.clone());
        }
        self.leave_within(path);
    }

    /// Records that one name of a file is removed. The kernel then changes the times of its other names, which nobody else
    /// caused.
    pub(super) fn release(&mut self, stat: &Stat) {
        if kind_of(stat) == Kind::File && stat.st_nlink > 1 {
            self.released.insert((stat.st_dev, stat.st_ino));
        }
    }
}

/// Whether a staged entry was copied up from the workspace.
pub(super) fn was_copied(upper: &OwnedFd, name: &CStr) -> bool {
    let Ok(file) = open_file(upper, name) else { return false };
    let is_alone = rustix::fs::fstat(&file).is_ok_and(|stat| kind_of(&stat) == Kind::Folder || stat.st_nlink == 1);
    is_alone && rustix::fs::fgetxattr(&file, ORIGIN, &mut [0_u8; 256][..]).is_ok_and(|length| length > 0)
}

/// The attribute by which the overlay marks a copy.
pub(super) const ORIGIN: &CStr = c"user.overlay.origin";
