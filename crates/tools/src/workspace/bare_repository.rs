//! Detects git repositories that are not named `.git`.
//!
//! Git treats a folder as a repository if it has `HEAD` and either `objects` and `refs`, or a file `commondir` that says where
//! those two are. Git obeys the configuration of such a folder whenever it runs there or below, and that configuration names
//! programs. So no call creates or changes one, not even one entry at a time. Only names count, because git accepts links and
//! files in place of folders. Folders named `.git` are protected by name, see [`is_own_name`].

use super::overlay::staged_kind;
use super::{Links, Workspace};
use crate::git_name::repository_refusal;
use crate::path::{WorkspacePath, is_own_name};
use planwright_protocol::Problem;
use rustix::fs::{AtFlags, OFlags};
use std::os::fd::OwnedFd;

/// The entries by which git recognises a repository.
const SIGNS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];
const HEAD: u8 = 0b0001;
const OBJECTS_AND_REFS: u8 = 0b0110;
const COMMON: u8 = 0b1000;

/// The entries that git reads if the workspace's own folder is a repository. Everything else there is the user's project.
const READ_BY_GIT: [&str; 20] = [
    "HEAD",
    "objects",
    "refs",
    "commondir",
    "config",
    "config.worktree",
    "hooks",
    "info",
    "packed-refs",
    "reftable",
    "logs",
    "modules",
    "worktrees",
    "index",
    "shallow",
    "gitdir",
    "branches",
    "remotes",
    "rebase-merge",
    "sequencer",
];

/// The entries of [`SIGNS`] that a folder has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs(u8);

impl Signs {
    pub fn of<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Self {
        names.into_iter().fold(Self::default(), Self::with)
    }

    /// Adds an entry. Ignores case, because some file systems do.
    #[must_use]
    pub fn with(self, name: &[u8]) -> Self {
        let place = SIGNS.iter().position(|sign| name.eq_ignore_ascii_case(sign.as_bytes()));
        place.map_or(self, |place| Self(self.0 | 1 << place))
    }

    pub fn is_repository(self) -> bool {
        self.0 & HEAD != 0 && (self.0 & COMMON != 0 || self.0 & OBJECTS_AND_REFS == OBJECTS_AND_REFS)
    }

    /// These signs and those in some open folders. Without `HEAD`, which is almost always missing, the others are not looked up.
    #[must_use]
    pub fn and_in(self, folders: &[&OwnedFd]) -> Self {
        let is_there = |folder: &&OwnedFd, name: &str| {
            let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|stat| staged_kind(&stat).is_some())
        };
        let has = |name: &&&str| folders.iter().any(|folder| is_there(folder, name));
        let (head, others) = SIGNS.split_at(1);
        let found = head.iter().filter(has).fold(self, |found, name| found.with(name.as_bytes()));
        if found.0 & HEAD == 0 {
            return found;
        }
        others.iter().filter(has).fold(found, |found, name| found.with(name.as_bytes()))
    }
}

/// Whether this is one of the entries by which git recognises a repository.
pub fn is_sign(name: &[u8]) -> bool {
    Signs::default().with(name) != Signs::default()
}

/// The part of a repository that no tool may change: all of it, but in the workspace's own folder only what git reads.
pub fn protected_part(folder: &WorkspacePath, name: &[u8]) -> Option<WorkspacePath> {
    if !folder.is_root() {
        return Some(folder.clone());
    }
    let is_read = READ_BY_GIT.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()));
    is_read.then(|| folder.join(&String::from_utf8_lossy(name)))
}

/// Whether a path is inside something that is protected by name.
pub fn is_named_own(path: &WorkspacePath) -> bool {
    path.names().any(|name| is_own_name(name.as_bytes()))
}

impl Workspace {
    /// The repository that contains a path, or that the path would complete; `None` for most paths.
    #[must_use]
    pub fn repository_at(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        if is_named_own(path) {
            return None;
        }
        let mut folder = WorkspacePath::root();
        for name in path.names() {
            // If nothing exists yet, the path itself is at most one sign.
            let open = self.open_at(&folder, OFlags::PATH | OFlags::DIRECTORY, Links::Refused).ok()?;
            if Signs::default().with(name.as_bytes()).and_in(&[&open]).is_repository()
                && let Some(protected) = protected_part(&folder, name.as_bytes())
            {
                return Some(protected);
            }
            folder = folder.join(name);
        }
        None
    }

    /// # Errors
    /// `PROTECTED_PATH` if a repository contains the path, or the path would complete one. Call this with the workspace's lock,
    /// so that no two calls create the two halves of one.
    pub(super) fn refuse_repository(&self, path: &WorkspacePath) -> Result<(), Problem> {
        match self.repository_at(path) {
            None => Ok(()),
            Some(folder) => Err(repository_refusal(&folder)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_repository(names: &str) -> bool {
        Signs::of(names.split_whitespace().map(str::as_bytes)).is_repository()
    }

    #[test]
    fn a_repository_is_known_by_the_names_that_git_looks_for() {
        for names in ["HEAD objects refs", "config HEAD hooks refs objects x", "HEAD commondir", "head Objects REFS"] {
            assert!(is_repository(names), "{names}");
        }
        for names in ["", "HEAD objects", "HEAD refs", "objects refs config", "commondir objects refs", "HEADS objects refs"] {
            assert!(!is_repository(names), "{names}");
        }
    }

    #[test]
    fn a_path_is_refused_that_lies_in_a_repository_or_completes_one() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::DirBuilder::new().recursive(true).create(folder.path().join(name)).unwrap();
        for name in [
            "x.git/objects",
            "x.git/refs",
            "x.git/sub",
            "half/objects",
            "other/HEAD",
            "other/commondir",
            ".git/objects",
            ".git/refs",
            ".git/HEAD",
        ] {
            make(name);
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let at = |path: &str| workspace.repository_at(&WorkspacePath::parse(path).unwrap()).map(|path| path.to_string());
        assert_eq!(at("/x.git/HEAD").as_deref(), Some("/x.git"));
        assert_eq!(at("/x.git/HEAD/deeper").as_deref(), Some("/x.git"), "a folder on the way completes it as well");
        assert_eq!(at("/half/refs"), None, "without HEAD it is none");
        assert_eq!(at("/half/HEAD"), None);
        assert_eq!(at("/x.git/config"), None);
        assert_eq!(at("/other/config").as_deref(), Some("/other"));
        assert_eq!(at("/other/deep/er").as_deref(), Some("/other"));
        assert_eq!(at("/new/objects/a"), None);
        assert_eq!(at("/.git/objects/ab/cd"), None, "its name protects it");
        make("HEAD");
        make("refs");
        assert_eq!(at("/objects/x").as_deref(), Some("/objects"));
        assert_eq!(at("/src/main.rs"), None, "the project in the same folder can be worked on");
        make("objects");
        assert_eq!((at("/config").as_deref(), at("/src/main.rs"), at("/plans/a.plan")), (Some("/config"), None, None));
    }
}
