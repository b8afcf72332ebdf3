//! The agent's decisions against the guard cases, as one test binary.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking, and read and write their own files")]

mod intent;
mod prompt_size;
mod prompts;
