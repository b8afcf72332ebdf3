//! Models behind the agent's [`Provider`](planwright_agent::Provider) trait.
//!
//! | module | contents |
//! | --- | --- |
//! | [`catalog`] | vendors and their models: sizes and prices, from one data file each |
//! | [`endpoint`] | a provider's address and options |
//! | [`remote`] | a model behind a wire format, with retries |
//! | `reply` | streams a reply: text at once, calls only when the reply is complete |
//! | `reply_guard` | limits on a reply's JSON, checked before the wire library parses it |
//! | `thinking` | separates reasoning that a model writes into its answer |
//! | `conversation` | converts the conversation to the wire formats |
//! | `reply_start` | the first bytes of a reply, for early usage data |
//! | `actions` | tool calls for models without native ones |
//! | `problem` | error messages that say what to do |
//! | [`retry`] | when to retry |
//! | [`transport`] | HTTP for every wire format: limits, proxies, certificates |
//! | [`script`] | plays a file of scripted turns, for tests and demos |
//! | [`demo`] | the built-in script on the sample workspace |
//!
//! Invariants: a provider keeps no state between requests; its reply depends on the request alone. Calls are passed on only when
//! their reply is complete. No key appears in an error, a log or an address.

mod actions;
pub mod catalog;
mod conversation;
pub mod demo;
pub mod endpoint;
mod problem;
pub mod remote;
mod reply;
mod reply_guard;
mod reply_start;
pub mod retry;
pub mod script;
mod thinking;
pub mod transport;

pub use endpoint::Endpoint;
pub use remote::{Remote, check, list};
pub use retry::RetryNotice;
pub use script::Script;
pub use secrecy::SecretString;
pub use transport::Timeouts;

/// Selects the process's cryptography. Call it before anything connects.
pub fn install_cryptography() {
    // The first call wins.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
