//! How much of the disk is free, and how much of it a command has taken.
//!
//! The kernel enforces part of this: private folders are in memory with a size limit, files have a maximum size, and no system
//! call allocates without writing. Only root can set a quota for a folder on disk, so we watch the rest. A command is ended when
//! it exceeds its quota, or when the disk is nearly full.

use crate::command::CommandEnd;
use crate::policy::{Limits, Policy, View};
use rustix::fs::{CWD, Mode, OFlags};
use std::fmt;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// How often a disk is checked. In this time a fast writer writes a few hundred megabytes, less than the reserve.
const PAUSE: Duration = Duration::from_millis(15);
/// How soon files are counted again if the last count was quick and below the quota.
const RECOUNT: Duration = Duration::from_secs(1);
/// Bytes and inodes that commands leave free, or a twentieth of a small disk.
const RESERVE: Amount = Amount { bytes: 1 << 30, inodes: 10_000 };

/// Bytes and inodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub bytes: u64,
    pub inodes: u64,
}

impl Amount {
    /// Whether either number is larger than in the other.
    fn exceeds(self, other: Self) -> bool {
        self.bytes > other.bytes || self.inodes > other.inodes
    }

    fn min(self, other: Self) -> Self {
        Self { bytes: self.bytes.min(other.bytes), inodes: self.inodes.min(other.inodes) }
    }

    fn part(self, divisor: u64) -> Self {
        Self { bytes: self.bytes / divisor, inodes: self.inodes / divisor }
    }

    fn less(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_sub(other.bytes), inodes: self.inodes.saturating_sub(other.inodes) }
    }
}

/// The state of a file system now. Its text says what is free.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    pub total: Amount,
    pub free: Amount,
}

impl Space {
    /// Measures the file system of a folder.
    ///
    /// # Errors
    /// The folder can't be reached.
    pub fn of(folder: &Path) -> std::io::Result<Self> {
        Ok(Self::new(&rustix::fs::statvfs(folder)?))
    }

    /// Measures the file system of an open folder.
    pub(crate) fn on(folder: &OwnedFd) -> rustix::io::Result<Self> {
        Ok(Self::new(&rustix::fs::fstatvfs(folder)?))
    }

    /// Whether the disk has no space left at all.
    pub(crate) fn is_full(&self) -> bool {
        self.free.bytes < 64 << 10 || self.free.inodes < 4
    }

    fn new(stat: &rustix::fs::StatVfs) -> Self {
        // Some file systems allocate inodes on demand and report a count of zero.
        let inodes = |count: u64| if stat.f_files == 0 { u64::MAX } else { count };
        Self {
            total: Amount { bytes: stat.f_blocks.saturating_mul(stat.f_frsize), inodes: inodes(stat.f_files) },
            free: Amount { bytes: stat.f_bavail.saturating_mul(stat.f_frsize), inodes: inodes(stat.f_favail) },
        }
    }

    /// What one command may take of it.
    #[must_use]
    pub fn share(&self, limits: &Limits) -> Amount {
        Amount { bytes: limits.disk, inodes: limits.inodes }.min(self.free.part(2))
    }

    /// Whether commands must stop writing, because others need the rest.
    #[must_use]
    pub fn is_nearly_full(&self) -> bool {
        self.total.part(20).min(RESERVE).exceeds(self.free)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB", self.free.bytes / 1_000_000)?;
        if self.free.inodes < u64::MAX { write!(f, " and {} inodes", self.free.inodes) } else { Ok(()) }
    }
}

/// How many running commands can write to a disk.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Whether a running command could take space as soon as it is freed.
pub fn is_written_to() -> bool {
    RUNNING.load(Ordering::SeqCst) > 0
}

/// Watches the disks that a command writes to.
pub struct Watch {
    disks: Vec<Disk>,
    begun: SystemTime,
    looked: Instant,
    count: Option<Count>,
    /// The earliest time of the next count.
    next_count: Instant,
}

/// A count in progress. It has its own thread, because it can take longer than the disk may go unchecked.
struct Count {
    begun: Instant,
    thread: JoinHandle<bool>,
}

/// One disk, and the folders on it that the command can write to.
struct Disk {
    device: u64,
    /// Held open, so that the path can't be replaced.
    folder: OwnedFd,
    folders: Vec<PathBuf>,
    before: Space,
    /// The command's quota.
    quota: Amount,
}

impl Watch {
    /// Starts the watch. Call this before the command starts.
    ///
    /// # Errors
    /// A disk can't be checked; the command must not run.
    pub fn new(policy: &Policy) -> std::io::Result<Self> {
        let mut disks: Vec<Disk> = Vec::new();
        for folder in written(policy) {
            let metadata = folder.metadata()?;
            if let Some(disk) = disks.iter_mut().find(|disk| disk.device == metadata.dev()) {
                disk.folders.push(folder);
                continue;
            }
            let opened = rustix::fs::openat(CWD, &folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            let before = Space::new(&rustix::fs::fstatvfs(opened.as_fd())?);
            let quota = before.share(&policy.limits);
            disks.push(Disk { device: metadata.dev(), folder: opened, folders: vec![folder], before, quota });
        }
        RUNNING.fetch_add(usize::from(!disks.is_empty()), Ordering::SeqCst);
        // One second earlier, because file system clocks are coarse.
        let begun = SystemTime::now() - Duration::from_secs(1);
        Ok(Self { disks, begun, looked: Instant::now(), count: None, next_count: Instant::now() })
    }

    /// Checks the disks. Returns a reason if the command must end.
    pub fn look(&mut self) -> Option<CommandEnd> {
        if self.looked.elapsed() < PAUSE {
            return None;
        }
        self.looked = Instant::now();
        if let Some(Count { begun, thread }) = self.count.take_if(|count| count.thread.is_finished()) {
            self.next_count = Instant::now() + RECOUNT + begun.elapsed() * 20;
            if thread.join().unwrap_or(false) {
                return Some(CommandEnd::DiskQuota);
            }
        }
        for disk in &self.disks {
            // A disk that can't be checked counts as full.
            let stat = rustix::fs::fstatvfs(disk.folder.as_fd());
            let Some(now) = stat.ok().map(|stat| Space::new(&stat)).filter(|now| !now.is_nearly_full()) else {
                return Some(CommandEnd::DiskFull);
            };
            // Other processes may have used the space, so we count the command's own files before ending it.
            let is_due = self.count.is_none() && Instant::now() >= self.next_count;
            if is_due && disk.before.free.less(now.free).exceeds(disk.quota) {
                let (folders, device, quota, begun) = (disk.folders.clone(), disk.device, disk.quota, self.begun);
                let thread = std::thread::Builder::new().spawn(move || has_exceeded(folders, device, quota, begun));
                let Ok(thread) = thread else { return Some(CommandEnd::DiskQuota) };
                self.count = Some(Count { begun: Instant::now(), thread });
            }
        }
        None
    }

    /// Whether a command that ended by itself filled the disk between two checks.
    pub fn last_look(&self) -> Option<CommandEnd> {
        self.disks.iter().find_map(|disk| {
            let now = Space::new(&rustix::fs::fstatvfs(disk.folder.as_fd()).ok()?);
            let taken = disk.before.free.less(now.free);
            // If the command took little of the free space, others filled the disk.
            if now.is_nearly_full() && taken.exceeds(disk.quota.part(4)) {
                return Some(CommandEnd::DiskFull);
            }
            let is_over = taken.exceeds(disk.quota) && has_exceeded(disk.folders.clone(), disk.device, disk.quota, self.begun);
            is_over.then_some(CommandEnd::DiskQuota)
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        RUNNING.fetch_sub(usize::from(!self.disks.is_empty()), Ordering::SeqCst);
    }
}

/// The folders on disk that a command can write to.
fn written(policy: &Policy) -> Vec<PathBuf> {
    let mut folders = policy.writable.clone();
    if !policy.scratch_in_memory {
        folders.push(policy.scratch.clone());
    }
    match &policy.view {
        View::Staged { .. } if policy.memory.is_some() => {}
        View::Staged { folder } => folders.push(folder.clone()),
        View::Direct | View::Unconfined => folders.push(policy.workspace.clone()),
        View::ReadOnly { .. } => {}
    }
    folders
}

/// Whether the files written in these folders since `since` exceed the quota. Uses only timestamps that the kernel sets. Also
/// true if not everything can be counted, because a folder is closed or too deep: by then the disk has lost more than the quota.
fn has_exceeded(folders: Vec<PathBuf>, device: u64, quota: Amount, since: SystemTime) -> bool {
    let since = since.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed());
    let mut taken = Amount::default();
    let is_written = |metadata: &&Metadata| metadata.dev() == device && metadata.ctime() >= since;
    let walked = walk(folders, |metadata| {
        if let Some(metadata) = Some(metadata).filter(is_written) {
            taken.bytes += bytes_of(metadata);
            taken.inodes += 1;
        }
        !taken.exceeds(quota)
    });
    walked == Walked::InPart || taken.exceeds(quota)
}

/// The size on disk of all files in a folder, in bytes.
#[must_use]
pub fn size_of(folder: &Path) -> u64 {
    let mut bytes = 0;
    // Caches that can't be counted are evicted first.
    let walked = walk(vec![folder.to_owned()], |metadata| {
        bytes += bytes_of(metadata);
        true
    });
    if walked == Walked::InPart { u64::MAX } else { bytes }
}

/// A file with several names counts with an equal share for each name.
fn bytes_of(metadata: &Metadata) -> u64 {
    metadata.blocks() * 512 / metadata.nlink().max(1)
}

/// Whether a walk saw every file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walked {
    Whole,
    /// A folder could not be read.
    InPart,
}

/// Visits everything in these folders while `wants_more` returns true. Follows no links.
fn walk(mut folders: Vec<PathBuf>, mut wants_more: impl FnMut(&Metadata) -> bool) -> Walked {
    let mut walked = Walked::Whole;
    // Files removed during the walk take no space.
    let without = |error: &std::io::Error, walked| if error.kind() == ErrorKind::NotFound { walked } else { Walked::InPart };
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                walked = without(&error, walked);
                continue;
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.metadata()?, entry))) {
                Ok((metadata, _)) if !wants_more(&metadata) => return walked,
                Ok((metadata, entry)) if metadata.is_dir() => folders.push(entry.path()),
                Ok(_) => {}
                Err(error) => walked = without(&error, walked),
            }
        }
    }
    walked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_since_the_command_began_counts_to_its_quota() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().metadata().unwrap().dev();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        for number in 0..10 {
            std::fs::write(folder.path().join(format!("deep/{number}")), vec![1; 100_000]).unwrap();
        }
        let exceeds = |bytes, inodes, since| has_exceeded(vec![folder.path().to_owned()], device, Amount { bytes, inodes }, since);
        let (before, after) = (SystemTime::now() - Duration::from_secs(100), SystemTime::now() + Duration::from_secs(100));
        assert!(exceeds(900_000, 100, before) && exceeds(2_000_000, 9, before));
        assert!(!exceeds(2_000_000, 100, before) && !exceeds(0, 0, after));
    }

    #[test]
    fn what_can_t_be_counted_counts_as_more_than_the_quota() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().metadata().unwrap().dev();
        let exceeds =
            || has_exceeded(vec![folder.path().to_owned()], device, Amount { bytes: 1 << 30, inodes: 100_000 }, SystemTime::UNIX_EPOCH);
        assert!(!exceeds());
        let mut here = rustix::fs::openat(CWD, folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..40 {
            let name = "d".repeat(200);
            rustix::fs::mkdirat(&here, name.as_str(), Mode::RWXU).unwrap();
            here = rustix::fs::openat(&here, name.as_str(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        assert!(exceeds(), "deeper than a path can name");
        assert_eq!(size_of(folder.path()), u64::MAX);
    }

    #[test]
    fn a_disk_is_nearly_full_when_a_gigabyte_or_a_twentieth_is_left_or_hardly_an_inode() {
        let space = |bytes: (u64, u64), inodes: (u64, u64)| Space {
            total: Amount { bytes: bytes.0, inodes: inodes.0 },
            free: Amount { bytes: bytes.1, inodes: inodes.1 },
        };
        let full = |bytes, inodes| space(bytes, inodes).is_nearly_full();
        assert!(full((1 << 40, 1 << 29), (1 << 20, 1 << 19)) && full((1000, 49), (1000, 500)) && full((1 << 40, 1 << 35), (1000, 49)));
        assert!(!full((1 << 40, 1 << 31), (1 << 20, 1 << 19)) && !full((1000, 50), (u64::MAX, u64::MAX)));
    }
}
