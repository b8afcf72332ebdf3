//! Deletes what a command deleted from build output, except entries of git and Planwright.

use super::Landing;
use crate::path::{WorkspacePath, is_own_name};
use crate::workspace::bare_repository::Signs;
use crate::workspace::entries::{Depth, remove_entry};
use crate::workspace::overlay::{entries, open_shut_folder};
use crate::workspace::staged_tree::DEEPEST;
use rustix::fs::Stat;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

/// Deletes entries from a folder of build output that its new version does not have.
pub(super) fn remove_absent(staged: &OwnedFd, below: &OwnedFd, path: &WorkspacePath, landing: &mut Landing<'_>) -> Result<(), Errno> {
    let present: BTreeSet<CString> = entries(staged)?.into_iter().map(|(name, _)| name).collect();
    for (name, stat) in entries(below)?.iter().filter(|(name, _)| !present.contains(name)) {
        clear_unchanged(below, name, stat, &path.join(&name.to_string_lossy()), landing)?;
    }
    Ok(())
}

/// Deletes an entry of build output, unless others changed it or something in it.
pub(super) fn clear_unchanged(
    folder: &OwnedFd,
    name: &CStr,
    stat: &Stat,
    path: &WorkspacePath,
    landing: &mut Landing<'_>,
) -> Result<(), Errno> {
    if landing.is_changed(folder, name, path, stat) {
        landing.output.add(path.clone());
        return Ok(());
    }
    clear(folder, name, stat, path, landing).map(drop)
}

/// Deletes an entry with everything in it, except repositories and Planwright's own files. Returns whether it is gone.
pub(super) fn clear(folder: &OwnedFd, name: &CStr, stat: &Stat, path: &WorkspacePath, landing: &mut Landing<'_>) -> Result<bool, Errno> {
    if is_own_name(name.to_bytes()) {
        landing.own.push(path.clone());
        return Ok(false);
    }
    match remove_entry(folder, name, Depth::EmptyOnly) {
        Ok(()) => {
            landing.release(stat);
            return Ok(true);
        }
        Err(Errno::NOENT) => return Ok(true),
        Err(Errno::NOTEMPTY) => {}
        Err(errno) => return Err(errno),
    }
    if path.names().count() > DEEPEST {
        landing.stuck.push((path.clone(), "its folders are nested too deep".to_owned()));
        return Ok(false);
    }
    let inside = open_shut_folder(folder, name)?;
    let found = entries(&inside)?;
    if Signs::of(found.iter().map(|(name, _)| name.to_bytes())).is_repository() {
        landing.own.push(path.clone());
        return Ok(false);
    }
    let mut is_gone = true;
    for (name, stat) in found {
        is_gone &= clear(&inside, &name, &stat, &path.join(&name.to_string_lossy()), landing)?;
    }
    if is_gone { remove_entry(folder, name, Depth::EmptyOnly).map(|()| true) } else { Ok(false) }
}
