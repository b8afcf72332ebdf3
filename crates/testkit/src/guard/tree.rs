//! A snapshot of a folder, to detect changes.

use rustix::fs::Stat;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Names, kinds, contents, modes, owners, modification times, extended attributes and link targets
/// of all that is below a folder, and of the folder itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderTree(BTreeMap<PathBuf, Node>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    mode: u32,
    owner: (u32, u32),
    modified: (i64, u64),
    size: i64,
    content: Content,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Hash(u64),
    Target(PathBuf),
    None,
}

/// For larger files, only the beginning and the end are read.
const READ_WHOLE: u64 = 32 << 20;

impl FolderTree {
    /// A missing path has an empty tree.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        Self::except(root, None)
    }

    /// The tree without the folder `except` and what is in it.
    #[must_use]
    pub fn except(root: &Path, except: Option<&Path>) -> Self {
        let mut tree = Self::default();
        let mut left = vec![root.to_owned()];
        while let Some(path) = left.pop() {
            if Some(path.as_path()) == except {
                continue;
            }
            let Some((node, is_folder)) = Node::of(&path) else { continue };
            if is_folder && let Ok(entries) = fs::read_dir(&path) {
                left.extend(entries.flatten().map(|entry| entry.path()));
            }
            tree.0.insert(path, node);
        }
        tree
    }

    /// The entry itself, without its content.
    #[must_use]
    pub fn entry(path: &Path) -> Self {
        Self(Node::of(path).map(|(node, _)| (path.to_owned(), node)).into_iter().collect())
    }

    /// The differences in `later`, one sentence each.
    #[must_use]
    pub fn changes(&self, later: &FolderTree) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, node) in &self.0 {
            match later.0.get(path) {
                None => changes.push(format!("{} is gone", path.display())),
                Some(now) if now != node => changes.push(format!("{} was {node:?} and is {now:?}", path.display())),
                Some(_) => {}
            }
        }
        changes.extend(later.0.keys().filter(|path| !self.0.contains_key(*path)).map(|path| format!("{} is new", path.display())));
        changes
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }
}

impl Node {
    fn of(path: &Path) -> Option<(Self, bool)> {
        let stat = rustix::fs::lstat(path).ok()?;
        let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        let content = if kind.is_symlink() {
            Content::Target(fs::read_link(path).ok()?)
        } else if kind.is_file() {
            Content::Hash(hash(path, &stat).unwrap_or_default())
        } else {
            Content::None
        };
        let node = Self {
            mode: stat.st_mode,
            owner: (stat.st_uid, stat.st_gid),
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            // A folder's size says nothing about its content, and differs between file systems.
            size: if kind.is_dir() { 0 } else { stat.st_size },
            content,
            attributes: attributes(path),
        };
        Some((node, kind.is_dir()))
    }
}

fn hash(path: &Path, stat: &Stat) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut hasher = DefaultHasher::new();
    let mut bytes = Vec::new();
    if u64::try_from(stat.st_size).unwrap_or_default() <= READ_WHOLE {
        file.read_to_end(&mut bytes)?;
    } else {
        (&mut file).take(1 << 20).read_to_end(&mut bytes)?;
        file.seek(SeekFrom::End(-(1 << 20)))?;
        file.read_to_end(&mut bytes)?;
    }
    hasher.write(&bytes);
    Ok(hasher.finish())
}

fn attributes(path: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut names = [0_u8; 4096];
    let Ok(length) = rustix::fs::llistxattr(path, &mut names[..]) else { return Vec::new() };
    let names = names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| {
            let mut value = vec![0_u8; 4096];
            let length = rustix::fs::lgetxattr(path, name, &mut value[..]).unwrap_or_default();
            value.truncate(length);
            (name.to_vec(), value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn every_kind_of_change_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "a").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        let before = FolderTree::of(folder.path());
        assert_eq!(before, FolderTree::of(folder.path()));

        fs::write(&file, "b").unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        assert_eq!(before.changes(&FolderTree::of(folder.path())).len(), 1, "content");
        fs::write(&file, "a").unwrap();
        assert!(!before.changes(&FolderTree::of(folder.path())).is_empty(), "time");
        File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        assert_eq!(before, FolderTree::of(folder.path()));

        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(before.changes(&FolderTree::of(folder.path())).len(), 1, "mode");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();

        fs::remove_file(folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink("elsewhere", folder.path().join("link")).unwrap();
        let changes = before.changes(&FolderTree::of(folder.path()));
        assert!(changes.iter().any(|change| change.contains("link")), "target: {changes:?}");
    }

    #[test]
    fn an_extended_attribute_is_seen_where_the_file_system_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "a").unwrap();
        let before = FolderTree::of(folder.path());
        let set = rustix::fs::lsetxattr(&file, "user.planwright", b"x", rustix::fs::XattrFlags::empty());
        assert_eq!(before.changes(&FolderTree::of(folder.path())).len(), usize::from(set.is_ok()));
    }
}
