//! Finds the repository of a worktree or a submodule, which is outside the workspace.
//!
//! A `.git` file can name any folder. It counts only if that folder names this workspace in turn, because anybody who can write
//! there can also read it.

use super::{Workspace, beneath};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Such files have one line.
const LARGEST: u64 = 64 << 10;

#[derive(Debug, PartialEq, Eq)]
pub struct Repository {
    /// The part of the repository that belongs to this workspace: its index and its HEAD.
    pub folder: PathBuf,
    /// The whole repository, which contains `folder`.
    pub whole: PathBuf,
}

impl Repository {
    /// The repository that the workspace's `.git` file names.
    pub fn of(workspace: &Workspace, host: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat2(&workspace.root, ".git", flags, Mode::empty(), beneath()).ok()?;
        let named = text(file)?;
        let folder = std::fs::canonicalize(host.join(named.strip_prefix("gitdir:")?.trim())).ok()?;
        let whole = Self::worktree(&folder, host).or_else(|| Self::submodule(&folder, host))?;
        let is_repository = whole.join("objects").is_dir() && whole.join("refs").is_dir();
        (is_repository && !whole.starts_with(host) && !host.starts_with(&whole)).then_some(Self { folder, whole })
    }

    /// A worktree is listed in its repository, with the path of its `.git` file.
    fn worktree(folder: &Path, host: &Path) -> Option<PathBuf> {
        let worktrees = folder.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "worktrees"))?;
        let back = folder.join(line(&folder.join("gitdir"))?);
        let is_ours = std::fs::canonicalize(back).is_ok_and(|back| back == host.join(".git"));
        is_ours.then(|| worktrees.parent().map(Path::to_owned)).flatten()
    }

    /// The repository of a submodule names its folder in its configuration.
    fn submodule(folder: &Path, host: &Path) -> Option<PathBuf> {
        let config = read(&folder.join("config"))?;
        let mut section = "";
        for line in config.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line;
            } else if section == "[core]"
                && let Some((key, value)) = line.split_once('=')
                && key.trim() == "worktree"
            {
                let is_ours = std::fs::canonicalize(folder.join(value.trim())).is_ok_and(|back| back == host);
                return is_ours.then(|| folder.to_owned());
            }
        }
        None
    }
}

fn line(path: &Path) -> Option<String> {
    read(path).map(|text| text.trim().to_owned())
}

fn read(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    text(rustix::fs::openat(CWD, path, flags, Mode::empty()).ok()?)
}

fn text(file: OwnedFd) -> Option<String> {
    let stat = rustix::fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut text = String::new();
    File::from(file).take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
