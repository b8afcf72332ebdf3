//! What is lost or moved with an entry: the files in it, and what in it must not be touched.

use super::{Kind, LARGEST_FILE, Links, Workspace, kind_of, problem_of};
use crate::path::WorkspacePath;
use planwright_protocol::Problem;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// How much is kept of what a call would delete or move.
const FILES: usize = 10_000;
const BYTES: u64 = 64 << 20;

/// A file or folder with all that is in it, links not followed.
#[derive(Debug, Default)]
pub struct Tree {
    pub files: Vec<(WorkspacePath, Arc<[u8]>)>,
    /// How many files are there whose content is not among `files`, because there is too much of it or it can't be read.
    pub left_out: u64,
    /// Something in it that no tool may change.
    pub protected: Option<WorkspacePath>,
    bytes: u64,
}

impl Workspace {
    /// Goes through a file or folder by descriptors, so that nothing swapped for a link on the way is followed.
    ///
    /// # Errors
    /// Not there, or a link on the way.
    pub fn tree(&self, path: &WorkspacePath) -> Result<Tree, Problem> {
        let mut tree = Tree::default();
        let entry = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW, Links::Refused)?;
        let stat = rustix::fs::fstat(&entry).map_err(|errno| problem_of(errno, path))?;
        match kind_of(&stat) {
            Kind::Folder => tree.folder(entry, path).map_err(|errno| problem_of(errno, path))?,
            Kind::File => tree.file(entry, path),
            Kind::Link | Kind::Other => {}
        }
        Ok(tree)
    }
}

impl Tree {
    fn folder(&mut self, folder: OwnedFd, path: &WorkspacePath) -> Result<(), Errno> {
        for entry in Dir::read_from(folder.as_fd())? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let child = path.join(&name.to_string_lossy());
            if child.is_protected() {
                self.protected.get_or_insert(child);
                continue;
            }
            let file_type = file_type(folder.as_fd(), name, entry.file_type());
            if file_type == FileType::Directory {
                self.folder(open(folder.as_fd(), name, OFlags::DIRECTORY)?, &child)?;
            } else if file_type == FileType::RegularFile {
                match open(folder.as_fd(), name, OFlags::empty()) {
                    // A name that is not UTF-8 can't be given to a path.
                    Ok(file) if name.to_str().is_ok() => self.file(file, &child),
                    Ok(_) | Err(_) => self.left_out += 1,
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, file: OwnedFd, path: &WorkspacePath) {
        let room = LARGEST_FILE.min(BYTES - self.bytes);
        let mut bytes = Vec::new();
        // One byte more than there is room for, to notice that it does not fit.
        let read = File::from(file).take(room + 1).read_to_end(&mut bytes);
        if self.files.len() < FILES && read.is_ok_and(|read| read as u64 <= room) {
            self.bytes += bytes.len() as u64;
            self.files.push((path.clone(), bytes.into()));
        } else {
            self.left_out += 1;
        }
    }
}

fn open(folder: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// What an entry is. Some file systems don't say it in their listings.
pub(super) fn file_type(folder: BorrowedFd<'_>, name: &CStr, listed: FileType) -> FileType {
    if listed != FileType::Unknown {
        return listed;
    }
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}
