//! The store's errors, and their messages for clients.

use crate::{failure, room};
use planwright_protocol::{ErrorCode, Problem};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database failed: {0}")]
    Database(sqlx::Error),
    #[error("the database contains invalid data: {0}")]
    Garbled(String),
    #[error(
        "the database was written by a newer version of Planwright (schema {found}, this one supports {known}); use that version, or another database"
    )]
    Newer { found: i64, known: i64 },
    #[error("invalid database URL: {0}; the form is postgres://USER:PASSWORD@HOST/DATABASE")]
    Address(String),
    #[error("can't reach PostgreSQL ({place}): {reason}. Check that it is running and that the database URL is right")]
    Unreachable { place: String, reason: String },
    #[error(
        "another planwright uses this database; stop it, give another --database-url, or start all of them with --nats-url and a --node name each"
    )]
    InUse,
    #[error(
        "the nodes {0} use this database together; join them with --nats-url and a --node name of your own, stop them, or give another --database-url"
    )]
    NodesRun(String),
    #[error("another process is running as node {0} on this database; give this one another --node name")]
    NodeInUse(String),
    #[error(
        "node {node} has version {theirs}, and this is {ours}: nodes work together if their versions are neighbours. Upgrade one minor version at a time, or stop the other nodes first"
    )]
    NodeVersion { node: String, theirs: String, ours: String },
    #[error("the workspace is at another node")]
    NotHere,
    #[error("can't reach the database: {0}")]
    Away(sqlx::Error),
    #[error("the connection to the database was lost while a change was being stored: {0}")]
    OutcomeUnknown(sqlx::Error),
    #[error("another planwright has taken over this database; restart this one")]
    TakenOver,
    #[error("the chat has changed since it was read; nothing was stored")]
    Stale,
}

impl StoreError {
    /// Whether the disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        // SQLITE_FULL, SQLITE_IOERR_SHMSIZE, and PostgreSQL's disk_full.
        const CODES: [&str; 3] = ["13", "4874", "53100"];
        let StoreError::Database(error) = self else { return false };
        error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| CODES.contains(&&*code))
    }

    /// Whether the same write may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            StoreError::Away(_) => true,
            StoreError::Database(error) => failure::is_temporary(error),
            StoreError::Garbled(_)
            | StoreError::Newer { .. }
            | StoreError::Address(_)
            | StoreError::Unreachable { .. }
            | StoreError::InUse
            | StoreError::NodesRun(_)
            | StoreError::NodeInUse(_)
            | StoreError::NodeVersion { .. }
            | StoreError::NotHere
            | StoreError::OutcomeUnknown(_)
            | StoreError::TakenOver
            | StoreError::Stale => false,
        }
    }

    /// The meaning of a failed COMMIT: if the connection was lost, the server may have stored everything.
    pub(crate) fn from_commit(error: sqlx::Error) -> Self {
        if failure::is_unreachable(&error) { StoreError::OutcomeUnknown(error) } else { StoreError::from(error) }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if failure::is_unreachable(&error) {
            return StoreError::Away(error);
        }
        let error = StoreError::Database(error);
        if error.is_full() {
            room::note_full();
        }
        error
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        StoreError::Garbled(error.to_string())
    }
}

/// The message for clients.
impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if error.is_full() {
            let text = "The disk is full, so nothing was stored. Free some space on the disk of the data folder, then try again.";
            return Problem::new(ErrorCode::StorageFull, text);
        }
        let text = match &error {
            StoreError::Away(reason) => {
                let text = format!("Can't reach the database: {reason}. Check that it is running, then try again.");
                return Problem::new(ErrorCode::NotReady, text);
            }
            StoreError::OutcomeUnknown(reason) => {
                let text = format!(
                    "The connection to the database was lost ({reason}), so the change may or may not be stored. Check before you retry."
                );
                return Problem { retryable: false, ..Problem::new(ErrorCode::NotReady, text) };
            }
            StoreError::NotHere => {
                let text = "This workspace is at another node now, or at none for a moment. Try again in a few seconds.";
                return Problem::new(ErrorCode::NodeAway, text);
            }
            StoreError::TakenOver => "Another planwright has taken over this database. Restart this one.".to_owned(),
            StoreError::Stale => "The chat has changed since it was read, so nothing was stored. Load it again, then try again.".to_owned(),
            StoreError::Database(_)
            | StoreError::Garbled(_)
            | StoreError::Newer { .. }
            | StoreError::Address(_)
            | StoreError::Unreachable { .. }
            | StoreError::InUse
            | StoreError::NodesRun(_)
            | StoreError::NodeInUse(_)
            | StoreError::NodeVersion { .. } => {
                format!("The database failed: {error}. Nothing was changed; check the database, then try again.")
            }
        };
        Problem::new(ErrorCode::Internal, text)
    }
}
