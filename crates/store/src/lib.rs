//! Persistent data: workspaces, chats, messages, events, approvals and the audit log, in SQLite or PostgreSQL.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `store` | opening, migrations, and what all tables share |
//! | `accounts` | accounts, sessions and tokens |
//! | `backup` | backups of a database file, and restoring them |
//! | `append`, `append_write` | the only write that changes a chat |
//! | `chats` | chats and their histories |
//! | `events` | the event log of a chat |
//! | `inbox` | chats of all workspaces that need attention, and viewed files |
//! | `messages`, `search` | reading and searching messages, in one chat or in all |
//! | `turns` | the messages of a model's conversation |
//! | `ops`, `requests` | stored ops of chats and other requests, by their idempotency keys |
//! | `counts` | the audit log, counted by day |
//! | `records` | approvals and the audit log |
//! | `members` | the members of workspaces and their rights |
//! | `retention` | deleting old data |
//! | `versions` | file versions before and after each call |
//! | `contents` | collecting unreferenced file contents in small steps |
//! | `workspaces`, `workspace_removal` | workspaces, and deleting them in small steps |
//! | `pages` | pages of messages and events, limited by bytes |
//! | `db`, `arg` | one interface to both databases, and query arguments |
//! | `rows` | statements that write many rows, with one text for both databases |
//! | `sqlite`, `group_commit` | SQLite; appends that share a commit |
//! | `postgres`, `postgres_session`, `escape`, `postgres_appends` | PostgreSQL; appends in one round trip each |
//! | `ownership`, `owner`, `node`, `leases` | which process may write what: one process alone, or nodes with leases of workspaces |
//! | `nodes`, `parcels` | the nodes for people, where a workspace is; messages that are too large for the bus |
//! | `error`, `failure` | errors: which are temporary, and after which the outcome is unknown |
//!
//! Invariants: acknowledged data is on disk; an event and its records are one transaction; there is no SQL outside this crate; no
//! query is written twice, once for each database; secrets are stored only as hashes.

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
mod leases;
mod marks;
mod members;
mod messages;
mod node;
mod nodes;
mod ops;
mod owner;
mod ownership;
mod pages;
mod parcels;
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
pub use counts::{AuditCount, CountKey, UtcOffset};
pub use error::StoreError;
pub use events::StoredEvent;
pub use inbox::{InboxEntry, InboxRow, ViewedFile};
pub use leases::{LeaseChange, Leases, Tenure};
pub use marks::Marks;
pub use members::{MemberChange, MemberRow};
pub use node::NodeOptions;
pub use nodes::{LeaseRow, NodePlace, NodeRow};
pub use ops::OpRecord;
pub use planwright_protocol::api::workspace::{Right, WorkspaceRow};
pub use records::{Adherence, ApprovalRow, AuditCursor, AuditEntry, AuditFilter, AuditKind, AuditRow};
pub use requests::{RequestKey, RequestState};
pub use room::Room;
pub use search::SearchMatch;
pub use store::Store;
pub use turns::{TurnMessages, TurnWindow};
pub use versions::{Content, FileChangeRow, StoredChange, Versions};
pub use workspaces::Added;
