//! The wire form's metadata, as the API describes it to clients. Nothing is read or written by it.

use super::body::{AttachedImage, QuestionAnswer, Review};
use super::card::{CallToApprove, PlanToApprove};
use super::notice::{ApprovalFacts, DriftedFile, ModeChange, PlanChanged};
use crate::error::Problem;
use crate::ids::{CallId, MessageId, QuestionId};
use crate::plan::Plan;
use crate::question::{Question, QuestionKind, Severity};
use schemars::JsonSchema;
use serde::Serialize;
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
    pub approval: Option<ApprovalFacts>,
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
    /// The reasoning that the model showed before it, at most 64 KiB; on the first message of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// Of a plan message the plan; of a card, what of the plan is to be approved.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum PlanOrCard {
    Plan(Plan),
    Card(PlanToApprove),
}
