//! Chats and tools in the form that clients get.

use crate::agent::Agent;
use crate::card::Pending;
use crate::reasoning::Reasoning;
use planwright_protocol::event::{ChatState, RunOutcome, Usage};
use planwright_protocol::message::ToolOutcome;
use planwright_protocol::plan::StepProgress;
use planwright_protocol::settings::ReasoningEffort;
use planwright_protocol::{
    CallId, ChatConfig, ChatId, Message, MessageBody, MessageId, Permission, Problem, Progress, Role, StepStatus, Timestamp, WorkspaceId,
};
use planwright_store::{ChatRow, Store};
use planwright_tools::command::TERMINAL;
use planwright_tools::tool::{Spec, Tool};
use planwright_tools::{BUILTIN, Category, Offer, Risk, tools_of};
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

impl From<&ChatRow> for ChatView {
    fn from(row: &ChatRow) -> Self {
        let progress = row.progress.clone().filter(|progress| row.config.plan_file.as_ref() == Some(&progress.plan_file));
        Self {
            id: row.id,
            workspace_id: row.workspace_id,
            title: row.title.clone(),
            app_data: row.config.clone(),
            config: row.config.clone(),
            state: row.state,
            pending_question: row.pending.clone(),
            usage: row.usage,
            progress: progress.map(ProgressView::from),
            pinned: row.marks.pinned,
            archived: row.marks.archived,
            person: row.marks.person.clone(),
            model: row.marks.model.clone(),
            effort: row.marks.effort,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
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

impl Snapshot {
    /// The stored part of a chat.
    pub(crate) async fn of_stored(store: &Store, row: &ChatRow) -> Result<Self, Problem> {
        let mut messages = store.messages_before(row.id, None, 50).await?;
        messages.reverse();
        messages.iter_mut().for_each(shorten);
        let ended = match row.run {
            Some(_) => None,
            None => store.newest_named(row.id, "run_finished").await?,
        };
        Ok(Self {
            chat: row.into(),
            pending_question: row.pending.clone(),
            messages,
            partial: None,
            printed: BTreeMap::new(),
            last_run: ended.and_then(|event| RunEnd::read(&event.envelope)),
            queued: Vec::new(),
            last_event_id: row.seq_ceiling,
        })
    }
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

/// Maximum length of a tool's result in a list; `…/body` has all of it.
const MOST_SHOWN: usize = 16 << 10;

/// Cuts a long tool result, and says so in its metadata.
pub fn shorten(message: &mut Message) {
    if let MessageBody::ToolResult(result) = &mut message.body
        && message.content.len() > MOST_SHOWN
    {
        result.body_size = Some(message.content.len() as u64);
        message.content.truncate(message.content.floor_char_boundary(MOST_SHOWN));
        if let ToolOutcome::Succeeded(Some(facts)) = &mut result.outcome {
            facts.remove(TERMINAL);
        }
    }
}

/// A partial answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Partial {
    pub message_id: MessageId,
    pub text: String,
    /// The agent that writes it.
    #[serde(flatten)]
    pub by: Agent,
    /// The model's reasoning so far.
    #[serde(skip)]
    pub(crate) reasoning: Reasoning,
    #[serde(skip)]
    characters: usize,
}

impl Partial {
    pub(crate) fn of(message_id: MessageId, by: Agent) -> Self {
        Self { message_id, text: String::new(), by, reasoning: Reasoning::default(), characters: 0 }
    }

    /// Adds a delta, and returns its offset in characters.
    pub(crate) fn add(&mut self, text: &str) -> usize {
        let offset = self.characters;
        self.characters += text.chars().count();
        self.text.push_str(text);
        offset
    }
}

/// A tool in the form that clients get.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolView {
    pub name: String,
    pub category: Category,
    pub risk: Risk,
    /// Whether it changes nothing (default false).
    pub read_only: bool,
    /// The permissions that it usually needs.
    pub required_permissions: Vec<Permission>,
    /// Sets of permissions, each of which suffices.
    #[serde(skip)]
    pub needs: &'static [&'static [Permission]],
    pub examples: Vec<String>,
    pub description: String,
    pub schema: Value,
}

impl From<&dyn Tool> for ToolView {
    fn from(tool: &dyn Tool) -> Self {
        let Spec { name, category, risk, read_only, needs, examples } = tool.spec();
        Self {
            name: name.to_owned(),
            category,
            risk,
            read_only,
            required_permissions: needs.first().map(|set| set.to_vec()).unwrap_or_default(),
            needs,
            examples: examples.iter().map(|&example| example.to_owned()).collect(),
            description: tool.description(),
            schema: tool.schema(),
        }
    }
}

/// The tools of a role; all tools if no role is given.
#[must_use]
pub fn tool_views(role: Option<Role>, offer: Offer) -> Vec<ToolView> {
    let listed: Vec<&dyn Tool> = role.map_or_else(|| BUILTIN.to_vec(), |role| tools_of(role, offer).collect());
    listed.into_iter().map(ToolView::from).collect()
}
