//! Tool calls and their results.

use super::body::{ReplyPart, is_false};
use crate::error::Problem;
use crate::ids::{CallId, QuestionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A coarse classification of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Read,
    Search,
    Write,
    Execute,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    High,
}

/// A call that a model made, and its status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub call_id: CallId,
    pub tool: String,
    /// A string if the model did not write valid JSON.
    pub args: Value,
    pub status: CallStatus,
    /// `None`, like the risk, for an unknown tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    #[serde(flatten)]
    pub reply: ReplyPart,
    /// The call runs a command, though not every call of this tool does.
    #[serde(default, skip_serializing_if = "is_false")]
    pub runs_command: bool,
    /// The gate allowed the command's changes into the workspace, so some of them may have landed.
    #[serde(rename = "landing", default, skip_serializing_if = "is_false")]
    pub is_landing: bool,
    /// The output of the step's successful check. From then on the step counts as done, also after a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Map<String, Value>>,
}

impl ToolCall {
    #[must_use]
    pub fn new(call_id: CallId, tool: impl Into<String>, args: Value) -> Self {
        Self {
            call_id,
            tool: tool.into(),
            args,
            status: CallStatus::Pending,
            category: None,
            risk: None,
            reply: ReplyPart::default(),
            runs_command: false,
            is_landing: false,
            verified: None,
        }
    }

    /// The arguments as the model wrote them.
    #[must_use]
    pub fn args_text(&self) -> String {
        match &self.args {
            Value::String(raw) => raw.clone(),
            args @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => args.to_string(),
        }
    }

    /// The model that made the call; empty if unknown.
    #[must_use]
    pub fn model(&self) -> &str {
        self.reply.model.as_deref().unwrap_or_default()
    }
}

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Pending,
    Running,
    Done,
    Failed,
    Cancelled,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: CallId,
    pub tool: String,
    #[serde(flatten)]
    pub outcome: ToolOutcome,
    /// The question that the call asked. In the model's context, its answer replaces this result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_id: Option<QuestionId>,
    /// Results shortened in lists: the full size, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_size: Option<u64>,
}

/// Whether a call succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "OutcomeOnWire", into = "OutcomeOnWire")]
pub enum ToolOutcome {
    /// Structured facts besides the text: changed files, the exit code, and the like.
    Succeeded(Option<Map<String, Value>>),
    Failed(Problem),
}

impl ToolOutcome {
    #[must_use]
    pub fn facts(&self) -> Option<&Map<String, Value>> {
        match self {
            ToolOutcome::Succeeded(facts) => facts.as_ref(),
            ToolOutcome::Failed(_) => None,
        }
    }

    #[must_use]
    pub fn error(&self) -> Option<&Problem> {
        match self {
            ToolOutcome::Succeeded(_) => None,
            ToolOutcome::Failed(problem) => Some(problem),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct OutcomeOnWire {
    success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<Map<String, Value>>,
}

impl From<ToolOutcome> for OutcomeOnWire {
    fn from(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Succeeded(facts) => Self { success: true, error: None, facts },
            ToolOutcome::Failed(problem) => Self { success: false, error: Some(problem), facts: None },
        }
    }
}

impl TryFrom<OutcomeOnWire> for ToolOutcome {
    type Error = &'static str;
    fn try_from(wire: OutcomeOnWire) -> Result<Self, Self::Error> {
        match (wire.success, wire.error) {
            (true, None) => Ok(ToolOutcome::Succeeded(wire.facts)),
            (false, Some(problem)) => Ok(ToolOutcome::Failed(problem)),
            (true, Some(_)) => Err("a result that succeeded has an error"),
            (false, None) => Err("a result that failed has no error"),
        }
    }
}
