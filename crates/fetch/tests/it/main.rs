//! Fetching from a server of our own that does everything a hostile one could.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod hostile;
mod lab;
mod searches;
