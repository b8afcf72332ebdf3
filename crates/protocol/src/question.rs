//! Questions to the user, as data. The crate `question` parses questions and validates answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One question of a card. The server validates the answer against its JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The key of the answer.
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
    /// The question and its context, as the text of a message.
    #[must_use]
    pub fn text(&self) -> String {
        [Some(self.question.as_str()), self.context.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// The same question with more context below it, such as the model's own explanation.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.context = Some(context.into());
        self
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
    /// The model, with `ask_user` or question JSON.
    User,
    /// The server, before a plan is executed.
    PlanApproval,
    /// The server, about one tool call.
    ToolApproval,
    /// The server, after the step where the user wanted a stop.
    StepStop,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Minor,
    #[default]
    Major,
    Critical,
}

/// The user's answer to a tool approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Approve,
    /// Also covers later calls of this tool in this chat and directory.
    ApproveAlways,
    Deny,
}

/// The user's answer at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopDecision {
    /// Execute the other approved steps.
    Continue,
    /// Go back to plan mode.
    Revise,
    End,
}

impl StopDecision {
    pub const ALL: &[Self] = &[Self::Continue, Self::Revise, Self::End];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Revise => "revise",
            Self::End => "end",
        }
    }
}

impl Decision {
    pub const ALL: &[Self] = &[Self::Approve, Self::ApproveAlways, Self::Deny];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::ApproveAlways => "approve_always",
            Self::Deny => "deny",
        }
    }
}
