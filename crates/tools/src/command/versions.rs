//! The state of files before and after a command's changes are kept.

use super::staged::Staged;
use crate::effect::Effect;
use crate::path::WorkspacePath;
use crate::version::{FileChange, Version};
use crate::workspace::{Depth, EntryChange, Kept, Kind, RefChange, Tree, Workspace};
use planwright_protocol::Image;
use std::collections::{BTreeMap, BTreeSet};

impl Staged {
    /// The workspace's changes once everything that is not withheld is kept. Call this before keeping it.
    ///
    /// Excludes build output and git's own records, unless commits are lost: they are neither shown to the user nor reverted. A
    /// ref is recorded by value, wherever git stores it.
    #[must_use]
    pub fn file_changes(&self, withheld: &[Effect]) -> Vec<FileChange> {
        let staged = Workspace::open(&self.upper()).ok();
        let mut kept = Kept::default();
        let mut found = BTreeMap::new();
        for RefChange { path, before, after } in self.refs() {
            let version = |content: &Option<Vec<u8>>| content.clone().map_or_else(Version::absent, |content| Version::file(content, None));
            found.insert(path.clone(), FileChange { path: path.clone(), before: version(before), after: version(after) });
        }
        for change in self.kept(withheld) {
            let after = match &staged {
                Some(upper) => landed(upper.version(&change.path, &mut kept)),
                None => self.workspace.version(&change.path, &mut kept),
            };
            let after = if change.now.is_none() { Version::absent() } else { after };
            for (path, before) in self.before(&change, &mut kept, staged.is_some()) {
                let after = if path == change.path { after.clone() } else { Version::absent() };
                found.entry(path.clone()).or_insert(FileChange { path, before, after });
            }
        }
        // Where git stores a ref is irrelevant.
        let is_folder = |version: &Version| matches!(version.image, Image::Folder { .. });
        let noted_refs: BTreeSet<&WorkspacePath> = self.refs().iter().map(|change| &change.path).collect();
        let is_noted = |path: &WorkspacePath| noted_refs.contains(path);
        found.retain(|path, noted| !names_refs(path) || is_folder(&noted.before) || is_folder(&noted.after) || is_noted(path));
        self.note_folders_of_refs(&mut found, staged.as_ref());
        found.into_values().collect()
    }

    /// Restored refs need their folders, even if git never created them because the refs were packed.
    fn note_folders_of_refs(&self, found: &mut BTreeMap<WorkspacePath, FileChange>, staged: Option<&Workspace>) {
        for change in self.refs().iter().filter(|change| change.before.is_some() && change.after.is_none()) {
            let mut folder = change.path.split().map(|(folder, _)| folder);
            while let Some(path) = folder.take().filter(|path| path.relative().starts_with(".git/refs/")) {
                folder = path.split().map(|(folder, _)| folder);
                let is_there = |workspace: &Workspace| matches!(workspace.image(&path), Image::Folder { .. });
                if found.get(&path).is_some_and(|noted| noted.before.is_absent()) {
                    found.remove(&path);
                } else if !found.contains_key(&path) && !is_there(&self.workspace) && !staged.is_some_and(is_there) {
                    let before = Image::Folder { mode: None }.into();
                    found.insert(path.clone(), FileChange { path, before, after: Version::absent() });
                }
            }
        }
    }

    /// The previous state of a changed path, with its previous content if it was deleted.
    fn before(&self, change: &EntryChange, kept: &mut Kept, is_staged: bool) -> Vec<(WorkspacePath, Version)> {
        let is_gone = change.was == Some(Kind::Folder) && change.now != Some(Kind::Folder);
        if change.was.is_none() {
            return vec![(change.path.clone(), Version::absent())];
        }
        if !is_staged {
            let depth = if is_gone { Depth::Whole } else { Depth::EmptyOnly };
            return self.versions_before(&change.path, depth, kept);
        }
        if !is_gone {
            return vec![(change.path.clone(), self.workspace.version(&change.path, kept))];
        }
        let mut tree = Tree { kept: std::mem::take(kept), ..Tree::default() };
        if self.workspace.gather(&change.path, &mut tree).is_err() {
            // Something in it can't be read, so it could not be restored completely.
            tree.entries.retain(|(path, _)| *path != change.path);
            tree.entries.push((change.path.clone(), Image::Unknown.into()));
        }
        *kept = tree.kept;
        tree.entries
    }
}

/// Whether git stores refs here.
fn names_refs(path: &WorkspacePath) -> bool {
    path.relative().starts_with(".git/refs/") || matches!(path.relative(), ".git/HEAD" | ".git/packed-refs")
}

/// A staged entry as it will land: without setuid and setgid bits.
fn landed(mut version: Version) -> Version {
    if let Image::File { mode: Some(mode), .. } | Image::Folder { mode: Some(mode) } = &mut version.image {
        *mode &= 0o1777;
    }
    version
}
