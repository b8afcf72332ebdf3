//! Chats and tools, as clients read them.

use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::{ChatConfig, ChatId, Message, MessageId, Role, Timestamp, WorkspaceId};
use planwright_store::ChatRow;
use planwright_tools::tool::{Spec, Tool};
use planwright_tools::{BUILTIN, Inspect, tools_of};
use serde::Serialize;
use serde_json::Value;

/// A chat as clients read it.
#[derive(Clone, Debug, Serialize)]
pub struct ChatView {
    pub id: ChatId,
    pub workspace_id: WorkspaceId,
    pub title: String,
    pub config: ChatConfig,
    pub app_data: ChatConfig,
    pub state: ChatState,
    pub pending_question: Option<Value>,
    pub usage: Usage,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<ChatRow> for ChatView {
    fn from(row: ChatRow) -> Self {
        Self {
            id: row.id,
            workspace_id: row.workspace_id,
            title: row.title,
            app_data: row.config.clone(),
            config: row.config,
            state: row.state,
            pending_question: row.pending,
            usage: row.usage,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// All a client needs to draw a chat.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    pub chat: ChatView,
    pub messages: Vec<Message>,
    pub pending_question: Option<Value>,
    pub partial: Option<Partial>,
    pub last_event_id: u64,
}

/// An answer that is being written.
#[derive(Clone, Debug, Serialize)]
pub struct Partial {
    pub message_id: MessageId,
    pub text: String,
    #[serde(skip)]
    characters: usize,
}

impl Partial {
    pub(crate) fn of(message_id: MessageId) -> Self {
        Self { message_id, text: String::new(), characters: 0 }
    }

    /// Adds a piece, and says after how many characters it stands.
    pub(crate) fn add(&mut self, text: &str) -> usize {
        let offset = self.characters;
        self.characters += text.chars().count();
        self.text.push_str(text);
        offset
    }
}

#[derive(Debug, Serialize)]
pub struct ToolView {
    #[serde(flatten)]
    pub spec: Spec,
    pub description: String,
    pub schema: Value,
}

/// The tools a role has; all there are when no role is named.
#[must_use]
pub fn tool_views(role: Option<Role>, inspect: Inspect) -> Vec<ToolView> {
    let view = |tool: &dyn Tool| ToolView { spec: *tool.spec(), description: tool.description(), schema: tool.schema() };
    let listed: Vec<&dyn Tool> = role.map_or_else(|| BUILTIN.to_vec(), |role| tools_of(role, inspect).collect());
    listed.into_iter().map(view).collect()
}
