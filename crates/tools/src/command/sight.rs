//! Decides which parts of the machine and the workspace a command sees.

use super::{CommandContext, Commands};
use crate::gate::Secrets;
use crate::workspace::{Hidden, Repository, Workspace};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::Policy;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The hidden parts of the workspace, by reason. Names that are not UTF-8 are left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Covers {
    /// Empty, because they look like secrets.
    pub secrets: Vec<String>,
    /// Those of them that git does not track, and that must not be committed empty.
    pub untracked: Vec<String>,
    /// Unreadable: they look like secrets, and git has another content.
    pub closed: Vec<String>,
    /// Other users' workspaces.
    pub workspaces: Vec<String>,
}

impl Commands {
    /// Hides secrets, the server's files and other workspaces from a command, and shows it the workspace's repository.
    pub(super) fn limit_sight(
        &self,
        policy: Policy,
        workspace: &Workspace,
        secrets: &Secrets,
        neighbours: &[PathBuf],
    ) -> Result<(Policy, Covers), Problem> {
        if let Some(folder) = policy.writable.iter().find(|folder| !self.may_show(folder)) {
            let text = format!(
                "No command was run: `writable` in [sandbox] names {}, which is missing, or contains Planwright's own data or configuration. Name another folder, or start Planwright with another --data-dir.",
                folder.display()
            );
            return Err(Problem::new(ErrorCode::SandboxUnavailable, text));
        }
        let Hidden { inside, closed, outside, untracked } = workspace.secrets(secrets)?;
        let others = neighbours.iter().chain(&self.roots).filter(|other| **other != policy.workspace).cloned().chain(outside).collect();
        let repository = Repository::of(workspace, &policy.workspace).map(|repository| repository.whole);
        let readable = repository.filter(|folder| self.may_show_repository(folder, neighbours)).into_iter().collect();
        // With accounts, a workspace inside this one may belong to another user.
        let nested = self.team.iter().flat_map(|roots| neighbours.iter().chain(roots));
        let nested = nested.filter_map(|other| other.strip_prefix(&policy.workspace).ok()).filter(|below| !below.as_os_str().is_empty());
        let nested: Vec<OsString> = nested.map(|below| below.as_os_str().to_owned()).collect();
        let covers = Covers { secrets: spelled(&inside), untracked, closed: spelled(&closed), workspaces: spelled(&nested) };
        let hidden = nested.into_iter().chain(inside).collect();
        Ok((Policy { hidden, closed, own: self.own.clone(), others, readable, ..policy }, covers))
    }

    /// On a team server a repository may belong to another user, unless it is where the users have their workspaces.
    fn may_show_repository(&self, folder: &Path, neighbours: &[PathBuf]) -> bool {
        let is_open = self.team.as_ref().is_none_or(|roots| {
            roots.iter().any(|root| folder.starts_with(root)) && !neighbours.iter().any(|other| folder.starts_with(other))
        });
        is_open && self.may_show(folder)
    }

    /// The server's files are never visible, under any name.
    pub(super) fn may_show(&self, path: &Path) -> bool {
        let is_apart = |real: PathBuf| !self.own.iter().any(|own| own.starts_with(&real) || real.starts_with(own));
        std::fs::canonicalize(path).is_ok_and(is_apart)
    }
}

impl CommandContext {
    /// Whether the history of a repository outside the workspace may be read: only if a command would see it.
    #[must_use]
    pub fn may_show_repository(&self, folder: &Path) -> bool {
        self.commands.as_ref().is_none_or(|commands| commands.may_show_repository(folder, &self.neighbours))
    }
}

fn spelled(names: &[OsString]) -> Vec<String> {
    names.iter().filter_map(|name| name.to_str()).map(str::to_owned).collect()
}
