//! A chat in the form that clients get.

use crate::agent::Agent;
use crate::config::ChatConfig;
use crate::error::Problem;
use crate::event::{ChatState, Event, RunOutcome, Usage};
use crate::ids::{CallId, ChatId, MessageId, QuestionId, WorkspaceId};
use crate::message::{CallToApprove, Message, PlanToApprove, QuestionCard, ReplyPart};
use crate::plan::{Progress, StepProgress, StepStatus};
use crate::question::{Question, QuestionKind, Severity};
use crate::settings::ReasoningEffort;
use crate::time::now;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A chat in the form that clients get.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ChatView {
    pub id: ChatId,
    pub workspace_id: WorkspaceId,
    pub title: String,
    pub config: ChatConfig,
    pub app_data: ChatConfig,
    pub state: ChatState,
    #[schemars(with = "Option<Pending>")]
    pub pending_question: Option<Value>,
    pub usage: Usage,
    /// Progress of the approved plan.
    pub progress: Option<ProgressView>,
    /// Pinned to the top of lists.
    pub pinned: bool,
    /// Archived: in no list unless requested.
    pub archived: bool,
    /// Who created it, on a server with accounts.
    pub person: Option<String>,
    /// The model chosen for this chat, as PROVIDER/MODEL; null for the configured one.
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub model: Option<String>,
    /// The thinking effort of that model; null for the configured effort.
    pub effort: Option<ReasoningEffort>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl ChatView {
    /// The pending question; `None` if there is none, or it has a form that this version does not know.
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        self.pending_question.as_ref().and_then(|pending| Pending::deserialize(pending).ok())
    }
}

/// The steps of an executed plan, and how many are finished.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ProgressView {
    pub plan_file: String,
    pub done: usize,
    pub skipped: usize,
    pub total: usize,
    pub steps: Vec<StepProgress>,
    /// The numbers of the approved steps; null for all of them.
    #[serde(default)]
    pub chosen_steps: Option<Vec<u32>>,
    /// The agent stops after this step and asks.
    #[serde(default)]
    pub stop_after: Option<u32>,
}

impl From<Progress> for ProgressView {
    fn from(progress: Progress) -> Self {
        let (done, skipped) = (progress.count(StepStatus::Done), progress.count(StepStatus::Skipped));
        let Progress { plan_file, steps, choice, .. } = progress;
        Self { done, skipped, total: steps.len(), plan_file, steps, chosen_steps: choice.steps, stop_after: choice.stop_after }
    }
}

/// Everything that a client needs to draw a chat.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Snapshot {
    pub chat: ChatView,
    pub messages: Vec<Message>,
    #[schemars(with = "Option<Pending>")]
    pub pending_question: Option<Value>,
    pub partial: Option<Partial>,
    /// The output of running commands so far, by call; only the end if it is long.
    pub printed: BTreeMap<CallId, String>,
    /// How the last run ended; absent during a run.
    pub last_run: Option<RunEnd>,
    /// The ids of messages that wait for the current run to read them.
    pub queued: Vec<MessageId>,
    pub last_event_id: u64,
}

/// The end of a run, as in `run_finished`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunEnd {
    pub outcome: RunOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_steps: Vec<u32>,
}

impl RunEnd {
    /// From a stored event; `None` if it has another form.
    #[must_use]
    pub fn read(envelope: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Envelope {
            data: RunEnd,
        }
        serde_json::from_str::<Envelope>(envelope).ok().map(|envelope| envelope.data)
    }
}

/// A partial answer.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Partial {
    pub message_id: MessageId,
    pub text: String,
    /// The agent that writes it.
    #[serde(flatten)]
    pub by: Agent,
}

/// A pending question. A chat has at most one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pending {
    pub question_id: QuestionId,
    pub questions: Vec<Question>,
    pub kind: QuestionKind,
    pub severity: Severity,
    pub created_at: Timestamp,
    /// The agent that asks and gets the answer.
    #[serde(flatten)]
    pub by: Agent,
    /// The plan to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PlanToApprove")]
    pub plan: Option<PlanToApprove>,
    /// The call to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CallToApprove")]
    pub call: Option<CallToApprove>,
}

impl Pending {
    #[must_use]
    pub fn new(by: Agent, kind: QuestionKind, severity: Severity, questions: Vec<Question>) -> Self {
        Self { question_id: QuestionId::generate(), questions, kind, severity, created_at: now(), by, plan: None, call: None }
    }

    /// Whether it shows this plan to the user.
    #[must_use]
    pub fn shows_plan(&self, plan_file: &str) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.plan_file == plan_file)
    }

    /// The question as an entry of the history.
    #[must_use]
    pub fn message(&self, chat: ChatId) -> Message {
        self.message_beside(chat, None)
    }

    /// The same, for a card that is shown while a reply is executed.
    #[must_use]
    pub fn message_beside(&self, chat: ChatId, reply: Option<MessageId>) -> Message {
        let text = self.questions.iter().map(Question::text).collect::<Vec<_>>().join("\n\n");
        let card = QuestionCard {
            question_id: self.question_id,
            questions: self.questions.clone(),
            kind: self.kind,
            severity: self.severity,
            plan: self.plan.clone(),
            call: self.call.clone(),
            reply: ReplyPart::accompanying(reply),
        };
        self.by.sign(Message::new(chat, card, text))
    }

    #[must_use]
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
