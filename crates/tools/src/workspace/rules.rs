//! Reads `.gitignore` files through descriptors: a file with that name may be a pipe, a link out of the workspace, or endless.

use super::Workspace;
use super::baseline::Baseline;
use crate::path::WorkspacePath;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const FILE: &str = ".gitignore";
pub const REPOSITORY: &str = ".git";
/// A larger file is ignored: the part that was cut off might revoke the part before it.
const LARGEST: u64 = 1 << 20;

/// The rules of a folder, on top of those of its parents.
pub struct Rules {
    own: Gitignore,
    outer: Option<Arc<Rules>>,
}

impl Rules {
    /// The rules that apply around `folder`, without its own. They end at a repository, or at the workspace's root.
    pub fn around(workspace: &Workspace, host: &Path, folder: &WorkspacePath) -> Option<Arc<Rules>> {
        let mut rules = Self::outside(host);
        let mut path = WorkspacePath::root();
        for name in folder.names() {
            let Ok(descriptor) = workspace.folder(&path) else { break };
            rules = Self::inside(descriptor.as_fd(), &host_of(host, &path), rules);
            path = path.join(name);
        }
        rules
    }

    /// The rules in a folder whose parents have `outer`.
    fn inside(folder: BorrowedFd<'_>, host: &Path, outer: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
        let is_repository = rustix::fs::statat(folder, REPOSITORY, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let outer = if is_repository { None } else { outer };
        Self::read(folder, host, outer)
    }

    /// The rules of the repository that contains the workspace.
    fn outside(host: &Path) -> Option<Arc<Rules>> {
        let is_repository = |folder: &Path| rustix::fs::stat(folder.join(REPOSITORY)).is_ok();
        let mut folders: Vec<&Path> = Vec::new();
        for folder in host.ancestors() {
            folders.push(folder);
            if is_repository(folder) {
                let between = folders.into_iter().skip(1).rev();
                return between.fold(None, |outer, folder| {
                    match rustix::fs::openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
                        Ok(descriptor) => Self::read(descriptor.as_fd(), folder, outer),
                        Err(_) => outer,
                    }
                });
            }
        }
        None
    }

    /// Adds the folder's own ignore file, if it has one, to the rules around it.
    pub fn read(folder: BorrowedFd<'_>, host: &Path, outer: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
        match text_in(folder) {
            Some(text) => Self::parse(&text, host, outer),
            None => outer,
        }
    }

    /// The rules around `folder` in an earlier state. Outside the workspace, no chat changes any.
    pub fn at(baseline: &Baseline, host: &Path, folder: &WorkspacePath) -> Option<Arc<Rules>> {
        let mut rules = Self::outside(host);
        let mut path = WorkspacePath::root();
        for name in folder.names() {
            if baseline.repositories.contains(path.relative()) {
                rules = None;
            }
            if let Some(text) = baseline.rules.get(path.relative()) {
                rules = Self::parse(text, &host_of(host, &path), rules);
            }
            path = path.join(name);
        }
        rules
    }

    fn parse(text: &str, host: &Path, outer: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
        let mut builder = GitignoreBuilder::new(host);
        for line in text.trim_start_matches('\u{FEFF}').lines() {
            // An invalid line has no effect.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(own) => Some(Arc::new(Rules { own, outer })),
            Err(_) => outer,
        }
    }

    /// Whether an entry is ignored. The nearest matching rule decides.
    pub fn ignore(&self, host: &Path, is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(Rules { own, outer }) = rules {
            match own.matched(host, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = outer.as_deref(),
            }
        }
        false
    }
}

/// The host path with which rules are compared. It is not used to open anything.
pub fn host_of(host: &Path, path: &WorkspacePath) -> PathBuf {
    if path.is_root() { host.to_owned() } else { host.join(path.relative()) }
}

/// The text of a folder's ignore file.
pub fn text_in(folder: BorrowedFd<'_>) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, FILE, flags, Mode::empty()).ok().and_then(text_of)
}

fn text_of(file: OwnedFd) -> Option<String> {
    let stat = rustix::fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(file).take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LARGEST {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
