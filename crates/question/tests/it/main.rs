//! Questions, from outside.
#![expect(clippy::unwrap_used, reason = "tests may")]

mod question;
