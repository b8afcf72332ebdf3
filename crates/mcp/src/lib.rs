//! MCP servers, as tools.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`launch`] | what is run for it, and what of the machine it has to see |
//! | [`names`] | what its tools are called, and which names are too much alike |
//! | [`offer`] | what it offers, held against what the user accepted |
//! | [`pins`] | what the user accepted |
//! | [`process`] | a server that is a program, in the sandbox |
//! | [`ear`] | how much it may say, and what of that is no message |
//! | [`http`] | a server that has an address |
//! | [`link`] | talking to either, within limits |
//! | [`mask`] | values that stand in nothing a server says |
//! | [`answer`] | what it says, as data |
//! | [`tool`] | one of its tools |
//! | [`desk`] | one server in use |
//! | [`set`] | the servers of a workspace |
//!
//! Invariants: nothing is started that the user has not accepted; no text of a server reaches a model that is not the one which
//! was accepted, but as the result of a call; no word of a server counts as an order, or raises a right; no value of a variable of
//! our own environment is in anything that is told of a server: all that it says passes through [`link`], and is masked there.

mod answer;
mod desk;
mod ear;
mod http;
mod launch;
mod link;
mod mask;
mod names;
mod offer;
mod pins;
mod process;
mod set;
mod tool;

pub use desk::View;
pub use pins::{Pin, PinnedTool, Pins};
pub use set::{Pool, ServerSet, Trusting};
