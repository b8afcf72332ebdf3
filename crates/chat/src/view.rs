//! Chats and tools in the form that clients get.

use crate::reasoning::Reasoning;
use planwright_protocol::api::chat::{Partial, RunEnd, Snapshot};
use planwright_protocol::message::ToolOutcome;
use planwright_protocol::{Agent, Message, MessageBody, MessageId, Permission, Problem, Role};
use planwright_store::{ChatRow, Store};
use planwright_tools::command::TERMINAL;
use planwright_tools::tool::{Spec, Tool};
use planwright_tools::{BUILTIN, Category, Offer, Risk, tools_of};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The stored part of a snapshot.
pub(crate) async fn stored_snapshot(store: &Store, row: &ChatRow) -> Result<Snapshot, Problem> {
    let mut messages = store.messages_before(row.id, None, 50).await?;
    messages.reverse();
    messages.iter_mut().for_each(shorten);
    let ended = match row.run {
        Some(_) => None,
        None => store.newest_named(row.id, "run_finished").await?,
    };
    Ok(Snapshot {
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

/// The reply that is being streamed, with what only the server knows of it.
#[derive(Clone, Debug)]
pub(crate) struct StreamedReply {
    pub(crate) answer: Partial,
    /// The model's reasoning so far.
    pub(crate) reasoning: Reasoning,
    characters: usize,
}

impl StreamedReply {
    pub(crate) fn of(message_id: MessageId, by: Agent) -> Self {
        Self { answer: Partial { message_id, text: String::new(), by }, reasoning: Reasoning::default(), characters: 0 }
    }

    /// Adds a delta, and returns its offset in characters.
    pub(crate) fn add(&mut self, text: &str) -> usize {
        let offset = self.characters;
        self.characters += text.chars().count();
        self.answer.text.push_str(text);
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
