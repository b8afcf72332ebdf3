//! The wire form's metadata, for the API's description only: no code reads or writes messages through these types.

use super::body::{AttachedImage, QuestionAnswer, Review};
use super::card::{CallToApprove, PlanToApprove};
use super::comment::AnsweredComment;
use super::notice::{ApprovalFacts, DriftedFile, ModeChange, PlanChanged};
use crate::error::Problem;
use crate::ids::{CallId, MessageId, QuestionId};
use crate::plan::Plan;
use crate::question::{Question, QuestionKind, Severity};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Facts about a message besides its text. The keys depend on its type; there may be others.
#[derive(Debug, Default, JsonSchema, Serialize)]
#[schemars(example = Map::new())]
pub struct MessageMetadata {
    /// User messages and plans that the user wrote: the author's account name, if the server has accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// User messages: metadata that the client sent. The server never reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Map<String, Value>>,
    /// User messages: the attached images, served at `…/images`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<AttachedImage>>,
    /// Plans: the plan itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanOrCard>,
    /// Plans: the path of the plan file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// Plans: the hash of the plan without its progress, for `execute` and `PUT …/plan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// User messages: the comments sent with it. Plans: the comments on the version before, with what became of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<Vec<AnsweredComment>>,
    /// Questions, and results of the calls that asked them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_id: Option<QuestionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<QuestionKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Tool approvals: the call to approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallToApprove>,
    /// User messages that answer a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_answer: Option<QuestionAnswer>,
    /// The user's comment on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Tool calls, their results, and messages that resulted from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Tool calls: the arguments; a string if the model did not write valid JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// Tool calls: the status of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Tool results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Failed tool results and failed runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    /// Tool results: structured facts besides the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Map<String, Value>>,
    /// Tool results shortened in lists: the full size in bytes; the whole is served at `…/body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_size: Option<u64>,
    /// A switch of role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_change: Option<ModeChange>,
    /// The user approved a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalFacts>,
    /// Files of the plan that changed between planning and approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Vec<DriftedFile>>,
    /// Plans: the user wrote this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
    /// The plan file no longer matches the approved plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_changed: Option<PlanChanged>,
    /// The findings of a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// The changes that were reverted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revert: Option<Value>,
    /// The user retried a failed run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// Why a reply that looks like a plan or a question was not accepted as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_a_plan: Option<String>,
    /// Messages of a delegate: the delegating call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegation: Option<CallId>,
    /// The model's reply that this is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<MessageId>,
    /// The model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model's visible reasoning before it, at most 64 KiB; on the first message of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// A plan message has the whole plan; an approval card has the part to approve.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum PlanOrCard {
    Plan(Plan),
    Card(PlanToApprove),
}
