//! Writes a file atomically: fills and flushes a temporary file beside it, then renames it.

use super::{Kind, Stamp, kind_of, problem};
use crate::path::WorkspacePath;
use crate::tool::file_changed;
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::copy_data;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags, Timespec, Timestamps};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Writes `bytes` to `name` in `folder`. `enter` opens the fence and takes the workspace's lock right before the rename.
pub fn replace<G>(
    folder: &OwnedFd,
    name: &str,
    bytes: &[u8],
    expected: Option<Stamp>,
    path: &WorkspacePath,
    enter: impl FnOnce() -> Result<G, Problem>,
) -> Result<Stamp, Problem> {
    replace_giving(folder, name, bytes, (expected, None), path, enter)
}

/// Like [`replace`], with another mode, for a caller who holds the fence and the lock.
pub fn replace_with_mode(
    folder: &OwnedFd,
    name: &str,
    bytes: &[u8],
    expected: Option<Stamp>,
    path: &WorkspacePath,
    mode: Option<Mode>,
) -> Result<(), Problem> {
    replace_giving(folder, name, bytes, (expected, mode), path, || Ok(())).map(drop)
}

fn replace_giving<G>(
    folder: &OwnedFd,
    name: &str,
    bytes: &[u8],
    (expected, mode): (Option<Stamp>, Option<Mode>),
    path: &WorkspacePath,
    enter: impl FnOnce() -> Result<G, Problem>,
) -> Result<Stamp, Problem> {
    let failed = |errno| problem::problem_of(errno, path);
    let mut temporary = Temporary::create(folder).map_err(failed)?;
    if expected.is_some() {
        keep_attributes(folder, name, &temporary.file).map_err(failed)?;
    }
    if let Some(mode) = mode {
        rustix::fs::fchmod(&temporary.file, mode).map_err(failed)?;
    }
    temporary.file.write_all(bytes).map_err(|error| problem::problem_of_io(&error, path))?;
    temporary.mark().map_err(failed)?;
    temporary.file.sync_all().map_err(|error| problem::problem_of_io(&error, path))?;
    let written = rustix::fs::fstat(&temporary.file).map_err(failed)?;
    if written.st_size != i64::try_from(bytes.len()).unwrap_or(i64::MAX) {
        return Err(Problem::new(
            ErrorCode::StorageFull,
            format!("Could write only a part of {path}. Nothing was changed; ask the user to free disk space."),
        ));
    }
    let _guard = enter()?;
    let flags = match expected {
        None => RenameFlags::NOREPLACE,
        Some(expected) => {
            still(folder, name, expected, path)?;
            RenameFlags::empty()
        }
    };
    temporary.rename_to(name, flags).map_err(failed)?;
    rustix::fs::fsync(folder).map_err(failed)?;
    Ok(Stamp::of(&written))
}

/// Whether a copy is flushed to disk before the call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    Yes,
    No,
}

/// Copies a file, with its mode and times, into another folder.
pub fn copy(from: (&OwnedFd, &CStr), to: (&OwnedFd, &CStr), durable: Durable) -> Result<(), Errno> {
    let mut source = super::overlay::open_file(from.0, from.1)?;
    let (to, name) = to;
    let stat = rustix::fs::fstat(&source)?;
    let mut temporary = Temporary::create(to)?;
    let flush = |file: &File| if durable == Durable::Yes { file.sync_all() } else { Ok(()) };
    let failed = |error: std::io::Error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    copy_data(&mut source, &mut temporary.file, stat.st_size.cast_unsigned())?;
    flush(&temporary.file).map_err(failed)?;
    rustix::fs::fchmod(&temporary.file, Mode::from_raw_mode(stat.st_mode & 0o1777))?;
    let time = |seconds, nanoseconds: u64| Timespec { tv_sec: seconds, tv_nsec: i64::try_from(nanoseconds).unwrap_or_default() };
    let times =
        Timestamps { last_access: time(stat.st_atime, stat.st_atime_nsec), last_modification: time(stat.st_mtime, stat.st_mtime_nsec) };
    rustix::fs::futimens(&temporary.file, &times)?;
    temporary.rename_to(name, RenameFlags::empty())
}

/// Checks that the entry is the regular file that was decided on. The result holds while the [lock](super::workspace_lock) is held.
pub fn still(folder: &OwnedFd, name: &str, expected: Stamp, path: &WorkspacePath) -> Result<(), Problem> {
    let present = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| problem::problem_of(errno, path))?;
    match kind_of(&present) {
        Kind::Link => Err(problem::problem_of(Errno::LOOP, path)),
        Kind::File | Kind::Folder | Kind::Other if Stamp::of(&present) == expected => Ok(()),
        Kind::File | Kind::Folder | Kind::Other => Err(file_changed(path)),
    }
}

/// Gives the new file the mode, owner and extended attributes of the old one.
fn keep_attributes(folder: &OwnedFd, name: &str, new: &File) -> Result<(), Errno> {
    let old = rustix::fs::openat(
        folder,
        name,
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let stat = rustix::fs::fstat(&old)?;
    let own = rustix::fs::fstat(new)?;
    if (stat.st_uid, stat.st_gid) != (own.st_uid, own.st_gid) {
        // An ordinary user can't give files away; then they become the owner, as with any editor.
        let _ = rustix::fs::fchown(new, Some(rustix::fs::Uid::from_raw(stat.st_uid)), Some(rustix::fs::Gid::from_raw(stat.st_gid)));
    }
    rustix::fs::fchmod(new, Mode::from_raw_mode(stat.st_mode))?;
    copy_attributes(&old, new)
}

fn copy_attributes(old: &OwnedFd, new: &File) -> Result<(), Errno> {
    let mut names = vec![0_u8; 64 << 10];
    let length = match rustix::fs::flistxattr(old, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; 64 << 10];
        let size = rustix::fs::fgetxattr(old, name, &mut value[..])?;
        match rustix::fs::fsetxattr(new, name, &value[..size], rustix::fs::XattrFlags::empty()) {
            // The kernel manages some attributes itself.
            Ok(()) | Err(Errno::PERM | Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Prefix of this process's temporary files, with a random part.
static OURS: LazyLock<String> = LazyLock::new(|| format!("{TEMPORARY}{:016x}", RandomState::new().build_hasher().finish()));
static FILES: AtomicU64 = AtomicU64::new(0);
const TEMPORARY: &str = ".planwright-";
/// How often a lock is tried.
const ATTEMPTS: u32 = 50;

/// Removes a temporary file whose process was killed. The files of a running process are locked, see [`Temporary::create`].
pub fn remove_leftover(folder: &OwnedFd, name: &str) {
    if !name.starts_with(TEMPORARY) || name.strip_suffix(".tmp").is_none() || name.starts_with(OURS.as_str()) {
        return;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { return };
    // The kernel may release the lock of a just killed process a moment late.
    for _ in 0..ATTEMPTS {
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // A file that can't be removed is harmless.
            let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A new file with an unguessable name, removed unless it was renamed.
struct Temporary<'f> {
    folder: &'f OwnedFd,
    name: Option<String>,
    file: File,
}

impl<'f> Temporary<'f> {
    fn create(folder: &'f OwnedFd) -> Result<Self, Errno> {
        loop {
            let number = FILES.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number:08x}.tmp", *OURS);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(folder, name.as_str(), flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => {
                    // The lock shows other processes that the file is in use. Some file systems have no locks.
                    let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
                    return Ok(Self { folder, name: Some(name), file: File::from(file) });
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Sets a modification time that no other file of this process has. The kernel's time has a resolution of milliseconds, in
    /// which an inode number can be reused for a file of the same size; the two must not look the same.
    fn mark(&self) -> Result<(), Errno> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_nanos()).unwrap_or_default();
        let next = |last: u64| now.max(last + 1);
        let time = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last))).map_or(now, next);
        let time = Duration::from_nanos(time);
        let modified = Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or_default(), tv_nsec: i64::from(time.subsec_nanos()) };
        let unchanged = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
        rustix::fs::futimens(&self.file, &Timestamps { last_access: unchanged, last_modification: modified })
    }

    fn rename_to<P: rustix::path::Arg>(&mut self, name: P, flags: RenameFlags) -> Result<(), Errno> {
        let Some(own) = self.name.as_deref() else { return Ok(()) };
        rustix::fs::renameat_with(self.folder.as_fd(), own, self.folder.as_fd(), name, flags)?;
        self.name = None;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(self.folder, name.as_str(), AtFlags::empty());
        }
    }
}
