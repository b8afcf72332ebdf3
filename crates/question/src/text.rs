//! Shows answers as one line of the chat.

use planwright_protocol::Question;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Maximum characters shown of one answer; the message stores all of it.
const SHOWN_CHARACTERS: usize = 1000;

/// `[Answered: label or value]` for one question, `[Answers: name=value, …]` for several.
#[must_use]
pub fn answer_text(questions: &[Question], answers: &Map<String, Value>) -> String {
    if let [question] = questions {
        let answer = answers.get(&question.name).unwrap_or(&Value::Null);
        let label = question.buttons.iter().find(|button| button.value == *answer).map(|button| one_line(&button.label, SHOWN_CHARACTERS));
        return format!("[Answered: {}]", label.unwrap_or_else(|| bare(answer, SHOWN_CHARACTERS)));
    }
    let given = questions.iter().filter_map(|question| Some((question, answers.get(&question.name)?)));
    let pairs: Vec<String> =
        given.map(|(question, answer)| format!("{}={}", one_line(&question.name, SHOWN_CHARACTERS), listed(answer))).collect();
    format!("[Answers: {}]", pairs.join(", "))
}

/// Each answer in full, as JSON, below its question, with the description of the chosen option: for a model.
#[must_use]
pub fn answers_in_full(questions: &[Question], answers: &Map<String, Value>) -> String {
    let given = questions.iter().filter_map(|question| Some((question, answers.get(&question.name)?)));
    let line = |(question, answer): (&Question, &Value)| {
        let chosen = choices(question, answer).join("; ");
        let chosen = if chosen.is_empty() { chosen } else { format!(" ({chosen})") };
        format!("Question: {}\nAnswer: {answer}{chosen}", one_line(&question.question, SHOWN_CHARACTERS))
    };
    given.map(line).collect::<Vec<_>>().join("\n")
}

/// The labels of the buttons or the schema for an answer, or for each entry of a list.
fn choices(question: &Question, answer: &Value) -> Vec<String> {
    if let Some(button) = question.buttons.iter().find(|button| button.value == *answer) {
        return vec![labelled(&button.label, button.description.as_deref())];
    }
    match answer {
        Value::Array(entries) => {
            let schema = question.schema.get("items").unwrap_or(&Value::Null);
            entries.iter().filter_map(|entry| titled(schema, entry)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            titled(&question.schema, answer).into_iter().collect()
        }
    }
}

/// The title of a value among the alternatives of a schema.
fn titled(schema: &Value, value: &Value) -> Option<String> {
    let alternatives = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let chosen = alternatives.into_iter().find(|alternative| alternative.get("const") == Some(value))?;
    let text = |key: &str| chosen.get(key).and_then(Value::as_str);
    Some(labelled(text("title")?, text("description")))
}

fn labelled(label: &str, description: Option<&str>) -> String {
    match description {
        Some(description) => format!("{label}: {description}"),
        None => label.to_owned(),
    }
}

/// A string verbatim, anything else as compact JSON; on one line, with at most this many characters.
pub(crate) fn bare(value: &Value, characters: usize) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".into(),
        Value::String(text) => one_line(text, characters),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => one_line(&value.to_string(), characters),
    }
}

/// Escapes characters that would break or reorder the line, and shortens the text.
pub(crate) fn one_line(text: &str, characters: usize) -> String {
    let mut line = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == characters {
            line.push('…');
            break;
        }
        match character {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            hidden if hidden.is_control() || reorders(hidden) => {
                // Writing to a string can't fail.
                let _ = write!(line, "\\u{:04x}", u32::from(hidden));
            }
            plain => line.push(plain),
        }
    }
    line
}

/// Quotes a string that could be mistaken for the next answer.
fn listed(answer: &Value) -> String {
    let ambiguous = answer.as_str().is_some_and(|text| text.contains([',', '[', ']', '"']));
    if ambiguous { one_line(&answer.to_string(), SHOWN_CHARACTERS) } else { bare(answer, SHOWN_CHARACTERS) }
}

/// Line and paragraph separators, and marks that change the direction of the following text.
fn reorders(character: char) -> bool {
    matches!(character, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
