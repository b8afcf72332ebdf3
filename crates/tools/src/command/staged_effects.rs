//! Converts a command's changes into effects for the gate.

use super::staged::Staged;
use crate::effect::{Effect, FileEffect, LandingEffect};
use crate::path::WorkspacePath;
use crate::workspace::{CommandChanges, EntryChange, Kind};
use std::collections::BTreeSet;

impl Staged {
    /// The effects that the gate must decide on.
    #[must_use]
    pub fn effects(&self) -> Vec<Effect> {
        let moved: BTreeSet<&WorkspacePath> = self.moves.iter().flat_map(|(from, to)| [from, to]).chain(&self.stays).collect();
        let on_the_way = self.folders_on_the_way();
        // A folder that can't be deleted because of its content is not asked about.
        let protected: Vec<&WorkspacePath> =
            self.changes.judged.iter().map(|change| &change.path).filter(|path| path.is_protected()).collect();
        let CommandChanges { judged, repositories, lost, .. } = &self.changes;
        let is_shielded = |change: &EntryChange| {
            let has_own = || protected.iter().any(|own| **own != change.path && own.is_within(&change.path));
            is_gone(change) && (has_own() || change.path.all_within(repositories).next().is_some())
        };
        let mut effects: Vec<Effect> = vec![LandingEffect::Keep.into()];
        effects.extend(repositories.iter().cloned().map(|folder| FileEffect::ChangeRepository(folder).into()));
        effects.extend(self.moves.iter().map(|(from, to)| FileEffect::Move { from: from.clone(), to: to.clone() }.into()));
        let is_named = |path: &WorkspacePath| moved.contains(path) || on_the_way.contains(path) || self.changes.is_in_repository(path);
        let judged = judged.iter().filter(|change| !is_named(&change.path) && !is_shielded(change));
        effects.extend(judged.flat_map(effects_of).map(Effect::from));
        effects.extend(lost.iter().cloned().map(|loss| LandingEffect::LoseCommits(loss).into()));
        effects
    }

    /// New folders that only contain new files; `write` creates such folders too.
    fn folders_on_the_way(&self) -> BTreeSet<WorkspacePath> {
        let mut holders = BTreeSet::new();
        // A change that never lands leaves its folder empty.
        let lands = |change: &&EntryChange| change.now.is_some_and(|now| now != Kind::Folder) && !change.path.is_protected();
        let lands = |change: &&EntryChange| lands(change) && !self.changes.is_in_repository(&change.path);
        for change in self.changes.judged.iter().filter(lands) {
            let mut folder = change.path.split().map(|(folder, _)| folder);
            while let Some(path) = folder.take_if(|path| !holders.contains(path)) {
                folder = path.split().map(|(folder, _)| folder);
                holders.insert(path);
            }
        }
        let is_new = |change: &&EntryChange| (change.was, change.now) == (None, Some(Kind::Folder)) && !change.path.is_protected();
        self.changes.judged.iter().filter(is_new).map(|change| change.path.clone()).filter(|path| holders.contains(path)).collect()
    }
}

/// Whether a folder was deleted or replaced.
pub(super) fn is_gone(change: &EntryChange) -> bool {
    change.was == Some(Kind::Folder) && change.now != Some(Kind::Folder)
}

fn effects_of(change: &EntryChange) -> Vec<FileEffect> {
    let path = || change.path.clone();
    let lost = matches!(
        (change.was, change.now),
        (Some(_), None) | (Some(Kind::Folder), Some(Kind::File | Kind::Link)) | (Some(Kind::File | Kind::Link), Some(Kind::Folder))
    );
    let mut effects = Vec::new();
    if lost {
        effects.push(FileEffect::Delete(path()));
    }
    match (change.was, change.now) {
        (Some(Kind::Folder), Some(Kind::Folder)) => effects.push(FileEffect::Write(path())),
        (_, Some(Kind::Folder)) => effects.push(FileEffect::CreateFolder(path())),
        (Some(_), Some(_)) if !lost => effects.push(FileEffect::Write(path())),
        (_, Some(_)) => effects.push(FileEffect::Create(path())),
        (_, None) => {}
    }
    effects
}
