//! Comments of a review: on a step of a plan, or on lines of a file.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A comment that the user sent with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewComment {
    /// The client's name for it; `write_plan` refers to it.
    #[schemars(example = &"c1")]
    pub id: String,
    /// The step of the plan that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The file that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// The text that the user selected.
    #[serde(default)]
    pub quote: String,
    pub text: String,
}

impl ReviewComment {
    /// The subject of the comment, for people and models.
    #[must_use]
    pub fn place(&self) -> String {
        let lines = self.lines.map(|lines| format!(":{lines}")).unwrap_or_default();
        match (self.step, &self.path) {
            (Some(step), None) => format!("step {step}"),
            (Some(step), Some(path)) => format!("step {step}, {path}{lines}"),
            (None, Some(path)) => format!("{path}{lines}"),
            (None, None) => "the plan".to_owned(),
        }
    }
}

/// Lines of a file, counted from 1, both included. On the wire `[first, last]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "LinesOnWire", into = "[u32; 2]")]
pub struct LineRange {
    pub first: u32,
    pub last: u32,
}

impl std::fmt::Display for LineRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last { write!(formatter, "{}", self.first) } else { write!(formatter, "{}-{}", self.first, self.last) }
    }
}

/// The accepted forms: `[12, 18]`, `12` and `"12-18"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum LinesOnWire {
    Both([u32; 2]),
    One(u32),
    Text(String),
}

impl TryFrom<LinesOnWire> for LineRange {
    type Error = &'static str;
    fn try_from(wire: LinesOnWire) -> Result<Self, Self::Error> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let ends = match wire {
            LinesOnWire::Both([first, last]) => Some((first, last)),
            LinesOnWire::One(line) => Some((line, line)),
            LinesOnWire::Text(text) => match text.split_once('-') {
                Some((first, last)) => number(first).zip(number(last)),
                None => number(&text).map(|line| (line, line)),
            },
        };
        let (first, last) = ends.filter(|(first, last)| 1 <= *first && first <= last).ok_or("expected [first, last], counted from 1")?;
        Ok(Self { first, last })
    }
}

impl From<LineRange> for [u32; 2] {
    fn from(lines: LineRange) -> Self {
        [lines.first, lines.last]
    }
}

impl JsonSchema for LineRange {
    fn schema_name() -> Cow<'static, str> {
        "LineRange".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 2, "maxItems": 2, "examples": [[12, 18]],
            "description": "The first and the last line, counted from 1."
        })
    }
}

/// What became of a comment, as the model reports it with the next version of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CommentOutcome {
    Done,
    Declined,
}

/// The model's report on one comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentReport {
    pub id: String,
    pub outcome: CommentOutcome,
    #[serde(default)]
    pub note: String,
}

/// A comment and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredComment {
    #[serde(flatten)]
    pub comment: ReviewComment,
    /// Absent if the model reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CommentOutcome>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn lines_have_one_form_and_are_read_in_three() {
        for form in [json!([12, 18]), json!("12-18"), json!(" 12 - 18 ")] {
            let lines: LineRange = serde_json::from_value(form).unwrap();
            assert_eq!(serde_json::to_value(lines).unwrap(), json!([12, 18]));
        }
        assert_eq!(serde_json::from_value::<LineRange>(json!(7)).unwrap().to_string(), "7");
        for wrong in [json!([0, 3]), json!([5, 4]), json!("x"), json!([1]), json!(-1), Value::Null] {
            assert!(serde_json::from_value::<LineRange>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
