//! Typed answers, for a client that can't ask.

use crate::question::{AnswerChoice, choices, plain};
use planwright_protocol::Question;
use serde_json::{Map, Value};

/// Parses typed text as answers. The chat validates them.
pub fn answers(questions: &[Question], words: &str) -> Map<String, Value> {
    if let [question] = questions {
        return [(question.name.clone(), value(question, words))].into_iter().collect();
    }
    // Answers to several questions are typed as JSON, by name.
    serde_json::from_str(words).unwrap_or_default()
}

fn value(question: &Question, words: &str) -> Value {
    let same = |text: &str| text.to_lowercase() == words.to_lowercase();
    let chosen = choices(question).into_iter().find(|AnswerChoice { label, value, .. }| same(label) || same(&plain(value)));
    if let Some(choice) = chosen {
        return choice.value;
    }
    match question.schema.get("type").and_then(Value::as_str) {
        Some("boolean") if same("yes") => true.into(),
        Some("boolean") if same("no") => false.into(),
        Some("string") => words.into(),
        _ => serde_json::from_str(words).unwrap_or_else(|_| words.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_read_by_label_by_value_as_text_and_as_json() {
        let read = |schema: Value, words: &str| {
            let question: Question = serde_json::from_value(json!({ "name": "q", "question": "?", "schema": schema })).unwrap();
            answers(&[question], words)["q"].clone()
        };
        assert_eq!(answers(&[planwright_question::card::plan_approval()], "accept & build")["approve"], true);
        assert_eq!(answers(&[planwright_question::card::plan_approval()], "no")["approve"], false);
        assert_eq!(read(json!({"type": "string"}), "42"), "42");
        assert_eq!(read(json!({"type": "integer"}), "42"), 42);
        assert_eq!(read(json!({"type": "array"}), "[1, 2]"), json!([1, 2]));
        assert_eq!(read(json!({"enum": ["Red", "Blue"]}), "blue"), "Blue");
    }
}
