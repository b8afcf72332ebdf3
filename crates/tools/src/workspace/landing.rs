//! Lands a command's changes from an overlay in the workspace.
//!
//! New entries come first and deletions last, so that nothing is lost if it is interrupted. Landed entries leave the upper
//! folder, so that an interrupted landing can be repeated. The workspace's lock is held throughout: nobody else replaces a file
//! between its check and its replacement.

mod clearing;
mod overtaken;

use super::bare_repository::{Signs, is_named_own, protected_part};
use super::change::{is_in_repository, is_object};
use super::clock::Since;
use super::entries::{Depth, remove_entry};
use super::overlay::{entries, is_opaque, open_file, open_folder, open_shut_folder, open_upper, spelled, staged_kind, unreadable};
use super::recorded_files::RecordedFiles;
use super::{Kind, Workspace, atomic, kind_of, problem_of};
use crate::gate::LandPermit;
use crate::path::{WorkspacePath, is_own_name};
use clearing::{clear, remove_absent};
pub use overtaken::OutputConflicts;
use overtaken::{ORIGIN, Overtaken, StagedEntry};
use planwright_protocol::Problem;
use planwright_sandbox::{ClosedFolder, remove_tree};
use rustix::fs::{AtFlags, Mode, Stat};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The changes to land, and then those that could not.
pub struct Landing<'p> {
    pub permit: &'p LandPermit,
    /// Entries that exist afterwards.
    pub kept: BTreeSet<WorkspacePath>,
    /// Those of them that are new folders.
    pub new_folders: BTreeSet<WorkspacePath>,
    /// Entries that are deleted afterwards.
    pub gone: Vec<WorkspacePath>,
    /// Entries that land with everything in them.
    pub whole: BTreeSet<WorkspacePath>,
    /// Git's records among all these, which must be consistent: if others changed one of them, none of them lands.
    pub records: BTreeSet<WorkspacePath>,
    /// Changes by others since this time win.
    pub since: Since,
    /// The state of the files when the command began.
    pub seen: RecordedFiles,
    /// Whether the command neither deleted nor moved anything. Then others deleted an entry that was copied up and is missing.
    pub only_adds: bool,
    pub conflicts: Vec<WorkspacePath>,
    /// Entries that could not be deleted, and why.
    pub stuck: Vec<(WorkspacePath, String)>,
    /// Entries of build output that belong to git or to Planwright, and so stay unchanged in the workspace.
    pub own: Vec<WorkspacePath>,
    /// Build output that others changed.
    pub output: OutputConflicts,
    /// Files that lost a name in this landing.
    pub released: HashSet<(u64, u64)>,
    /// Bytes of build output that were compared.
    pub compared: u64,
}

impl Workspace {
    /// # Errors
    /// The permit is no longer valid, or something could not be written. Nothing was deleted.
    pub fn land(&self, upper: &Path, landing: &mut Landing<'_>) -> Result<(), Problem> {
        let root = open_upper(upper).map_err(unreadable)?;
        // Held to the end: a role switch comes before all of it or after.
        let permit = landing.permit;
        let _guard = permit.enter(landing.kept.iter().chain(&landing.new_folders).chain(&landing.gone))?;
        let _lock = self.lock();
        let below = self.folder(&WorkspacePath::root())?;
        self.leave_changed_records(landing);
        bring_folder(&root, &below, &WorkspacePath::root(), landing)?;
        for path in std::mem::take(&mut landing.gone) {
            self.delete(path, landing);
        }
        Ok(())
    }

    /// Drops git's records if others changed one of them meanwhile.
    fn leave_changed_records(&self, landing: &mut Landing<'_>) {
        let is_changed = |path: &&WorkspacePath| {
            let Some((folder, name)) = path.split() else { return false };
            let (Ok(folder), Ok(name)) = (self.folder(&folder), CString::new(name)) else { return false };
            let Ok(stat) = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
            landing.is_changed(&folder, &name, path, &stat)
        };
        if landing.records.iter().any(|path| is_changed(&path)) {
            let records = landing.records.clone();
            for set in [&mut landing.kept, &mut landing.whole, &mut landing.new_folders] {
                set.retain(|path| !records.contains(path));
            }
            landing.gone.retain(|path| !records.contains(path));
            landing.conflicts.extend(records);
        }
    }

    fn delete(&self, path: WorkspacePath, landing: &mut Landing<'_>) {
        let Some((folder, name)) = path.split() else { return };
        let (Ok(folder), Ok(name)) = (self.folder(&folder), CString::new(name)) else { return };
        let Ok(stat) = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        if landing.is_changed(&folder, &name, &path, &stat) || self.repository_at(&path).is_some() {
            landing.conflicts.push(path);
            return;
        }
        // The command may have opened a closed folder before it emptied it.
        let done = remove_tree(folder.as_fd(), &name, ClosedFolder::Opened);
        match done.and_then(|()| rustix::fs::fsync(&folder)) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => landing.stuck.push((path, errno.to_string())),
        }
    }
}

fn bring_folder(upper: &OwnedFd, below: &OwnedFd, path: &WorkspacePath, landing: &mut Landing<'_>) -> Result<(), Problem> {
    let whole = landing.is_whole(path);
    let is_new = landing.new_folders.contains(path);
    let is_repository = path.is_root() && Signs::default().and_in(&[upper, below]).is_repository();
    let mut touched = false;
    for (name, stat) in entries(upper).map_err(unreadable)? {
        let odd = is_new && spelled(path, &name, false).is_none();
        let Some(child) = spelled(path, &name, whole || odd) else { continue };
        let there = rustix::fs::statat(below, &name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let now = staged_kind(&stat);
        if is_own_name(name.to_bytes()) && !(path.is_root() && is_in_repository(&child)) {
            if (whole || odd) && (now.is_some() || there.is_some()) {
                landing.own.push(child);
            }
            continue;
        }
        if is_repository && protected_part(path, name.to_bytes()).is_some() {
            landing.leave_repository(&child);
            continue;
        }
        let lands = whole || odd || landing.kept.contains(&child) || landing.whole.contains(&child);
        let failed = |errno| problem_of(errno, &child);
        let is_kept_object = is_object(&child) && there.as_ref().is_some_and(|there| kind_of(there) != Kind::Folder);
        // Links in git's own folder are not trusted.
        if is_kept_object || (is_in_repository(&child) && now == Some(Kind::Link)) {
            continue;
        }
        if !lands {
        } else if !landing.is_whole(&child) {
            if landing.is_overtaken((upper, below), &name, &child, now, there.as_ref()) {
                landing.leave_within(&child);
                continue;
            }
        } else if !is_in_repository(&child) {
            let staged = StagedEntry { upper, below, name: &name, kind: now, size: stat.st_size };
            match landing.is_output_overtaken(&staged, &child, there.as_ref()) {
                Overtaken::No => {}
                Overtaken::LeftSame => continue,
                Overtaken::Changed => {
                    landing.output.add(child);
                    continue;
                }
            }
        }
        match now {
            Some(Kind::Folder) => bring_subfolder(upper, below, &name, &child, lands, landing)?,
            Some(Kind::File | Kind::Link) if lands => {
                if let Some(there) = &there {
                    let is_folder = kind_of(there) == Kind::Folder;
                    if is_folder && !clear(below, &name, there, &child, landing).map_err(failed)? {
                        continue;
                    }
                    landing.release(there);
                }
                bring(upper, below, &name, &stat, !whole).map_err(failed)?;
                touched = !whole;
            }
            // Deletions in build output happen immediately; all others come last.
            None if landing.is_whole(&child) => {
                if let Some(there) = &there {
                    clear(below, &name, there, &child, landing).map_err(failed)?;
                }
            }
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
    if !is_named_own(path) && is_repository(&staged, below, name) {
        landing.leave_repository(path);
        return Ok(());
    }
    if there != Some(Kind::Folder) {
        if !lands {
            landing.leave_within(path);
            return Ok(());
        }
        if there.is_some() {
            remove_entry(below, name, Depth::EmptyOnly).map_err(failed)?;
        }
        // A new folder of build output is moved as a whole, if it is on the same disk.
        if landing.is_whole(path)
            && !is_in_repository(path)
            && are_harmless(&staged)
            && rustix::fs::renameat(upper, name, below, name).is_ok()
        {
            return Ok(());
        }
        match rustix::fs::mkdirat(below, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno)),
        }
    } else if landing.is_whole(path) && !is_in_repository(path) && is_opaque(&staged) {
        remove_absent(&staged, &open_folder(below, name).map_err(failed)?, path, landing).map_err(failed)?;
    }
    let inside = if lands { open_shut_folder(below, name) } else { open_folder(below, name) }.map_err(failed)?;
    if lands {
        // Opened for us during the work; afterwards as the command left it.
        rustix::fs::fchmod(&inside, mode | Mode::RWXU).map_err(failed)?;
    }
    bring_folder(&staged, &inside, path, landing)?;
    if lands {
        rustix::fs::fchmod(&inside, mode).map_err(failed)?;
    }
    Ok(())
}

/// Moves a file or link from the upper folder to its place, atomically.
fn bring(upper: &OwnedFd, below: &OwnedFd, name: &CStr, stat: &Stat, durable: bool) -> Result<(), Errno> {
    let is_file = kind_of(stat) == Kind::File;
    if is_file {
        let file = open_file(upper, name).or_else(|_| {
            rustix::fs::chmodat(upper, name, Mode::from_raw_mode(0o600), AtFlags::empty())?;
            open_file(upper, name)
        })?;
        for attribute in [ORIGIN, c"user.overlay.impure"] {
            // The overlay's attributes; most files have none.
            let _ = rustix::fs::fremovexattr(&file, attribute);
        }
        if durable {
            rustix::fs::fsync(&file)?;
        }
        rustix::fs::fchmod(&file, harmless(stat))?;
    }
    // A file with a second name is copied, so that no two names in the workspace are one file.
    let moved = if is_file && stat.st_nlink > 1 { Err(Errno::XDEV) } else { rustix::fs::renameat(upper, name, below, name) };
    match moved {
        Err(Errno::XDEV) if is_file => atomic::copy((upper, name), (below, name), atomic::Durable::Yes)?,
        Err(Errno::XDEV) => {
            let target = rustix::fs::readlinkat(upper, name, Vec::new())?;
            let _ = rustix::fs::unlinkat(below, name, AtFlags::empty());
            rustix::fs::symlinkat(target, below, name)?;
        }
        other => return other,
    }
    rustix::fs::unlinkat(upper, name, AtFlags::empty())
}

/// Whether a staged folder is a repository with another name than `.git`, or would become one in the workspace.
fn is_repository(staged: &OwnedFd, below: &OwnedFd, name: &CStr) -> bool {
    let mode = rustix::fs::statat(below, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Mode::from_raw_mode(stat.st_mode));
    // The command may have opened a folder that is closed in the workspace, which was not examined before.
    let there = open_shut_folder(below, name);
    let signs = Signs::default().and_in(&[Some(staged), there.as_ref().ok()].into_iter().flatten().collect::<Vec<_>>());
    if let (Ok(there), Ok(mode)) = (&there, mode)
        && !mode.contains(Mode::RUSR | Mode::XUSR)
    {
        // Unchanged until something lands in it.
        let _ = rustix::fs::fchmod(there, mode);
    }
    signs.is_repository()
}

/// The mode of a staged entry, without setuid and setgid bits.
fn harmless(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode & 0o1777)
}

/// Whether a folder contains no such bits, and no name that may not land. Also removes the overlay's attributes.
fn are_harmless(folder: &OwnedFd) -> bool {
    let _ = rustix::fs::fremovexattr(folder, c"user.overlay.opaque");
    entries(folder).is_ok_and(|entries| {
        let is_repository = Signs::of(entries.iter().map(|(name, _)| name.to_bytes())).is_repository();
        !is_repository
            && entries.iter().all(|(name, stat)| {
                let inside = || open_shut_folder(folder, name).is_ok_and(|inside| are_harmless(&inside));
                stat.st_mode & 0o6000 == 0 && !is_own_name(name.to_bytes()) && (kind_of(stat) != Kind::Folder || inside())
            })
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files themselves")]
mod tests;
