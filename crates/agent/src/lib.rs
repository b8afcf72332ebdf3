//! The agent's logic: what to do next, what to send to the model, how to read its answers.
//!
//! | module | contents |
//! | --- | --- |
//! | [`turn`] | the pure state machine that decides what comes next, rebuilt from a chat's history |
//! | [`driver`] | the loop that executes its decisions |
//! | [`provider`] | the interface to a model: one request, one stream of deltas |
//! | [`history`] | a chat's history in the form that a model reads |
//! | [`render`] | single messages as text for a model |
//! | [`fit`] | shortens a conversation until it fits a model's context |
//! | [`thread`] | the conversations of one chat: its own, and those of delegated tasks |
//! | [`compaction`] | what remains of a conversation that has grown too long |
//! | [`answer`] | plans and questions in a model's answer |
//! | [`intent`] | whether a user's message orders execution, or is too small to need a plan |
//! | [`prompt`], `wire_schema` | the system prompt, composed of prose files and facts; the tools that go with it |
//!
//! Invariants: nothing here reads a file, a socket or a clock. A model is only reached through [`Provider`].

pub mod answer;
pub mod compaction;
pub mod driver;
pub mod fit;
pub mod history;
pub mod intent;
pub mod prompt;
pub mod provider;
pub mod render;
#[cfg(test)]
mod samples;
pub mod thread;
pub mod turn;
mod wire_schema;

pub use driver::{TurnOutcome, World, drive, out_of_turns};
pub use history::Replies;
pub use provider::{Delta, IMAGE_PLACEHOLDER, ModelCall, ModelMessage, ModelRequest, Native, Provider, Purpose, ToolDefinition};
pub use turn::{Step, Turn};
