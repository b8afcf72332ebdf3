//! What survives a restart: workspaces, chats, messages, events, approvals, the audit log; in SQLite or PostgreSQL.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `store` | opening, migrations, and what all tables share |
//! | `accounts` | who may sign in, and by what |
//! | `backup` | a copy of a database file, and its way back |
//! | `append`, `append_write` | the one write that changes a chat |
//! | `chats` | chats and their histories |
//! | `events` | the log of a chat's events |
//! | `inbox` | work of all workspaces, and the files that people have looked at |
//! | `messages`, `search` | single messages: found, searched for, in one chat or in all |
//! | `turns` | the messages that a model reads |
//! | `ops`, `requests` | ops of chats and other requests that were stored, by their ids |
//! | `counts` | the audit log, counted by day |
//! | `records` | approvals and the audit log |
//! | `members` | who may do what in which workspace |
//! | `retention` | what has become old |
//! | `versions` | what calls changed in files, before and after |
//! | `contents` | contents of files that nothing refers to any more, collected in small steps |
//! | `workspaces`, `workspace_removal` | the folders; how they go, in small steps |
//! | `pages` | messages and events, a bounded number of bytes at a time |
//! | `db`, `arg` | one way to ask either database, and with which arguments |
//! | `rows` | statements that write many rows, from one text for both |
//! | `sqlite`, `group_commit` | a database in a file; appends that share a commit |
//! | `postgres`, `postgres_session`, `escape`, `owner`, `postgres_appends` | a database on a server; who owns it; appends in one round trip each |
//! | `error`, `failure` | errors; which of them pass, and after which the outcome is unknown |
//!
//! Invariants: what has been acknowledged is on disk; an event and what it tells of are one transaction;
//! no SQL stands outside this crate; no query is written twice, once for each database;
//! no secret is stored that could be used again, only its hash.

mod accounts;
mod append;
mod append_write;
mod arg;
mod backup;
mod bounds;
mod chats;
mod contents;
mod counts;
mod db;
mod error;
mod escape;
mod events;
mod failure;
mod group_commit;
mod images;
mod inbox;
mod marks;
mod members;
mod messages;
mod ops;
mod owner;
mod pages;
mod postgres;
mod postgres_appends;
mod postgres_session;
mod records;
mod requests;
mod retention;
mod room;
mod rows;
mod search;
mod sqlite;
mod store;
mod turns;
mod versions;
mod workspace_removal;
mod workspaces;

pub use accounts::{Account, Bearer, Digest, Rank, Removal, TokenRow, UserRow};
pub use append::Append;
pub use backup::{BackupError, BackupSummary};
pub use chats::{ChatCursor, ChatFilter, ChatRow, GrantRow, TurnStart};
pub use counts::{Ahead, AuditCount, Counted};
pub use error::StoreError;
pub use events::StoredEvent;
pub use inbox::{InboxEntry, InboxRow, ViewedFile};
pub use marks::Marks;
pub use members::{MemberChange, MemberRow, Right};
pub use ops::OpRecord;
pub use records::{Adherence, ApprovalRow, AuditCursor, AuditEntry, AuditFilter, AuditKind, AuditRow};
pub use requests::{RequestKey, RequestState};
pub use room::Room;
pub use search::Found;
pub use store::Store;
pub use turns::{TurnMessages, TurnWindow};
pub use versions::{Content, FileChangeRow, StoredChange, Versions};
pub use workspaces::{Added, WorkspaceRow};
