//! What a tool call would do, said before it is done.

use crate::git_name::title_of;
use crate::path::WorkspacePath;
use planwright_protocol::Role;
use serde::Serialize;
use std::fmt;

/// One thing a call would do. The gate knows a call by nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum Effect {
    /// Read the file, or search below the folder.
    Read(WorkspacePath),
    /// Make a file where there is none.
    Create(WorkspacePath),
    CreateFolder(WorkspacePath),
    /// Change a file that exists.
    Write(WorkspacePath),
    /// Remove a file, or a folder with all that is in it.
    Delete(WorkspacePath),
    /// Give a file or folder another path. Loses nothing.
    Move {
        from: WorkspacePath,
        to: WorkspacePath,
    },
    /// Lose the file at this path to another that is moved there.
    Replace(WorkspacePath),
    /// Move a step of the approved plan.
    Progress,
    /// Hand in a review.
    Review,
    /// Hand a task to another role.
    Delegate(Role),
    /// Run a command in the sandbox, beginning in this folder.
    Execute {
        command: String,
        folder: WorkspacePath,
    },
    /// Let the command reach the network.
    Network,
    /// Run the command without a sandbox.
    Unconfined,
    /// Run a command in a sandbox in which nothing can be changed.
    Inspect,
    /// Call a tool of an MCP server that only reads, by the word of a server that the user trusts in that.
    Consult {
        server: String,
        tool: String,
    },
    /// Call any other tool of an MCP server: nobody knows what it does.
    Call {
        server: String,
        tool: String,
    },
    /// Make or change a git repository that has another name than `.git`; the path is its folder. The gate never allows it.
    ChangeRepository(WorkspacePath),
    /// Let a ref or a log of git's lose commits. Shown as a deletion.
    #[serde(rename = "delete")]
    LoseCommits(Loss),
    /// Keep what a command left where no plan has a say: build output, and git's own records.
    Keep,
}

/// A ref or a log that loses commits.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Loss {
    pub path: WorkspacePath,
    /// How many at most; `None` if nobody can say.
    #[serde(skip)]
    pub commits: Option<u64>,
}

/// The same loss is counted again after the user was asked, and git may not come to the end of it each time.
impl PartialEq for Loss {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Loss {}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = title_of(&self.path).unwrap_or_else(|| self.path.to_string());
        match self.commits {
            Some(1) => write!(formatter, "{title} would lose 1 commit"),
            Some(commits) => write!(formatter, "{title} would lose at most {commits} commits"),
            None => write!(formatter, "{title} would lose commits, and nobody can say how many"),
        }
    }
}

impl Effect {
    /// The paths that would be different afterwards.
    #[must_use]
    pub fn changed_paths(&self) -> Vec<&WorkspacePath> {
        match self {
            Effect::Create(path) | Effect::CreateFolder(path) | Effect::Write(path) | Effect::Delete(path) | Effect::Replace(path) => {
                vec![path]
            }
            Effect::ChangeRepository(folder) => vec![folder],
            Effect::Move { from, to } => vec![from, to],
            Effect::Read(_) | Effect::Progress | Effect::Review | Effect::Delegate(_) => Vec::new(),
            Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => Vec::new(),
            Effect::Consult { .. } | Effect::Call { .. } | Effect::LoseCommits(_) => Vec::new(),
        }
    }

    /// The command that would be run.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        if let Effect::Execute { command, .. } = self { Some(command) } else { None }
    }

    /// Whether what comes of it is not known before it has happened, nor after a crash in the middle of it.
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        matches!(self, Effect::Execute { .. } | Effect::Call { .. })
    }

    /// Whether something would be gone that was there before.
    #[must_use]
    pub fn loses(&self) -> bool {
        match self {
            Effect::Delete(_) | Effect::Replace(_) | Effect::LoseCommits(_) => true,
            Effect::Read(_)
            | Effect::Create(_)
            | Effect::CreateFolder(_)
            | Effect::Write(_)
            | Effect::Move { .. }
            | Effect::Progress
            | Effect::Review
            | Effect::Delegate(_)
            | Effect::Execute { .. }
            | Effect::Network
            | Effect::Unconfined
            | Effect::Inspect
            | Effect::Consult { .. }
            | Effect::Call { .. }
            | Effect::ChangeRepository(_)
            | Effect::Keep => false,
        }
    }
}
