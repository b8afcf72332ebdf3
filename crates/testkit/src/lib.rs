//! For tests only: what they drive the product with from outside.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`server`] | the real binary, started, driven over HTTP and killed |
//! | [`guard`] | the attacks of `guard-cases.json`: loading them, their fixture, their invariants |

pub mod guard;
pub mod server;
