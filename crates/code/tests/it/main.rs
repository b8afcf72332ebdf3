//! Outlines, definitions and uses in each language, compared with `golden`.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking, and read fixtures and sources")]

mod hostile;
mod languages;
mod own_source;
