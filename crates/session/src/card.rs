//! The questions a chat can wait for.

use planwright_protocol::{Author, ChatId, Event, Message, MessageType, Question, QuestionId, QuestionKind, Role, Severity, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question that waits for an answer. At most one per chat.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pending {
    pub question_id: QuestionId,
    pub questions: Vec<Question>,
    pub kind: QuestionKind,
    pub severity: Severity,
    pub created_at: Timestamp,
    /// The plan that is to be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Value>,
    /// The call that is to be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Value>,
}

impl Pending {
    pub fn new(kind: QuestionKind, severity: Severity, questions: Vec<Question>) -> Self {
        Self { question_id: QuestionId::generate(), questions, kind, severity, created_at: Timestamp::now(), plan: None, call: None }
    }

    /// The question as an entry of the history.
    pub fn message(&self, chat: ChatId, role: Role) -> Message {
        let text = self.questions.iter().map(|question| question.question.as_str()).collect::<Vec<_>>().join("\n\n");
        let mut message =
            Message::new(chat, Author::Assistant, MessageType::Question, text).by(role).with("question_id", self.question_id.to_string());
        let facts = serde_json::to_value(self).unwrap_or_default();
        for key in ["questions", "kind", "severity", "plan", "call"] {
            if let Some(fact) = facts.get(key) {
                message.metadata.insert(key.to_owned(), fact.clone());
            }
        }
        message
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
