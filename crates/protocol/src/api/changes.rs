//! What a chat changed, and what reverting it would do.

use crate::ids::MessageId;
use crate::image::Image;
use crate::message::{Message, RevertConflict, RevertStep};
use crate::role::Role;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Changes {
    /// On the first page; empty in a summary.
    pub changes: Vec<CallChanges>,
    /// Whether `changes` lacks some, because there are too many. The newest are there.
    pub truncated: bool,
    pub total: Total,
    /// The next page of `total.files` is that with this `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// From before the first change to after the last.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Total {
    /// A page of them, by path.
    pub files: Vec<ChangedFile>,
    /// How many there are on all pages.
    pub count: usize,
}

/// What one message changed.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CallChanges {
    pub message_id: MessageId,
    pub call_id: Option<String>,
    /// The tool; `revert` where the user took something back, `approve` where a plan was marked as approved.
    pub tool: String,
    pub agent_role: Option<Role>,
    pub at: Timestamp,
    pub files: Vec<ChangedFile>,
    /// How many more files it changed than are listed here.
    pub left_out: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Created,
    Modified,
    Deleted,
    Moved,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    /// Where it was before, if it only moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub status: Status,
    pub before: Image,
    pub after: Image,
    pub diff: String,
    pub added: usize,
    pub removed: usize,
    pub binary: bool,
    /// Whether the diff was cut or left out, because there is too much of it.
    pub truncated: bool,
    pub reverted: bool,
    /// Why it can't be taken back, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<String>,
    /// What happened to a ref of git's, in plain words, such as `branch main moved from 1234567890 to 89abcdef01`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// In a summary: the messages that changed it, at most the newest 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageId>,
    /// In a summary: the number of the plan's step that was in progress when it was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// In a summary, if an approved plan names files: whether this file is not among those of the approved steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_plan: Option<bool>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FileDiff {
    #[serde(flatten)]
    pub file: ChangedFile,
    /// The content before; null if there was no file.
    pub before_sha256: Option<String>,
    /// The content after, for `viewed` and `revert`; null if the file was deleted.
    pub after_sha256: Option<String>,
    /// The hunks of `diff`, in its order. `revert` takes their numbers. Empty for anything but text.
    pub hunks: Vec<NumberedHunk>,
    /// Whether the file changed after the chat's last change, so that it can't be reverted.
    pub changed_since: bool,
}

/// One hunk of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct NumberedHunk {
    /// The number of its first change, counted from 0.
    pub number: usize,
    /// The numbers of all its changes. With the default context it is one.
    pub numbers: Vec<usize>,
    /// The first line before, counted from 1, as in the header of the hunk.
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
}

/// So much of it as one answer can have.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RevertSummary {
    /// The first 1,000.
    pub files: Vec<RevertStep>,
    /// How many there are.
    pub file_count: usize,
    /// The first 1,000.
    pub conflicts: Vec<RevertConflict>,
    pub conflict_count: usize,
    /// Whether `files` or `conflicts` lacks some.
    pub truncated: bool,
}

/// How a revert would change one file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RevertDiff {
    pub path: String,
    pub diff: String,
    pub added: usize,
    pub removed: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RevertAnswer {
    pub preview: bool,
    #[serde(flatten)]
    pub done: RevertSummary,
    /// The message that records the revert; null if nothing was reverted.
    pub message: Option<Message>,
    /// A preview of `files`: how each would change, for the first 100 files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<RevertDiff>,
}
