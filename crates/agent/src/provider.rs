//! What a model is to the rest: one request, one stream of deltas.

use crate::history::Replies;
use async_trait::async_trait;
use futures::stream::BoxStream;
use planwright_protocol::event::Usage;
use planwright_protocol::{AttachedImage, MessageId, Mode, Problem};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// How many tokens a model is taken to read of which nothing is known.
pub const DEFAULT_CONTEXT: u64 = 128_000;

#[async_trait]
pub trait Provider: Send + Sync {
    /// `provider/model`, as people configure it and the audit log keeps it.
    fn name(&self) -> &str;

    /// How many tokens a request and its reply may have together.
    fn context_tokens(&self) -> u64 {
        DEFAULT_CONTEXT
    }

    /// Whether it can look at images.
    fn takes_images(&self) -> bool {
        false
    }

    /// Asks for one reply. Dropping the stream cancels it.
    ///
    /// # Errors
    /// One of the `PROVIDER_*` codes, saying what to do.
    async fn stream(&self, request: Request) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub system: String,
    pub messages: Arc<Vec<ModelMessage>>,
    /// The images of the conversation that the model is to see, by their sums.
    pub images: HashMap<String, Arc<[u8]>>,
    pub tools: Vec<ToolDefinition>,
    pub mode: Mode,
    pub purpose: Purpose,
    /// How often the model has replied in this conversation.
    pub replies: Replies,
    /// What a delegate was told to do; `None` for the chat's own agent.
    pub task: Option<String>,
}

/// What a reply is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To go on with the chat.
    Reply,
    /// To sum it up.
    Summary,
    /// To say in one word what the user means; see [`crate::intent::classifier`].
    Intent,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// One entry of the conversation as every wire format has it.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage {
    User(String),
    /// Belongs to the words before it.
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

/// What a model wants back of its own reply, such as its signed reasoning, in words that nobody else reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// Whose it is: another model must not get it.
    pub model: String,
    /// The reply it came with.
    pub reply: MessageId,
    pub value: Value,
}

/// What an image is counted as: about as much text as vendors charge for a large one.
pub(crate) const IMAGE_SIZE: usize = 4800;

/// What a model reads in place of an image that it is not shown.
pub const NOT_SHOWN: &str = "(An image stood here that you are not shown. If you need to know what is in it, ask the user.)";

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

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    /// A whole call; half of one is never passed on.
    Call(ModelCall),
    Usage(Usage),
    /// To be kept with the reply and given back with it as [`Native`].
    Native(Value),
}
