//! Chats and tools, as clients read them.

use crate::agent::Agent;
use crate::card::Pending;
use crate::reasoning::Reasoning;
use planwright_protocol::event::{ChatState, RunOutcome, Usage};
use planwright_protocol::message::ToolOutcome;
use planwright_protocol::plan::StepProgress;
use planwright_protocol::settings::{Inspect, ReasoningEffort};
use planwright_protocol::{
    CallId, ChatConfig, ChatId, Message, MessageBody, MessageId, Permission, Problem, Progress, Role, StepStatus, Timestamp, WorkspaceId,
};
use planwright_store::{ChatRow, Store};
use planwright_tools::command::TERMINAL;
use planwright_tools::tool::{Spec, Tool};
use planwright_tools::{BUILTIN, Category, Risk, tools_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A chat as clients read it.
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
    /// How far the plan has come that the user approved.
    pub progress: Option<ProgressView>,
    /// Kept on top of the lists.
    pub pinned: bool,
    /// Put away: in no list unless it is asked for.
    pub archived: bool,
    /// Who began it, on a server with accounts.
    pub person: Option<String>,
    /// The model chosen for this chat, as PROVIDER/MODEL; null for the configured one.
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub model: Option<String>,
    /// How much that model thinks before it answers; null for the configured effort.
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

/// The steps of a plan that is carried out, and how many are behind it.
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

/// All a client needs to draw a chat.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Snapshot {
    pub chat: ChatView,
    pub messages: Vec<Message>,
    #[schemars(with = "Option<Pending>")]
    pub pending_question: Option<Value>,
    pub partial: Option<Partial>,
    /// What running commands have printed so far, by call; of much the end.
    pub printed: BTreeMap<CallId, String>,
    /// How the last run ended; while there is none under way.
    pub last_run: Option<RunEnd>,
    /// Messages that wait to be read by the run that is under way, by their ids.
    pub queued: Vec<MessageId>,
    pub last_event_id: u64,
}

impl Snapshot {
    /// What the store has of a chat.
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

/// How a run ended, as `run_finished` tells it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunEnd {
    pub outcome: RunOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_steps: Vec<u32>,
}

impl RunEnd {
    /// From a stored event; `None` if it is of another form.
    #[must_use]
    pub fn read(envelope: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Envelope {
            data: RunEnd,
        }
        serde_json::from_str::<Envelope>(envelope).ok().map(|envelope| envelope.data)
    }
}

/// How much of a tool's result is shown in a list; `…/body` has the whole.
const MOST_SHOWN: usize = 16 << 10;

/// Cuts a long result of a tool, and says so in its metadata.
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

/// An answer that is being written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Partial {
    pub message_id: MessageId,
    pub text: String,
    /// Who writes it.
    #[serde(flatten)]
    pub by: Agent,
    /// What the model thought so far.
    #[serde(skip)]
    pub(crate) reasoning: Reasoning,
    #[serde(skip)]
    characters: usize,
}

impl Partial {
    pub(crate) fn of(message_id: MessageId, by: Agent) -> Self {
        Self { message_id, text: String::new(), by, reasoning: Reasoning::default(), characters: 0 }
    }

    /// Adds a piece, and says after how many characters it stands.
    pub(crate) fn add(&mut self, text: &str) -> usize {
        let offset = self.characters;
        self.characters += text.chars().count();
        self.text.push_str(text);
        offset
    }
}

/// A tool as clients read of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolView {
    pub name: String,
    pub category: Category,
    pub risk: Risk,
    /// Whether it can change nothing. False unless said.
    pub read_only: bool,
    /// The rights that it usually needs.
    pub required_permissions: Vec<Permission>,
    /// The sets of rights of which each is enough.
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

/// The tools a role has; all there are when no role is named.
#[must_use]
pub fn tool_views(role: Option<Role>, inspect: Inspect) -> Vec<ToolView> {
    let listed: Vec<&dyn Tool> = role.map_or_else(|| BUILTIN.to_vec(), |role| tools_of(role, inspect).collect());
    listed.into_iter().map(ToolView::from).collect()
}
