//! Git repositories that are not named `.git`.
//!
//! Git takes a folder for a repository if it has `HEAD` and either `objects` and `refs` or a file `commondir` that says where those
//! two are. Git obeys the configuration of such a folder whenever it is run there or below it, and that configuration names programs. So nothing
//! makes or changes one: not at once, and not one entry at a time. Only names count, because git accepts links and files in
//! the place of folders. What is named `.git` is protected by its name, see [`is_own_name`].

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

/// What git reads of a repository that is the workspace's own folder. Everything else there is the user's project.
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

/// Which of the signs a folder has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs(u8);

impl Signs {
    pub fn of<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Self {
        names.into_iter().fold(Self::default(), Self::with)
    }

    /// Adds an entry. Case does not count: on some file systems it makes no difference.
    #[must_use]
    pub fn with(self, name: &[u8]) -> Self {
        let place = SIGNS.iter().position(|sign| name.eq_ignore_ascii_case(sign.as_bytes()));
        place.map_or(self, |place| Self(self.0 | 1 << place))
    }

    pub fn is_repository(self) -> bool {
        self.0 & HEAD != 0 && (self.0 & COMMON != 0 || self.0 & OBJECTS_AND_REFS == OBJECTS_AND_REFS)
    }

    /// These and the signs that some open folders have together. Without `HEAD`, as almost always, the others are not looked for.
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

/// What of a repository no tool may change: all of it, but in the workspace's own folder only what git reads.
pub fn protected_part(folder: &WorkspacePath, name: &[u8]) -> Option<WorkspacePath> {
    if !folder.is_root() {
        return Some(folder.clone());
    }
    let is_read = READ_BY_GIT.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()));
    is_read.then(|| folder.join(&String::from_utf8_lossy(name)))
}

/// Whether a path lies in something that its name alone protects.
pub fn is_named_own(path: &WorkspacePath) -> bool {
    path.names().any(|name| is_own_name(name.as_bytes()))
}

impl Workspace {
    /// The repository that a path lies in, or that it would complete; `None` for most paths.
    #[must_use]
    pub fn repository_at(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        if is_named_own(path) {
            return None;
        }
        let mut folder = WorkspacePath::root();
        for name in path.names() {
            // Where nothing is there yet, the path itself makes one sign at most.
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
    /// `PROTECTED_PATH` if the path lies in a repository, or would complete one. To be asked in the workspace's turn, so that no
    /// two calls make the two halves of one.
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
