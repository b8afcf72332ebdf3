use crate::contents::Collector;
use crate::db::Db;
use crate::error::StoreError;
use crate::room::Room;
use crate::{postgres, sqlite};
use std::path::Path;
use std::sync::Arc;

/// The database. Cloning it is cheap; all clones are the same one.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) db: Db,
    pub(crate) collector: Collector,
}

/// One step of the schema, in the words of each database.
struct Migration {
    number: i64,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migration {
    ($number:literal $name:literal) => {
        Migration {
            number: $number,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        }
    };
}

/// Each is applied once, in the order of the numbers, in a transaction of its own.
const MIGRATIONS: &[Migration] = &[
    migration!(1 "0001_start"),
    migration!(2 "0002_audit"),
    migration!(3 "0003_progress"),
    migration!(4 "0004_file_changes"),
    migration!(5 "0005_trust"),
    migration!(6 "0006_accounts"),
    migration!(7 "0007_retries"),
    migration!(8 "0008_audit_kept"),
    migration!(9 "0009_mcp_pins"),
    migration!(10 "0010_images"),
    migration!(11 "0011_inbox"),
    migration!(12 "0012_appends"),
    migration!(13 "0013_cost"),
    migration!(14 "0014_events_by_reference"),
    migration!(15 "0015_turns"),
    migration!(16 "0016_model_choice"),
    migration!(17 "0017_removal"),
    migration!(18 "0018_ops"),
    migration!(19 "0019_search"),
    migration!(20 "0020_step_choice"),
];

impl Store {
    /// Opens the database in a file, made if it is not there, and brings it up to date.
    ///
    /// # Errors
    /// The file can't be opened, or is newer than this program.
    pub async fn open(file: &Path) -> Result<Self, StoreError> {
        Self::migrated(sqlite::open(file).await?).await
    }

    /// Opens the PostgreSQL database at a URL, and brings it up to date.
    ///
    /// # Errors
    /// It can't be reached, another process uses it, or it is newer than this program.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::migrated(postgres::open(url).await?).await
    }

    /// Opens the database in a file beside a server that may be using it, for what servers look up each time: accounts.
    /// `None` if it is not there, or would first have to be brought up to date.
    ///
    /// # Errors
    /// The file can't be opened, or is newer than this program.
    pub async fn visit(file: &Path) -> Result<Option<Self>, StoreError> {
        if !file.exists() {
            return Ok(None);
        }
        Self::current(sqlite::open(file).await?).await
    }

    /// The same for the PostgreSQL database at a URL.
    ///
    /// # Errors
    /// It can't be reached, or is newer than this program.
    pub async fn visit_server(url: &str) -> Result<Option<Self>, StoreError> {
        Self::current(postgres::visit(url).await?).await
    }

    /// Has somebody make room when the disk of a database in a file is full.
    #[must_use]
    pub fn with_room(self, keeper: Arc<dyn Room>) -> Self {
        if let Db::Sqlite { room, .. } = &self.db {
            let _ = room.set(keeper);
        }
        self
    }

    /// Writes what is still in memory and lets go of the database.
    pub async fn close(&self) {
        self.db.close().await;
    }

    async fn current(db: Db) -> Result<Option<Self>, StoreError> {
        let found = found(&db).await?;
        if MIGRATIONS.iter().any(|migration| migration.number > found) {
            db.close().await;
            return Ok(None);
        }
        Ok(Some(Self { db, collector: Collector::default() }))
    }

    async fn migrated(db: Db) -> Result<Self, StoreError> {
        let found = found(&db).await?;
        for migration in MIGRATIONS.iter().filter(|migration| migration.number > found) {
            let mut transaction = db.begin().await?;
            transaction
                .script(match db {
                    Db::Sqlite { .. } => migration.sqlite,
                    Db::Postgres { .. } => migration.postgres,
                })
                .await?;
            transaction.set_version(migration.number).await?;
            transaction.commit().await?;
        }
        let store = Self { db, collector: Collector::default() };
        // What was left when the process ended.
        store.collect_contents();
        store.finish_removals();
        Ok(store)
    }
}

/// The number of the newest migration that was applied, if all of them are known.
async fn found(db: &Db) -> Result<i64, StoreError> {
    let found = db.version().await?;
    if let Err(newer) = check_version(found) {
        db.close().await;
        return Err(newer);
    }
    Ok(found)
}

/// Whether a database of this version is one of ours. One that is too new is an error.
pub(crate) fn check_version(found: i64) -> Result<bool, StoreError> {
    let known = newest_version();
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    Ok(found > 0)
}

pub(crate) fn newest_version() -> i64 {
    MIGRATIONS.last().map_or(0, |newest| newest.number)
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

pub(crate) fn from_word<T: serde::de::DeserializeOwned>(word: String) -> Result<T, StoreError> {
    Ok(serde_json::from_value(serde_json::Value::String(word))?)
}
