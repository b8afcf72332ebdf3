//! What a command changed in an overlay: reading it, and letting it land.
//!
//! The upper folder has what is new or different; a character device 0:0 stands for what is gone; a folder marked
//! opaque replaces the one below it. Nothing runs any more when it is read.

use super::change::{Change, Changes, Sorter};
use super::entries::{Depth, remove_entry};
use super::{Entry, Kind, Workspace, kind_of};
use crate::effect::Effect;
use crate::gate::Permit;
use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// What lands, and what does not although it was meant to.
pub struct Landing<'p> {
    pub permit: &'p Permit,
    /// Entries that land.
    pub kept: BTreeSet<WorkspacePath>,
    /// Entries that land with all that is in them.
    pub whole: BTreeSet<WorkspacePath>,
    /// When the command began: what somebody else changed after it is left alone.
    pub begun: SystemTime,
    pub conflicts: Vec<WorkspacePath>,
}

impl Workspace {
    /// What lies in the upper folder of an overlay over this workspace.
    ///
    /// # Errors
    /// It can't be read.
    pub fn changes_in(&self, upper: &Path) -> Result<Changes, Problem> {
        let root = open_upper(upper).map_err(unreadable)?;
        let mut reader = Reader { workspace: self, sorter: Sorter::new(self, self.host_path()?), changes: Changes::default() };
        reader.folder(&root, &WorkspacePath::root(), Below::Folder).map_err(unreadable)?;
        Ok(reader.changes)
    }

    /// Lets what lies in the upper folder land. What has landed is not in the upper folder any more, so that this can be
    /// done again after it was cut off.
    ///
    /// # Errors
    /// The permit does not hold any more, or the disk has no room.
    pub fn land(&self, upper: &Path, landing: &mut Landing<'_>) -> Result<(), Problem> {
        let root = open_upper(upper).map_err(unreadable)?;
        // Held to the end: a switch of role waits for all of it, or comes before any of it.
        let permit = landing.permit;
        let _guard = permit.commit(&Effect::Keep)?;
        let below = self.folder(&WorkspacePath::root())?;
        self.land_folder(&root, &below, &WorkspacePath::root(), landing)
    }

    /// Files that a command only gave another path: gone at one, and there with the same content at another.
    #[must_use]
    pub fn moves(&self, upper: &Path, changes: &[Change]) -> Vec<(WorkspacePath, WorkspacePath)> {
        let Ok(upper) = Workspace::open(upper) else { return Vec::new() };
        let mut new: Vec<&Change> = changes.iter().filter(|change| change.was.is_none() && change.now == Some(Kind::File)).collect();
        let mut moves = Vec::new();
        for gone in changes.iter().filter(|change| change.was == Some(Kind::File) && change.now.is_none()) {
            let is_same = |change: &&Change| {
                let files = (self.open_regular(&gone.path, super::Links::Refused), upper.open_regular(&change.path, super::Links::Refused));
                let (Ok(mut old), Ok(mut other)) = files else { return false };
                same_size(&old, &other) && same_content(&mut old, &mut other)
            };
            if let Some(position) = new.iter().position(is_same) {
                moves.push((gone.path.clone(), new.swap_remove(position).path.clone()));
            }
        }
        moves
    }

    fn land_folder(&self, upper: &OwnedFd, below: &OwnedFd, path: &WorkspacePath, landing: &mut Landing<'_>) -> Result<(), Problem> {
        let whole = landing.is_whole(path);
        let mut touched = false;
        for (name, stat) in entries(upper).map_err(unreadable)? {
            let Some(child) = spelled(path, &name, whole) else { continue };
            let lands = whole || landing.kept.contains(&child) || landing.whole.contains(&child);
            let there = rustix::fs::statat(below, &name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let failed = |errno| super::problem_of(errno, &child);
            if lands && there.as_ref().is_some_and(|stat| landing.is_conflict(stat)) && !landing.is_whole(&child) {
                landing.conflicts.push(child);
                continue;
            }
            match staged_kind(&stat) {
                Some(Kind::Folder) => self.land_subfolder(upper, below, &name, &child, lands, landing)?,
                Some(Kind::File | Kind::Link) if lands => {
                    if there.as_ref().is_some_and(|stat| kind_of(stat) == Kind::Folder) {
                        remove_entry(below, name.as_c_str(), Depth::Whole).map_err(failed)?;
                    }
                    bring(upper, below, &name, &stat, !whole).map_err(failed)?;
                    touched = !whole;
                }
                None if lands => {
                    match remove_entry(below, name.as_c_str(), Depth::Whole) {
                        Ok(()) | Err(Errno::NOENT) => {}
                        Err(errno) => return Err(failed(errno)),
                    }
                    touched = !whole;
                }
                Some(Kind::File | Kind::Link | Kind::Other) | None => {}
            }
        }
        if touched {
            rustix::fs::fsync(below).map_err(|errno| super::problem_of(errno, path))?;
        }
        Ok(())
    }

    fn land_subfolder(
        &self,
        upper: &OwnedFd,
        below: &OwnedFd,
        name: &CStr,
        path: &WorkspacePath,
        lands: bool,
        landing: &mut Landing<'_>,
    ) -> Result<(), Problem> {
        let failed = |errno| super::problem_of(errno, path);
        let staged = open_folder(upper, name).map_err(failed)?;
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
            let mode = harmless(&rustix::fs::fstat(&staged).map_err(failed)?);
            match rustix::fs::mkdirat(below, name, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(failed(errno)),
            }
        } else if is_opaque(&staged) {
            let present: BTreeSet<CString> = entries(&staged).map_err(failed)?.into_iter().map(|(name, _)| name).collect();
            let inside = open_folder(below, name).map_err(failed)?;
            for (name, stat) in entries(&inside).map_err(failed)? {
                let Some(child) = spelled(path, &name, landing.is_whole(path)) else { continue };
                let lands = landing.is_whole(path) || landing.kept.contains(&child);
                if lands && !present.contains(&name) && !landing.is_conflict(&stat) {
                    remove_entry(&inside, name.as_c_str(), Depth::Whole).map_err(failed)?;
                }
            }
        }
        let below = open_folder(below, name).map_err(failed)?;
        self.land_folder(&staged, &below, path, landing)
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

    fn is_conflict(&self, stat: &Stat) -> bool {
        let begun = self.begun.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX));
        kind_of(stat) != Kind::Folder && changed > (i64::try_from(begun.as_secs()).unwrap_or(i64::MAX), i64::from(begun.subsec_nanos()))
    }
}

struct Reader<'w> {
    workspace: &'w Workspace,
    sorter: Sorter<'w>,
    changes: Changes,
}

/// What the workspace has where an upper folder lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Folder,
    Nothing,
}

impl Reader<'_> {
    fn folder(&mut self, folder: &OwnedFd, path: &WorkspacePath, below: Below) -> Result<(), Errno> {
        let entries = entries(folder)?;
        if below == Below::Folder && is_opaque(folder) {
            self.replaced(&entries, path);
        }
        for (name, stat) in entries {
            let Some(child) = spelled(path, &name, false) else {
                self.changes.unspellable += 1;
                continue;
            };
            let was = match below {
                Below::Folder => self.workspace.entry(&child).ok().flatten(),
                Below::Nothing => None,
            };
            let now = staged_kind(&stat);
            let was_kind = was.map(|was| was.kind);
            if (now.is_some() || was.is_some()) && self.sorter.is_unjudged(&child, was_kind, now) {
                self.changes.unjudged.push(child);
                continue;
            }
            match now {
                Some(Kind::Folder) => self.subfolder(folder, &name, child, was)?,
                Some(Kind::File) if was.is_some_and(|was| self.is_same(&child, was, folder, &name, &stat)) => {}
                Some(Kind::File | Kind::Link) => self.note(child, was, now),
                // Sockets and pipes mean nothing once their process is gone.
                Some(Kind::Other) => {}
                None if was.is_some() => self.note(child, was, None),
                None => {}
            }
        }
        Ok(())
    }

    fn subfolder(&mut self, folder: &OwnedFd, name: &CStr, path: WorkspacePath, was: Option<Entry>) -> Result<(), Errno> {
        let is_folder = was.is_some_and(|was| was.kind == Kind::Folder);
        if !is_folder {
            self.note(path.clone(), was, Some(Kind::Folder));
        }
        self.folder(&open_folder(folder, name)?, &path, if is_folder { Below::Folder } else { Below::Nothing })
    }

    /// An opaque folder has nothing of what was below it.
    fn replaced(&mut self, present: &[(CString, Stat)], path: &WorkspacePath) {
        for (name, _) in self.workspace.list(path).unwrap_or_default() {
            let child = path.join(&name);
            let is_gone = !present.iter().any(|(other, _)| other.to_bytes() == name.as_bytes());
            if is_gone && let Ok(Some(was)) = self.workspace.entry(&child) {
                self.note(child, Some(was), None);
            }
        }
    }

    fn note(&mut self, path: WorkspacePath, was: Option<Entry>, now: Option<Kind>) {
        self.changes.judged.push(Change { path, was: was.map(|was| was.kind), now });
    }

    /// Whether a file was only copied up, with nothing of it different but its times.
    fn is_same(&self, path: &WorkspacePath, was: Entry, folder: &OwnedFd, name: &CStr, stat: &Stat) -> bool {
        let compare = || {
            let mut old = self.workspace.open_regular(path, super::Links::Refused).ok()?;
            let old_stat = rustix::fs::fstat(&old).ok()?;
            if was.kind != Kind::File || old_stat.st_size != stat.st_size || old_stat.st_mode != stat.st_mode {
                return None;
            }
            let mut new = open_file(folder, name).ok()?;
            Some(same_content(&mut old, &mut new))
        };
        compare().unwrap_or(false)
    }
}

pub fn same_content(one: &mut File, other: &mut File) -> bool {
    let (mut left, mut right) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let (Ok(read), Ok(also)) = (fill(one, &mut left), fill(other, &mut right)) else { return false };
        if left[..read] != right[..also] {
            return false;
        }
        if read == 0 {
            return true;
        }
    }
}

fn same_size(one: &File, other: &File) -> bool {
    let size = |file: &File| rustix::fs::fstat(file).map(|stat| stat.st_size);
    matches!((size(one), size(other)), (Ok(one), Ok(other)) if one == other)
}

fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            length => filled += length,
        }
    }
    Ok(filled)
}

/// What a staged entry is; `None` for the mark that something is gone.
fn staged_kind(stat: &Stat) -> Option<Kind> {
    let is_mark = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0;
    (!is_mark).then(|| kind_of(stat))
}

/// The path of a staged entry. Where nothing is judged, names need not be such as a call could spell.
fn spelled(folder: &WorkspacePath, name: &CStr, unjudged: bool) -> Option<WorkspacePath> {
    let text = name.to_string_lossy();
    if !unjudged && (name.to_str().is_err() || WorkspacePath::parse(&text).is_err() || folder.names().count() > 120) {
        return None;
    }
    Some(folder.join(&text))
}

fn open_upper(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

pub fn open_folder(folder: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let open = || rustix::fs::openat(folder, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    match open() {
        // A command may leave a folder that even its owner can't read.
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(0o700), AtFlags::empty())?;
            open()
        }
        other => other,
    }
}

pub fn open_file(folder: &OwnedFd, name: &CStr) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).map(File::from)
}

/// The names in a folder, each with what it is.
pub fn entries(folder: &OwnedFd) -> Result<Vec<(CString, Stat)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder.as_fd())? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        found.push((name.to_owned(), stat));
    }
    Ok(found)
}

fn is_opaque(folder: &OwnedFd) -> bool {
    let mut value = [0_u8; 1];
    rustix::fs::fgetxattr(folder, c"user.overlay.opaque", &mut value[..]).is_ok() && &value == b"y"
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
        Err(Errno::XDEV) if is_file => super::atomic::copy(upper, below, name, super::atomic::Durable::Yes)?,
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

/// Whether nothing in a folder has those bits.
fn are_harmless(folder: &OwnedFd) -> bool {
    entries(folder).is_ok_and(|entries| {
        entries.iter().all(|(name, stat)| {
            let inside = || open_folder(folder, name).is_ok_and(|inside| are_harmless(&inside));
            stat.st_mode & 0o6000 == 0 && (kind_of(stat) != Kind::Folder || inside())
        })
    })
}

fn unreadable(errno: Errno) -> Problem {
    Problem::new(ErrorCode::Internal, format!("What the command changed can't be read: {errno}. Nothing of it was kept."))
}
