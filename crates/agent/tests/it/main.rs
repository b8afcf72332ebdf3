//! The agent's decisions against the guard cases, as one test binary.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod intent;
