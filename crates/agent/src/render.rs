//! Messages as the text that a model reads.

use planwright_protocol::{Author, Message, MessageType, Question, Severity};
use planwright_question::answers_in_full;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What the questions of a card were, by the id of the card.
pub type Asked = std::collections::HashMap<String, Vec<Question>>;

/// An answer of more bytes than this may not be shown whole in the message's content.
const LONG_ANSWER: usize = 500;

/// The questions of a card.
#[must_use]
pub fn questions_of(message: &Message) -> Vec<Question> {
    let questions = message.metadata.get("questions").filter(|_| message.message_type == MessageType::Question);
    questions.and_then(|questions| Vec::deserialize(questions).ok()).unwrap_or_default()
}

/// The words of a reply; a plan or a question that was given as JSON stands in it as such.
#[must_use]
pub fn reply_text(message: &Message) -> String {
    match message.message_type {
        MessageType::Plan => match message.metadata.get("plan") {
            Some(plan) => with_json(&message.content, plan),
            None => message.content.clone(),
        },
        MessageType::Question if message.meta("kind") == "user" => question_text(message),
        MessageType::Text | MessageType::Question | MessageType::ToolCall | MessageType::ToolResult => message.content.clone(),
    }
}

fn question_text(message: &Message) -> String {
    let questions = questions_of(message);
    let [question] = questions.as_slice() else { return message.content.clone() };
    let severity = message.metadata.get("severity").and_then(|severity| Severity::deserialize(severity).ok()).unwrap_or_default();
    let prose = message.content.strip_suffix(&question.words()).unwrap_or(&message.content).trim_end();
    with_json(prose, &planwright_question::to_question_json(question, severity))
}

fn with_json(prose: &str, json: &Value) -> String {
    let block = format!("```json\n{json}\n```");
    if prose.is_empty() { block } else { format!("{prose}\n\n{block}") }
}

/// What the user, or the system, said. People see an answer on one line, and shortened; the model gets all of it: the
/// question, the value, and what the chosen option says.
#[must_use]
pub fn heard(message: &Message, asked: &Asked) -> String {
    let mut text = message.content.clone();
    if let Some((questions, answers)) = answered(message, asked) {
        text.push_str("\n\n");
        text.push_str(&answers_in_full(questions, answers));
    } else if let Some(answers) = answers_of(message).map(|answers| Value::from(answers.clone()).to_string())
        && (answers.len() > LONG_ANSWER || answers.contains("\\n"))
    {
        text.push_str(&format!("\n\nIn full: {answers}"));
    }
    if !message.meta("comment").is_empty() {
        text.push_str(&format!("\n\nThe user added: {}", message.meta("comment")));
    }
    text
}

/// The question that a message answers.
#[must_use]
pub fn answered_question(message: &Message) -> Option<&str> {
    message.metadata.get("question_answer").filter(|_| message.author == Author::User)?.get("question_id")?.as_str()
}

fn answers_of(message: &Message) -> Option<&Map<String, Value>> {
    message.metadata.get("question_answer").filter(|_| message.author == Author::User)?.get("answers")?.as_object()
}

fn answered<'m>(message: &'m Message, asked: &'m Asked) -> Option<(&'m [Question], &'m Map<String, Value>)> {
    let questions = asked.get(answered_question(message)?).filter(|questions| !questions.is_empty())?;
    Some((questions, answers_of(message)?))
}
