//! Records the state of every entry of a workspace, to detect changes later.

use super::bare_repository::{Signs, is_sign};
use super::baseline::Baseline;
use super::change::Sorter;
use super::tree::file_type;
use super::{Kind, Workspace, kind_of};
use crate::path::{WorkspacePath, is_own_name};
use planwright_protocol::Problem;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Larger files are not copied, and so can't be restored.
pub(super) const LARGEST_COPY: i64 = 256 << 20;
/// Deeper folders are skipped. Calls can't name them.
const DEEPEST: usize = 128;
/// The server writes chat files meanwhile, also those of workspaces inside this one.
const CHATS: &[u8] = b".planwright/chats";

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Mark {
    pub kind: MarkKind,
    pub size: i64,
    pub mode: u32,
    inode: u64,
    changed: (i64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum MarkKind {
    File,
    Folder,
    Link,
    Other,
    /// A folder of build output, whose content is neither watched nor copied.
    Output,
}

impl Mark {
    pub const OUTPUT: Self = Self { kind: MarkKind::Output, size: 0, mode: 0, inode: 0, changed: (0, 0) };

    pub fn of(stat: &Stat) -> Self {
        let kind = match kind_of(stat) {
            Kind::File => MarkKind::File,
            Kind::Folder => MarkKind::Folder,
            Kind::Link => MarkKind::Link,
            Kind::Other => MarkKind::Other,
        };
        let is_folder = kind == MarkKind::Folder;
        // A folder's changes are seen in its entries.
        let changed = if is_folder { (0, 0) } else { (stat.st_ctime, stat.st_ctime_nsec) };
        let inode = if is_folder { 0 } else { stat.st_ino };
        Self { kind, size: if is_folder { 0 } else { stat.st_size }, mode: stat.st_mode, inode, changed }
    }

    pub fn kind(self) -> Kind {
        match self.kind {
            MarkKind::File => Kind::File,
            MarkKind::Folder | MarkKind::Output => Kind::Folder,
            MarkKind::Link => Kind::Link,
            MarkKind::Other => Kind::Other,
        }
    }

    /// The name of the copy of an entry in this state; `None` if there is none.
    pub fn copy(self, key: &str) -> Option<String> {
        let is_copied = match self.kind {
            MarkKind::File => self.size <= LARGEST_COPY,
            MarkKind::Link => true,
            MarkKind::Folder | MarkKind::Other | MarkKind::Output => false,
        };
        let mut hasher = DefaultHasher::new();
        (key, self).hash(&mut hasher);
        is_copied.then(|| format!("{:016x}", hasher.finish()))
    }
}

/// Entries by path, as [keys](key).
pub(super) type Marks = BTreeMap<String, Mark>;

/// A path as reversible text: JSON can't contain names that are not UTF-8.
pub(super) fn key(path: &[u8]) -> String {
    let mut key = String::with_capacity(path.len());
    for part in path.utf8_chunks() {
        key.push_str(&part.valid().replace('%', "%25"));
        part.invalid().iter().for_each(|byte| key.push_str(&format!("%{byte:02X}")));
    }
    key
}

pub(super) fn path_of(key: &str) -> Vec<u8> {
    let mut parts = key.split('%');
    let mut path = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        path.extend(u8::from_str_radix(digits, 16));
        path.extend_from_slice(rest.as_bytes());
    }
    path
}

/// The path, if a call can contain it.
pub(super) fn spelled(key: &str) -> Option<WorkspacePath> {
    String::from_utf8(path_of(key)).ok().and_then(|text| WorkspacePath::parse(&text).ok())
}

/// An entry with everything in it.
pub(super) fn within<'m>(marks: &'m Marks, key: &str) -> impl Iterator<Item = (&'m String, &'m Mark)> + use<'m> {
    let inside = format!("{key}/");
    let own = marks.get_key_value(key);
    own.into_iter().chain(marks.range(inside.clone()..).take_while(move |(key, _)| key.starts_with(&inside)))
}

/// Which entries of a folder are watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    All,
    /// In build output: entries of git or Planwright, and the signs of a repository.
    Own,
}

impl Workspace {
    /// Every watched entry: all except chat files and the content of build output, in which only entries of git or Planwright are
    /// watched. Of folders that are nested too deep, the outermost is recorded and nothing in it.
    pub(super) fn marks(&self, baseline: Option<Arc<Baseline>>) -> Result<Marks, Problem> {
        let mut sorter = Sorter::as_of(self, self.host_path()?, baseline);
        let mut marks = Marks::new();
        let mut folders = vec![(Vec::new(), Watched::All)];
        while let Some((path, watched)) = folders.pop() {
            let Some(folder) = self.open_watched(&path)? else { continue };
            let listed = listed(&folder).map_err(unreadable)?;
            let is_repository = || Signs::of(listed.iter().map(|(name, _)| name.to_bytes())).is_repository();
            let watched = if watched == Watched::Own && is_repository() { Watched::All } else { watched };
            for (name, is_folder) in listed.iter().map(|(name, is_folder)| (name, *is_folder)) {
                let child = join(&path, name.to_bytes());
                let is_deep = is_folder && depth_of(&child) > DEEPEST;
                if is_folder && is_of_chats(&child) {
                    continue;
                }
                let is_watched = watched == Watched::All || is_own_name(name.to_bytes());
                if !is_watched && !is_deep && !is_sign(name.to_bytes()) {
                    folders.extend(is_folder.then_some((child, Watched::Own)));
                    continue;
                }
                if is_folder && !is_deep && spelled(&key(&child)).is_some_and(|path| sorter.is_output(&path)) {
                    marks.insert(key(&child), Mark::OUTPUT);
                    folders.push((child, Watched::Own));
                    continue;
                }
                match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => marks.insert(key(&child), Mark::of(&stat)),
                    // Another process removed it meanwhile.
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(unreadable(errno)),
                };
                // A single sign is recorded without its content.
                let inside = if is_watched { Watched::All } else { Watched::Own };
                folders.extend((is_folder && !is_deep).then_some((child, inside)));
            }
        }
        Ok(marks)
    }

    /// Opens a folder by its path, so that a tree of any width takes one descriptor; `None` if it is missing or closed.
    fn open_watched(&self, path: &[u8]) -> Result<Option<OwnedFd>, Problem> {
        let inside = join(path, b".");
        match self.parent(&inside) {
            Ok((folder, _)) => Ok(Some(folder)),
            Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => Ok(None),
                errno => Err(unreadable(errno.unwrap_or(Errno::IO))),
            },
        }
    }

    /// The parent folder of a path, and its name there.
    pub(super) fn parent(&self, path: &[u8]) -> std::io::Result<(OwnedFd, CString)> {
        let (folder, name) = split(path);
        let resolve = rustix::fs::ResolveFlags::BENEATH | rustix::fs::ResolveFlags::NO_SYMLINKS | rustix::fs::ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = if folder.is_empty() { b"." } else { folder };
        Ok((rustix::fs::openat2(&self.root, OsStr::from_bytes(folder), flags, Mode::empty(), resolve)?, CString::new(name)?))
    }
}

pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

fn is_of_chats(path: &[u8]) -> bool {
    path.strip_suffix(CHATS).is_some_and(|around| around.is_empty() || around.ends_with(b"/"))
}

/// The number of names in a path.
fn depth_of(path: &[u8]) -> usize {
    path.iter().filter(|&&byte| byte == b'/').count() + 1
}

/// Whether the content of this folder is not watched, because it is nested too deep.
pub(super) fn is_too_deep(key: &str) -> bool {
    depth_of(key.as_bytes()) > DEEPEST
}

/// The names in a folder, and whether each is a folder.
fn listed(folder: &OwnedFd) -> Result<Vec<(CString, bool)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            found.push((name.to_owned(), file_type(folder.as_fd(), name, entry.file_type()) == FileType::Directory));
        }
    }
    Ok(found)
}

fn unreadable(errno: Errno) -> Problem {
    super::problem_of(errno, &WorkspacePath::root())
}

#[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
pub(super) fn load(file: &Path) -> Option<Marks> {
    std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

#[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
pub(super) fn save(file: &Path, marks: &Marks) -> std::io::Result<()> {
    std::fs::write(file, serde_json::to_vec(marks)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_can_be_turned_back_whatever_the_name_is() {
        for path in [&b"src/a.rs"[..], b"100%", b"%25", b"bad\xff/x", b"\xf0\x9f", "测试/%".as_bytes()] {
            assert_eq!(path_of(&key(path)), path);
        }
    }
}
