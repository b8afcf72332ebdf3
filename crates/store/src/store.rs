use crate::contents::Collector;
use crate::db::Db;
use crate::error::StoreError;
use crate::leases::{Leases, Tenure};
use crate::room::Room;
use crate::{postgres, sqlite};
use std::path::Path;
use std::sync::Arc;

/// The database. Clones are cheap and share it.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) db: Db,
    pub(crate) collector: Collector,
    pub(crate) leases: Leases,
    /// The tenure that this store's writes belong to; `None` for the current one.
    pub(crate) tenure: Option<Tenure>,
}

/// One migration, in the SQL of each database.
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

/// Each is applied once, in order, in its own transaction.
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
    migration!(21 "0021_cluster"),
];

impl Store {
    /// Opens a SQLite database, creates it if it is missing, and migrates it.
    ///
    /// # Errors
    /// The file can't be opened, or a newer version wrote it.
    pub async fn open(file: &Path) -> Result<Self, StoreError> {
        Self::migrated(sqlite::open(file).await?).await
    }

    /// Opens the PostgreSQL database at a URL, and migrates it.
    ///
    /// # Errors
    /// The database is unreachable, another process uses it, or a newer version wrote it.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::migrated(postgres::open(url).await?).await
    }

    /// Opens a SQLite database beside a server that may use it, for data that servers read each time: accounts. Returns `None` if
    /// it is missing or needs a migration.
    ///
    /// # Errors
    /// The file can't be opened, or a newer version wrote it.
    pub async fn visit(file: &Path) -> Result<Option<Self>, StoreError> {
        if !file.exists() {
            return Ok(None);
        }
        Self::current(sqlite::open(file).await?).await
    }

    /// The same for the PostgreSQL database at a URL.
    ///
    /// # Errors
    /// The database is unreachable, or a newer version wrote it.
    pub async fn visit_server(url: &str) -> Result<Option<Self>, StoreError> {
        Self::current(postgres::visit(url).await?).await
    }

    /// Sets the source of free disk space for a SQLite database.
    #[must_use]
    pub fn with_room(self, keeper: Arc<dyn Room>) -> Self {
        if let Db::Sqlite { room, .. } = &self.db {
            let _ = room.set(keeper);
        }
        self
    }

    /// Writes pending data and closes the database.
    pub async fn close(&self) {
        self.db.close().await;
    }

    async fn current(db: Db) -> Result<Option<Self>, StoreError> {
        let version = applied_version(&db).await?;
        if MIGRATIONS.iter().any(|migration| migration.number > version) {
            db.close().await;
            return Ok(None);
        }
        Ok(Some(Self::of(db)))
    }

    pub(crate) fn of(db: Db) -> Self {
        Self { db, collector: Collector::default(), leases: Leases::default(), tenure: None }
    }

    async fn migrated(db: Db) -> Result<Self, StoreError> {
        migrate(&db).await?;
        let store = Self::of(db);
        // Continues deletions that the end of an earlier process interrupted.
        store.collect_contents();
        store.finish_removals();
        Ok(store)
    }
}

/// Applies the missing migrations.
pub(crate) async fn migrate(db: &Db) -> Result<(), StoreError> {
    let version = applied_version(db).await?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.number > version) {
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
    Ok(())
}

/// The number of the newest applied migration, if it is known.
async fn applied_version(db: &Db) -> Result<i64, StoreError> {
    let found = db.version().await?;
    if let Err(newer) = check_version(found) {
        db.close().await;
        return Err(newer);
    }
    Ok(found)
}

/// Whether this schema version exists. A newer one is an error.
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

/// The wire name of an enum variant, which is also its stored form.
pub(crate) fn enum_name(value: impl serde::Serialize) -> Result<String, StoreError> {
    let value = serde_json::to_value(value)?;
    value.as_str().map(str::to_owned).ok_or_else(|| StoreError::Garbled(format!("{value} is not a text")))
}

pub(crate) fn parse_enum<T: serde::de::DeserializeOwned>(name: String) -> Result<T, StoreError> {
    Ok(serde_json::from_value(serde_json::Value::String(name))?)
}
