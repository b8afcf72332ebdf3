//! For tests only: what they drive the product with from outside.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`server`] | the real binary, started, driven over HTTP and killed |
//! | [`guard`] | the attacks of `guard-cases.json`: loading them, their fixture, their invariants |
//! | [`postgres`] | a PostgreSQL server of their own

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, reason = "this crate is part of tests")]

pub mod guard;
pub mod postgres;
pub mod server;
