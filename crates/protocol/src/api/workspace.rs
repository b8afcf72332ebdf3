//! Workspaces: their files, models and trust, and what is allowed in their chats.

use crate::ids::{ChatId, WorkspaceId};
use crate::message::WireMessage;
use crate::plan::PlanFileStatus;
use crate::settings::{Approvals, DefaultMode, IntentClassifier, IntentSwitch, PlanPolicy};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A folder that the agent works in, as the caller sees it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct WorkspaceView {
    #[serde(flatten)]
    pub row: WorkspaceRow,
    /// The caller's right in it.
    pub right: Right,
}

/// A folder the agent works in.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct WorkspaceRow {
    pub id: WorkspaceId,
    pub name: String,
    pub path: String,
    /// The user's settings for this workspace, which override its file and the user's own.
    pub settings: Map<String, Value>,
    pub created_at: Timestamp,
}

/// What a user may do in a workspace. Each right includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Read everything and change nothing.
    Viewer,
    /// Work: chats, approvals, tools.
    Member,
    /// Manage members and settings, trust the workspace's own configuration, delete the workspace.
    Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileType {
    Folder,
    Document,
    Plan,
    Chat,
}

/// A file or folder.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FileNode {
    pub name: String,
    pub path: String,
    pub file_type: FileType,
    /// Whether it is a link, pipe, socket or device, which is not opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_special: bool,
    /// The entries of the folder, to the requested depth; absent below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([]))]
    pub children: Option<Vec<FileNode>>,
    /// Whether the folder has more entries than listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// The content of a file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FileContent {
    pub path: String,
    pub file_type: FileType,
    /// In bytes.
    pub size: u64,
    /// The text, with U+FFFD for invalid UTF-8; null for a binary file.
    pub content: Option<String>,
}

/// A plan, and its progress.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PlanView {
    pub plan_file: String,
    /// Null if the file is not a valid plan.
    pub status: Option<PlanFileStatus>,
    pub goal: Option<String>,
    pub revision: Option<u32>,
    pub steps_done: usize,
    pub steps_total: usize,
    /// The chat that wrote it.
    pub chat_id: Option<ChatId>,
}

/// The models of a workspace, as PROVIDER/MODEL.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ModelOptions {
    /// The configured model for plan mode; null if there is none.
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub plan: Option<String>,
    /// The configured model for act mode; null if there is none.
    #[schemars(example = &"local/qwen3-coder")]
    pub act: Option<String>,
    /// The models that can be chosen for a chat: the configured ones, and the known ones of every usable provider.
    pub available: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct GrantView {
    #[schemars(example = &"0f6a1c2b3d4e5f60")]
    pub id: String,
    /// The tool; `run: changes` for what commands change.
    #[schemars(example = &"write")]
    pub tool: String,
    /// The folder that it covers, with everything below.
    #[schemars(example = "/src")]
    pub folder: String,
    /// When it was given; null for grants of early versions, as is `by`.
    pub at: Option<Timestamp>,
    pub by: Option<String>,
}

/// A message that contains the text, of any chat.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "Found")]
pub struct FoundExcerpt {
    pub workspace_id: WorkspaceId,
    /// The title of its chat.
    pub title: String,
    pub message: WireMessage,
}

/// The parts of a workspace's file that would run or allow something. They apply when the user has accepted exactly this file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Trust {
    /// Whether nothing needs acceptance: neither the file nor a changed MCP server.
    pub trusted: bool,
    /// Whether all of the file applies.
    pub file_trusted: bool,
    /// The hash of the file; null if there is none.
    pub sha256: Option<String>,
    pub items: Vec<TrustItem>,
    /// What is ignored, and why.
    pub warnings: Vec<String>,
}

/// One item that needs the user's trust.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TrustItem {
    /// `model`, `provider`, `mcp_server` or `setting` of the file; `mcp_change` for a server that differs from what was accepted.
    pub kind: String,
    /// For example `models.plan`.
    pub key: String,
    pub value: serde_json::Value,
    /// The line in the file; null if it is not from the file.
    pub line: Option<usize>,
    /// The hash to accept this item alone; items of the file are accepted by the hash of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Trust {
    /// For a workspace without anything to trust.
    #[must_use]
    pub fn nothing() -> Self {
        Self { trusted: true, file_trusted: true, sha256: None, items: Vec::new(), warnings: Vec::new() }
    }
}

/// The settings in force in a workspace: the user's configuration, the applied parts of the folder's own file, and the API's settings.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RulesView {
    pub default_mode: DefaultMode,
    pub intent_switch: IntentSwitch,
    pub intent_classifier: IntentClassifier,
    /// Requirements for every change.
    pub policy: PlanPolicy,
    pub approvals: Approvals,
    /// The rules from the files alone: the workspace's own settings can only be stricter.
    pub configured_approvals: Approvals,
    pub sandbox: SandboxView,
    /// Patterns of files that ask before they are read.
    pub secrets: Vec<String>,
    /// Maximum requests to the model per run.
    pub turns: u32,
    /// Maximum cost of a chat, in US dollars; null for no limit.
    pub cost: Option<f64>,
    /// The model of each mode, as PROVIDER/MODEL; null if there is none.
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub plan_model: Option<String>,
    #[schemars(example = &"local/qwen3-coder")]
    pub act_model: Option<String>,
}

/// The sandbox of commands.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct SandboxView {
    /// Whether commands run in a sandbox at all.
    pub enforced: bool,
    /// Whether commands have network access without asking.
    pub network: bool,
    /// Whether planners may run commands, in a sandbox where nothing can change.
    pub inspect: bool,
}
