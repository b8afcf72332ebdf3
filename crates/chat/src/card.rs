//! The questions that a chat can wait for.

use planwright_plan::PlanDocument;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::PlanToApprove;
use planwright_protocol::{Agent, Message, Question, QuestionId, QuestionKind, Severity};
use planwright_store::AuditKind;
use serde_json::{Map, Value, json};

/// The server's own card before a plan is executed. `question` may contain the model's remark.
pub fn plan_approval(by: Agent, plan_file: &str, document: &PlanDocument, sha256: &str, question: Question) -> Pending {
    let PlanDocument { plan, revision, .. } = document;
    let mut pending = Pending::new(by, QuestionKind::PlanApproval, Severity::Major, vec![question]);
    pending.plan = Some(PlanToApprove::new(plan_file, *revision, sha256, plan.clone()));
    pending
}

/// The audit record of a card.
pub fn audit_record(card: &Pending) -> (AuditKind, Value) {
    let (plan, call) = (card.plan.as_ref(), card.call.as_ref());
    match card.kind {
        QuestionKind::User => (AuditKind::QuestionAsked, json!({ "questions": card.questions.len(), "severity": card.severity })),
        QuestionKind::PlanApproval => (
            AuditKind::ApprovalRequested,
            json!({ "plan_file": plan.map(|plan| &plan.plan_file), "sha256": plan.map(|plan| &plan.sha256) }),
        ),
        QuestionKind::StepStop => (AuditKind::ApprovalRequested, json!({ "kind": card.kind })),
        QuestionKind::ToolApproval => {
            (AuditKind::ApprovalRequested, json!({ "tool": call.map(|call| &call.tool), "reason": call.map(|call| &call.reason) }))
        }
    }
}

/// The user's answers to a question in the history, if any.
pub fn answers_to(history: &[Message], question: QuestionId) -> Option<&Map<String, Value>> {
    let answers = history.iter().rev().filter_map(|message| message.body.answer()).map(|answer| &answer.question_answer);
    answers.into_iter().find(|answer| answer.question_id == question).map(|answer| &answer.answers)
}
