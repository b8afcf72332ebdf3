//! The terminal UI without a terminal: states by keys and events, and their pictures.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod fixtures;
mod hostile;
mod keys;
mod pictures;
