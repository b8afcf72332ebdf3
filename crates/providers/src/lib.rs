//! Models behind the agent's [`Provider`](planwright_agent::Provider) trait.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`catalog`] | vendors and their models: sizes and prices, from one file of data each |
//! | [`endpoint`] | where a provider is and how it is asked |
//! | [`remote`] | a model behind a wire, asked and asked again |
//! | `reply` | a reply as it comes: words at once, calls only when all of it is there |
//! | `reply_guard` | limits on a reply's JSON, checked before the wire library reads it |
//! | `thinking` | reasoning that a model writes into its answer |
//! | `conversation` | the conversation as the wires take it |
//! | `beginning` | the first bytes of a reply, for what a wire tells there |
//! | `actions` | tool calls for models that were not taught to make them |
//! | `problem` | what went wrong and what to do about it |
//! | [`retry`] | when to ask again |
//! | [`transport`] | HTTP for every wire: limits, proxies, certificates |
//! | [`script`] | plays a file of scripted turns: for tests and demonstrations |
//! | [`demo`] | the built-in script on the sample workspace |
//!
//! Invariants: a provider keeps no state between requests; what it answers depends on the request alone. No call is
//! passed on before its reply is whole. No key is in an error, a log or an address.

mod actions;
mod beginning;
pub mod catalog;
mod conversation;
pub mod demo;
pub mod endpoint;
mod problem;
pub mod remote;
mod reply;
mod reply_guard;
pub mod retry;
pub mod script;
mod thinking;
pub mod transport;

pub use endpoint::Endpoint;
pub use remote::{Remote, check, list};
pub use retry::Again;
pub use script::Script;
pub use secrecy::SecretString;
pub use transport::Patience;

/// Chooses the cryptography of the process. To be called before anything connects.
pub fn install_cryptography() {
    // Whoever was first has chosen.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
