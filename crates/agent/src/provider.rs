//! The interface to a model: one request, one stream of deltas.

use crate::history::Replies;
use async_trait::async_trait;
use futures::stream::BoxStream;
use planwright_protocol::event::Usage;
use planwright_protocol::{AttachedImage, MessageId, Mode, Problem};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The assumed context of an unknown model, in tokens.
pub const DEFAULT_CONTEXT: u64 = 128_000;

#[async_trait]
pub trait Provider: Send + Sync {
    /// `provider/model`, as in the configuration and the audit log.
    fn name(&self) -> &str;

    /// Maximum tokens of a request and its reply together.
    fn context_tokens(&self) -> u64 {
        DEFAULT_CONTEXT
    }

    /// Whether it accepts images.
    fn takes_images(&self) -> bool {
        false
    }

    /// Requests one reply. Dropping the stream cancels it.
    ///
    /// # Errors
    /// One of the `PROVIDER_*` codes, with what to do.
    async fn stream(&self, request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub system: String,
    pub messages: Arc<Vec<ModelMessage>>,
    /// The images in the conversation that the model may see, by sha256.
    pub images: HashMap<String, Arc<[u8]>>,
    pub tools: Vec<ToolDefinition>,
    pub mode: Mode,
    pub purpose: Purpose,
    /// Number of model replies in this conversation.
    pub replies: Replies,
    /// A delegate's task; `None` for the chat's own agent.
    pub task: Option<String>,
}

/// The purpose of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Continue the chat.
    Reply,
    /// Summarize it.
    Summary,
    /// Classify the user's message in one word; see [`crate::intent::classifier`].
    Intent,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// One entry of the conversation, common to all wire formats.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage {
    User(String),
    /// Belongs to the text before it.
    Image(AttachedImage),
    Assistant {
        mode: Mode,
        text: String,
        calls: Vec<ModelCall>,
        native: Option<Native>,
    },
    ToolResult {
        call_id: String,
        text: String,
    },
}

/// Data that a provider requires back with its own reply, such as signed reasoning. Opaque to us.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// The model that it belongs to; it must never be sent to another.
    pub model: String,
    /// The reply that contained it.
    pub reply: MessageId,
    pub value: Value,
}

/// The size of an image in the estimate: about the text that vendors charge for a large one.
pub(crate) const IMAGE_SIZE: usize = 4800;

/// The text that replaces an image which the model is not shown.
pub const IMAGE_PLACEHOLDER: &str = "(There is an image here that you can't see. If you need to know what it shows, ask the user.)";

impl ModelMessage {
    /// In bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            ModelMessage::User(text) | ModelMessage::ToolResult { text, .. } => text.len(),
            ModelMessage::Image(_) => IMAGE_SIZE,
            ModelMessage::Assistant { text, calls, .. } => {
                text.len() + calls.iter().map(|call| call.tool.len() + call.args.len()).sum::<usize>()
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    pub id: String,
    pub tool: String,
    /// As the model wrote them, not yet parsed.
    pub args: String,
}

/// Part of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    /// A whole call; partial calls are never passed on.
    Call(ModelCall),
    Usage(Usage),
    /// To be stored with the reply and sent back with it as [`Native`].
    Native(Value),
}
