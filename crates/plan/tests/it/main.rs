//! Plan files, from outside.
#![expect(
    clippy::disallowed_methods,
    clippy::format_collect,
    reason = "tests read their golden files themselves, and speed is nothing to them"
)]

mod plan;
