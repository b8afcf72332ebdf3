//! Finds files that git tracks unchanged: anybody who can read the repository can read them anyway.

use super::repository::Repository;
use super::{LARGEST_FILE, Workspace};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use sha1::{Digest, Sha1};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

/// A larger index is not read.
const LARGEST_INDEX: u64 = 256 << 20;
/// Bytes of an entry before its id: times, owner, size.
const BEFORE_ID: usize = 40;
const ID: usize = 20;

/// Git's id of an empty file.
const EMPTY: [u8; ID] =
    [0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53, 0x91];

/// The paths that git tracks, with their content hashes.
#[derive(Debug, Default)]
pub struct Tracked {
    ids: BTreeMap<Vec<u8>, [u8; ID]>,
    /// Whether there is an index that can't be parsed, so that git may track any path.
    is_unknown: bool,
}

impl Tracked {
    /// The entries of the workspace's own index for the wanted paths.
    pub fn read(workspace: &Workspace, host: &Path, wanted: impl Fn(&[u8]) -> bool) -> Self {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match Repository::of(workspace, host) {
            Some(repository) => rustix::fs::openat(CWD, repository.folder.join("index"), flags, Mode::empty()),
            None => rustix::fs::openat2(&workspace.root, ".git/index", flags, Mode::empty(), super::beneath()),
        };
        let unknown = || Self { is_unknown: true, ..Self::default() };
        match file {
            // Commands don't see a repository elsewhere.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::XDEV) => Self::default(),
            Err(_) => unknown(),
            Ok(file) => content(file, LARGEST_INDEX).and_then(|bytes| parse(&bytes, wanted)).unwrap_or_else(unknown),
        }
    }

    /// Whether git tracks the path with content, so that an empty file there could be committed in its place.
    pub fn keeps_content(&self, path: &[u8]) -> bool {
        self.is_unknown || self.ids.get(path).is_some_and(|id| *id != EMPTY)
    }

    /// Whether git tracks the path.
    pub fn keeps(&self, path: &[u8]) -> bool {
        self.is_unknown || self.ids.contains_key(path)
    }

    /// The paths that git tracks as empty files.
    pub fn emptied(&self) -> impl Iterator<Item = &[u8]> {
        self.ids.iter().filter(|(_, id)| **id == EMPTY).map(|(path, _)| path.as_slice())
    }

    /// Whether git tracks exactly this content at the path.
    pub fn holds(&self, path: &[u8], file: OwnedFd) -> bool {
        let Some(id) = self.ids.get(path) else { return false };
        content(file, LARGEST_FILE).is_some_and(|bytes| blob(&bytes) == *id)
    }

    /// Whether git tracks something in a folder.
    pub fn has_below(&self, folder: &[u8]) -> bool {
        let prefix = [folder, b"/"].concat();
        self.is_unknown || self.ids.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }
}

impl Workspace {
    /// The paths that a command made git track as empty files: by the index that it staged in a folder, or by the current one.
    #[must_use]
    pub fn emptied(&self, staged: Option<&Path>, untracked: &[String]) -> Vec<String> {
        if untracked.is_empty() {
            return Vec::new();
        }
        let untracked: BTreeSet<&[u8]> = untracked.iter().map(String::as_bytes).collect();
        let wanted = |path: &[u8]| untracked.contains(path);
        let tracked = match staged.map(Workspace::open) {
            Some(Ok(upper)) => Tracked::read(&upper, Path::new("/"), wanted),
            Some(Err(_)) => Tracked::default(),
            None => self.host_path().map(|host| Tracked::read(self, &host, wanted)).unwrap_or_default(),
        };
        tracked.emptied().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    }
}

fn content(file: OwnedFd, most: u64) -> Option<Vec<u8>> {
    let stat = rustix::fs::fstat(&file).ok()?;
    let fits = u64::try_from(stat.st_size).is_ok_and(|size| size <= most);
    if !fits || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(file).take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Git's id of a content.
fn blob(bytes: &[u8]) -> [u8; ID] {
    let mut hash = Sha1::new_with_prefix(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hash.finalize().into()
}

/// Parses an index of version 2, 3 or 4; `None` if it is invalid.
fn parse(bytes: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Option<Tracked> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = number(4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let (mut at, mut path, mut tracked) = (12, Vec::new(), Tracked::default());
    for _ in 0..number(8)? {
        let id: [u8; ID] = bytes.get(at + BEFORE_ID..at + BEFORE_ID + ID)?.try_into().ok()?;
        let flags = bytes.get(at + BEFORE_ID + ID..at + BEFORE_ID + ID + 2)?;
        let is_extended = flags.first()? & 0x40 != 0;
        let mut name = at + BEFORE_ID + ID + if is_extended { 4 } else { 2 };
        if version == 4 {
            // In version 4 a path is a prefix of the previous one plus a new suffix.
            let (cut, length) = varint(bytes.get(name..)?)?;
            path.truncate(path.len().checked_sub(cut)?);
            name += length;
        } else {
            path.clear();
        }
        let length = memchr::memchr(0, bytes.get(name..)?)?;
        path.extend_from_slice(bytes.get(name..name + length)?);
        let end = name + length;
        at = if version == 4 { end + 1 } else { at + (end - at) / 8 * 8 + 8 };
        if wanted(&path) {
            tracked.ids.insert(path.clone(), id);
        }
    }
    // A split index has its other entries in another file.
    (bytes.get(at..at + 4) != Some(b"link")).then_some(tracked)
}

/// A variable-length integer in git's encoding, and its length in bytes.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (place, byte) in bytes.iter().take(5).enumerate() {
        value = (value << 7) + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, place + 1));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, id: u8) -> Vec<u8> {
        let mut entry = [vec![0; BEFORE_ID], vec![id; ID], vec![0, u8::try_from(path.len()).unwrap()], path.as_bytes().to_vec()].concat();
        entry.resize(entry.len() / 8 * 8 + 8, 0);
        entry
    }

    fn index(version: u8, entries: &[Vec<u8>]) -> Vec<u8> {
        let header = [b"DIRC".to_vec(), vec![0, 0, 0, version, 0, 0, 0, u8::try_from(entries.len()).unwrap()]].concat();
        [header, entries.concat()].concat()
    }

    #[test]
    fn an_index_of_any_version_is_read_and_garbage_has_nothing() {
        let bytes = index(2, &[entry(".env", 1), entry("a/.env", 2), entry("a/b", 3)]);
        let tracked = parse(&bytes, |path| path.ends_with(b".env")).unwrap();
        assert_eq!(tracked.ids.keys().collect::<Vec<_>>(), [&b".env".to_vec(), &b"a/.env".to_vec()]);
        assert!(tracked.has_below(b"a") && !tracked.has_below(b".env") && !tracked.has_below(b"b"));
        let short = |cut: u8, rest: &str| [vec![0; BEFORE_ID], vec![7; ID], vec![0, 0, cut], rest.as_bytes().to_vec(), vec![0]].concat();
        let tracked = parse(&index(4, &[short(0, "dir/.env"), short(4, "key.pem")]), |_| true).unwrap();
        assert_eq!(tracked.ids.keys().collect::<Vec<_>>(), [&b"dir/.env".to_vec(), &b"dir/key.pem".to_vec()]);
        for end in 0..bytes.len() - 8 {
            assert!(parse(&bytes[..end], |_| true).is_none(), "{end}");
        }
        assert!(parse(b"DIRC\0\0\0\x09\0\0\0\0", |_| true).is_none());
        assert!(parse(&[bytes, b"link\0\0\0\0".to_vec()].concat(), |_| true).is_none(), "a part of an index");
    }

    #[test]
    fn a_blob_has_the_name_that_git_gives_it() {
        // From `echo hello | git hash-object --stdin`.
        let name = [0xce, 0x01, 0x36, 0x25, 0x03, 0x0b, 0xa8, 0xdb, 0xa9, 0x06, 0xf7, 0x56, 0x96, 0x7f, 0x9e, 0x9c, 0xa3, 0x94, 0x46, 0x4a];
        assert_eq!((blob(b"hello\n"), blob(b"")), (name, EMPTY));
    }
}
