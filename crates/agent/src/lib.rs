//! How an agent thinks: what to do next, what to tell the model, how to read its answers.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`turn`] | the pure machine that says what comes next; rebuilt from a chat's history |
//! | [`driver`] | the loop that obeys it |
//! | [`provider`] | what a model is: one request, one stream of deltas |
//! | [`history`] | a chat's history as a model reads it |
//! | [`render`] | messages as the text that a model reads |
//! | [`fit`] | cuts a conversation to what a model can take |
//! | [`thread`] | the conversations of one chat: its own, and those of tasks that were handed on |
//! | [`compaction`] | what stays of a conversation that has grown too long |
//! | [`answer`] | plans and questions in a model's answer |
//! | [`intent`] | whether what the user wrote is an order to begin, or too small for a plan |
//! | [`prompt`], `wire_schema` | the system prompt, composed of prose files and facts; the tools that go with it |
//!
//! Invariants: nothing here reads a file, a socket or a clock; a model is only ever reached through [`Provider`].

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

pub use driver::{Outcome, World, drive, out_of_turns};
pub use history::Replies;
pub use provider::{Delta, ModelCall, ModelMessage, NOT_SHOWN, Native, Provider, Purpose, Request, ToolDefinition};
pub use turn::{Step, Turn};
