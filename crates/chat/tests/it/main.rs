//! What the session promises, seen from within the process.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests fail by panicking and look at files themselves")]

mod memory;
mod prompt;
mod review;
mod switches;
