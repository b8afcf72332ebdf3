//! Errors of the store, and what clients are told of them.

use crate::{failure, room};
use planwright_protocol::{ErrorCode, Problem};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database failed: {0}")]
    Database(sqlx::Error),
    #[error("the database holds something that can't be read: {0}")]
    Garbled(String),
    #[error(
        "the database was written by a newer version of Planwright (schema {found}, this one knows {known}); use that version, or another database"
    )]
    Newer { found: i64, known: i64 },
    #[error("the database URL can't be read: {0}; it looks like postgres://USER:PASSWORD@HOST/DATABASE")]
    Address(String),
    #[error("PostgreSQL can't be reached ({place}): {reason}. Is it running, and is the database URL right?")]
    Unreachable { place: String, reason: String },
    #[error("another planwright uses this database; stop it, or give another --database-url")]
    InUse,
    #[error("can't reach the database: {0}")]
    Away(sqlx::Error),
    #[error("the connection to the database was lost while a change was being stored: {0}")]
    OutcomeUnknown(sqlx::Error),
    #[error("another planwright has taken this database over; start this one again")]
    TakenOver,
    #[error("the chat has changed since it was read; nothing was stored")]
    Stale,
}

impl StoreError {
    /// Whether the disk had no room for it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        // SQLITE_FULL, SQLITE_IOERR_SHMSIZE, and PostgreSQL's disk_full.
        const CODES: [&str; 3] = ["13", "4874", "53100"];
        let StoreError::Database(error) = self else { return false };
        error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| CODES.contains(&&*code))
    }

    /// Whether the same write may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            StoreError::Away(_) => true,
            StoreError::Database(error) => failure::is_passing(error),
            StoreError::Garbled(_)
            | StoreError::Newer { .. }
            | StoreError::Address(_)
            | StoreError::Unreachable { .. }
            | StoreError::InUse
            | StoreError::OutcomeUnknown(_)
            | StoreError::TakenOver
            | StoreError::Stale => false,
        }
    }

    /// What a failed COMMIT means: if the connection is lost, the server may have stored everything.
    pub(crate) fn of_commit(error: sqlx::Error) -> Self {
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

/// What a client is told of it.
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
                    "The connection to the database was lost ({reason}), so it is not known whether the change was stored. Look before you try again."
                );
                return Problem { retryable: false, ..Problem::new(ErrorCode::NotReady, text) };
            }
            StoreError::TakenOver => "Another planwright has taken this database over. Start this one again.".to_owned(),
            StoreError::Stale => "The chat has changed since it was read, so nothing was stored. Load it again, then try again.".to_owned(),
            StoreError::Database(_)
            | StoreError::Garbled(_)
            | StoreError::Newer { .. }
            | StoreError::Address(_)
            | StoreError::Unreachable { .. }
            | StoreError::InUse => format!("The database failed: {error}. Nothing was changed; check the database, then try again."),
        };
        Problem::new(ErrorCode::Internal, text)
    }
}
