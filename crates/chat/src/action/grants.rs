//! The scope of an "always allow".

use planwright_protocol::message::ApprovalMoment;
use planwright_tools::{COMMAND_CHANGES, Effect, FileEffect, RunEffect, WebEffect, WorkspacePath};

/// The name under which an "always allow" is stored; `None` if each call must ask.
pub fn grant_of(tool: &str, effects: &[Effect], moment: ApprovalMoment) -> Option<String> {
    match moment {
        ApprovalMoment::After => Some(COMMAND_CHANGES.to_owned()),
        ApprovalMoment::Before
            if effects.iter().any(|effect| matches!(effect, Effect::Run(RunEffect::Network | RunEffect::Unconfined))) =>
        {
            None
        }
        ApprovalMoment::Before => Some(tool.to_owned()),
    }
}

/// Where an "always allow" applies: a host, or a folder.
pub fn place_of(effects: &[Effect]) -> Option<String> {
    let host = |effect: &Effect| if let Effect::Web(WebEffect::Fetch(url)) = effect { Some(url.host()) } else { None };
    effects.iter().find_map(host).or_else(|| folder_of(effects).map(|folder| folder.to_string()))
}

/// The folder in which an "always allow" applies: that of the call's first path.
fn folder_of(effects: &[Effect]) -> Option<WorkspacePath> {
    let in_folder = |effect: &Effect| if let Effect::Run(RunEffect::Execute { folder, .. }) = effect { Some(folder.clone()) } else { None };
    if let Some(folder) = effects.iter().find_map(in_folder) {
        return Some(folder);
    }
    // A server's tool belongs to no folder.
    if effects.iter().any(|effect| matches!(effect, Effect::Run(RunEffect::Consult { .. } | RunEffect::Call { .. }))) {
        return Some(WorkspacePath::root());
    }
    let path = effects.iter().find_map(|effect| match effect {
        Effect::File(FileEffect::Read(path)) => Some(path),
        Effect::File(effect) => effect.changed_paths().first().copied(),
        Effect::Record(_) | Effect::Run(_) | Effect::Landing(_) | Effect::Web(_) => None,
    });
    path.and_then(|path| path.split()).map(|(folder, _)| folder)
}
