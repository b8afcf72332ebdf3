//! The questions a chat can wait for.

use crate::agent::Agent;
use planwright_plan::PlanDocument;
use planwright_protocol::message::{CallToApprove, PlanToApprove, QuestionCard, ReplyPart};
use planwright_protocol::time::now;
use planwright_protocol::{ChatId, Event, Message, MessageId, Question, QuestionId, QuestionKind, Severity, Timestamp};
use planwright_store::AuditKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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
    pub plan: Option<PlanToApprove>,
    /// The call that is to be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CallToApprove")]
    pub call: Option<CallToApprove>,
}

impl Pending {
    pub fn new(by: Agent, kind: QuestionKind, severity: Severity, questions: Vec<Question>) -> Self {
        Self { question_id: QuestionId::generate(), questions, kind, severity, created_at: now(), by, plan: None, call: None }
    }

    /// The server's own card before a plan is carried out. `question` may carry the model's remark.
    pub fn plan_approval(by: Agent, plan_file: &str, document: &PlanDocument, sha256: &str, question: Question) -> Self {
        let PlanDocument { plan, revision, .. } = document;
        let mut pending = Self::new(by, QuestionKind::PlanApproval, Severity::Major, vec![question]);
        pending.plan = Some(PlanToApprove::new(plan_file, *revision, sha256, plan.clone()));
        pending
    }

    /// Whether it puts this plan before the user.
    pub fn shows_plan(&self, plan_file: &str) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.plan_file == plan_file)
    }

    /// The question as an entry of the history.
    pub fn message(&self, chat: ChatId) -> Message {
        self.message_beside(chat, None)
    }

    /// The same, for a card that is raised while a reply is carried out.
    pub fn message_beside(&self, chat: ChatId, reply: Option<MessageId>) -> Message {
        let text = self.questions.iter().map(Question::text).collect::<Vec<_>>().join("\n\n");
        let card = QuestionCard {
            question_id: self.question_id,
            questions: self.questions.clone(),
            kind: self.kind,
            severity: self.severity,
            plan: self.plan.clone(),
            call: self.call.clone(),
            reply: ReplyPart::accompanying(reply),
        };
        self.by.sign(Message::new(chat, card, text))
    }

    /// What is logged of it.
    pub fn audit(&self) -> (AuditKind, Value) {
        let (plan, call) = (self.plan.as_ref(), self.call.as_ref());
        match self.kind {
            QuestionKind::User => (AuditKind::QuestionAsked, json!({ "questions": self.questions.len(), "severity": self.severity })),
            QuestionKind::PlanApproval => (
                AuditKind::ApprovalRequested,
                json!({ "plan_file": plan.map(|plan| &plan.plan_file), "sha256": plan.map(|plan| &plan.sha256) }),
            ),
            QuestionKind::StepStop => (AuditKind::ApprovalRequested, json!({ "kind": self.kind })),
            QuestionKind::ToolApproval => {
                (AuditKind::ApprovalRequested, json!({ "tool": call.map(|call| &call.tool), "reason": call.map(|call| &call.reason) }))
            }
        }
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
pub fn answers_to(history: &[Message], question: QuestionId) -> Option<&Map<String, Value>> {
    let answers = history.iter().rev().filter_map(|message| message.body.answer()).map(|answer| &answer.question_answer);
    answers.into_iter().find(|answer| answer.question_id == question).map(|answer| &answer.answers)
}
