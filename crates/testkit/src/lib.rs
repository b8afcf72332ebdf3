//! For tests only: what they drive the product with from outside.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`home`] | folders, configuration and a script for the model |
//! | [`client`] | a client of the API, over HTTP or within a process |
//! | [`browser`] | the same as a page in a browser uses it |
//! | [`operations`] | all operations of the API, by its own description |
//! | [`team`] | a server with three accounts and two workspaces |
//! | [`script`] | parts of scripts for the model |
//! | [`server`] | the real binary, started, driven over HTTP and killed |
//! | [`editor`] | the same, driven as an editor does |
//! | [`chance`] | random numbers that can be met again |
//! | [`mod@bench`] | what benchmarks print, and how they judge |
//! | [`stopwatch`] | how long something took, on a machine that has other work too |
//! | [`stream`] | its event streams, as a client reads them |
//! | [`terminal`] | a program on a terminal of its own, seen and typed at as a person does |
//! | [`model_server`] | a model that says what a test wants it to, over HTTP, on the wires of the vendors |
//! | [`guard`] | the attacks of `guard-cases.json`: loading them, their fixture, their invariants |
//! | [`nats`] | a NATS server of their own |
//! | [`postgres`] | a PostgreSQL server of their own

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this crate is part of tests"
)]

pub mod bench;
pub mod browser;
pub mod chance;
pub mod client;
pub mod editor;
pub mod guard;
pub mod home;
pub mod model_server;
pub mod nats;
pub mod operations;
pub mod postgres;
pub mod script;
pub mod server;
pub mod stopwatch;
pub mod stream;
pub mod team;
pub mod terminal;

use std::time::Duration;

/// Far longer than anything takes on a busy machine: only a test that hangs waits this long. A test waits for what it needs,
/// or for the end of the process that would bring it; this is so that it says what was missing.
pub const PATIENCE: Duration = Duration::from_mins(10);
