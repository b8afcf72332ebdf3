//! What stands in the metadata of messages and in the cards, as clients read it.
//!
//! Metadata is stored as it comes, so that what a later version adds is kept; these types only say what clients can
//! count on, and are part of the API's description.

use crate::error::Problem;
use crate::event::SwitchedBy;
use crate::ids::{CallId, MessageId, QuestionId};
use crate::plan::{Plan, PlanStep};
use crate::question::{Question, QuestionKind, Severity};
use crate::role::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What is known of a message besides its text. Which keys are there depends on its type; others may be there as well.
#[derive(Debug, Default, JsonSchema, Serialize)]
#[schemars(example = Map::new())]
pub struct MessageMetadata {
    /// Of the user's message: who wrote it, where that was somebody with an account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Of the user's message: what their client sent as metadata. It means nothing to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Map<String, Value>>,
    /// Of the user's message: the images that came with it, which are at `…/images`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<AttachedImage>>,
    /// Of a plan: the plan itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanOrCard>,
    /// Of a plan: where its file is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// Of a question, and of the result of the call that asked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_id: Option<QuestionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<QuestionKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Of a question before a tool call: that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallToApprove>,
    /// Of the user's message that answers a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_answer: Option<QuestionAnswer>,
    /// What the user wrote beside the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Of a tool call, its result, and what came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Of a tool call: the arguments; a text where the model did not write clean JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// Of a tool call: how far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Of a tool result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Of a tool result that failed, and of a run that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    /// Of a tool result: what the tool told besides its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Map<String, Value>>,
    /// Of a tool result that is cut in lists: how many bytes the whole has, which is at `…/body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_size: Option<u64>,
    /// A switch of role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_change: Option<ModeChange>,
    /// The user's yes to a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalNote>,
    /// Files of the plan that changed between its writing and its approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Vec<DriftedFile>>,
    /// Of a plan message: the user edited the plan, and this is what came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
    /// The plan's file is not what was approved any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_changed: Option<PlanChanged>,
    /// The findings of a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// What was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revert: Option<Value>,
    /// The user had a run that failed go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// Why an answer that looks like a plan or a question was not taken as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_a_plan: Option<String>,
    /// Of everything a delegate says and does: the call that handed the task on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegation: Option<CallId>,
    /// The reply of the model that this is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<MessageId>,
    /// The model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// An image that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AttachedImage {
    pub sha256: String,
    #[schemars(example = &"image/png")]
    pub mime_type: String,
    /// In bytes.
    pub size: u64,
}

/// Of a plan message the plan; of a card, what of the plan is to be approved.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum PlanOrCard {
    Plan(Plan),
    Card(PlanToApprove),
}

/// What a card puts before the user for approval: exactly this content of the plan's file.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanToApprove {
    #[schemars(example = "/plans/add-a-farewell.plan")]
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    pub goal: String,
    pub steps: Vec<PlanStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_total_time: Option<String>,
    pub risks: Vec<String>,
    pub prerequisites: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation: Vec<String>,
}

/// A tool call that waits for the user's word.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CallToApprove {
    pub call_id: CallId,
    #[schemars(example = &"rm")]
    pub tool: String,
    pub args: Option<Value>,
    /// What it would do.
    pub effects: Vec<EffectShown>,
    /// Why it is asked about.
    pub reason: String,
    /// The folder for which `approve_always` would hold.
    pub folder: Option<Value>,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct EffectShown {
    #[schemars(example = &"delete")]
    pub effect: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Value>,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct QuestionAnswer {
    pub question_id: QuestionId,
    /// By the questions' names.
    pub answers: Map<String, Value>,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct ModeChange {
    pub from: Role,
    pub to: Role,
    pub by: SwitchedBy,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct ApprovalNote {
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    /// The commit that the workspace was at, where it is known.
    pub base_commit: Option<String>,
    pub approver: String,
    pub by: SwitchedBy,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct DriftedFile {
    pub path: String,
    pub change: String,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanChanged {
    pub plan_file: String,
    pub change: String,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct Review {
    pub summary: String,
    pub findings: Vec<ReviewFinding>,
}

#[derive(Debug, JsonSchema, Serialize)]
pub struct ReviewFinding {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub severity: String,
    pub comment: String,
}
