//! Questions, with the plan or the tool call to approve.

use super::body::ReplyPart;
use crate::ids::{CallId, QuestionId};
use crate::plan::{Plan, PlanStep};
use crate::question::{Question, QuestionKind, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question shown to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionCard {
    pub question_id: QuestionId,
    pub questions: Vec<Question>,
    pub kind: QuestionKind,
    pub severity: Severity,
    /// The plan to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanToApprove>,
    /// The call to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallToApprove>,
    #[serde(flatten)]
    pub reply: ReplyPart,
}

/// The plan on an approval card: exactly this content of the plan file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PlanToApprove {
    #[schemars(example = "/plans/add-a-farewell.plan")]
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    pub goal: String,
    pub steps: Vec<PlanStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_total_time: Option<String>,
    pub risks: Vec<String>,
    pub prerequisites: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation: Vec<String>,
}

impl PlanToApprove {
    #[must_use]
    pub fn new(plan_file: &str, revision: u32, sha256: &str, plan: Plan) -> Self {
        let Plan { goal, steps, estimated_total_time, risks, prerequisites, assumptions, validation } = plan;
        Self {
            plan_file: plan_file.to_owned(),
            revision,
            sha256: sha256.to_owned(),
            goal,
            steps,
            estimated_total_time,
            risks,
            prerequisites,
            assumptions,
            validation,
        }
    }
}

/// A tool call that requires the user's approval.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CallToApprove {
    pub call_id: CallId,
    #[schemars(example = &"rm")]
    pub tool: String,
    pub args: Option<Value>,
    /// Its effects.
    pub effects: Vec<EffectShown>,
    /// Why it requires approval.
    pub reason: String,
    /// The folder that `approve_always` would cover.
    #[schemars(with = "Option<Value>")]
    pub folder: Option<String>,
    #[serde(default)]
    #[schemars(skip)]
    pub moment: ApprovalMoment,
    /// The key under which `approve_always` would be stored; `None` if every call asks again.
    #[serde(default)]
    #[schemars(skip)]
    pub grant: Option<String>,
    /// The step of the plan that was in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_number: Option<u32>,
    /// The changes to files, as a unified diff of at most 32 KiB. Secret files are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The files and folders that would be deleted, at most 40.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<DeletedEntry>,
    /// How many would be deleted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deleted_count: u64,
    /// Whether the user can revert the effects afterwards; absent on cards of early versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A file or folder that a call would delete.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct DeletedEntry {
    #[schemars(example = "/src/old.rs")]
    pub path: String,
    pub kind: EntryKind,
    /// In bytes; absent for folders, and for files without a stored copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The number of lines of a text file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// The first lines of a text file, at most 400 characters. Secret files have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beginning: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    /// A pipe, socket or device, or a file that is too large or unreadable.
    Other,
}

/// When the approval is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMoment {
    /// Before the call is made.
    #[default]
    Before,
    /// Commands only: after it ran, when its changes are known.
    After,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct EffectShown {
    #[schemars(example = &"delete")]
    pub effect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Value>,
}
