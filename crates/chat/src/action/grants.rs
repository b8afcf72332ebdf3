//! What an approval for good would be for.

use planwright_protocol::message::ApprovalMoment;
use planwright_tools::{Effect, KEEPING, WorkspacePath};

/// Under which name an approval for good would be kept; none where each call asks anew.
pub fn grant_of(tool: &str, effects: &[Effect], moment: ApprovalMoment) -> Option<String> {
    match moment {
        ApprovalMoment::After => Some(KEEPING.to_owned()),
        ApprovalMoment::Before if effects.iter().any(|effect| matches!(effect, Effect::Network | Effect::Unconfined)) => None,
        ApprovalMoment::Before => Some(tool.to_owned()),
    }
}

/// Where an approval for good would hold: the folder of the first path that the call is about.
pub fn folder_of(effects: &[Effect]) -> Option<WorkspacePath> {
    let in_folder = |effect: &Effect| if let Effect::Execute { folder, .. } = effect { Some(folder.clone()) } else { None };
    if let Some(folder) = effects.iter().find_map(in_folder) {
        return Some(folder);
    }
    // A server's tool belongs to no folder.
    if effects.iter().any(|effect| matches!(effect, Effect::Consult { .. } | Effect::Call { .. })) {
        return Some(WorkspacePath::root());
    }
    let path = effects.iter().find_map(|effect| match effect {
        Effect::Read(path) => Some(path),
        Effect::Create(_) | Effect::CreateFolder(_) | Effect::Write(_) | Effect::Delete(_) | Effect::Replace(_) | Effect::Move { .. } => {
            effect.changed_paths().first().copied()
        }
        Effect::Progress | Effect::Review | Effect::Delegate(_) => None,
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => None,
        Effect::Consult { .. } | Effect::Call { .. } | Effect::LoseCommits(_) => None,
    });
    path.and_then(|path| path.split()).map(|(folder, _)| folder)
}
