//! The attacks of `guard-cases.json`.
