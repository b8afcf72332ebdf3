//! Letting what a command changed in an overlay land in the workspace.
//!
//! What is new comes first and what is gone goes last, so that nothing is lost when it ends half way. What has landed is
//! not in the upper folder any more, so that it can be done again after it was cut off.

use super::entries::{Depth, remove_entry};
use super::overlay::{entries, is_opaque, open_file, open_folder, open_shut_folder, open_upper, spelled, staged_kind, unreadable};
use super::{Kind, Workspace, atomic, kind_of, problem_of};
use crate::effect::Effect;
use crate::gate::Permit;
use crate::path::WorkspacePath;
use planwright_protocol::Problem;
use rustix::fs::{AtFlags, Mode, Stat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is to land, and then what could not.
pub struct Landing<'p> {
    pub permit: &'p Permit,
    /// Entries that are there afterwards.
    pub kept: BTreeSet<WorkspacePath>,
    /// Those of them that are folders that were not there before.
    pub new_folders: BTreeSet<WorkspacePath>,
    /// Entries that are gone afterwards.
    pub gone: Vec<WorkspacePath>,
    /// Entries that land with all that is in them.
    pub whole: BTreeSet<WorkspacePath>,
    /// When the command began: what somebody else changed after it is left alone.
    pub begun: SystemTime,
    pub conflicts: Vec<WorkspacePath>,
    /// What could not be deleted, and why.
    pub stuck: Vec<(WorkspacePath, String)>,
}

impl Workspace {
    /// # Errors
    /// The permit does not hold any more, or something could not be brought. Nothing was deleted then.
    pub fn land(&self, upper: &Path, landing: &mut Landing<'_>) -> Result<(), Problem> {
        let root = open_upper(upper).map_err(unreadable)?;
        // Held to the end: a switch of role waits for all of it, or comes before any of it.
        let permit = landing.permit;
        let _guard = permit.commit(&Effect::Keep)?;
        let below = self.folder(&WorkspacePath::root())?;
        bring_folder(&root, &below, &WorkspacePath::root(), landing)?;
        for path in std::mem::take(&mut landing.gone) {
            self.let_go(path, landing);
        }
        Ok(())
    }

    fn let_go(&self, path: WorkspacePath, landing: &mut Landing<'_>) {
        let Some((folder, name)) = path.split() else { return };
        let (Ok(folder), Ok(name)) = (self.folder(&folder), CString::new(name)) else { return };
        let Ok(stat) = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        if landing.is_conflict(&stat) || (kind_of(&stat) == Kind::Folder && landing.has_conflict(&folder, &name)) {
            landing.conflicts.push(path);
            return;
        }
        let done = remove_entry(&folder, name.as_c_str(), Depth::Whole).or_else(|errno| {
            // The command may have opened a folder to itself before it emptied it.
            if errno == Errno::ACCESS {
                loosen(&folder, &name);
            }
            remove_entry(&folder, name.as_c_str(), Depth::Whole)
        });
        match done.and_then(|()| rustix::fs::fsync(&folder)) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => landing.stuck.push((path, errno.to_string())),
        }
    }
}

impl Landing<'_> {
    fn is_whole(&self, path: &WorkspacePath) -> bool {
        let mut path = Some(path.clone());
        while let Some(folder) = path {
            if self.whole.contains(&folder) {
                return true;
            }
            path = folder.split().map(|(parent, _)| parent);
        }
        false
    }

    /// Whether somebody else changed a file after the command began.
    fn is_conflict(&self, stat: &Stat) -> bool {
        let begun = self.begun.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX));
        kind_of(stat) != Kind::Folder && changed > (i64::try_from(begun.as_secs()).unwrap_or(i64::MAX), i64::from(begun.subsec_nanos()))
    }

    /// Whether there is such a file anywhere in a folder.
    fn has_conflict(&self, folder: &OwnedFd, name: &CStr) -> bool {
        let Ok(inside) = open_folder(folder, name) else { return false };
        entries(&inside)
            .unwrap_or_default()
            .iter()
            .any(|(name, stat)| self.is_conflict(stat) || (kind_of(stat) == Kind::Folder && self.has_conflict(&inside, name)))
    }
}

fn bring_folder(upper: &OwnedFd, below: &OwnedFd, path: &WorkspacePath, landing: &mut Landing<'_>) -> Result<(), Problem> {
    let whole = landing.is_whole(path);
    let is_new = landing.new_folders.contains(path);
    let mut touched = false;
    for (name, stat) in entries(upper).map_err(unreadable)? {
        let odd = is_new && spelled(path, &name, false).is_none();
        let Some(child) = spelled(path, &name, whole || odd) else { continue };
        let lands = whole || odd || landing.kept.contains(&child) || landing.whole.contains(&child);
        let failed = |errno| problem_of(errno, &child);
        let there = rustix::fs::statat(below, &name, AtFlags::SYMLINK_NOFOLLOW).ok();
        if lands && !landing.is_whole(&child) && there.as_ref().is_some_and(|there| landing.is_conflict(there)) {
            landing.conflicts.push(child);
            continue;
        }
        match staged_kind(&stat) {
            Some(Kind::Folder) => bring_subfolder(upper, below, &name, &child, lands, landing)?,
            Some(Kind::File | Kind::Link) if lands => {
                if there.as_ref().is_some_and(|there| kind_of(there) == Kind::Folder) {
                    remove_entry(below, name.as_c_str(), Depth::Whole).map_err(failed)?;
                }
                bring(upper, below, &name, &stat, !whole).map_err(failed)?;
                touched = !whole;
            }
            // What build output has lost is lost; everything else goes last.
            None if landing.is_whole(&child) => match remove_entry(below, name.as_c_str(), Depth::Whole) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(failed(errno)),
            },
            Some(Kind::File | Kind::Link | Kind::Other) | None => {}
        }
    }
    if touched {
        rustix::fs::fsync(below).map_err(|errno| problem_of(errno, path))?;
    }
    Ok(())
}

fn bring_subfolder(
    upper: &OwnedFd,
    below: &OwnedFd,
    name: &CStr,
    path: &WorkspacePath,
    lands: bool,
    landing: &mut Landing<'_>,
) -> Result<(), Problem> {
    let failed = |errno| problem_of(errno, path);
    let mode = harmless(&rustix::fs::statat(upper, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?);
    let staged = open_shut_folder(upper, name).map_err(failed)?;
    let there = rustix::fs::statat(below, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| kind_of(&stat));
    if there != Some(Kind::Folder) {
        if !lands {
            return Ok(());
        }
        if there.is_some() {
            remove_entry(below, name, Depth::EmptyOnly).map_err(failed)?;
        }
        // A folder of build output that was not there before: as one piece, if it is on the same disk.
        if landing.is_whole(path) && are_harmless(&staged) && rustix::fs::renameat(upper, name, below, name).is_ok() {
            return Ok(());
        }
        match rustix::fs::mkdirat(below, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno)),
        }
    } else if landing.is_whole(path) && is_opaque(&staged) {
        remove_absent(&staged, &open_folder(below, name).map_err(failed)?).map_err(failed)?;
    }
    let inside = if lands { open_shut_folder(below, name) } else { open_folder(below, name) }.map_err(failed)?;
    if lands {
        // Open to us while we are in it; as the command left it afterwards.
        rustix::fs::fchmod(&inside, mode | Mode::RWXU).map_err(failed)?;
    }
    bring_folder(&staged, &inside, path, landing)?;
    if lands {
        rustix::fs::fchmod(&inside, mode).map_err(failed)?;
    }
    Ok(())
}

/// Removes from a folder of build output what its new version does not have.
fn remove_absent(staged: &OwnedFd, below: &OwnedFd) -> Result<(), Errno> {
    let present: BTreeSet<CString> = entries(staged)?.into_iter().map(|(name, _)| name).collect();
    for (name, _) in entries(below)?.iter().filter(|(name, _)| !present.contains(name)) {
        remove_entry(below, name.as_c_str(), Depth::Whole)?;
    }
    Ok(())
}

/// Brings a file or link from the upper folder to its place, whole or not at all.
fn bring(upper: &OwnedFd, below: &OwnedFd, name: &CStr, stat: &Stat, durable: bool) -> Result<(), Errno> {
    let is_file = kind_of(stat) == Kind::File;
    if is_file {
        let file = open_file(upper, name).or_else(|_| {
            rustix::fs::chmodat(upper, name, Mode::from_raw_mode(0o600), AtFlags::empty())?;
            open_file(upper, name)
        })?;
        for attribute in [c"user.overlay.origin", c"user.overlay.impure"] {
            // Marks of the overlay; most files have none.
            let _ = rustix::fs::fremovexattr(&file, attribute);
        }
        if durable {
            rustix::fs::fsync(&file)?;
        }
        rustix::fs::fchmod(&file, harmless(stat))?;
    }
    match rustix::fs::renameat(upper, name, below, name) {
        Err(Errno::XDEV) if is_file => atomic::copy(upper, below, name, atomic::Durable::Yes)?,
        Err(Errno::XDEV) => {
            let target = rustix::fs::readlinkat(upper, name, Vec::new())?;
            let _ = rustix::fs::unlinkat(below, name, AtFlags::empty());
            rustix::fs::symlinkat(target, below, name)?;
        }
        other => return other,
    }
    rustix::fs::unlinkat(upper, name, AtFlags::empty())
}

/// The mode of a staged entry, without the bits that make a program run as its owner.
fn harmless(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode & 0o1777)
}

/// Whether nothing in a folder has those bits. Takes the overlay's marks off on the way.
fn are_harmless(folder: &OwnedFd) -> bool {
    let _ = rustix::fs::fremovexattr(folder, c"user.overlay.opaque");
    entries(folder).is_ok_and(|entries| {
        entries.iter().all(|(name, stat)| {
            let inside = || open_shut_folder(folder, name).is_ok_and(|inside| are_harmless(&inside));
            stat.st_mode & 0o6000 == 0 && (kind_of(stat) != Kind::Folder || inside())
        })
    })
}

/// Lets the owner into a folder and all folders in it.
fn loosen(folder: &OwnedFd, name: &CStr) {
    let Ok(inside) = open_shut_folder(folder, name) else { return };
    let _ = rustix::fs::fchmod(&inside, Mode::RWXU);
    for (name, _) in entries(&inside).unwrap_or_default().iter().filter(|(_, stat)| kind_of(stat) == Kind::Folder) {
        loosen(&inside, name);
    }
}
