//! The event log of a chat. A message is stored once, in its table. Events that announce it, or that describe the same call or
//! result, refer to it.

use crate::arg::{Arg, args};
use crate::chats::read_message;
use crate::db::Row;
use crate::error::StoreError;
use crate::rows::{ColumnType, RowStatement};
use crate::store::{Store, micros, timestamp};
use planwright_protocol::message::ToolOutcome;
use planwright_protocol::{CallId, ChatId, Envelope, Event, Message, MessageBody, MessageId};
use serde_json::{Map, Value};
use sqlx::types::Uuid;
use std::collections::HashMap;

/// An event in the form that clients receive: its envelope is JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    pub seq: u64,
    pub name: String,
    pub envelope: String,
}

pub(crate) const INSERT_EVENTS: RowStatement = RowStatement {
    columns: &[
        ("chat_id", ColumnType::Id),
        ("seq", ColumnType::Number),
        ("name", ColumnType::Text),
        ("envelope", ColumnType::Text),
        ("message_id", ColumnType::Id),
    ],
    sql: "insert into events (chat_id, seq, name, envelope, message_id) select * from given where true",
};
const EVENTS_AFTER: &str = "select events.seq as event_seq, events.name, events.envelope, events.message_id, messages.*
    from events left join messages on messages.id = events.message_id
    where events.chat_id = $1 and events.seq > $2 order by events.seq limit $3";
/// Reads only the names of the newest events, so its cost does not depend on the length of the chat or the size of its events.
const NEWEST_NAMED: &str = "select events.seq as event_seq, events.name, events.envelope, events.message_id, messages.*
    from events left join messages on messages.id = events.message_id
    where events.chat_id = $1 and events.seq = (select max(seq)
        from (select seq, name from events where chat_id = $1 order by seq desc limit 200) as newest where name = $2)";
const COUNT_EVENTS_AFTER: &str = "select count(*) as events from (select 1 from events where chat_id = $1 and seq > $2 limit $3) as behind";

impl Store {
    /// The events after `seq`, in order, at most `limit`. Earlier events of a changed message show its newest content; those of a
    /// deleted message say that it was deleted.
    ///
    /// # Errors
    /// The database failed.
    pub async fn stored_after(&self, chat: ChatId, seq: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let rows = self.db.rows(EVENTS_AFTER, args![chat.0, seq, limit]).await?;
        rows.iter().map(read_event).collect()
    }

    /// The newest event with this name, if it is among the newest 200 events.
    ///
    /// # Errors
    /// The database failed.
    pub async fn newest_named(&self, chat: ChatId, name: &str) -> Result<Option<StoredEvent>, StoreError> {
        self.db.row(NEWEST_NAMED, args![chat.0, name]).await?.as_ref().map(read_event).transpose()
    }

    /// The number of events after `seq`, counted up to `most`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_events_after(&self, chat: ChatId, seq: u64, most: u32) -> Result<u64, StoreError> {
        let row = self.db.row(COUNT_EVENTS_AFTER, args![chat.0, seq, most]).await?;
        row.map_or(Ok(0), |row| row.number("events"))
    }
}

/// The messages of an append that events can refer to.
#[derive(Debug, Default)]
pub(crate) struct MessageSources<'a> {
    calls: HashMap<CallId, &'a Message>,
    results: HashMap<CallId, &'a Message>,
}

impl<'a> MessageSources<'a> {
    pub fn new(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut sources = Self::default();
        for message in messages {
            if let Some(call) = message.body.tool_call() {
                sources.calls.insert(call.call_id, message);
            } else if let MessageBody::ToolResult(result) = &message.body {
                sources.results.insert(result.call_id, message);
            }
        }
        sources
    }

    /// The message from which the event can be reconstructed.
    fn source(&self, event: &Event) -> Option<MessageId> {
        let told_by = |message: &&&Message| tool_event(event.name(), message).as_ref() == Some(event);
        match event {
            Event::MessageCreated { message } | Event::MessageUpdated { message } => Some(message.id),
            Event::ToolCall { call_id, .. } => self.calls.get(call_id).filter(told_by).map(|message| message.id),
            Event::ToolResult { call_id, .. } => self.results.get(call_id).filter(told_by).map(|message| message.id),
            Event::MessageDeleted { .. }
            | Event::TextDelta { .. }
            | Event::ReasoningDelta { .. }
            | Event::ToolOutput { .. }
            | Event::StateChanged { .. }
            | Event::QuestionPending { .. }
            | Event::QuestionResolved { .. }
            | Event::ModeChanged { .. }
            | Event::IntentSuggested { .. }
            | Event::PlanUpdated { .. }
            | Event::PlanStep { .. }
            | Event::Usage(_)
            | Event::RunFinished { .. }
            | Event::Violation { .. }
            | Event::ChatUpdated { .. }
            | Event::ChatCreated { .. }
            | Event::ChatDeleted {}
            | Event::Reset {} => None,
        }
    }
}

/// A row of [`INSERT_EVENTS`].
pub(crate) fn event_row(chat: ChatId, envelope: &Envelope, sources: &MessageSources<'_>) -> Result<Vec<Arg>, StoreError> {
    let source = sources.source(&envelope.event).map(|id| id.0);
    let stored = match source {
        // Reconstruction needs only the time.
        Some(_) => micros(envelope.at).to_string(),
        None => serde_json::to_string(envelope)?,
    };
    Ok(args![chat.0, envelope.seq, envelope.event.name(), stored, source])
}

fn read_event(row: &Row) -> Result<StoredEvent, StoreError> {
    let (seq, name, envelope) = (row.number("event_seq")?, row.text("name")?, row.text("envelope")?);
    let Some(message_id) = row.get::<Option<Uuid>>("message_id")? else { return Ok(StoredEvent { seq, name, envelope }) };
    let at = timestamp(envelope.parse().map_err(|_| StoreError::Garbled(format!("{envelope} is not a time")))?)?;
    let event = if row.get::<Option<Uuid>>("id")?.is_none() {
        Event::MessageDeleted { message_id: MessageId(message_id) }
    } else {
        let message = read_message(row)?;
        match name.as_str() {
            "message_updated" => Event::MessageUpdated { message },
            name => tool_event(name, &message).unwrap_or(Event::MessageCreated { message }),
        }
    };
    let name = event.name().to_owned();
    Ok(StoredEvent { seq, name, envelope: serde_json::to_string(&Envelope { event, seq, at })? })
}

/// Reconstructs the event with this name from the message of a call or a result.
fn tool_event(name: &str, message: &Message) -> Option<Event> {
    match &message.body {
        MessageBody::ToolCall(call) if name == "tool_call" => {
            Some(Event::ToolCall { call_id: call.call_id, tool: call.tool.clone(), args: call.args.clone() })
        }
        MessageBody::ToolResult(result) if name == "tool_result" => {
            let response = match &result.outcome {
                ToolOutcome::Failed(problem) => Err(problem.clone()),
                ToolOutcome::Succeeded(facts) => Ok(whole_result(&message.content, facts.as_ref())),
            };
            Some(Event::ToolResult { call_id: result.call_id, result: response.into() })
        }
        MessageBody::ToolCall(_)
        | MessageBody::ToolResult(_)
        | MessageBody::UserText(_)
        | MessageBody::Answer(_)
        | MessageBody::AssistantText(_)
        | MessageBody::Plan(_)
        | MessageBody::Question(_)
        | MessageBody::Notice(_)
        | MessageBody::Unknown(_) => None,
    }
}

/// A tool's result: its facts with the text as `output`, unless the text is the complete result as JSON.
fn whole_result(text: &str, facts: Option<&Map<String, Value>>) -> Value {
    let is_all = |value: &Value| {
        let json = value.to_string();
        json == text
    };
    let all = facts.cloned().map(Value::Object).or_else(|| serde_json::from_str(text).ok()).filter(is_all);
    all.unwrap_or_else(|| {
        let mut whole = facts.cloned().unwrap_or_default();
        whole.insert("output".to_owned(), text.into());
        Value::Object(whole)
    })
}
