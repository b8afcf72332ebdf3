//! The records of a chat's history, and their wire form.
//!
//! | module | contents |
//! | --- | --- |
//! | `body` | the kinds of records, and the messages of the user and the assistant |
//! | `tool` | tool calls and their results |
//! | `card` | questions, with the plan or the tool call to approve |
//! | `comment` | comments of a review, and what became of them |
//! | `notice` | records that the server writes |
//! | `wire` | the form in the API, in events, in the database and in exports, with the conversion to and from it |
//! | `excerpt` | the part of a message that a search result shows |
//! | `metadata` | the wire form's metadata, as the API describes it to clients |
//!
//! Invariants: only the conversion knows the metadata keys. A client's metadata is stored apart and the server never
//! reads it. The server shows an unreadable record and never acts on it.

mod body;
mod card;
mod comment;
mod excerpt;
mod metadata;
mod notice;
mod tool;
mod wire;

pub use body::{
    Answer, AssistantText, AttachedImage, MessageBody, PlanVersion, QuestionAnswer, ReadMarker, ReplyPart, Review, ReviewFinding,
    UnknownBody, UserText,
};
pub use card::{ApprovalMoment, CallToApprove, DeletedEntry, EffectShown, EntryKind, PlanToApprove, QuestionCard};
pub use comment::{AnsweredComment, CommentOutcome, CommentReport, LineRange, ReviewComment};
pub use metadata::MessageMetadata;
pub use notice::{
    ApprovalFacts, ApprovalNotice, CommitOutcome, CompactionFacts, CompactionNotice, CutMessage, DriftedFile, FileDrift, ModeChange,
    Notice, PlanChanged, PlanFileChange, PlannedFiles, RevertConflict, RevertNotice, RevertStatus, RevertStep, ServerNotice, ServerTrouble,
};
pub use tool::{CallStatus, Category, Risk, ToolCall, ToolOutcome, ToolResult};
pub use wire::{WireMessage, metadata_keys};

use crate::ids::{CallId, ChatId, MessageId};
use crate::role::Role;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    User,
    Assistant,
    Tool,
    System,
}

/// How a message is displayed. Messages stored before there were types are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    #[default]
    Text,
    Plan,
    Question,
    ToolCall,
    ToolResult,
}

/// An entry of a chat's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<B = MessageBody> {
    pub id: MessageId,
    pub chat_id: ChatId,
    pub author: Author,
    /// The role that wrote it, for the assistant's messages.
    pub agent_role: Option<Role>,
    /// The delegating call, if this message belongs to a delegated task; `None` in the chat's own conversation.
    pub delegation: Option<CallId>,
    pub created_at: Timestamp,
    /// The text for people.
    pub content: String,
    pub body: B,
    /// Metadata that a client sent. The server returns it and never reads it.
    pub client: Option<Value>,
}

/// A message that is a tool call.
pub type CallMessage = Message<ToolCall>;

impl<B> Message<B> {
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.agent_role = Some(role);
        self
    }

    /// Moves the message to the conversation of a delegated task, or to the chat's own.
    #[must_use]
    pub fn in_thread(mut self, delegation: Option<CallId>) -> Self {
        self.delegation = delegation;
        self
    }

    /// Attaches metadata that a client sent.
    #[must_use]
    pub fn with_client_metadata(mut self, sent: Map<String, Value>) -> Self {
        self.client = (!sent.is_empty()).then_some(Value::Object(sent));
        self
    }

    fn with_body<C>(self, body: C) -> Message<C> {
        let Self { id, chat_id, author, agent_role, delegation, created_at, content, client, body: _ } = self;
        Message { id, chat_id, author, agent_role, delegation, created_at, content, body, client }
    }
}

impl Message {
    /// A new message. Its author follows from its body.
    pub fn new(chat_id: ChatId, body: impl Into<MessageBody>, content: impl Into<String>) -> Self {
        let body = body.into();
        Self {
            id: MessageId::generate(),
            chat_id,
            author: body.author(),
            agent_role: None,
            delegation: None,
            created_at: crate::time::now(),
            content: content.into(),
            body,
            client: None,
        }
    }

    /// A record that the server writes.
    pub fn notice(chat_id: ChatId, notice: Notice, content: impl Into<String>) -> Self {
        Self::new(chat_id, notice, content)
    }

    #[must_use]
    pub fn message_type(&self) -> MessageType {
        self.body.message_type()
    }

    /// The message as a tool call, if it is one.
    #[must_use]
    pub fn to_call(&self) -> Option<CallMessage> {
        let call = self.body.tool_call()?.clone();
        Some(CallMessage {
            id: self.id,
            chat_id: self.chat_id,
            author: self.author,
            agent_role: self.agent_role,
            delegation: self.delegation,
            created_at: self.created_at,
            content: self.content.clone(),
            body: call,
            client: self.client.clone(),
        })
    }

    /// The attached images.
    #[must_use]
    pub fn images(&self) -> &[AttachedImage] {
        self.body.user_text().map(|text| text.images.as_slice()).unwrap_or_default()
    }
}

impl CallMessage {
    /// The call with another status.
    #[must_use]
    pub fn with_status(mut self, status: CallStatus) -> Self {
        self.body.status = status;
        self
    }
}

impl From<CallMessage> for Message {
    fn from(call: CallMessage) -> Self {
        let body = MessageBody::ToolCall(call.body.clone());
        call.with_body(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn message_types_have_their_wire_names() {
        use MessageType::{Plan, Question, Text, ToolCall, ToolResult};
        assert_eq!(
            serde_json::to_value([Text, Plan, Question, ToolCall, ToolResult]).unwrap(),
            json!(["text", "plan", "question", "tool_call", "tool_result"])
        );
    }

    #[test]
    fn a_call_taken_out_of_its_message_and_put_back_is_the_same_message() {
        let call = ToolCall::new(CallId::generate(), "ls", json!({"path": "/"}));
        let message = Message::new(ChatId::generate(), call, "ls").with_role(Role::Planner).in_thread(Some(CallId::generate()));
        assert_eq!(Message::from(message.to_call().unwrap()), message);
        assert_eq!(Message::new(message.chat_id, UserText::default(), "hi").to_call(), None);
    }
}
