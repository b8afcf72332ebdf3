//! Events: everything a chat publishes.

use crate::config::ChatConfig;
use crate::error::{ErrorCode, Problem};
use crate::ids::{CallId, MessageId, QuestionId};
use crate::message::{CallToApprove, Message, PlanToApprove};
use crate::plan::{Plan, StepStatus};
use crate::question::{Question, QuestionKind, Severity};
use crate::role::Role;
use crate::settings::ReasoningEffort;
pub use crate::state::ChatState;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum Event {
    MessageCreated {
        message: Message,
    },
    MessageUpdated {
        message: Message,
    },
    /// A queued message was withdrawn before the model read it.
    MessageDeleted {
        message_id: MessageId,
    },
    /// Part of a reply that is being streamed. `offset` counts characters. Deltas are not stored one by one.
    TextDelta {
        message_id: MessageId,
        offset: usize,
        text: String,
    },
    ReasoningDelta {
        message_id: MessageId,
        offset: usize,
        text: String,
    },
    ToolCall {
        call_id: CallId,
        tool: String,
        args: Value,
    },
    ToolOutput {
        call_id: CallId,
        text: String,
    },
    ToolResult {
        call_id: CallId,
        #[serde(flatten)]
        result: ToolResponse,
    },
    StateChanged {
        state: ChatState,
    },
    QuestionPending {
        question_id: QuestionId,
        questions: Vec<Question>,
        kind: QuestionKind,
        severity: Severity,
        created_at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "PlanToApprove")]
        plan: Option<PlanToApprove>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "CallToApprove")]
        call: Option<CallToApprove>,
    },
    QuestionResolved {
        question_id: QuestionId,
        outcome: QuestionOutcome,
    },
    ModeChanged {
        #[serde(flatten)]
        config: ChatConfig,
        by: SwitchedBy,
    },
    IntentSuggested {
        message_id: MessageId,
    },
    PlanUpdated {
        plan_file: String,
        plan: Plan,
    },
    PlanStep {
        step_number: u32,
        status: StepStatus,
    },
    Usage(Usage),
    RunFinished {
        outcome: RunOutcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Problem>,
        /// Numbers of the approved plan's steps that are neither done nor skipped.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open_steps: Vec<u32>,
    },
    Violation {
        code: ErrorCode,
        tool: String,
        agent_role: Role,
    },
    /// The chat's title, model, effort, pinned or archived flag changed.
    ChatUpdated {
        title: String,
        #[serde(default)]
        pinned: bool,
        #[serde(default)]
        archived: bool,
        /// The model chosen for this chat, as PROVIDER/MODEL; null means the configured default.
        #[serde(default)]
        model: Option<String>,
        /// Null means the configured default.
        #[serde(default)]
        effort: Option<ReasoningEffort>,
    },
    /// A new chat, in its API form. Only in the stream over all chats.
    ChatCreated {
        chat: Value,
    },
    /// The chat was deleted. Only in the stream over all chats.
    ChatDeleted {},
    /// The server does not know the client's last event id: the client fetches the snapshot and starts again.
    Reset {},
}

/// An event in its stored and sent form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    #[serde(flatten)]
    pub event: Event,
    /// Increases with every event of the chat.
    pub seq: u64,
    pub at: Timestamp,
}

impl Event {
    /// The event's name on the wire, as in `event:` of the stream.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Event::MessageCreated { .. } => "message_created",
            Event::MessageUpdated { .. } => "message_updated",
            Event::MessageDeleted { .. } => "message_deleted",
            Event::TextDelta { .. } => "text_delta",
            Event::ReasoningDelta { .. } => "reasoning_delta",
            Event::ToolCall { .. } => "tool_call",
            Event::ToolOutput { .. } => "tool_output",
            Event::ToolResult { .. } => "tool_result",
            Event::StateChanged { .. } => "state_changed",
            Event::QuestionPending { .. } => "question_pending",
            Event::QuestionResolved { .. } => "question_resolved",
            Event::ModeChanged { .. } => "mode_changed",
            Event::IntentSuggested { .. } => "intent_suggested",
            Event::PlanUpdated { .. } => "plan_updated",
            Event::PlanStep { .. } => "plan_step",
            Event::Usage(_) => "usage",
            Event::RunFinished { .. } => "run_finished",
            Event::Violation { .. } => "violation",
            Event::ChatUpdated { .. } => "chat_updated",
            Event::ChatCreated { .. } => "chat_created",
            Event::ChatDeleted {} => "chat_deleted",
            Event::Reset {} => "reset",
        }
    }
}

/// The result of a tool call, for the model and for HTTP clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResponse {
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
}

impl From<Result<Value, Problem>> for ToolResponse {
    fn from(outcome: Result<Value, Problem>) -> Self {
        match outcome {
            Ok(result) => Self { success: true, result: Some(result), error: None },
            Err(problem) => Self { success: false, result: None, error: Some(problem) },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchedBy {
    User,
    Intent,
    Approval,
    Auto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    Answered,
    Superseded,
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    Done,
    Stopped,
    Blocked,
    Failed,
}

/// Tokens used and their cost, in the catalog's currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cost: f64,
    /// Tokens of the newest request and its reply together: how full the model's context is.
    pub context_tokens: u64,
}

impl Usage {
    /// Adds the tokens and the cost of another request.
    pub fn count(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cost += other.cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_is_an_envelope_of_type_data_seq_and_time() {
        let envelope = Envelope { event: Event::StateChanged { state: ChatState::AwaitingAnswer }, seq: 7, at: Timestamp::UNIX_EPOCH };
        let wire = serde_json::to_value(&envelope).unwrap();
        assert_eq!(wire, json!({"type": "state_changed", "data": {"state": "awaiting_answer"}, "seq": 7, "at": "1970-01-01T00:00:00Z"}));
        assert_eq!(wire["type"], envelope.event.name());
        assert_eq!(serde_json::from_value::<Envelope>(wire).unwrap(), envelope);
    }
}
