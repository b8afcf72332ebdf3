use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, SqlitePool};
use std::path::Path;
use std::time::Duration;

/// The database. Cloning it is cheap; all clones are the same one.
#[derive(Clone, Debug)]
pub struct Store {
    /// One connection: the database has one writer, and waiting here is fair.
    pub(crate) writer: SqlitePool,
    pub(crate) reader: SqlitePool,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    #[error("the database holds something that can't be read: {0}")]
    Garbled(String),
    #[error(
        "the database was written by a newer version of Planwright (schema {found}, this one knows {known}); use that version, or another data directory"
    )]
    Newer { found: i64, known: i64 },
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        StoreError::Garbled(error.to_string())
    }
}

/// Each is applied once, in order, in a transaction of its own.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_start.sql")];

impl Store {
    /// Opens the database in a file, made if it is not there, and brings it up to date.
    ///
    /// # Errors
    /// The file can't be opened, or is newer than this program.
    pub async fn open(file: &Path) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10));
        let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
        let reader = SqlitePoolOptions::new().max_connections(4).connect_with(options.read_only(true)).await?;
        let store = Self { writer, reader };
        store.migrate().await?;
        Ok(store)
    }

    /// Writes what is still in memory and lets go of the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        let found: i64 = sqlx::query_scalar("pragma user_version").fetch_one(&self.writer).await?;
        if found > known {
            return Err(StoreError::Newer { found, known });
        }
        for (index, sql) in MIGRATIONS.iter().enumerate().skip(usize::try_from(found).unwrap_or_default()) {
            let mut transaction = self.writer.begin().await?;
            sqlx::raw_sql(*sql).execute(&mut *transaction).await?;
            sqlx::raw_sql(AssertSqlSafe(format!("pragma user_version = {}", index + 1))).execute(&mut *transaction).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}

pub(crate) fn micros(at: planwright_protocol::Timestamp) -> i64 {
    at.as_microsecond()
}

pub(crate) fn timestamp(micros: i64) -> Result<planwright_protocol::Timestamp, StoreError> {
    planwright_protocol::Timestamp::from_microsecond(micros).map_err(|error| StoreError::Garbled(error.to_string()))
}

/// The wire name of an enum's variant, which is also what is stored of it.
pub(crate) fn word(value: impl serde::Serialize) -> Result<String, StoreError> {
    let value = serde_json::to_value(value)?;
    value.as_str().map(str::to_owned).ok_or_else(|| StoreError::Garbled(format!("{value} is not a word")))
}

pub(crate) fn from_word<T: serde::de::DeserializeOwned>(word: &str) -> Result<T, StoreError> {
    Ok(serde_json::from_value(serde_json::Value::String(word.to_owned()))?)
}
