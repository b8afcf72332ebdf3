//! Plans and questions, from outside.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_collect,
    reason = "tests read their golden files themselves, and speed is nothing to them"
)]

mod plan;
mod question;
