//! An event in its wire form, serialized once for all listeners.

use bytes::Bytes;
use planwright_protocol::{ChatId, Envelope, Event, Timestamp, WorkspaceId};
use planwright_store::StoredEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The chat that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Source {
    pub workspace: WorkspaceId,
    pub chat: ChatId,
}

/// An event as a block of `text/event-stream`, with the chat's id in its data.
#[derive(Debug)]
pub struct Frame {
    pub source: Source,
    pub seq: u64,
    /// Whether it is about the chat as a whole, and in no chat's own log.
    pub is_about_chat: bool,
    block: Bytes,
    /// The end of the id line.
    after_id: usize,
    /// The start of the data.
    data: usize,
}

/// Two line breaks end a block.
const END: &str = "\n\n";

impl Frame {
    /// `None` if it can't be serialized, which never happens with our events.
    pub fn of(source: Source, envelope: &Envelope) -> Option<Arc<Self>> {
        let json = serde_json::to_string(&SentEvent { envelope, chat_id: Some(source.chat) }).ok()?;
        let frame = Self::render(source, envelope.seq, envelope.event.name(), &[&json]);
        Some(Arc::new(Self { is_about_chat: matches!(envelope.event, Event::ChatCreated { .. } | Event::ChatDeleted {}), ..frame }))
    }

    /// A stored event is already JSON; only the chat's id is added.
    pub fn stored(source: Source, event: &StoredEvent) -> Arc<Self> {
        let open = event.envelope.trim_end().strip_suffix('}').unwrap_or(&event.envelope);
        Arc::new(Self::render(source, event.seq, &event.name, &[open, ",\"chat_id\":\"", &source.chat.to_string(), "\"}"]))
    }

    /// A block that another node rendered; `None` if it is none.
    pub fn received(source: Source, seq: u64, block: &[u8]) -> Option<Arc<Self>> {
        let start = format!("id: {seq}\nevent: ");
        let name = block.strip_prefix(start.as_bytes())?;
        let name_length = name.iter().position(|byte| *byte == b'\n')?;
        let is_about_chat = [&b"chat_created"[..], b"chat_deleted"].contains(&&name[..name_length]);
        let data = name[name_length..].strip_prefix(b"\ndata: ")?;
        std::str::from_utf8(data).ok()?.strip_suffix(END)?;
        let (after_id, data) = (start.len() - b"event: ".len(), start.len() + name_length + b"\ndata: ".len());
        Some(Arc::new(Self { source, seq, is_about_chat, block: Bytes::copy_from_slice(block), after_id, data }))
    }

    fn render(source: Source, seq: u64, name: &str, json: &[&str]) -> Self {
        let mut block = format!("id: {seq}\n");
        let after_id = block.len();
        block.reserve_exact(name.len() + 20 + json.iter().map(|piece| piece.len()).sum::<usize>());
        block.push_str("event: ");
        block.push_str(name);
        block.push_str("\ndata: ");
        let data = block.len();
        for piece in json {
            block.push_str(piece);
        }
        block.push_str(END);
        Self { source, seq, is_about_chat: false, block: block.into(), after_id, data }
    }

    /// The block, for the stream of its chat.
    pub fn block(&self) -> Bytes {
        self.block.clone()
    }

    /// The block without its id, for a stream with its own ids.
    pub fn block_without_id(&self) -> Bytes {
        self.block.slice(self.after_id..)
    }

    /// The data: the envelope as one line of JSON.
    pub fn json(&self) -> &str {
        std::str::from_utf8(&self.block[self.data..self.block.len() - END.len()]).unwrap_or_default()
    }

    pub fn size(&self) -> usize {
        self.block.len()
    }
}

/// An event in its API form.
#[derive(Serialize, JsonSchema)]
pub struct SentEvent<'a> {
    #[serde(flatten)]
    envelope: &'a Envelope,
    /// The chat of the event; absent if it belongs to none.
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_id: Option<ChatId>,
}

impl SentEvent<'_> {
    /// The block, without an id, that tells a client to reload its lists of chats.
    pub fn reset() -> Bytes {
        let envelope = Envelope { event: Event::Reset {}, seq: 0, at: Timestamp::now() };
        let json = serde_json::to_string(&SentEvent { envelope: &envelope, chat_id: None }).unwrap_or_default();
        format!("event: {}\ndata: {json}{END}", envelope.event.name()).into()
    }
}

/// Whether the event is for everyone who can see the chat, and not only for its followers.
pub(crate) fn is_small(event: &Event) -> bool {
    match event {
        Event::TextDelta { .. } | Event::ReasoningDelta { .. } | Event::ToolOutput { .. } => false,
        Event::MessageCreated { .. }
        | Event::MessageUpdated { .. }
        | Event::MessageDeleted { .. }
        | Event::ToolCall { .. }
        | Event::ToolResult { .. }
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
        | Event::Reset {} => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::ChatState;
    use serde_json::Value;

    #[test]
    fn a_stored_event_reads_as_it_did_when_it_was_new() {
        let source = Source { workspace: WorkspaceId::generate(), chat: ChatId::generate() };
        let envelope = Envelope { event: Event::StateChanged { state: ChatState::Thinking }, seq: 7, at: Timestamp::UNIX_EPOCH };
        let (name, text) = (envelope.event.name().to_owned(), serde_json::to_string(&envelope).unwrap());
        let stored = Frame::stored(source, &StoredEvent { seq: 7, name, envelope: text });
        let live = Frame::of(source, &envelope).unwrap();
        assert_eq!(stored.block(), live.block());
        let received = Frame::received(source, 7, &live.block()).unwrap();
        assert_eq!((received.json(), received.block_without_id()), (live.json(), live.block_without_id()));
        assert!(Frame::received(source, 8, &live.block()).is_none() && Frame::received(source, 7, b"id: 7\nevent: x").is_none());
        assert!(live.block().starts_with(b"id: 7\nevent: state_changed\ndata: {") && live.block().ends_with(b"}\n\n"));
        assert!(live.block_without_id().starts_with(b"event: "));
        let data: Value = serde_json::from_str(live.json()).unwrap();
        assert_eq!((&data["chat_id"], &data["seq"]), (&Value::from(source.chat.to_string()), &Value::from(7)));
    }
}
