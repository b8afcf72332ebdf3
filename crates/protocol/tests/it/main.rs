//! Messages, from outside.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking and read their golden files themselves")]

mod messages;
