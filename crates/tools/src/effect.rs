//! The effects of a tool call, known before the call runs.
//!
//! Effects have five groups, so that a match on one group needs no arms for the others.

use crate::git_name::title_of;
use crate::path::WorkspacePath;
use planwright_fetch::WebUrl;
use planwright_protocol::Role;
use serde::Serialize;
use std::fmt;

/// One effect of a call. The gate sees nothing else of a call.
///
/// Cards show an effect as `{"effect": NAME, "target": …}`, whatever its group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Effect {
    File(FileEffect),
    Record(RecordEffect),
    Run(RunEffect),
    Landing(LandingEffect),
    Web(WebEffect),
}

/// An effect on a path of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum FileEffect {
    /// Read the file, or search below the folder.
    Read(WorkspacePath),
    /// Create a new file.
    Create(WorkspacePath),
    CreateFolder(WorkspacePath),
    /// Change an existing file.
    Write(WorkspacePath),
    /// Delete a file, or a folder with everything in it.
    Delete(WorkspacePath),
    /// Move a file or folder. Loses nothing.
    Move {
        from: WorkspacePath,
        to: WorkspacePath,
    },
    /// Lose the file at this path, because another is moved there.
    Replace(WorkspacePath),
    /// Create or change a git repository with another name than `.git`; the path is its folder. The gate never allows it.
    ChangeRepository(WorkspacePath),
}

/// The chat records something; no file of the user changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum RecordEffect {
    /// Change the status of a step of the approved plan.
    Progress,
    /// Submit a review.
    Review,
    /// Delegate a task to another role.
    Delegate(Role),
    /// Let helpers read.
    Explore,
}

/// A program runs: a command, or an MCP server's tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum RunEffect {
    /// Run a command in the sandbox, starting in this folder.
    Execute { command: String, folder: WorkspacePath },
    /// Let the command reach the network.
    Network,
    /// Run the command without a sandbox.
    Unconfined,
    /// Run a command in a read-only sandbox.
    Inspect,
    /// Call a read-only tool of an MCP server; the user trusts the server's statement that it only reads.
    Consult { server: String, tool: String },
    /// Call any other tool of an MCP server; its effects are unknown.
    Call { server: String, tool: String },
}

/// A request goes to the web. Nothing changes here, but the request itself tells something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum WebEffect {
    /// Read a public page.
    Fetch(WebUrl),
    /// Send a query to the configured search service at this host.
    Search(String),
}

/// Earlier changes are kept or reverted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum LandingEffect {
    /// Keep a command's changes that no plan covers: build output and git's own records.
    Keep,
    /// A ref or a log of git loses commits. Shown as a deletion.
    #[serde(rename = "delete")]
    LoseCommits(Loss),
    /// Restore a path to its state before the chat's changes. Only the user can request it.
    TakeBack(WorkspacePath),
}

/// A ref or a log that loses commits.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Loss {
    pub path: WorkspacePath,
    /// Maximum number of lost commits; `None` if it is unknown.
    #[serde(skip)]
    pub commits: Option<u64>,
}

/// Ignores the number: commits are counted again after the user's answer, and git may hit its limit at different points.
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
            None => write!(formatter, "{title} would lose an unknown number of commits"),
        }
    }
}

impl Effect {
    /// The paths that would change.
    #[must_use]
    pub fn changed_paths(&self) -> Vec<&WorkspacePath> {
        match self {
            Effect::File(effect) => effect.changed_paths(),
            Effect::Record(_) | Effect::Run(_) | Effect::Landing(_) | Effect::Web(_) => Vec::new(),
        }
    }

    /// The command that would run.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        if let Effect::Run(RunEffect::Execute { command, .. }) = self { Some(command) } else { None }
    }

    /// The page that would be fetched.
    #[must_use]
    pub fn page(&self) -> Option<&WebUrl> {
        if let Effect::Web(WebEffect::Fetch(url)) = self { Some(url) } else { None }
    }

    /// Whether its result is unknown before it has happened, and after a crash during it.
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        matches!(self, Effect::Run(RunEffect::Execute { .. } | RunEffect::Call { .. }))
    }

    /// Whether nothing changes, so that it can be repeated.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        matches!(self, Effect::File(FileEffect::Read(_)) | Effect::Run(RunEffect::Consult { .. }) | Effect::Web(_))
    }

    /// Whether existing content would be lost.
    #[must_use]
    pub fn loses(&self) -> bool {
        match self {
            Effect::File(effect) => effect.loses(),
            Effect::Landing(effect) => matches!(effect, LandingEffect::LoseCommits(_)),
            Effect::Record(_) | Effect::Run(_) | Effect::Web(_) => false,
        }
    }
}

impl FileEffect {
    /// The paths that would change.
    #[must_use]
    pub fn changed_paths(&self) -> Vec<&WorkspacePath> {
        match self {
            Self::Read(_) => Vec::new(),
            Self::Create(path) | Self::CreateFolder(path) | Self::Write(path) | Self::Delete(path) | Self::Replace(path) => vec![path],
            Self::ChangeRepository(folder) => vec![folder],
            Self::Move { from, to } => vec![from, to],
        }
    }

    /// Whether existing content would be lost.
    #[must_use]
    pub fn loses(&self) -> bool {
        matches!(self, Self::Delete(_) | Self::Replace(_))
    }
}

impl From<FileEffect> for Effect {
    fn from(effect: FileEffect) -> Self {
        Self::File(effect)
    }
}

impl From<RecordEffect> for Effect {
    fn from(effect: RecordEffect) -> Self {
        Self::Record(effect)
    }
}

impl From<RunEffect> for Effect {
    fn from(effect: RunEffect) -> Self {
        Self::Run(effect)
    }
}

impl From<LandingEffect> for Effect {
    fn from(effect: LandingEffect) -> Self {
        Self::Landing(effect)
    }
}

impl From<WebEffect> for Effect {
    fn from(effect: WebEffect) -> Self {
        Self::Web(effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    /// Every effect, with the form that cards and stored messages have had since before the groups existed.
    fn all() -> Vec<(Effect, Value)> {
        let (server, tool) = (|| "notes".to_owned(), || "add".to_owned());
        vec![
            (FileEffect::Read(path("/a")).into(), json!({"effect": "read", "target": "/a"})),
            (FileEffect::Create(path("/a")).into(), json!({"effect": "create", "target": "/a"})),
            (FileEffect::CreateFolder(path("/a")).into(), json!({"effect": "create_folder", "target": "/a"})),
            (FileEffect::Write(path("/a")).into(), json!({"effect": "write", "target": "/a"})),
            (FileEffect::Delete(path("/a")).into(), json!({"effect": "delete", "target": "/a"})),
            (FileEffect::Move { from: path("/a"), to: path("/b") }.into(), json!({"effect": "move", "target": {"from": "/a", "to": "/b"}})),
            (FileEffect::Replace(path("/a")).into(), json!({"effect": "replace", "target": "/a"})),
            (FileEffect::ChangeRepository(path("/a")).into(), json!({"effect": "change_repository", "target": "/a"})),
            (RecordEffect::Progress.into(), json!({"effect": "progress"})),
            (RecordEffect::Review.into(), json!({"effect": "review"})),
            (RecordEffect::Explore.into(), json!({"effect": "explore"})),
            (RecordEffect::Delegate(Role::Actor).into(), json!({"effect": "delegate", "target": "actor"})),
            (
                RunEffect::Execute { command: "make".to_owned(), folder: WorkspacePath::root() }.into(),
                json!({"effect": "execute", "target": {"command": "make", "folder": "/"}}),
            ),
            (RunEffect::Network.into(), json!({"effect": "network"})),
            (RunEffect::Unconfined.into(), json!({"effect": "unconfined"})),
            (RunEffect::Inspect.into(), json!({"effect": "inspect"})),
            (
                RunEffect::Consult { server: server(), tool: tool() }.into(),
                json!({"effect": "consult", "target": {"server": "notes", "tool": "add"}}),
            ),
            (
                RunEffect::Call { server: server(), tool: tool() }.into(),
                json!({"effect": "call", "target": {"server": "notes", "tool": "add"}}),
            ),
            (LandingEffect::Keep.into(), json!({"effect": "keep"})),
            (
                LandingEffect::LoseCommits(Loss { path: path("/.git/refs/heads/main"), commits: Some(2) }).into(),
                json!({"effect": "delete", "target": "/.git/refs/heads/main"}),
            ),
            (
                WebEffect::Fetch(WebUrl::parse("https://docs.rs/serde").unwrap()).into(),
                json!({"effect": "fetch", "target": "https://docs.rs/serde"}),
            ),
            (WebEffect::Search("search.example".to_owned()).into(), json!({"effect": "search", "target": "search.example"})),
            (LandingEffect::TakeBack(path("/a")).into(), json!({"effect": "take_back", "target": "/a"})),
        ]
    }

    #[test]
    fn an_effect_is_shown_by_its_name_and_target_whatever_its_group() {
        for (effect, shown) in all() {
            assert_eq!(serde_json::to_string(&effect).unwrap(), shown.to_string(), "{effect:?}");
        }
    }

    #[test]
    fn what_an_effect_changes_loses_or_leaves_open_is_known_from_the_effect_alone() {
        let named = |wanted: fn(&Effect) -> bool| {
            let effects = all().into_iter().filter(|(effect, _)| wanted(effect));
            effects.map(|(_, shown)| shown["effect"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(named(Effect::loses), ["delete", "replace", "delete"]);
        assert_eq!(named(Effect::is_open_ended), ["execute", "call"]);
        assert_eq!(named(Effect::only_reads), ["read", "consult", "fetch", "search"]);
        assert_eq!(named(|effect| effect.command() == Some("make")), ["execute"]);
        let changing = ["create", "create_folder", "write", "delete", "move", "replace", "change_repository"];
        assert_eq!(named(|effect| !effect.changed_paths().is_empty()), changing);
        let moved = Effect::from(FileEffect::Move { from: path("/a"), to: path("/b") });
        assert_eq!(moved.changed_paths(), [&path("/a"), &path("/b")]);
    }
}
