//! Removing a folder with all that is in it, however deep it is.
//!
//! A command can nest folders by the hundred thousand. A removal that calls itself for each of them would use up the stack,
//! and with it the server; one that holds each of them open would use up the descriptors.

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How many folders are gone down into before the rest is moved up.
const DEEPEST: usize = 64;

/// What to do with a folder that even its owner can't open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shut {
    /// It stays, and the removal fails.
    Respected,
    /// Its owner opens it.
    Opened,
}

/// Removes a folder of ours with all that a command or the kernel left in it, whatever its modes.
pub fn clear(folder: &Path) {
    let Ok(name) = CString::new(folder.as_os_str().as_bytes()) else { return };
    let _ = remove_tree(CWD, &name, Shut::Opened);
}

/// Removes an entry with all that is in it. Links are removed and not followed; what somebody else removes meanwhile is gone as it
/// should be.
///
/// # Errors
/// The first thing that can't be removed. What comes after it may still be there.
pub fn remove_tree(around: BorrowedFd<'_>, name: &CStr, shut: Shut) -> Result<(), Errno> {
    match rustix::fs::unlinkat(around, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        other => return other,
    }
    let top = match open(around, name, shut) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let mut removal = Removal { top: &top, shut, moved: 0 };
    // Each round goes deeper by as much as was moved up in the one before.
    loop {
        let before = removal.moved;
        removal.empty(&top, 0)?;
        if removal.moved == before {
            break;
        }
    }
    rustix::fs::unlinkat(around, name, AtFlags::REMOVEDIR)
}

struct Removal<'t> {
    top: &'t OwnedFd,
    shut: Shut,
    /// How many folders were moved up.
    moved: u64,
}

impl Removal<'_> {
    fn empty(&mut self, folder: &OwnedFd, depth: usize) -> Result<(), Errno> {
        for name in names(folder)? {
            match rustix::fs::unlinkat(folder, &name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => continue,
                Err(Errno::ISDIR) => {}
                Err(errno) => return Err(errno),
            }
            if rustix::fs::unlinkat(folder, &name, AtFlags::REMOVEDIR).is_ok() {
                continue;
            }
            let inside = match open(folder.as_fd(), &name, self.shut) {
                Err(Errno::NOENT) => continue,
                other => other?,
            };
            if depth == DEEPEST {
                self.move_up(folder, &name)?;
                continue;
            }
            self.empty(&inside, depth + 1)?;
            match rustix::fs::unlinkat(folder, &name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn move_up(&mut self, folder: &OwnedFd, name: &CStr) -> Result<(), Errno> {
        loop {
            self.moved += 1;
            let place = format!(".planwright-deep-{}", self.moved);
            match rustix::fs::renameat_with(folder, name, self.top, place, rustix::fs::RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                Ok(()) | Err(Errno::NOENT) => return Ok(()),
                Err(errno) => return Err(errno),
            }
        }
    }
}

/// Opens a folder through no link.
fn open(around: BorrowedFd<'_>, name: &CStr, shut: Shut) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if shut == Shut::Opened {
        // By its descriptor: whatever takes the name's place meanwhile is not touched.
        let held = rustix::fs::openat(around, name, OFlags::PATH | flags, Mode::empty())?;
        if rustix::fs::fstat(&held)?.st_mode & 0o700 != 0o700 {
            rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), Mode::RWXU)?;
        }
    }
    rustix::fs::openat(around, name, OFlags::RDONLY | flags, Mode::empty())
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of folders with a file beside each; deeper than any path can name, and than a stack has room for.
    fn nest(top: &Path, depth: usize) {
        std::fs::create_dir(top).unwrap();
        let mut here = rustix::fs::openat(CWD, top, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..depth {
            rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
            rustix::fs::openat(&here, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
            here = rustix::fs::openat(&here, "d", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
    }

    #[test]
    fn a_folder_goes_however_deep_it_is_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let [deep, beside] = ["deep", "beside"].map(|name| folder.path().join(name));
        nest(&deep, 4_000);
        std::fs::create_dir(&beside).unwrap();
        std::fs::write(beside.join("kept"), "kept").unwrap();
        std::os::unix::fs::symlink(&beside, deep.join("link")).unwrap();
        let small_stack = std::thread::Builder::new().stack_size(128 << 10);
        let gone = deep.clone();
        small_stack.spawn(move || clear(&gone)).unwrap().join().unwrap();
        assert!(!deep.exists() && beside.join("kept").exists());
    }

    #[test]
    fn folders_that_are_shut_are_opened_only_where_that_is_wanted() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let shut = folder.path().join("top/shut");
        std::fs::create_dir_all(shut.join("inside")).unwrap();
        std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o0)).unwrap();
        let top = rustix::fs::openat(CWD, folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        if !rustix::process::geteuid().is_root() {
            assert_eq!(remove_tree(top.as_fd(), c"top", Shut::Respected), Err(Errno::ACCESS));
        }
        assert_eq!(remove_tree(top.as_fd(), c"top", Shut::Opened), Ok(()));
        assert!(!folder.path().join("top").exists());
    }
}
