//! Records that the server writes: one variant per kind.

use super::body::{ReadMarker, is_false};
use crate::event::SwitchedBy;
use crate::ids::MessageId;
use crate::image::Image;
use crate::plan::{Progress, StepChoice};
use crate::role::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Text for people and the model, without further data.
    Plain,
    /// The role was switched.
    ModeChange(ModeChange),
    /// The user approved a plan, which switched the role.
    Approval(Box<ApprovalNotice>),
    /// Files of the plan changed between planning and approval.
    Drift(Vec<DriftedFile>),
    /// The plan file no longer matches the approved plan.
    PlanChanged(PlanChanged),
    /// Changes were reverted.
    Revert(RevertNotice),
    /// A summary that replaces everything before it.
    Compaction(CompactionNotice),
    /// A delegated task. Its conversation begins here.
    Task,
    /// Represents the user's answer to a question.
    Answered,
    /// The user retried a failed run.
    Retry,
    /// Finished work was committed, or the commit failed.
    Commit(CommitOutcome),
    /// A message was too long for the model, which reads only part of it.
    Cut(CutMessage),
    /// An MCP server is unavailable, wholly or in part.
    Server(ServerNotice),
    /// The chat's first message decides whether it plans first.
    ModeUndecided,
}

impl Notice {
    /// The switch of role that this records. An approval is one too.
    #[must_use]
    pub fn mode_change(&self) -> Option<&ModeChange> {
        match self {
            Notice::ModeChange(change) => Some(change),
            Notice::Approval(approval) => Some(&approval.mode_change),
            Notice::Plain
            | Notice::Drift(_)
            | Notice::PlanChanged(_)
            | Notice::Revert(_)
            | Notice::Compaction(_)
            | Notice::Task
            | Notice::Answered
            | Notice::Retry
            | Notice::Commit(_)
            | Notice::Cut(_)
            | Notice::Server(_)
            | Notice::ModeUndecided => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ModeChange {
    pub from: Role,
    pub to: Role,
    pub by: SwitchedBy,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalNotice {
    pub mode_change: ModeChange,
    pub approval: ApprovalFacts,
    /// The progress at the start of execution.
    #[serde(default)]
    pub begins_with: Option<Progress>,
    /// The hashes of the plan's files when it was approved.
    #[serde(flatten)]
    pub files: Option<PlannedFiles>,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "ApprovalNote")]
pub struct ApprovalFacts {
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    /// The workspace's commit, if known.
    pub base_commit: Option<String>,
    pub approver: String,
    pub by: SwitchedBy,
    #[serde(flatten)]
    pub choice: StepChoice,
    /// The user's comment on the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// The files that a plan names, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFiles {
    /// A content hash by path; `None` if there was no file.
    #[serde(rename = "files")]
    pub hashes: BTreeMap<String, Option<String>>,
    /// The plan names more files than the server tracks.
    #[serde(rename = "files_in_part", default, skip_serializing_if = "is_false")]
    pub is_partial: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct DriftedFile {
    pub path: String,
    #[schemars(with = "String")]
    pub change: FileDrift,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileDrift {
    Changed,
    Deleted,
    New,
}

impl FileDrift {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            FileDrift::Changed => "changed",
            FileDrift::Deleted => "deleted",
            FileDrift::New => "new",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PlanChanged {
    pub plan_file: String,
    #[schemars(with = "String")]
    pub change: PlanFileChange,
}

/// What happened to the file of an approved plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFileChange {
    Edited,
    /// It no longer parses as a plan.
    Unreadable,
    Deleted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertNotice {
    /// Everything from this message on is reverted; `None` if the user named files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The files of which only some changes are reverted, with the numbers of these changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hunks: BTreeMap<String, Vec<usize>>,
    pub status: RevertStatus,
    pub files: Vec<RevertStep>,
    pub conflicts: Vec<RevertConflict>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevertStatus {
    Running,
    Done,
    /// Some files could not be reverted.
    Incomplete,
}

/// One path to revert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Step")]
pub struct RevertStep {
    pub path: String,
    pub present: Image,
    pub wanted: Image,
}

/// A path that the revert left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Conflict")]
pub struct RevertConflict {
    pub path: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionNotice {
    #[serde(rename = "compaction")]
    pub facts: CompactionFacts,
    /// The newest user message that the summary covers; `None` in histories of early versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_up_to: Option<ReadMarker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionFacts {
    pub tokens_before: u64,
    /// Whether the model wrote a summary. Otherwise there are only facts from the history.
    pub by_model: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommitOutcome {
    Committed {
        branch: String,
        id: String,
        /// The last message whose changes are in the commit.
        through: MessageId,
    },
    Failed {
        error: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutMessage {
    pub message_id: MessageId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerNotice {
    #[serde(rename = "mcp_server")]
    pub server: String,
    /// `None` in histories of early versions.
    #[serde(rename = "mcp_trouble", default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<ServerTrouble>,
}

/// Why an MCP server is unavailable, wholly or in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerTrouble {
    /// It no longer matches what the user accepted.
    Changed,
    Untrusted,
    Failed,
}
