//! What a model is to the rest: one request, one stream of deltas.

use async_trait::async_trait;
use futures::stream::BoxStream;
use planwright_protocol::event::Usage;
use planwright_protocol::{Mode, Problem};
use serde_json::Value;
use std::sync::Arc;

#[async_trait]
pub trait Provider: Send + Sync {
    /// `provider/model`, as people configure it and the audit log keeps it.
    fn name(&self) -> &str;

    /// How much of a conversation the model can read, its reply included; `None` if that is not known.
    fn context_tokens(&self) -> Option<u64> {
        None
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
    pub tools: Vec<ToolDefinition>,
    pub mode: Mode,
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
    Assistant { mode: Mode, text: String, calls: Vec<ModelCall>, native: Option<Native> },
    ToolResult { call_id: String, text: String },
}

/// What a model wants back of its own reply, such as its signed reasoning, in words that nobody else reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// Whose it is: another model must not get it.
    pub model: String,
    /// The reply it came with.
    pub reply: String,
    pub value: Value,
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
