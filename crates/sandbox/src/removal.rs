//! Removes a folder with everything in it, however deep.
//!
//! A command can nest folders by the hundred thousand. Removing them recursively would exhaust the stack, and with it the server;
//! keeping each folder open would exhaust the descriptors.

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How deep the removal descends before it moves the deeper folders up.
const DEEPEST: usize = 64;

/// How to treat a folder that even its owner can't open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedFolder {
    /// Leave it, and fail.
    Respected,
    /// Give its owner access.
    Opened,
}

/// Removes one of our folders with everything that a command or the kernel left in it, whatever its permissions.
pub fn remove_folder(folder: &Path) {
    let Ok(name) = CString::new(folder.as_os_str().as_bytes()) else { return };
    let _ = remove_tree(CWD, &name, ClosedFolder::Opened);
}

/// Removes an entry with everything in it. Removes links without following them, and ignores entries that another process removes
/// meanwhile.
///
/// # Errors
/// The first error. Later entries may not have been removed.
pub fn remove_tree(around: BorrowedFd<'_>, name: &CStr, shut: ClosedFolder) -> Result<(), Errno> {
    match rustix::fs::unlinkat(around, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        other => return other,
    }
    let top = match open(around, name, shut) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let mut removal = Removal { top: &top, shut, moved: 0 };
    // Each round removes the folders that the round before moved up.
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
    shut: ClosedFolder,
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

/// Opens a folder, following no link.
fn open(around: BorrowedFd<'_>, name: &CStr, shut: ClosedFolder) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if shut == ClosedFolder::Opened {
        // By descriptor, so that another file that takes this name meanwhile is not touched.
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

    /// Creates a chain of folders with a file beside each, deeper than any path or stack allows.
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
        small_stack.spawn(move || remove_folder(&gone)).unwrap().join().unwrap();
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
            assert_eq!(remove_tree(top.as_fd(), c"top", ClosedFolder::Respected), Err(Errno::ACCESS));
        }
        assert_eq!(remove_tree(top.as_fd(), c"top", ClosedFolder::Opened), Ok(()));
        assert!(!folder.path().join("top").exists());
    }
}
