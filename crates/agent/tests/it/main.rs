//! The agent's decisions against the guard cases, as one test binary.

mod intent;
