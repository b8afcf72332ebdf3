//! Opens a SQLite database.

use crate::db::Db;
use crate::error::StoreError;
use crate::group_commit::GroupCommit;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Opens the file, and creates it if it is missing.
pub(crate) async fn open(file: &Path) -> Result<Db, StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // A backup or a user's shell may lock the database for a while.
        .busy_timeout(Duration::from_secs(30));
    // One connection: SQLite has one writer, and waiting for a connection is fair. On a full disk SQLite ends a transaction by
    // itself. The rollback that follows fails, and the connection would count as in a transaction forever. Such a connection is
    // replaced.
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
        .connect_with(options.clone())
        .await?;
    // Connects at first use, after the migrations, so that readers never see an older schema.
    // They keep a quarter of the usual pages: most are in the system's cache anyway, and four connections would keep each four times.
    let read_only = options.read_only(true).pragma("cache_size", "-512");
    let reader = SqlitePoolOptions::new().max_connections(4).connect_lazy_with(read_only);
    let room = Arc::default();
    let appends = GroupCommit::start(writer.clone(), Arc::clone(&room));
    Ok(Db::Sqlite { writer, reader, appends, room })
}
