//! The gate and the file tools under attack, as one test binary.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking and look at files themselves")]

mod child;
mod faults;
mod guard;
mod plan_mode;
mod races;
mod subject;
