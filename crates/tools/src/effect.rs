//! What a tool call would do, said before it is done.
//!
//! Effects come in five groups, so that code which cares about one of them needs no arm for each effect of the others.

use crate::git_name::title_of;
use crate::path::WorkspacePath;
use planwright_fetch::WebUrl;
use planwright_protocol::Role;
use serde::Serialize;
use std::fmt;

/// One thing a call would do. The gate knows a call by nothing else.
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

/// Something is done to a path of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum FileEffect {
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
    /// Make or change a git repository that has another name than `.git`; the path is its folder. The gate never allows it.
    ChangeRepository(WorkspacePath),
}

/// The chat records something; no file of the user's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum RecordEffect {
    /// Move a step of the approved plan.
    Progress,
    /// Hand in a review.
    Review,
    /// Hand a task to another role.
    Delegate(Role),
    /// Let helpers read.
    Explore,
}

/// A program runs: a command, or an MCP server's tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum RunEffect {
    /// Run a command in the sandbox, beginning in this folder.
    Execute { command: String, folder: WorkspacePath },
    /// Let the command reach the network.
    Network,
    /// Run the command without a sandbox.
    Unconfined,
    /// Run a command in a sandbox in which nothing can be changed.
    Inspect,
    /// Call a tool of an MCP server that only reads; the user trusts the server to say so.
    Consult { server: String, tool: String },
    /// Call any other tool of an MCP server: nobody knows what it does.
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

/// Changes that were made before are kept or undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", content = "target", rename_all = "snake_case")]
pub enum LandingEffect {
    /// Keep what a command left where no plan has a say: build output, and git's own records.
    Keep,
    /// Let a ref or a log of git's lose commits. Shown as a deletion.
    #[serde(rename = "delete")]
    LoseCommits(Loss),
    /// Put a path back as it was before changes of the chat. Only the user asks for it.
    TakeBack(WorkspacePath),
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
            Effect::File(effect) => effect.changed_paths(),
            Effect::Record(_) | Effect::Run(_) | Effect::Landing(_) | Effect::Web(_) => Vec::new(),
        }
    }

    /// The command that would be run.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        if let Effect::Run(RunEffect::Execute { command, .. }) = self { Some(command) } else { None }
    }

    /// The page that would be fetched.
    #[must_use]
    pub fn page(&self) -> Option<&WebUrl> {
        if let Effect::Web(WebEffect::Fetch(url)) = self { Some(url) } else { None }
    }

    /// Whether what comes of it is not known before it has happened, nor after a crash in the middle of it.
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        matches!(self, Effect::Run(RunEffect::Execute { .. } | RunEffect::Call { .. }))
    }

    /// Whether nothing is different afterwards, so that it can be done again.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        matches!(self, Effect::File(FileEffect::Read(_)) | Effect::Run(RunEffect::Consult { .. }) | Effect::Web(_))
    }

    /// Whether something would be gone that was there before.
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
    /// The paths that would be different afterwards.
    #[must_use]
    pub fn changed_paths(&self) -> Vec<&WorkspacePath> {
        match self {
            Self::Read(_) => Vec::new(),
            Self::Create(path) | Self::CreateFolder(path) | Self::Write(path) | Self::Delete(path) | Self::Replace(path) => vec![path],
            Self::ChangeRepository(folder) => vec![folder],
            Self::Move { from, to } => vec![from, to],
        }
    }

    /// Whether something would be gone that was there before.
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

    /// Every effect there is, as cards and stored messages have had it since before there were groups.
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
