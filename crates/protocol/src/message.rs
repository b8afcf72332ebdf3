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
    fn message_types_have_their_wire_names() {
        use MessageType::{Plan, Question, Text, ToolCall, ToolResult};
        assert_eq!(
            serde_json::to_value([Text, Plan, Question, ToolCall, ToolResult]).unwrap(),
            json!(["text", "plan", "question", "tool_call", "tool_result"])
        );
    }
}
