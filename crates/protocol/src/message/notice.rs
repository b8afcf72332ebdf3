//! Records of the server: one variant for each kind.

use super::body::{ReadMarker, is_false};
use crate::event::SwitchedBy;
use crate::ids::MessageId;
use crate::image::Image;
use crate::plan::Progress;
use crate::role::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Words for people and the model, with nothing else to know.
    Plain,
    /// The role was switched.
    ModeChange(ModeChange),
    /// The user approved a plan, which switched the role.
    Approval(Box<ApprovalNotice>),
    /// Files of the plan changed between its writing and its approval.
    Drift(Vec<DriftedFile>),
    /// The plan's file is not what was approved any more.
    PlanChanged(PlanChanged),
    /// Changes were taken back.
    Revert(RevertNotice),
    /// A summary that takes the place of everything before it.
    Compaction(CompactionNotice),
    /// A task that was handed to another role. Its conversation begins here.
    Task,
    /// Stands for the user's answer to a question.
    Answered,
    /// The user had a run that failed go on.
    Retry,
    /// Finished work was committed, or could not be.
    Commit(CommitOutcome),
    /// The model does not read all of a message, which is too long for it.
    Cut(CutMessage),
    /// An MCP server can't be used, or not all of it.
    Server(ServerNotice),
    /// The chat decides by its first message whether it plans first.
    ModeUndecided,
}

impl Notice {
    /// The switch of role that it records. An approval is one too.
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
    /// The progress that carrying out the plan begins with.
    #[serde(default)]
    pub begins_with: Option<Progress>,
    /// The files that the plan names, as they were when it was approved.
    #[serde(flatten)]
    pub files: Option<PlannedFiles>,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "ApprovalNote")]
pub struct ApprovalFacts {
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    /// The commit that the workspace was at, where it is known.
    pub base_commit: Option<String>,
    pub approver: String,
    pub by: SwitchedBy,
}

/// The files that a plan names, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFiles {
    /// By path, a hash of the content; none where there is no file.
    #[serde(rename = "files")]
    pub hashes: BTreeMap<String, Option<String>>,
    /// There are more files than are watched.
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

/// What became of the file of an approved plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFileChange {
    Edited,
    /// It can't be read as a plan any more.
    Unreadable,
    Deleted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertNotice {
    /// Everything from this message on is taken back.
    pub message_id: MessageId,
    pub status: RevertStatus,
    pub files: Vec<RevertStep>,
    pub conflicts: Vec<RevertConflict>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevertStatus {
    Running,
    Done,
    /// Some of the files could not be taken back.
    Incomplete,
}

/// One path on its way back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Step")]
pub struct RevertStep {
    pub path: String,
    pub present: Image,
    pub wanted: Image,
}

/// A path that is left as it is.
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
    /// The newest message of the user that the summary knows of; none in histories of early versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_up_to: Option<ReadMarker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionFacts {
    pub tokens_before: u64,
    /// The model wrote a summary; else there are only the facts from the history.
    pub by_model: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommitOutcome {
    Committed {
        branch: String,
        id: String,
        /// The last message whose changes are in it.
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
    /// None in histories of early versions.
    #[serde(rename = "mcp_trouble", default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<ServerTrouble>,
}

/// Why an MCP server can't be used, or not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerTrouble {
    /// It is not what the user accepted.
    Changed,
    Untrusted,
    Failed,
}
