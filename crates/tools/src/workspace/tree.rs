//! The state of a path with everything in it, stored for diffs and reverts.

use super::bare_repository::Signs;
use super::staged_tree::DEEPEST;
use super::{Kind, LARGEST_FILE, Links, Workspace, kind_of, problem_of};
use crate::path::WorkspacePath;
use crate::version::{Version, sha256_of};
use planwright_protocol::{ErrorCode, Image, Problem};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Maximum content that is stored of one call's changes.
const FILES: usize = 10_000;
const BYTES: u64 = 64 << 20;
/// Larger files are not even compared.
const LARGEST_COMPARED: i64 = 256 << 20;
/// Maximum number of bytes read of one call's files whose content is not stored. The rest is not compared.
const MOST_READ: u64 = if cfg!(test) { 32 << 20 } else { 1 << 30 };
/// Maximum number of files and folders that one call can change: each is recorded with its path.
const MOST_ENTRIES: usize = if cfg!(test) { 2000 } else { 200_000 };

/// How much of one call's content was stored so far.
#[derive(Debug, Default)]
pub struct Kept {
    files: usize,
    bytes: u64,
    /// Bytes read of files that are not stored.
    read: u64,
    /// Number of files whose content was not stored, because it is too large or unreadable.
    pub left_out: u64,
}

/// A file or folder with everything in it, without following links.
#[derive(Debug, Default)]
pub struct Tree {
    /// A folder precedes its entries.
    pub entries: Vec<(WorkspacePath, Version)>,
    pub kept: Kept,
    /// An entry in it that no tool may change.
    pub protected: Option<WorkspacePath>,
    /// A git repository in it with another name than `.git`.
    pub repository: Option<WorkspacePath>,
}

impl Workspace {
    /// Walks a file or folder by descriptors, so that nothing replaced by a link is followed.
    ///
    /// # Errors
    /// The path is missing, or a link is on the way.
    pub fn tree(&self, path: &WorkspacePath) -> Result<Tree, Problem> {
        let mut tree = Tree::default();
        self.gather(path, &mut tree)?;
        Ok(tree)
    }

    /// Like [`Self::tree`], added to an existing result.
    ///
    /// # Errors
    /// The path is missing, or a link is on the way.
    pub fn gather(&self, path: &WorkspacePath, tree: &mut Tree) -> Result<(), Problem> {
        let entry = match self.entry(path)? {
            Some(entry) if matches!(entry.kind, Kind::File | Kind::Folder) => {
                self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW, Links::Refused)?
            }
            Some(_) => {
                tree.entries.push((path.clone(), self.version(path, &mut Kept::default())));
                return Ok(());
            }
            None => return Err(problem_of(Errno::NOENT, path)),
        };
        let stat = rustix::fs::fstat(&entry).map_err(|errno| problem_of(errno, path))?;
        match kind_of(&stat) {
            Kind::Folder => tree.folder(entry, path).map_err(|errno| match errno {
                Errno::FBIG => too_many(path),
                other => problem_of(other, path),
            })?,
            Kind::File => tree.file(entry, path),
            Kind::Link | Kind::Other => {}
        }
        Ok(())
    }

    /// The state of a path, with a file's content if the limits allow it.
    pub fn version(&self, path: &WorkspacePath, kept: &mut Kept) -> Version {
        match self.entry(path) {
            Ok(None) => Version::absent(),
            Ok(Some(entry)) => match entry.kind {
                Kind::Folder => Image::Folder { mode: Some(entry.mode & 0o7777) }.into(),
                Kind::Link => self.link(path).into(),
                Kind::File => match self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Links::Refused) {
                    Ok(file) => kept.read(file),
                    Err(_) => kept.unknown(),
                },
                Kind::Other => Image::Unknown.into(),
            },
            // A link's target is another path.
            Err(problem) if matches!(problem.code, ErrorCode::PathNotFound | ErrorCode::PathSymlinkRefused) => Version::absent(),
            Err(_) => Image::Unknown.into(),
        }
    }

    /// The state of a path, without content. A packed ref has the image that its file would have.
    #[must_use]
    pub fn image(&self, path: &WorkspacePath) -> Image {
        match self.version(path, &mut Kept::full()).image {
            Image::Absent => self.packed_image(path).unwrap_or(Image::Absent),
            image @ (Image::File { .. } | Image::Folder { .. } | Image::Link { .. } | Image::Unknown) => image,
        }
    }

    fn link(&self, path: &WorkspacePath) -> Image {
        let target = path.split().and_then(|(folder, name)| Some((self.folder(&folder).ok()?, name)));
        target.map_or(Image::Unknown, |(folder, name)| link_at(folder.as_fd(), name))
    }
}

impl Kept {
    /// With no capacity left: files are only compared.
    fn full() -> Self {
        Self { files: FILES, ..Self::default() }
    }

    fn unknown(&mut self) -> Version {
        self.left_out += 1;
        Image::Unknown.into()
    }

    /// An open file, with its content if the limits allow it.
    fn read(&mut self, file: OwnedFd) -> Version {
        let Ok(stat) = rustix::fs::fstat(&file) else { return self.unknown() };
        if kind_of(&stat) != Kind::File {
            return Image::Unknown.into();
        }
        let mut file = File::from(file);
        let mode = Some(stat.st_mode & 0o7777);
        let room = if self.files < FILES { LARGEST_FILE.min(BYTES - self.bytes) } else { 0 };
        if u64::try_from(stat.st_size).is_ok_and(|size| size <= room) {
            let mut bytes = Vec::new();
            // One byte more than fits, to notice that it does not fit.
            if (&mut file).take(room + 1).read_to_end(&mut bytes).is_ok() && bytes.len() as u64 <= room {
                self.files += 1;
                self.bytes += bytes.len() as u64;
                return Version::file(bytes, mode);
            }
        }
        self.left_out += 1;
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if stat.st_size > LARGEST_COMPARED || self.read.saturating_add(size) > MOST_READ || file.rewind().is_err() {
            return Image::Unknown.into();
        }
        self.read += size;
        sha256_of(file).map_or(Image::Unknown, |sha256| Image::File { mode, sha256 }).into()
    }
}

impl Tree {
    /// The number of files in it.
    #[must_use]
    pub fn files(&self) -> u64 {
        let kept = self.entries.iter().filter(|(_, version)| version.bytes.is_some()).count() as u64;
        kept + self.kept.left_out
    }

    fn folder(&mut self, folder: OwnedFd, path: &WorkspacePath) -> Result<(), Errno> {
        if path.names().count() > DEEPEST {
            return Err(Errno::NAMETOOLONG);
        }
        let stat: Stat = rustix::fs::fstat(&folder)?;
        self.entries.push((path.clone(), Image::Folder { mode: Some(stat.st_mode & 0o7777) }.into()));
        let mut signs = Signs::default();
        for entry in Dir::read_from(folder.as_fd())? {
            if self.entries.len() > MOST_ENTRIES {
                return Err(Errno::FBIG);
            }
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            signs = signs.with(name.to_bytes());
            let child = path.join(&name.to_string_lossy());
            if child.is_protected() {
                self.protected.get_or_insert(child);
                continue;
            }
            let file_type = file_type(folder.as_fd(), name, entry.file_type());
            // A path can't contain a name that is not UTF-8.
            let is_spelled = name.to_str().is_ok();
            if file_type == FileType::Directory {
                self.folder(open(folder.as_fd(), name, OFlags::DIRECTORY)?, &child)?;
            } else if file_type == FileType::RegularFile {
                match open(folder.as_fd(), name, OFlags::empty()) {
                    Ok(file) if is_spelled => self.file(file, &child),
                    Ok(_) | Err(_) => self.kept.left_out += 1,
                }
            } else if is_spelled {
                let image = if file_type == FileType::Symlink { link_at(folder.as_fd(), name) } else { Image::Unknown };
                self.entries.push((child, image.into()));
            }
        }
        if signs.is_repository() {
            self.repository.get_or_insert_with(|| path.clone());
        }
        Ok(())
    }

    fn file(&mut self, file: OwnedFd, path: &WorkspacePath) {
        let version = self.kept.read(file);
        self.entries.push((path.clone(), version));
    }
}

fn too_many(path: &WorkspacePath) -> Problem {
    let text = format!("{path} contains more than {MOST_ENTRIES} files and folders. Handle them in parts, or use a command.");
    Problem::new(ErrorCode::FileTooLarge, text)
}

fn link_at<P: rustix::path::Arg>(folder: BorrowedFd<'_>, name: P) -> Image {
    let target = rustix::fs::readlinkat(folder, name, Vec::new()).ok().and_then(|target| target.into_string().ok());
    target.map_or(Image::Unknown, |target| Image::Link { target })
}

fn open(folder: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// The type of an entry. Some file systems don't report it in listings.
pub(super) fn file_type(folder: BorrowedFd<'_>, name: &CStr, listed: FileType) -> FileType {
    if listed != FileType::Unknown {
        return listed;
    }
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files themselves")]
mod tests {
    use super::*;

    #[test]
    fn what_one_call_reads_and_notes_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        // Holes are cheap to create, but cost as much to read as data.
        for number in 0..4 {
            std::fs::File::create(folder.path().join(format!("large{number}"))).unwrap().set_len(17 << 20).unwrap();
        }
        let tree = workspace.tree(&WorkspacePath::root()).unwrap();
        let known = tree.entries.iter().filter(|(_, version)| matches!(version.image, Image::File { .. })).count();
        assert_eq!((known, tree.kept.left_out), (1, 4), "one more would be read beyond the limit");
        for number in 0..=MOST_ENTRIES {
            std::fs::create_dir_all(folder.path().join(format!("many/{}/{number}", number % 10))).unwrap();
        }
        let refused = workspace.tree(&WorkspacePath::parse("/many").unwrap()).unwrap_err();
        assert!(refused.code == ErrorCode::FileTooLarge && refused.message.contains("/many"), "{refused}");
    }
}
