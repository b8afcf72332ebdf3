//! The only module that touches workspace files.
//!
//! The root is held as a descriptor and the kernel resolves every path beneath it: nothing is ever
//! checked as text and opened afterwards. Reads may follow links that stay inside; writes follow none.

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
mod refs;
mod repository;
mod restore;
mod rules;
mod secrets;
mod seen;
mod staged_tree;
mod tracked;
mod tree;
mod turn;
mod walk;

pub use baseline::Baseline;
pub use branch::Commit;
pub use change::{Change, Changes, is_in_repository, is_named_record, is_object};
pub use clock::{Begun, Since};
pub use entries::{Depth, Parents, State};
pub use landing::{Landing, OutputConflicts};
pub use mirror::{Mirror, is_noted};
pub use plans::PlanSummary;
use problem::problem_of;
pub use put_back::PutBack;
pub use refs::RefChange;
pub use repository::Repository;
pub use restore::{CHANGED, LeftAlone, NO_COPY, NOT_EMPTY, Restore};
pub use secrets::Hidden;
pub use seen::Seen;
pub use staged_tree::refusal;
pub use tree::{Kept, Tree};
pub use walk::{Found, Walked};

/// The largest file that is read or written as a whole.
pub const LARGEST_FILE: u64 = 16 << 20;
/// The largest plan: all of it goes into the prompt of every request.
const LARGEST_PLAN: u64 = 256 << 10;

/// A folder the agent works in.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, u64),
}

/// A file's content with the state it was read in.
#[derive(Clone, Debug)]
pub struct Snapshot {
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

/// An entry as it is, links not followed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub kind: Kind,
    pub stamp: Stamp,
    pub links: u64,
    pub mode: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Links are followed while they stay inside the workspace.
    Inside,
    Refused,
}

impl Workspace {
    /// # Errors
    /// The folder is not there or can't be opened.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let root = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root })
    }

    /// The same, if no link leads there: what stands at a path that was looked at before is not something else by now.
    ///
    /// # Errors
    /// The folder is not there, can't be opened, or is reached through a link.
    pub fn open_real(folder: &Path) -> std::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(rustix::fs::CWD, folder, flags, Mode::empty(), links) {
            Ok(root) => Ok(Self { root }),
            Err(Errno::LOOP) => Err(std::io::Error::other("there is a link in its path now; put the folder back, or add it where it is")),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Where the root is now on the host. For showing and for walking by name; never to open a file with.
    ///
    /// # Errors
    /// `NOT_FOUND` when the folder has been removed.
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

    /// Opens a regular file for reading, links inside the workspace followed.
    ///
    /// # Errors
    /// Not there, outside, not a regular file.
    pub fn open_file(&self, path: &WorkspacePath) -> Result<File, Problem> {
        self.open_regular(path, Links::Inside)
    }

    fn open_regular(&self, path: &WorkspacePath, links: Links) -> Result<File, Problem> {
        let file = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, links)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, path))?;
        match kind_of(&stat) {
            Kind::File => Ok(File::from(file)),
            Kind::Folder => Err(Problem::new(ErrorCode::NotRegularFile, format!("{path} is a folder. Use `ls` to see what is in it."))),
            Kind::Link | Kind::Other => {
                Err(Problem::new(ErrorCode::NotRegularFile, format!("{path} is a pipe, socket or device, not a file with text.")))
            }
        }
    }

    /// Where an open file really is, when links led there; `None` when it can't be told.
    #[must_use]
    pub fn real_path(&self, file: &File) -> Option<WorkspacePath> {
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
        let target = rustix::fs::readlink(link, Vec::new()).ok()?.into_string().ok()?;
        let inside = Path::new(&target).strip_prefix(self.host_path().ok()?).ok()?;
        WorkspacePath::parse(inside.to_str()?).ok()
    }

    /// Where a path leads, links inside the workspace followed, and what is there.
    ///
    /// # Errors
    /// Not there, or outside.
    pub fn resolve(&self, path: &WorkspacePath) -> Result<(WorkspacePath, Kind), Problem> {
        let file = File::from(self.open_at(path, OFlags::PATH, Links::Inside)?);
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, path))?;
        Ok((self.real_path(&file).unwrap_or_else(|| path.clone()), kind_of(&stat)))
    }

    /// Reads a whole file, up to [`LARGEST_FILE`]. For files that are to be changed: unlike
    /// [`Self::open_file`] it follows no link, or one that takes the file's place would be looked through.
    ///
    /// # Errors
    /// A link, not there, not a regular file, or `FILE_TOO_LARGE`.
    pub fn read(&self, path: &WorkspacePath) -> Result<Snapshot, Problem> {
        self.read_up_to(path, LARGEST_FILE, "Read a part of it with `offset` and `limit`.")
    }

    /// Reads a plan as a whole.
    ///
    /// # Errors
    /// Like [`Self::read`]; a plan may be less large.
    pub fn read_plan(&self, path: &WorkspacePath) -> Result<Snapshot, Problem> {
        self.read_up_to(path, LARGEST_PLAN, "Write a shorter plan.")
    }

    fn read_up_to(&self, path: &WorkspacePath, most: u64, hint: &str) -> Result<Snapshot, Problem> {
        let mut file = self.open_regular(path, Links::Refused)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, path))?;
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let too_large =
            || Problem::new(ErrorCode::FileTooLarge, format!("{path} has {size} bytes; at most {most} can be handled as a whole. {hint}"));
        if size > most {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        // One byte more than allowed, to notice a file that grows while it is read.
        (&mut file).take(most + 1).read_to_end(&mut bytes).map_err(|error| problem::problem_of_io(&error, path))?;
        if bytes.len() as u64 > most {
            return Err(too_large());
        }
        Ok(Snapshot { bytes, stamp: Stamp::of(&stat), links: stat.st_nlink, mode: stat.st_mode & 0o7777 })
    }

    /// What is at a path itself: no link is followed, on the way or at its end.
    ///
    /// # Errors
    /// A link on the way, or no way there; a missing entry is `Ok(None)`.
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

    /// Writes a file in one step: its old content or its new one is there, never anything between.
    /// `expected` is the state the caller decided on; `None` means that there is no file yet.
    ///
    /// # Errors
    /// Not permitted, changed meanwhile, no room, a link or something else in the way. Nothing has changed then.
    pub fn write(&self, permit: &WritePermit, path: &WorkspacePath, bytes: &[u8], expected: Option<Stamp>) -> Result<Stamp, Problem> {
        let enter = || permit.enter(path, Target::of(expected.as_ref()));
        let (folder, name) = path.split().ok_or_else(|| Problem::new(ErrorCode::PathInvalid, "The workspace itself is not a file."))?;
        // What is refused already leaves not even the trace of a temporary file.
        drop(enter()?);
        let folder = if expected.is_some() { self.folder(&folder)? } else { self.folder_made(&enter, &folder)? };
        atomic::replace(&folder, name, bytes, expected, path, || {
            let held = (enter()?, self.take_turn());
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
        let enter = || Ok((permit.enter(path)?, self.take_turn()));
        atomic::replace(&self.folder(&folder)?, name, bytes, Some(expected), path, enter)
    }

    fn open_at(&self, path: &WorkspacePath, flags: OFlags, links: Links) -> Result<OwnedFd, Problem> {
        let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if links == Links::Refused {
            resolve |= ResolveFlags::NO_SYMLINKS;
        }
        let open = || rustix::fs::openat2(&self.root, path.relative(), flags | OFlags::CLOEXEC, Mode::empty(), resolve);
        // The kernel answers EAGAIN when something was renamed while it looked; it asks for another try.
        let mut tries = 0;
        loop {
            match open() {
                Err(Errno::AGAIN) if tries < 64 => tries += 1,
                other => return other.map_err(|errno| problem_of(errno, path)),
            }
        }
    }

    /// The folder that an entry is to be changed in, reached through no link.
    fn folder(&self, path: &WorkspacePath) -> Result<OwnedFd, Problem> {
        self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY, Links::Refused)
    }

    /// Like [`Self::folder`], making the folders that are missing on the way to what `enter` has the permit for.
    fn folder_made<'p>(&self, enter: &dyn Fn() -> Result<CommitGuard<'p>, Problem>, path: &WorkspacePath) -> Result<OwnedFd, Problem> {
        match self.folder(path) {
            Err(problem) if problem.code == ErrorCode::PathNotFound => {
                let Some((parent, name)) = path.split() else { return Err(problem) };
                let parent = self.folder_made(enter, &parent)?;
                let _guard = enter()?;
                let _turn = self.take_turn();
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

/// Below a folder, and through no link.
fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS
}

impl Stamp {
    /// The present state of an open file.
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
