//! Reads a command's changes from an overlay.
//!
//! The upper folder has new and changed entries; a character device 0:0 marks a deleted one; a folder marked opaque replaces the
//! one below it. No process of the command runs any more.

use super::bare_repository::{Signs, is_named_own, protected_part};
use super::baseline::Baseline;
use super::change::{CommandChanges, EntryChange, Sorter, is_named_record, is_object};
use super::clock::Since;
use super::staged_tree::DEEPEST;
use super::{Entry, Kind, Workspace, kind_of};
use crate::path::{WorkspacePath, is_own_name};
use planwright_protocol::{ErrorCode, Problem};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Maximum number of new files of the same size with which a deleted file is compared.
const ALIKE: usize = 16;

impl Workspace {
    /// The changes in the upper folder of an overlay over this workspace.
    ///
    /// # Errors
    /// It can't be read.
    pub fn changes_in(&self, upper: &Path, since: Since, baseline: Option<Arc<Baseline>>) -> Result<CommandChanges, Problem> {
        let root = open_upper(upper).map_err(unreadable)?;
        let sorter = Sorter::as_of(self, self.host_path()?, baseline);
        let mut reader = Reader { workspace: self, sorter, since, changes: CommandChanges::default(), is_in_repository: false };
        reader.folder(&root, &WorkspacePath::root(), Below::Folder).map_err(unreadable)?;
        let mut changes = reader.changes;
        // Read before the check: a branch that others advance in between is overtaken, and not a loss.
        let names = self.names();
        // Entries that others changed meanwhile don't land, so nothing is lost by them.
        let is_overtaken = changes.unjudged.iter().any(|change| is_named_record(&change.path) && self.is_file_since(&change.path, since));
        if !is_overtaken && let Ok(staged) = Workspace::open(upper) {
            self.judge_history(&mut changes, names, &staged);
        }
        Ok(changes)
    }

    fn is_file_since(&self, path: &WorkspacePath, since: Since) -> bool {
        let file = self.open_regular(path, super::Links::Refused).and_then(|file| rustix::fs::fstat(&file).map_err(unreadable));
        file.is_ok_and(|stat| is_changed_since(&stat, since))
    }

    /// The first entry in a folder, at any depth, that belongs to git or to Planwright, including repositories with other names.
    pub(super) fn own_entry_in(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        if path.names().count() > DEEPEST {
            // Its content is unknown, so it counts as such an entry.
            return Some(path.clone());
        }
        let folder = self.folder(path).ok()?;
        let found = entries(&folder).ok()?;
        if let Some((name, _)) = found.iter().find(|(name, _)| is_own_name(name.to_bytes())) {
            return Some(path.join(&name.to_string_lossy()));
        }
        if Signs::of(found.iter().map(|(name, _)| name.to_bytes())).is_repository() {
            return Some(path.clone());
        }
        let mut folders = found.iter().filter(|(_, stat)| kind_of(stat) == Kind::Folder);
        folders.find_map(|(name, _)| self.own_entry_in(&path.join(name.to_str().ok()?)))
    }

    /// Files that a command only moved: deleted at one path, and present with the same content at another.
    #[must_use]
    pub fn moves(&self, upper: &Path, changes: &[EntryChange]) -> Vec<(WorkspacePath, WorkspacePath)> {
        let Ok(upper) = Workspace::open(upper) else { return Vec::new() };
        let size = |workspace: &Workspace, path: &WorkspacePath| workspace.entry(path).ok().flatten().map(|entry| entry.stamp.size);
        let mut new: HashMap<i64, Vec<&WorkspacePath>> = HashMap::new();
        for change in changes.iter().filter(|change| change.was.is_none() && change.now == Some(Kind::File)) {
            if let Some(size) = size(&upper, &change.path) {
                new.entry(size).or_default().push(&change.path);
            }
        }
        let mut moves = Vec::new();
        for gone in changes.iter().filter(|change| change.was == Some(Kind::File) && change.now.is_none()) {
            let Some(alike) = size(self, &gone.path).and_then(|size| new.get_mut(&size)) else { continue };
            let is_same = |path: &&WorkspacePath| {
                let files = (self.open_regular(&gone.path, super::Links::Refused), upper.open_regular(path, super::Links::Refused));
                let (Ok(mut old), Ok(mut other)) = files else { return false };
                same_content(&mut old, &mut other)
            };
            if let Some(position) = alike.iter().take(ALIKE).position(is_same) {
                moves.push((gone.path.clone(), alike.swap_remove(position).clone()));
            }
        }
        moves
    }
}

struct Reader<'w> {
    workspace: &'w Workspace,
    sorter: Sorter<'w>,
    since: Since,
    changes: CommandChanges,
    /// Whether the current entry is inside a repository with another name than `.git`.
    is_in_repository: bool,
}

/// The workspace's entry below an upper folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Folder,
    Nothing,
}

impl Reader<'_> {
    fn folder(&mut self, folder: &OwnedFd, path: &WorkspacePath, below: Below) -> Result<(), Errno> {
        let entries = entries(folder)?;
        let is_repository = self.is_repository(&entries, path, below);
        let noted = self.changes.judged.len();
        if below == Below::Folder && is_opaque(folder) {
            self.replaced(&entries, path);
        }
        if is_repository && self.changes.judged.len() > noted && !path.is_root() {
            self.changes.repositories.insert(path.clone());
        }
        for (name, stat) in entries {
            if self.changes.limit_amount() {
                return Ok(());
            }
            let Some(child) = spelled(path, &name, false) else {
                // In a new folder it is part of that folder.
                self.changes.unspellable += u64::from(below == Below::Folder);
                continue;
            };
            let protected = if is_repository { protected_part(path, name.to_bytes()) } else { None };
            let around = self.is_in_repository;
            self.is_in_repository |= protected.is_some();
            let noted = self.changes.judged.len();
            self.entry(folder, &name, &stat, child, below)?;
            self.is_in_repository = around;
            if self.changes.judged.len() > noted {
                self.changes.repositories.extend(protected);
            }
        }
        Ok(())
    }

    /// Whether the folder is a repository with another name than `.git`, or would become one with the command's changes.
    fn is_repository(&self, staged: &[(CString, Stat)], path: &WorkspacePath, below: Below) -> bool {
        if is_named_own(path) {
            return false;
        }
        let present = staged.iter().filter(|(_, stat)| staged_kind(stat).is_some());
        let signs = Signs::of(present.map(|(name, _)| name.to_bytes()));
        let there = if below == Below::Folder { self.workspace.folder(path).ok() } else { None };
        there.map_or(signs, |there| signs.and_in(&[&there])).is_repository()
    }

    fn entry(&mut self, folder: &OwnedFd, name: &CStr, stat: &Stat, child: WorkspacePath, below: Below) -> Result<(), Errno> {
        let was = match below {
            Below::Folder => self.workspace.entry(&child).ok().flatten(),
            Below::Nothing => None,
        };
        let now = staged_kind(stat);
        let was_kind = was.map(|was| was.kind);
        if is_object(&child) && was.is_some() && now != Some(Kind::Folder) {
            // Existing git objects stay unchanged; git works with the objects it needs.
            if now.is_some() && !was.is_some_and(|was| self.is_same(&child, was, folder, name, stat)) {
                self.changes.left_out.push(EntryChange { path: child, was: was_kind, now });
            }
            return Ok(());
        }
        if (now.is_some() || was.is_some()) && !self.is_in_repository && self.sorter.is_unjudged(&child, was_kind, now) {
            self.changes.unjudged.push(EntryChange { path: child, was: was_kind, now });
            return Ok(());
        }
        match now {
            Some(Kind::Folder) => self.subfolder(folder, name, child, was, stat)?,
            Some(Kind::File) if was.is_some_and(|was| self.is_same(&child, was, folder, name, stat)) => {}
            Some(Kind::File | Kind::Link) => self.note(child, was, now),
            // Sockets and pipes are useless once their process is gone.
            Some(Kind::Other) => {}
            None if was.is_some() => self.note(child, was, None),
            None => {}
        }
        Ok(())
    }

    fn subfolder(&mut self, folder: &OwnedFd, name: &CStr, path: WorkspacePath, was: Option<Entry>, stat: &Stat) -> Result<(), Errno> {
        let is_folder = was.is_some_and(|was| was.kind == Kind::Folder);
        let has_other_mode = was.is_some_and(|was| was.mode & 0o1777 != stat.st_mode & 0o1777);
        if !is_folder || has_other_mode {
            self.note(path.clone(), was, Some(Kind::Folder));
        }
        let inside = open_shut_folder(folder, name)?;
        self.folder(&inside, &path, if is_folder { Below::Folder } else { Below::Nothing })?;
        // As the command left it, if it was opened by force.
        rustix::fs::fchmod(&inside, Mode::from_raw_mode(stat.st_mode))
    }

    /// An opaque folder contains nothing of the folder below it.
    fn replaced(&mut self, present: &[(CString, Stat)], path: &WorkspacePath) {
        for (name, _) in self.workspace.list(path).unwrap_or_default() {
            let child = path.join(&name);
            let is_gone = !present.iter().any(|(other, _)| other.to_bytes() == name.as_bytes());
            if is_gone
                && !is_object(&child)
                && let Ok(Some(was)) = self.workspace.entry(&child)
            {
                self.note(child, Some(was), None);
            }
        }
    }

    fn note(&mut self, path: WorkspacePath, was: Option<Entry>, now: Option<Kind>) {
        let was = was.map(|was| was.kind);
        // The gate decides about a repository in a deleted folder.
        if was == Some(Kind::Folder)
            && now != Some(Kind::Folder)
            && let Some(own) = self.workspace.own_entry_in(&path)
        {
            if is_named_own(&own) {
                self.changes.judge(EntryChange { path: own, was, now: None });
            } else {
                self.changes.repositories.insert(own);
            }
        }
        self.changes.judge(EntryChange { path, was, now });
    }

    /// Whether a file was only copied up, and only its times differ. A file that others changed since may only look so: if two
    /// append the same line, each leaves what the other did.
    fn is_same(&self, path: &WorkspacePath, was: Entry, folder: &OwnedFd, name: &CStr, stat: &Stat) -> bool {
        let compare = || {
            let mut old = self.workspace.open_regular(path, super::Links::Refused).ok()?;
            let old_stat = rustix::fs::fstat(&old).ok()?;
            if was.kind != Kind::File
                || is_changed_since(&old_stat, self.since)
                || old_stat.st_size != stat.st_size
                || old_stat.st_mode != stat.st_mode
            {
                return None;
            }
            let mut new = open_file(folder, name).ok()?;
            Some(same_content(&mut old, &mut new))
        };
        compare().unwrap_or(false)
    }
}

/// Whether a file was changed at this time or later, by the kernel's change time. The same time counts: a command begins at a
/// time that no earlier change has, see [`Begun::now`](super::Begun::now).
pub fn is_changed_since(stat: &Stat, since: Since) -> bool {
    let Since::Moment(moment) = since else { return true };
    let moment = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let changed = (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX));
    changed >= (i64::try_from(moment.as_secs()).unwrap_or(i64::MAX), i64::from(moment.subsec_nanos()))
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

/// The kind of a staged entry; `None` for the marker of a deleted one.
pub fn staged_kind(stat: &Stat) -> Option<Kind> {
    let is_mark = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0;
    (!is_mark).then(|| kind_of(stat))
}

/// The path of a staged entry. Without a decision, names need not be such that a call can contain them.
pub fn spelled(folder: &WorkspacePath, name: &CStr, unjudged: bool) -> Option<WorkspacePath> {
    let text = name.to_string_lossy();
    if !unjudged && (name.to_str().is_err() || WorkspacePath::parse(&text).is_err() || folder.names().count() > 120) {
        return None;
    }
    Some(folder.join(&text))
}

pub fn open_upper(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a folder without following links, and changes nothing.
pub fn open_folder(folder: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(folder, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a folder that a command may have closed even to its owner, and gives the owner access.
pub fn open_shut_folder(folder: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    match open_folder(folder, name) {
        Err(Errno::ACCESS) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let held = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            // By descriptor, so that another file that takes this name meanwhile is not touched.
            rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), Mode::RWXU)?;
            open_folder(folder, name)
        }
        other => other,
    }
}

pub fn open_file(folder: &OwnedFd, name: &CStr) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).map(File::from)
}

/// The names in a folder, with their metadata.
pub fn entries(folder: &OwnedFd) -> Result<Vec<(CString, Stat)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder.as_fd())? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => found.push((name.to_owned(), stat)),
            // Another process removed it meanwhile.
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(found)
}

pub fn is_opaque(folder: &OwnedFd) -> bool {
    let mut value = [0_u8; 1];
    rustix::fs::fgetxattr(folder, c"user.overlay.opaque", &mut value[..]).is_ok() && &value == b"y"
}

pub fn unreadable(errno: Errno) -> Problem {
    Problem::new(ErrorCode::Internal, format!("Can't read the command's changes: {errno}. None of them was kept."))
}
