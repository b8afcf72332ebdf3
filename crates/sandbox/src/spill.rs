//! Copies changes that a command staged in memory to the disk, where they wait for a decision.
//!
//! The command controls this tree: it may be nested without end, and have sparse files and files with thousands of names. The
//! copy never takes more space than the original.

use crate::disk::Space;
use rustix::fs::{AtFlags, CWD, Dev, Dir, FileType, Mode, OFlags, SeekFrom, Stat, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::vec::IntoIter;

/// Maximum depth. Deeper folders are skipped, because they could not be stored anyway.
const DEEPEST: usize = 256;
/// Holds files with several names until the other names are linked.
const LINKS: &CStr = c"links";
/// Extended attributes of the overlay.
const MARKS: [&CStr; 2] = [c"user.overlay.opaque", c"user.overlay.origin"];

struct Level {
    from: OwnedFd,
    to: OwnedFd,
    left: IntoIter<(CString, Stat)>,
    stat: Stat,
}

/// Copies the content of a folder into an empty folder. `beside` is an empty folder on the same disk.
///
/// # Errors
/// The disk is full, or something can't be read.
pub fn spill(from: &OwnedFd, to: &Path, beside: &Path) -> Result<(), Errno> {
    let folder = |path: &Path| rustix::fs::openat(CWD, path, FOLDER, Mode::empty());
    let from = rustix::fs::openat(from, c".", FOLDER, Mode::empty())?;
    let (to, beside) = (folder(to)?, folder(beside)?);
    rustix::fs::mkdirat(&beside, LINKS, Mode::RWXU)?;
    let links = rustix::fs::openat(&beside, LINKS, FOLDER, Mode::empty())?;
    let stat = rustix::fs::fstat(&from)?;
    let mut spill = Spill { links, linked: HashSet::new() };
    let mut levels = vec![Level { left: entries(&from)?.into_iter(), from, to, stat }];
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { break };
        let Some((name, stat)) = level.left.next() else {
            if let Some(level) = levels.pop() {
                finish(&level)?;
            }
            continue;
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            spill.entry(level, &name, &stat)?;
        } else if depth <= DEEPEST {
            let from = open_shut(&level.from, &name, FOLDER, &stat)?;
            rustix::fs::mkdirat(&level.to, &name, Mode::RWXU)?;
            let to = rustix::fs::openat(&level.to, &name, FOLDER, Mode::empty())?;
            copy_marks(&from, &to)?;
            levels.push(Level { left: entries(&from)?.into_iter(), from, to, stat });
        }
    }
    drop(spill);
    crate::removal::remove_tree(std::os::fd::AsFd::as_fd(&beside), LINKS, crate::removal::ClosedFolder::Opened)
}

struct Spill {
    links: OwnedFd,
    /// Files with several names that were already copied, by inode.
    linked: HashSet<u64>,
}

impl Spill {
    fn entry(&mut self, level: &Level, name: &CStr, stat: &Stat) -> Result<(), Errno> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&level.from, name, Vec::new())?;
                rustix::fs::symlinkat(target, &level.to, name)
            }
            // The overlay's marker for a deleted entry.
            FileType::CharacterDevice if stat.st_rdev == 0 => {
                rustix::fs::mknodat(&level.to, name, FileType::CharacterDevice, Mode::empty(), Dev::default())
            }
            FileType::RegularFile if stat.st_nlink > 1 => {
                let own = CString::new(stat.st_ino.to_string()).unwrap_or_default();
                if self.linked.insert(stat.st_ino) {
                    copy_file((&level.from, name), (&self.links, &own), stat)?;
                }
                rustix::fs::linkat(&self.links, &own, &level.to, name, AtFlags::empty())
            }
            FileType::RegularFile => copy_file((&level.from, name), (&level.to, name), stat),
            // Sockets and pipes are useless once their process is gone.
            FileType::Directory
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Ok(()),
        }
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn copy_file((from, name): (&OwnedFd, &CStr), (to, new): (&OwnedFd, &CStr), stat: &Stat) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut source = File::from(open_shut(from, name, flags, stat)?);
    // Stops before the disk is full, because others need the rest.
    if Space::on(to)?.is_nearly_full() {
        return Err(Errno::NOSPC);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut copy = File::from(rustix::fs::openat(to, new, flags, Mode::from_raw_mode(0o600))?);
    copy_data(&mut source, &mut copy, stat.st_size.cast_unsigned())?;
    let copy = OwnedFd::from(copy);
    copy_marks(&OwnedFd::from(source), &copy)?;
    rustix::fs::fchmod(&copy, Mode::from_raw_mode(stat.st_mode))?;
    rustix::fs::futimens(&copy, &times(stat))
}

/// Copies a file's data and keeps its holes, so that a sparse file takes no additional space.
///
/// # Errors
/// The file can't be read, or the disk is full.
pub fn copy_data(source: &mut File, copy: &mut File, size: u64) -> Result<(), Errno> {
    let failed = |error: std::io::Error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    let mut place = 0;
    while place < size {
        let begin = match rustix::fs::seek(&*source, SeekFrom::Data(place)) {
            Ok(begin) => begin,
            // Only a hole up to the end.
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno),
        };
        let end = rustix::fs::seek(&*source, SeekFrom::Hole(begin))?;
        for file in [&*source, &*copy] {
            rustix::fs::seek(file, SeekFrom::Start(begin))?;
        }
        let copied = std::io::copy(&mut source.take(end - begin), copy).map_err(failed)?;
        if copied == 0 {
            break;
        }
        place = begin + copied;
    }
    copy.set_len(size).map_err(failed)
}

/// Restores the permissions and times that the command left.
fn finish(level: &Level) -> Result<(), Errno> {
    rustix::fs::fchmod(&level.to, Mode::from_raw_mode(level.stat.st_mode))?;
    rustix::fs::futimens(&level.to, &times(&level.stat))
}

/// Opens an entry even if its owner removed their own access.
fn open_shut(folder: &OwnedFd, name: &CStr, flags: OFlags, stat: &Stat) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            let held = rustix::fs::openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            let open = Mode::from_raw_mode(stat.st_mode | 0o700);
            rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), open)?;
            rustix::fs::openat(folder, name, flags, Mode::empty())
        }
        other => other,
    }
}

fn copy_marks(from: &OwnedFd, to: &OwnedFd) -> Result<(), Errno> {
    for mark in MARKS {
        let mut value = [0_u8; 1024];
        match rustix::fs::fgetxattr(from, mark, &mut value[..]) {
            Ok(length) => rustix::fs::fsetxattr(to, mark, &value[..length], XattrFlags::empty())?,
            Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn times(stat: &Stat) -> Timestamps {
    let time = |seconds, nanoseconds: u64| Timespec { tv_sec: seconds, tv_nsec: i64::try_from(nanoseconds).unwrap_or_default() };
    Timestamps { last_access: time(stat.st_atime, stat.st_atime_nsec), last_modification: time(stat.st_mtime, stat.st_mtime_nsec) }
}

fn entries(folder: &OwnedFd) -> Result<Vec<(CString, Stat)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            found.push((name.to_owned(), rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn holes_further_names_modes_and_links_come_over_and_nothing_grows() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to, beside] = ["from", "to", "beside"].map(|name| folder.path().join(name));
        for path in [&from.join("deep/er"), &to, &beside] {
            std::fs::create_dir_all(path).unwrap();
        }
        File::create(from.join("hole")).unwrap().set_len(2 << 30).unwrap();
        std::fs::write(from.join("deep/text"), "text").unwrap();
        std::fs::set_permissions(from.join("deep/text"), std::fs::Permissions::from_mode(0o751)).unwrap();
        std::fs::write(from.join("one"), vec![1; 1 << 20]).unwrap();
        for number in 0..50 {
            std::fs::hard_link(from.join("one"), from.join(format!("deep/er/{number}"))).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", from.join("deep/link")).unwrap();
        spill(&rustix::fs::openat(CWD, &from, FOLDER, Mode::empty()).unwrap(), &to, &beside).unwrap();
        let stat = |name: &str| to.join(name).symlink_metadata().unwrap();
        assert_eq!((stat("hole").len(), stat("hole").blocks() < 100), (2 << 30, true));
        assert_eq!((std::fs::read_to_string(to.join("deep/text")).unwrap().as_str(), stat("deep/text").mode() & 0o777), ("text", 0o751));
        assert_eq!((stat("one").nlink(), stat("one").ino()), (51, stat("deep/er/49").ino()));
        assert_eq!(std::fs::read_link(to.join("deep/link")).unwrap(), Path::new("/etc/passwd"));
        assert!(crate::disk::size_of(&to) < 3 << 20);
        assert_eq!(std::fs::read_dir(&beside).unwrap().count(), 0);
    }
}
