//! Finds repositories with other names than `.git` in the recorded states before and after a command that changed files in place.

use super::bare_repository::{Signs, is_sign, protected_part};
use super::marks::{MarkKind, Marks, path_of, spelled};
use crate::path::{WorkspacePath, is_own_name};
use std::collections::BTreeMap;

/// The signs of a repository that a folder had before, and those that it has before or after.
#[derive(Clone, Copy, Default)]
struct RepositorySigns {
    before: Signs,
    ever: Signs,
}

/// The location of a changed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryPlace {
    /// In a repository; this path is its protected part.
    In(WorkspacePath),
    /// In build output and in no repository: no decision is needed.
    Ignored,
    Elsewhere,
}

pub struct Repositories<'m> {
    marks: [&'m Marks; 2],
    /// Folders that are or were repositories, by key.
    found: BTreeMap<&'m str, RepositorySigns>,
}

impl<'m> Repositories<'m> {
    pub fn of(before: &'m Marks, after: &'m Marks) -> Self {
        let mut found: BTreeMap<&str, RepositorySigns> = BTreeMap::new();
        for (marks, is_before) in [(before, true), (after, false)] {
            for key in marks.keys() {
                let (folder, name) = split(key);
                if is_sign(name.as_bytes()) && !folder.split('/').any(|name| is_own_name(name.as_bytes())) {
                    let noted = found.entry(folder).or_default();
                    noted.ever = noted.ever.with(name.as_bytes());
                    noted.before = if is_before { noted.ever } else { noted.before };
                }
            }
        }
        found.retain(|_, noted| noted.ever.is_repository());
        Self { marks: [before, after], found }
    }

    /// The location of an entry. A repository that is new in build output was not recorded before: only its new signs are
    /// removed, which is enough to disable it.
    pub fn place(&self, key: &str) -> RepositoryPlace {
        let is_in_output = self.is_in_output(key);
        let elsewhere = if is_in_output && !key.split('/').any(|name| is_own_name(name.as_bytes())) {
            RepositoryPlace::Ignored
        } else {
            RepositoryPlace::Elsewhere
        };
        let Some((folder, name, noted)) = self.around(key) else { return elsewhere };
        let Some(protected) = spelled_folder(folder).and_then(|folder| protected_part(&folder, &path_of(name))) else { return elsewhere };
        // The content of a closed folder was not recorded. It suffices to close the folder again.
        if self.was_shut(key) {
            return RepositoryPlace::Ignored;
        }
        let was_repository = noted.before.is_repository();
        let is_new_sign = split(key) == (folder, name) && is_sign(name.as_bytes()) && !self.marks[0].contains_key(key);
        if is_in_output && !was_repository && !is_new_sign { RepositoryPlace::Ignored } else { RepositoryPlace::In(protected) }
    }

    /// A repository that was in a folder.
    pub fn first_within(&self, folder: &str) -> Option<WorkspacePath> {
        let inside = format!("{folder}/");
        let mut within = self.found.range(inside.as_str()..).take_while(|(key, _)| key.starts_with(&inside));
        within.find(|(_, noted)| noted.before.is_repository()).and_then(|(key, _)| spelled(key))
    }

    /// The outermost repository around an entry, and the name in it that leads to the entry; empty for the folder itself.
    fn around<'k>(&self, key: &'k str) -> Option<(&'k str, &'k str, RepositorySigns)> {
        let slashes = key.match_indices('/').map(|(place, _)| place);
        let folders = std::iter::once("").chain(slashes.map(|place| &key[..place])).chain([key]);
        folders.into_iter().find_map(|folder| {
            let noted = *self.found.get(folder)?;
            let rest = key[folder.len()..].trim_start_matches('/');
            Some((folder, rest.split('/').next().unwrap_or_default(), noted))
        })
    }

    /// Whether a folder around an entry could not be read before.
    fn was_shut(&self, key: &str) -> bool {
        let is_shut =
            |folder: &str| self.marks[0].get(folder).is_some_and(|mark| mark.kind == MarkKind::Folder && mark.mode & 0o500 != 0o500);
        !rustix::process::geteuid().is_root() && key.match_indices('/').any(|(place, _)| is_shut(&key[..place]))
    }

    fn is_in_output(&self, key: &str) -> bool {
        let is_output = |folder: &str| self.marks.iter().any(|marks| marks.get(folder).is_some_and(|mark| mark.kind == MarkKind::Output));
        key.match_indices('/').any(|(place, _)| is_output(&key[..place]))
    }
}

fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('/').unwrap_or(("", key))
}

fn spelled_folder(key: &str) -> Option<WorkspacePath> {
    if key.is_empty() { Some(WorkspacePath::root()) } else { spelled(key) }
}
