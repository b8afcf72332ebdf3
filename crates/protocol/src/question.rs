//! What the agent may ask the user, and how an answer is checked.
//!
//! | module | what it does |
//! | --- | --- |
//! | `parse` | the model's JSON, of either form, to questions |
//! | `card` | the server's own questions, and what their answers mean |
//! | `schema` | a schema of the model, compiled and applied within limits |
//! | `extent`, `pattern` | refuse a schema that would cost too much |
//! | `answer` | answers against their questions |
//! | `wording` | a schema's complaint, as a person would say it |
//! | `text` | answers as one line of the chat |
//! | `findings` | all complaints of one check, as one error |
//! | `hostile` | tests with schemas that were written to do harm |
//!
//! Invariants: a schema is never fetched from anywhere, never refers back to itself, and is bounded in
//! size before it is compiled; an answer is bounded before it is checked. Schemas come from the model
//! and are hostile until proven otherwise.

mod answer;
mod card;
mod extent;
mod findings;
#[cfg(test)]
mod hostile;
mod parse;
mod pattern;
mod schema;
mod text;
mod wording;

pub use answer::{MAX_ANSWER_BYTES, read_answers, validate_answers};
pub use card::{Decision, plan_is_approved};
pub use extent::{MAX_DEPTH, MAX_SCHEMA_NODES};
pub use parse::MAX_QUESTIONS;
pub use schema::MAX_SCHEMA_BYTES;
pub use text::{answer_text, answers_in_full};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One question of a card; the answer is checked against its JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The key of its answer.
    pub name: String,
    /// Markdown.
    pub question: String,
    pub schema: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<Button>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

impl Question {
    /// The question and what is said beside it, as the text of a message.
    #[must_use]
    pub fn words(&self) -> String {
        [Some(self.question.as_str()), self.context.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// The answer to take when nobody is there to give one: the question's default, else the
    /// default that its schema names, if that fits.
    #[must_use]
    pub fn default_answer(&self) -> Option<&Value> {
        let candidate = self.default.as_ref().or_else(|| self.schema.get("default"))?;
        let schema = schema::CompiledSchema::compile(&self.schema).ok()?;
        schema.check(candidate).is_empty().then_some(candidate)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Button {
    pub label: String,
    pub value: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    Primary,
    Secondary,
    Danger,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The model, by `ask_user` or by question JSON.
    User,
    /// The server, before a plan is carried out.
    PlanApproval,
    /// The server, before a single tool call.
    ToolApproval,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Minor,
    #[default]
    Major,
    Critical,
}
