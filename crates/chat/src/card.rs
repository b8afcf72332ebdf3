//! The questions a chat can wait for.

use crate::agent::Agent;
use crate::chat::{Change, Chat};
use crate::plan::StoredPlan;
use planwright_plan::PlanDocument;
use planwright_protocol::message::{CallToApprove, PlanToApprove};
use planwright_protocol::time::now;
use planwright_protocol::{Author, ChatId, Event, Message, MessageType, Mode, Question, QuestionId, QuestionKind, Severity, Timestamp};
use planwright_store::AuditKind;
use planwright_tools::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// A question that waits for an answer. At most one per chat.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pending {
    pub question_id: QuestionId,
    pub questions: Vec<Question>,
    pub kind: QuestionKind,
    pub severity: Severity,
    pub created_at: Timestamp,
    /// Who asks; the answer is theirs.
    #[serde(flatten)]
    pub by: Agent,
    /// The plan that is to be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PlanToApprove")]
    pub plan: Option<Value>,
    /// The call that is to be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CallToApprove")]
    pub call: Option<Value>,
}

impl Pending {
    pub fn new(by: Agent, kind: QuestionKind, severity: Severity, questions: Vec<Question>) -> Self {
        Self { question_id: QuestionId::generate(), questions, kind, severity, created_at: now(), by, plan: None, call: None }
    }

    /// The server's own card before a plan is carried out. `question` may carry the model's remark.
    pub fn plan_approval(by: Agent, plan_file: &str, document: &PlanDocument, sha256: &str, question: Question) -> Self {
        let PlanDocument { plan, revision, .. } = document;
        let mut pending = Self::new(by, QuestionKind::PlanApproval, Severity::Major, vec![question]);
        let mut shown = serde_json::to_value(plan).unwrap_or_default();
        shown["plan_file"] = plan_file.into();
        shown["revision"] = (*revision).into();
        shown["sha256"] = sha256.into();
        pending.plan = Some(shown);
        pending
    }

    /// Whether it puts this plan before the user.
    pub fn shows_plan(&self, plan_file: &str) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan["plan_file"] == plan_file)
    }

    /// The question as an entry of the history.
    pub fn message(&self, chat: ChatId) -> Message {
        let text = self.questions.iter().map(Question::words).collect::<Vec<_>>().join("\n\n");
        let message = Message::new(chat, Author::Assistant, MessageType::Question, text);
        let mut message = self.by.sign(message).with("question_id", self.question_id.to_string());
        let facts = serde_json::to_value(self).unwrap_or_default();
        for key in ["questions", "kind", "severity", "plan", "call"] {
            if let Some(fact) = facts.get(key) {
                message.metadata.insert(key.to_owned(), fact.clone());
            }
        }
        message
    }

    /// Logs what the user is asked.
    pub fn log(&self, change: Change, model: &str) -> Change {
        let (plan, call) = (self.plan.as_ref(), self.call.as_ref());
        let (kind, details) = match self.kind {
            QuestionKind::User => (AuditKind::QuestionAsked, json!({ "questions": self.questions.len(), "severity": self.severity })),
            QuestionKind::PlanApproval => (
                AuditKind::ApprovalRequested,
                json!({ "plan_file": plan.map(|plan| &plan["plan_file"]), "sha256": plan.map(|plan| &plan["sha256"]) }),
            ),
            QuestionKind::ToolApproval => (
                AuditKind::ApprovalRequested,
                json!({ "tool": call.map(|call| &call["tool"]), "reason": call.map(|call| &call["reason"]) }),
            ),
        };
        change.log(kind, model, self.by.role, details)
    }

    pub fn event(&self) -> Event {
        Event::QuestionPending {
            question_id: self.question_id,
            questions: self.questions.clone(),
            kind: self.kind,
            severity: self.severity,
            created_at: self.created_at,
            plan: self.plan.clone(),
            call: self.call.clone(),
        }
    }
}

/// The user's answers to a question of the history, if they were given.
pub fn answers_to<'h>(history: &'h [Message], question_id: &str) -> Option<&'h Value> {
    let answers = history.iter().rev().filter_map(|message| message.metadata.get("question_answer"));
    answers
        .into_iter()
        .find(|answer| answer.get("question_id").and_then(Value::as_str) == Some(question_id))
        .and_then(|answer| answer.get("answers"))
}

/// What the model asks. A question by which it asks for approval of its plan is shown as the server's own card,
/// with the model's words as a remark.
pub async fn asked(chat: &Arc<Chat>, by: Agent, questions: Vec<Question>, severity: Severity) -> Pending {
    let plan_file = chat.row().await.config.plan_file;
    if let ([question], Mode::Plan, Some(plan_file)) = (questions.as_slice(), by.role.mode(), plan_file)
        && planwright_question::card::asks_for_plan_approval(question)
        && let Ok(path) = WorkspacePath::parse(&plan_file)
        && let Some(stored) = StoredPlan::read(chat, &path).await
    {
        return stored.card(by, planwright_question::card::plan_approval().with_context(&question.question));
    }
    Pending::new(by, QuestionKind::User, severity, questions)
}
