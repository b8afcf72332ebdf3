//! Finds the files below a folder, on several threads, without files that git ignores.
//!
//! Descends by descriptors and not by host names: a folder replaced by a link leads nowhere, and each file is opened in the
//! folder where it was found.

use super::Workspace;
use super::rules::{self, Rules};
use super::tree::file_type;
use crate::path::WorkspacePath;
use planwright_code::FileStamp;
use planwright_protocol::Problem;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Stat};
use std::ffi::CString;
use std::fs::File;
use std::num::NonZero;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const THREADS: usize = 8;
/// How many files of a folder a thread takes at once.
const BATCH: usize = 64;

/// A regular file in a walk.
pub struct FoundFile<'w> {
    pub path: WorkspacePath,
    name: &'w CString,
    folder: &'w OwnedFd,
}

impl FoundFile<'_> {
    /// Opens it for reading; `None` if that fails or it is no longer a regular file.
    #[must_use]
    pub fn open(&self) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.folder, self.name, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| File::from(file))
    }

    /// Its current state, without opening it; `None` if it is no longer a regular file.
    #[must_use]
    pub fn stamp(&self) -> Option<FileStamp> {
        let stat = rustix::fs::statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| file_stamp(&stat))
    }
}

/// The state of an open file.
#[must_use]
pub fn stamp_of(file: &File) -> Option<FileStamp> {
    rustix::fs::fstat(file).ok().map(|stat| file_stamp(&stat))
}

fn file_stamp(stat: &Stat) -> FileStamp {
    FileStamp {
        device: stat.st_dev,
        inode: stat.st_ino,
        size: stat.st_size.cast_unsigned(),
        modified: (stat.st_mtime, stat.st_mtime_nsec),
        changed: (stat.st_ctime, stat.st_ctime_nsec),
    }
}

/// The result of a walk.
#[derive(Debug, PartialEq, Eq)]
pub struct Walked {
    /// Whether the time limit was reached.
    pub late: bool,
    /// Folders that can't be read, and files whose names a call can't contain.
    pub passed_over: u64,
}

impl Workspace {
    /// Calls a visitor for every regular file below `folder`; `visitor` creates one for each thread. Follows no links. Skips
    /// `.git`, our own files and ignored ones.
    ///
    /// # Errors
    /// The folder is missing, is not a folder, or is behind a link.
    pub fn walk<V: FnMut(&FoundFile<'_>)>(
        &self,
        folder: &WorkspacePath,
        until: Instant,
        visitor: impl Fn() -> V + Sync,
    ) -> Result<Walked, Problem> {
        let host = self.host_path()?;
        self.folder(folder)?;
        let around = Rules::around(self, &host, folder);
        let walk =
            Walk { workspace: self, host, until, late: AtomicBool::new(false), passed_over: AtomicU64::new(0), queue: Queue::default() };
        walk.queue.push([Work::Folder(folder.clone(), around)]);
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(THREADS);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| walk.run(visitor()));
            }
            walk.run(visitor());
        });
        Ok(Walked { late: walk.is_late(), passed_over: walk.passed_over.into_inner() })
    }
}

struct Walk<'w> {
    workspace: &'w Workspace,
    host: PathBuf,
    until: Instant,
    late: AtomicBool,
    passed_over: AtomicU64,
    queue: Queue,
}

enum Work {
    Folder(WorkspacePath, Option<Arc<Rules>>),
    Files(Arc<Folder>, Vec<CString>),
}

struct Folder {
    path: WorkspacePath,
    descriptor: OwnedFd,
}

impl Walk<'_> {
    fn run(&self, mut visit: impl FnMut(&FoundFile<'_>)) {
        let mut buffer = Vec::with_capacity(32 << 10);
        while let Some(next) = self.queue.take() {
            match next.work {
                Work::Folder(..) | Work::Files(..) if self.is_late() => {}
                Work::Folder(ref path, ref rules) => self.enter(path, rules.clone(), &mut buffer),
                Work::Files(ref folder, ref names) => self.show(folder, names, &mut visit),
            }
        }
    }

    fn is_late(&self) -> bool {
        let late = self.late.load(Ordering::Relaxed) || Instant::now() > self.until;
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        late
    }

    fn show(&self, folder: &Folder, names: &[CString], visit: &mut impl FnMut(&FoundFile<'_>)) {
        for name in names {
            if self.is_late() {
                return;
            }
            match child(&folder.path, name) {
                Some(path) => visit(&FoundFile { path, name, folder: &folder.descriptor }),
                None => self.count_skipped(),
            }
        }
    }

    /// Reads a folder, and queues its content for the threads.
    fn enter(&self, path: &WorkspacePath, rules: Option<Arc<Rules>>, buffer: &mut Vec<u8>) {
        let Ok(descriptor) = self.workspace.folder(path) else { return self.count_skipped() };
        let listing = Listing::read(&descriptor, buffer);
        if listing.broken {
            self.count_skipped();
        }
        let host = rules::host_of(&self.host, path);
        let rules = if listing.is_repository { None } else { rules };
        let rules = if listing.has_rules { Rules::read(descriptor.as_fd(), &host, rules) } else { rules };
        let kept = |name: &CString, is_folder: bool| !rules.as_ref().is_some_and(|rules| rules.ignore(&below(&host, name), is_folder));
        let mut work = Vec::new();
        for name in listing.folders.into_iter().filter(|name| kept(name, true)) {
            match child(path, &name) {
                // Skips git's and our own files, unless the walk begins in them.
                Some(child) if child.is_protected() && !path.is_protected() => {}
                Some(path) => work.push(Work::Folder(path, rules.clone())),
                None => self.count_skipped(),
            }
        }
        let folder = Arc::new(Folder { path: path.clone(), descriptor });
        let mut files = listing.files.into_iter().filter(|name| kept(name, false)).peekable();
        while files.peek().is_some() {
            work.push(Work::Files(folder.clone(), files.by_ref().take(BATCH).collect()));
        }
        self.queue.push(work);
    }

    fn count_skipped(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }
}

/// The names in a folder.
#[derive(Default)]
struct Listing {
    folders: Vec<CString>,
    files: Vec<CString>,
    is_repository: bool,
    has_rules: bool,
    broken: bool,
}

impl Listing {
    fn read(folder: &OwnedFd, buffer: &mut Vec<u8>) -> Listing {
        let mut listing = Listing::default();
        let mut entries = RawDir::new(folder, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else {
                listing.broken = true;
                break;
            };
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if name.to_bytes() == rules::REPOSITORY.as_bytes() {
                listing.is_repository = true;
                continue;
            }
            listing.has_rules |= name.to_bytes() == rules::FILE.as_bytes();
            let file_type = file_type(folder.as_fd(), name, entry.file_type());
            if file_type == FileType::Directory {
                listing.folders.push(name.to_owned());
            } else if file_type == FileType::RegularFile {
                listing.files.push(name.to_owned());
            }
        }
        listing
    }
}

/// The path of an entry, unless a call can't contain it.
fn child(folder: &WorkspacePath, name: &CString) -> Option<WorkspacePath> {
    let name = name.to_str().ok()?;
    WorkspacePath::parse(name).ok()?;
    Some(folder.join(name))
}

fn below(host: &Path, name: &CString) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    host.join(std::ffi::OsStr::from_bytes(name.to_bytes()))
}

/// The remaining work. The newest is taken first, so that few folders are open at once.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    work: Vec<Work>,
    /// Threads that are working, and so may add more.
    busy: usize,
}

/// A piece of work in progress; dropping it marks it as done.
struct WorkGuard<'q> {
    work: Work,
    queue: &'q Queue,
}

impl Queue {
    fn push(&self, work: impl IntoIterator<Item = Work>) {
        self.lock().work.extend(work);
        self.more.notify_all();
    }

    /// The next piece of work; `None` when everything is done.
    fn take(&self) -> Option<WorkGuard<'_>> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop() {
                state.busy += 1;
                return Some(WorkGuard { work, queue: self });
            }
            if state.busy == 0 {
                return None;
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.busy -= 1;
        if state.busy == 0 {
            self.queue.more.notify_all();
        }
    }
}
