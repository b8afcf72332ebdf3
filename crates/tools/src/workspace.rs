//! The only module that touches workspace files.
//!
//! The root is held as a descriptor and the kernel resolves every path beneath it: no path is checked as text and opened
//! afterwards. Reads may follow links that stay inside; writes follow none.

use crate::gate::{CommitGuard, ProgressPermit, Target, WritePermit};
use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

mod atomic;
mod bare_repository;
mod baseline;
mod branch;
mod change;
mod chats;
mod clock;
mod commits;
mod entries;
mod head;
mod history;
mod landing;
mod marks;
mod mirror;
mod noted_repositories;
mod overlay;
mod plans;
mod problem;
mod products;
mod put_back;
mod recorded_files;
mod refs;
mod repository;
mod restore;
mod rules;
mod secrets;
mod staged_tree;
mod tracked;
mod tree;
mod walk;
mod workspace_lock;

pub use baseline::Baseline;
pub use branch::Commit;
pub use change::{CommandChanges, EntryChange, is_in_repository, is_named_record, is_object};
pub use clock::{Begun, Since};
pub use commits::Commits;
pub use entries::{Depth, Parents, State};
pub use landing::{Landing, OutputConflicts};
pub use mirror::{Mirror, is_noted};
pub use plans::PlanSummary;
use problem::problem_of;
pub use put_back::PutBack;
pub use recorded_files::RecordedFiles;
pub use refs::RefChange;
pub use repository::Repository;
pub use restore::{CHANGED, LeftAlone, NO_COPY, NOT_EMPTY, Restore};
pub use secrets::Hidden;
pub use staged_tree::refusal;
pub use tree::{Kept, Tree};
pub use walk::{FoundFile, Walked, stamp_of};

/// The largest file that is read or written as a whole, in bytes.
pub const LARGEST_FILE: u64 = 16 << 20;
/// The largest plan, in bytes: every request's prompt contains all of it.
const LARGEST_PLAN: u64 = 256 << 10;

/// A folder the agent works in.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
}

/// Identifies one state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, u64),
}

/// A file's content with the state in which it was read.
#[derive(Clone, Debug)]
pub struct FileSnapshot {
    pub bytes: Vec<u8>,
    pub stamp: Stamp,
    pub links: u64,
    pub mode: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Link,
    Other,
}

/// An entry, without following links.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub kind: Kind,
    pub stamp: Stamp,
    pub links: u64,
    pub mode: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Follow links that stay inside the workspace.
    Inside,
    Refused,
}

impl Workspace {
    /// # Errors
    /// The folder is missing or can't be opened.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let root = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root })
    }

    /// Like [`Self::open`], but refuses links in the path, so that a path checked earlier can't lead elsewhere now.
    ///
    /// # Errors
    /// The folder is missing, can't be opened, or its path contains a link.
    pub fn open_real(folder: &Path) -> std::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(rustix::fs::CWD, folder, flags, Mode::empty(), links) {
            Ok(root) => Ok(Self { root }),
            Err(Errno::LOOP) => Err(std::io::Error::other("its path now contains a link; restore the folder, or add it at its new path")),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The root's current path on the host. For display and for walking by name; never for opening a file.
    ///
    /// # Errors
    /// `NOT_FOUND` if the folder was removed.
    pub fn host_path(&self) -> Result<PathBuf, Problem> {
        let removed = || Problem::new(ErrorCode::NotFound, "The workspace folder has been removed. Ask the user to restore it.");
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.root));
        let path = rustix::fs::readlink(link, Vec::new()).map_err(|_| removed())?;
        let path = PathBuf::from(path.into_string().map_err(|_| removed())?);
        match rustix::fs::fstat(&self.root) {
            Ok(stat) if stat.st_nlink > 0 => Ok(path),
            Ok(_) | Err(_) => Err(removed()),
        }
    }

    /// Opens a regular file for reading. Follows links inside the workspace.
    ///
    /// # Errors
    /// The file is missing, outside, or not a regular file.
    pub fn open_file(&self, path: &WorkspacePath) -> Result<File, Problem> {
        self.open_regular(path, Links::Inside)
    }

    fn open_regular(&self, path: &WorkspacePath, links: Links) -> Result<File, Problem> {
        let file = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, links)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, path))?;
        match kind_of(&stat) {
            Kind::File => Ok(File::from(file)),
            Kind::Folder => Err(Problem::new(ErrorCode::NotRegularFile, format!("{path} is a folder. Use `ls` to list it."))),
            Kind::Link | Kind::Other => {
                Err(Problem::new(ErrorCode::NotRegularFile, format!("{path} is a pipe, socket or device, not a file with text.")))
            }
        }
    }

    /// The real path of an open file, after links; `None` if it is unknown.
    #[must_use]
    pub fn real_path(&self, file: &File) -> Option<WorkspacePath> {
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
        let target = rustix::fs::readlink(link, Vec::new()).ok()?.into_string().ok()?;
        let inside = Path::new(&target).strip_prefix(self.host_path().ok()?).ok()?;
        WorkspacePath::parse(inside.to_str()?).ok()
    }

    /// Resolves a path, following links inside the workspace, and returns its kind.
    ///
    /// # Errors
    /// The path is missing or outside.
    pub fn resolve(&self, path: &WorkspacePath) -> Result<(WorkspacePath, Kind), Problem> {
        let file = File::from(self.open_at(path, OFlags::PATH, Links::Inside)?);
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, path))?;
        Ok((self.real_path(&file).unwrap_or_else(|| path.clone()), kind_of(&stat)))
    }

    /// Reads a whole file, up to [`LARGEST_FILE`]. For files that will be changed: unlike [`Self::open_file`] it follows no link,
    /// so that a link that replaces the file is not followed.
    ///
    /// # Errors
    /// The file is a link, missing or not a regular file, or `FILE_TOO_LARGE`.
    pub fn read(&self, path: &WorkspacePath) -> Result<FileSnapshot, Problem> {
        self.read_up_to(path, LARGEST_FILE, "Read a part of it with `offset` and `limit`.")
    }

    /// Reads a whole plan.
    ///
    /// # Errors
    /// Like [`Self::read`], with the smaller limit for plans.
    pub fn read_plan(&self, path: &WorkspacePath) -> Result<FileSnapshot, Problem> {
        self.read_up_to(path, LARGEST_PLAN, "Write a shorter plan.")
    }

    fn read_up_to(&self, path: &WorkspacePath, most: u64, hint: &str) -> Result<FileSnapshot, Problem> {
        let mut file = self.open_regular(path, Links::Refused)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, path))?;
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let too_large =
            || Problem::new(ErrorCode::FileTooLarge, format!("{path} has {size} bytes; at most {most} can be handled as a whole. {hint}"));
        if size > most {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        // One byte more than allowed, to notice a file that grows during the read.
        (&mut file).take(most + 1).read_to_end(&mut bytes).map_err(|error| problem::problem_of_io(&error, path))?;
        if bytes.len() as u64 > most {
            return Err(too_large());
        }
        Ok(FileSnapshot { bytes, stamp: Stamp::of(&stat), links: stat.st_nlink, mode: stat.st_mode & 0o7777 })
    }

    /// The entry at a path. Follows no link, neither on the way nor at the end.
    ///
    /// # Errors
    /// There is a link on the way, or a parent is missing; a missing entry is `Ok(None)`.
    pub fn entry(&self, path: &WorkspacePath) -> Result<Option<Entry>, Problem> {
        match self.open_at(path, OFlags::PATH | OFlags::NOFOLLOW, Links::Refused) {
            Ok(file) => {
                let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, path))?;
                Ok(Some(Entry { kind: kind_of(&stat), stamp: Stamp::of(&stat), links: stat.st_nlink, mode: stat.st_mode }))
            }
            Err(problem) if problem.code == ErrorCode::PathNotFound => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Replaces a file atomically. `expected` is the state that the caller decided on; `None` means that there is no file yet.
    ///
    /// # Errors
    /// Not permitted, changed meanwhile, disk full, or a link or another entry in the way. Nothing has changed.
    pub fn write(&self, permit: &WritePermit, path: &WorkspacePath, bytes: &[u8], expected: Option<Stamp>) -> Result<Stamp, Problem> {
        let enter = || permit.enter(path, Target::of(expected.as_ref()));
        let (folder, name) = path.split().ok_or_else(|| Problem::new(ErrorCode::PathInvalid, "The workspace itself is not a file."))?;
        // A refused write must not leave a temporary file.
        drop(enter()?);
        let folder = if expected.is_some() { self.folder(&folder)? } else { self.folder_made(&enter, &folder)? };
        atomic::replace(&folder, name, bytes, expected, path, || {
            let held = (enter()?, self.lock());
            self.refuse_repository(path)?;
            Ok(held)
        })
    }

    /// Writes a plan in which the server ticked a box.
    ///
    /// # Errors
    /// As for [`Self::write`].
    pub fn write_progress(&self, permit: &ProgressPermit, path: &WorkspacePath, bytes: &[u8], expected: Stamp) -> Result<Stamp, Problem> {
        let (folder, name) = path.split().ok_or_else(|| problem_of(Errno::ISDIR, path))?;
        drop(permit.enter(path)?);
        self.remove_leftovers(path);
        let enter = || Ok((permit.enter(path)?, self.lock()));
        atomic::replace(&self.folder(&folder)?, name, bytes, Some(expected), path, enter)
    }

    fn open_at(&self, path: &WorkspacePath, flags: OFlags, links: Links) -> Result<OwnedFd, Problem> {
        let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if links == Links::Refused {
            resolve |= ResolveFlags::NO_SYMLINKS;
        }
        let open = || rustix::fs::openat2(&self.root, path.relative(), flags | OFlags::CLOEXEC, Mode::empty(), resolve);
        // EAGAIN means that something was renamed during the lookup; the kernel asks for a retry.
        let mut tries = 0;
        loop {
            match open() {
                Err(Errno::AGAIN) if tries < 64 => tries += 1,
                other => return other.map_err(|errno| problem_of(errno, path)),
            }
        }
    }

    /// The parent folder of an entry that will change. Follows no link.
    fn folder(&self, path: &WorkspacePath) -> Result<OwnedFd, Problem> {
        self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY, Links::Refused)
    }

    /// Like [`Self::folder`], and creates missing parents of the path for which `enter` has the permit.
    fn folder_made<'p>(&self, enter: &dyn Fn() -> Result<CommitGuard<'p>, Problem>, path: &WorkspacePath) -> Result<OwnedFd, Problem> {
        match self.folder(path) {
            Err(problem) if problem.code == ErrorCode::PathNotFound => {
                let Some((parent, name)) = path.split() else { return Err(problem) };
                let parent = self.folder_made(enter, &parent)?;
                let _guard = enter()?;
                let _lock = self.lock();
                self.refuse_repository(path)?;
                match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => self.folder(path),
                    Err(errno) => Err(problem_of(errno, path)),
                }
            }
            other => other,
        }
    }
}

/// Resolve below a folder, and through no link.
fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS
}

impl Stamp {
    /// The current state of an open file.
    ///
    /// # Errors
    /// The kernel can't tell.
    pub fn of_file(file: &File) -> std::io::Result<Self> {
        Ok(Self::of(&rustix::fs::fstat(file)?))
    }

    fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino, size: stat.st_size, modified: (stat.st_mtime, stat.st_mtime_nsec) }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the kernel's kinds, of which three matter")]
fn kind_of(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}
