//! Renders messages as text for a model.

use planwright_protocol::message::{Answer, QuestionCard};
use planwright_protocol::{Message, MessageBody, Question, QuestionId, QuestionKind};
use planwright_question::answers_in_full;
use serde_json::{Value, json};

/// The questions of each card, by its id.
pub type QuestionsByCard = std::collections::HashMap<QuestionId, Vec<Question>>;

/// The message's content may shorten an answer longer than this, in bytes.
const LONG_ANSWER: usize = 500;

/// The text of a reply, including a plan or question that it gave as JSON.
#[must_use]
pub fn reply_text(message: &Message) -> String {
    match &message.body {
        MessageBody::Plan(version) => with_json(&message.content, &json!(version.plan)),
        MessageBody::Question(card) if card.kind == QuestionKind::User => question_text(&message.content, card),
        MessageBody::UserText(_)
        | MessageBody::Answer(_)
        | MessageBody::AssistantText(_)
        | MessageBody::Question(_)
        | MessageBody::ToolCall(_)
        | MessageBody::ToolResult(_)
        | MessageBody::Notice(_)
        | MessageBody::Unknown(_) => message.content.clone(),
    }
}

fn question_text(content: &str, card: &QuestionCard) -> String {
    let [question] = card.questions.as_slice() else { return content.to_owned() };
    let prose = content.strip_suffix(&question.text()).unwrap_or(content).trim_end();
    with_json(prose, &planwright_question::to_question_json(question, card.severity))
}

fn with_json(prose: &str, json: &Value) -> String {
    let block = format!("```json\n{json}\n```");
    if prose.is_empty() { block } else { format!("{prose}\n\n{block}") }
}

/// The text of a user or system message. People see a shortened answer on one line; the model gets all of it: the
/// question, the value, and the description of the chosen option.
#[must_use]
pub fn message_text(message: &Message, asked: &QuestionsByCard) -> String {
    let mut text = message.content.clone();
    let Some(Answer { question_answer, comment, .. }) = message.body.answer() else { return text };
    let in_full = json!(question_answer.answers).to_string();
    if let Some(questions) = asked.get(&question_answer.question_id).filter(|questions| !questions.is_empty()) {
        text.push_str("\n\n");
        text.push_str(&answers_in_full(questions, &question_answer.answers));
    } else if in_full.len() > LONG_ANSWER || in_full.contains("\\n") {
        text.push_str(&format!("\n\nIn full: {in_full}"));
    }
    if let Some(comment) = comment.as_deref().filter(|comment| !comment.is_empty()) {
        text.push_str(&format!("\n\nThe user added: {comment}"));
    }
    text
}

/// The question that a message answers.
#[must_use]
pub fn answered_question(message: &Message) -> Option<QuestionId> {
    message.body.answer().map(|answer| answer.question_answer.question_id)
}
