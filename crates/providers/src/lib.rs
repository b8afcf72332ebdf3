//! Models behind the agent's [`Provider`](planwright_agent::Provider) trait.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`script`] | plays a file of scripted turns: for tests and demonstrations |
//! | [`demo`] | the built-in script on the sample workspace |
//!
//! Invariant: a provider keeps no state between requests; what it answers depends on the request alone.

pub mod demo;
pub mod script;

pub use script::Script;
