//! What survives a restart: workspaces, chats, messages, events, approvals, the audit log.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`store`](Store) | opening, and what all tables share |
//! | [`chats`] | chats and their histories; the one write that a session makes |
//! | [`records`] | approvals and the audit log |
//! | [`workspaces`] | the folders |
//!
//! Invariants: what has been acknowledged is on disk; an event and what it tells of are one transaction;
//! no SQL stands outside this crate.

mod chats;
mod records;
mod store;
mod workspaces;

pub use chats::{Append, ChatFilter, ChatRow, GrantRow};
pub use records::{ApprovalRow, AuditKind, AuditRow};
pub use store::{Store, StoreError};
pub use workspaces::WorkspaceRow;
