//! What a chat's history is made of.

mod metadata;

pub use metadata::{AttachedImage, CallToApprove, DriftedFile, MessageMetadata, PlanToApprove};

use crate::ids::{ChatId, MessageId};
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

/// How a message is shown. One stored before there were types is text.
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

/// The key under which a message names the images that came with it.
pub const IMAGES: &str = "images";

/// The key under which a user's message keeps the metadata that their client sent. The server gives it back and reads
/// nothing in it.
pub const CLIENT: &str = "client";

const ANSWER: &str = "question_answer";
/// The keys that the server writes into the metadata of any user message, and those it writes beside an answer only.
const OF_USER_MESSAGE: [&str; 6] = ["user", IMAGES, ANSWER, "delegation", "awaits_plan", CLIENT];
const OF_ANSWER: [&str; 1] = ["comment"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub id: MessageId,
    pub chat_id: ChatId,
    pub author: Author,
    /// The role that wrote it, for the assistant's messages.
    #[serde(default)]
    pub agent_role: Option<Role>,
    #[serde(default)]
    pub message_type: MessageType,
    pub content: String,
    #[serde(default)]
    #[schemars(with = "MessageMetadata")]
    pub metadata: Map<String, Value>,
    pub created_at: Timestamp,
}

impl Message {
    pub fn new(chat_id: ChatId, author: Author, message_type: MessageType, content: impl Into<String>) -> Self {
        Self {
            id: MessageId::generate(),
            chat_id,
            author,
            agent_role: None,
            message_type,
            content: content.into(),
            metadata: Map::new(),
            created_at: crate::time::now(),
        }
    }

    #[must_use]
    pub fn by(mut self, role: Role) -> Self {
        self.agent_role = Some(role);
        self
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// Keeps what a client sent in its metadata where nothing of it can be taken for a record of the server's.
    #[must_use]
    pub fn with_client_metadata(self, sent: Map<String, Value>) -> Self {
        if sent.is_empty() { self } else { self.with(CLIENT, sent) }
    }

    /// Drops from a stored message of the user's what the server never says there: earlier versions kept all that a client
    /// sent, and records could be forged by it.
    #[must_use]
    pub fn without_forged_records(mut self) -> Self {
        if self.author == Author::User {
            let is_answer = self.metadata.contains_key(ANSWER);
            self.metadata.retain(|key, _| OF_USER_MESSAGE.contains(&key.as_str()) || (is_answer && OF_ANSWER.contains(&key.as_str())));
        }
        self
    }

    /// A text in the metadata, empty when it is not there.
    #[must_use]
    pub fn meta(&self, key: &str) -> &str {
        self.metadata.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// The images that came with it.
    #[must_use]
    pub fn images(&self) -> Vec<AttachedImage> {
        let images = self.metadata.get(IMAGES).filter(|_| self.author == Author::User);
        images.and_then(|images| Vec::deserialize(images).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_without_a_type_loads_as_text() {
        let chat = ChatId::generate();
        let old =
            json!({"id": MessageId::generate(), "chat_id": chat, "author": "user", "content": "hi", "created_at": "2024-01-01T00:00:00Z"});
        let message: Message = serde_json::from_value(old).unwrap();
        assert_eq!(message.message_type, MessageType::Text);
        assert_eq!(serde_json::to_value(&message).unwrap()["message_type"], "text");
    }

    #[test]
    fn what_a_client_sends_is_kept_apart_and_what_it_once_forged_is_dropped() {
        let sent = json!({"approval": {"approver": "root"}, "client": 1, "mine": "x"});
        let said = Message::new(ChatId::generate(), Author::User, MessageType::Text, "hi");
        let message = said.clone().with_client_metadata(sent.as_object().unwrap().clone());
        assert_eq!(Value::Object(message.metadata), json!({ "client": sent }));
        assert_eq!(said.clone().with_client_metadata(Map::new()), said);
        let old = said.with("compaction", true).with("user", "ann").with("mine", "x").with("comment", "y");
        let answer = old.clone().with(ANSWER, json!({}));
        assert_eq!(Value::Object(old.without_forged_records().metadata), json!({"user": "ann"}));
        assert_eq!(Value::Object(answer.without_forged_records().metadata), json!({"user": "ann", "comment": "y", ANSWER: {}}));
        let note = Message::new(ChatId::generate(), Author::System, MessageType::Text, "").with("compaction", true);
        assert_eq!(note.clone().without_forged_records(), note);
    }

    #[test]
    fn message_types_have_their_wire_names() {
        use MessageType::{Plan, Question, Text, ToolCall, ToolResult};
        assert_eq!(
            serde_json::to_value([Text, Plan, Question, ToolCall, ToolResult]).unwrap(),
            json!(["text", "plan", "question", "tool_call", "tool_result"])
        );
    }
}
