//! Signing in by accounts.

mod accounts;
