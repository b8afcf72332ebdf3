//! What survives a restart: workspaces, chats, messages, events, approvals, the audit log; in SQLite or PostgreSQL.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `store` | opening, migrations, and what all tables share |
//! | `accounts` | who may sign in, and by what |
//! | `backup` | a copy of a database file, and its way back |
//! | `chats` | chats and their histories; the one write that a session makes |
//! | `inbox` | work of all workspaces, and the files that people have looked at |
//! | `messages` | single messages: found, searched for, sent once |
//! | `counts` | the audit log, counted by day |
//! | `records` | approvals and the audit log |
//! | `members` | who may do what in which workspace |
//! | `retention` | what has become old |
//! | `versions` | what calls changed in files, before and after |
//! | `workspaces` | the folders |
//! | `pages` | messages and events, a bounded number of bytes at a time |
//! | `db` | one way to ask either database |
//! | `sqlite`, `postgres` | what is different about each |
//!
//! Invariants: what has been acknowledged is on disk; an event and what it tells of are one transaction;
//! no SQL stands outside this crate; no query is written twice, once for each database;
//! no secret is stored that could be used again, only its hash.

mod accounts;
mod backup;
mod bounds;
mod chats;
mod counts;
mod db;
mod images;
mod inbox;
mod marks;
mod members;
mod messages;
mod pages;
mod postgres;
mod records;
mod retention;
mod room;
mod sqlite;
mod store;
mod versions;
mod workspaces;

pub use accounts::{Account, Bearer, Digest, Rank, Removal, TokenRow, UserRow};
pub use backup::{BackupError, BackupSummary};
pub use chats::{Append, ChatCursor, ChatFilter, ChatRow, GrantRow, StoredEvent};
pub use counts::{Ahead, AuditCount, Counted};
pub use inbox::{InboxEntry, InboxRow, ViewedFile};
pub use marks::Marks;
pub use members::{MemberChange, MemberRow, Right};
pub use messages::{Found, MessageKey};
pub use records::{Adherence, ApprovalRow, AuditCursor, AuditEntry, AuditFilter, AuditKind, AuditRow};
pub use room::Room;
pub use store::{Store, StoreError};
pub use versions::{Content, FileChangeRow, StoredChange, Versions};
pub use workspaces::{Added, WorkspaceRow};
