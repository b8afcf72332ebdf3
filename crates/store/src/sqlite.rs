//! A database in a file.

use crate::db::Db;
use crate::error::StoreError;
use crate::group_commit::GroupCommit;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Opens the file, made if it is not there.
pub(crate) async fn open(file: &Path) -> Result<Db, StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // A backup or a person with a shell may hold the database for a while.
        .busy_timeout(Duration::from_secs(30));
    // One connection: the database has one writer, and waiting here is fair.
    // On a full disk the database ends a transaction by itself; what is rolled back then is not there, and the connection would count
    // as in a transaction for good. Such a one is replaced.
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
        .connect_with(options.clone())
        .await?;
    // Connected when first used, which is after the tables were brought up to date: what reads must not know older ones.
    let reader = SqlitePoolOptions::new().max_connections(4).connect_lazy_with(options.read_only(true));
    let room = Arc::default();
    let appends = GroupCommit::start(writer.clone(), Arc::clone(&room));
    Ok(Db::Sqlite { writer, reader, appends, room })
}
