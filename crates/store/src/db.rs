//! One interface to both databases. Their differences are in `sqlite.rs` and `postgres.rs`.

use crate::arg::Arg;
use crate::error::StoreError;
use crate::escape::{escape, unescape};
use crate::failure;
use crate::group_commit::GroupCommit;
use crate::ownership::Scope;
use crate::postgres;
use crate::postgres_appends::PostgresAppends;
use crate::room::{self, Room};
use crate::rows::{self, MOST_ROWS, RowWrite};
use sqlx::postgres::{PgPool, PgRow};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{AssertSqlSafe, Decode, Postgres, Row as _, Sqlite, Type};
use std::sync::{Arc, OnceLock};

/// The database. Appends have their own path. All other writes share one connection, so these transactions never overlap.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Sqlite {
        writer: SqlitePool,
        reader: SqlitePool,
        appends: GroupCommit,
        room: Arc<OnceLock<Arc<dyn Room>>>,
    },
    /// `appends` is `None` if another process owns the database and this one only visits it.
    Postgres {
        writer: PgPool,
        reader: PgPool,
        appends: Option<Arc<PostgresAppends>>,
    },
}

/// A transaction; rolled back if it is dropped without a commit.
pub(crate) enum Transaction {
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    Postgres(sqlx::Transaction<'static, Postgres>),
}

pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A type that both databases read.
pub(crate) trait Column: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres> {}

impl<T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>> Column for T {}

/// Expands the same code for each database, so that the compiler checks it for both.
macro_rules! on_either {
    ($value:expr, $of:ident($inner:ident) => $body:expr) => {
        match $value {
            $of::Sqlite($inner) => $body,
            $of::Postgres($inner) => $body,
        }
    };
}

/// A query with its arguments; `$text` converts texts for the database.
macro_rules! bound {
    ($database:ty, $sql:expr, $args:expr, $text:expr) => {{
        let mut query = sqlx::query::<$database>($sql);
        for arg in &$args {
            query = match arg {
                Arg::Id(id) => query.bind(*id),
                Arg::Number(number) => query.bind(*number),
                Arg::Text(text) => query.bind(text.as_deref().map($text)),
                Arg::Bytes(bytes) => query.bind(&**bytes),
            };
        }
        query
    }};
}

impl Db {
    pub async fn rows(&self, sql: &'static str, args: Vec<Arg>) -> Result<Vec<Row>, StoreError> {
        Ok(match self {
            Db::Sqlite { reader, .. } => {
                let rows = bound!(Sqlite, sql, args, |text| text).fetch_all(reader).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Db::Postgres { reader, .. } => {
                let mut tries = 0;
                let rows = loop {
                    tries += 1;
                    match bound!(Postgres, sql, args, escape).fetch_all(reader).await {
                        // After a server restart, each idle connection fails once.
                        Err(error) if failure::is_broken_connection(&error) && tries <= postgres::READERS => {}
                        result => break result?,
                    }
                };
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// For queries with at most one row.
    pub async fn row(&self, sql: &'static str, args: Vec<Arg>) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(sql, args).await?.into_iter().next())
    }

    /// Begins a transaction that changes nothing of a workspace.
    pub async fn begin(&self) -> Result<Transaction, StoreError> {
        self.begin_in(Scope::Server).await
    }

    /// Begins a transaction that changes only what is in the scope.
    pub async fn begin_in(&self, scope: Scope) -> Result<Transaction, StoreError> {
        Ok(match self {
            Db::Sqlite { writer, room, .. } => {
                room::make(room.get()).await;
                // Takes the write lock immediately. SQLite does not wait for a lock that is taken later, at the first write.
                Transaction::Sqlite(writer.begin_with("begin immediate").await?)
            }
            Db::Postgres { writer, appends, .. } => {
                let mut transaction = writer.begin().await?;
                if let Some(appends) = appends {
                    appends.ownership().check(&mut transaction, scope).await?;
                }
                Transaction::Postgres(transaction)
            }
        })
    }

    /// The number of the newest applied migration.
    pub async fn version(&self) -> Result<i64, StoreError> {
        Ok(match self {
            Db::Sqlite { writer, .. } => sqlx::query_scalar("pragma user_version").fetch_one(writer).await?,
            Db::Postgres { writer, .. } => postgres::version(writer).await?,
        })
    }

    pub async fn close(&self) {
        match self {
            Db::Sqlite { writer, reader, .. } => {
                reader.close().await;
                writer.close().await;
            }
            Db::Postgres { writer, reader, appends } => {
                reader.close().await;
                writer.close().await;
                if let Some(appends) = appends {
                    appends.close().await;
                }
            }
        }
    }
}

impl Transaction {
    pub async fn run(&mut self, sql: &'static str, args: Vec<Arg>) -> Result<(), StoreError> {
        match self {
            Transaction::Sqlite(inner) => {
                bound!(Sqlite, sql, args, |text| text).execute(&mut **inner).await?;
            }
            Transaction::Postgres(inner) => {
                bound!(Postgres, sql, args, escape).execute(&mut **inner).await?;
            }
        }
        Ok(())
    }

    /// For queries with exactly one row.
    pub async fn row(&mut self, sql: &'static str, args: Vec<Arg>) -> Result<Row, StoreError> {
        Ok(match self {
            Transaction::Sqlite(inner) => Row::Sqlite(bound!(Sqlite, sql, args, |text| text).fetch_one(&mut **inner).await?),
            Transaction::Postgres(inner) => Row::Postgres(bound!(Postgres, sql, args, escape).fetch_one(&mut **inner).await?),
        })
    }

    pub async fn rows(&mut self, sql: &'static str, args: Vec<Arg>) -> Result<Vec<Row>, StoreError> {
        Ok(match self {
            Transaction::Sqlite(inner) => {
                let rows = bound!(Sqlite, sql, args, |text| text).fetch_all(&mut **inner).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Transaction::Postgres(inner) => {
                let rows = bound!(Postgres, sql, args, escape).fetch_all(&mut **inner).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// Writes rows, in several steps if there are many. Returns the statement's rows.
    pub async fn write(&mut self, write: &RowWrite) -> Result<Vec<Row>, StoreError> {
        let mut returned = Vec::new();
        for rows in write.rows.chunks(MOST_ROWS) {
            match self {
                Transaction::Sqlite(inner) => {
                    returned.extend(rows::write_sqlite(inner, write, rows).await?.into_iter().map(Row::Sqlite));
                }
                Transaction::Postgres(inner) => {
                    returned.extend(rows::write_postgres(inner, write, rows).await?.into_iter().map(Row::Postgres));
                }
            }
        }
        Ok(returned)
    }

    /// Runs several statements without arguments.
    pub async fn script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        on_either!(self, Transaction(inner) => { sqlx::raw_sql(sql).execute(&mut **inner).await?; });
        Ok(())
    }

    pub async fn set_version(&mut self, version: i64) -> Result<(), StoreError> {
        let sql = match self {
            Transaction::Sqlite(_) => format!("pragma user_version = {version}"),
            Transaction::Postgres(_) => format!(
                "create table if not exists planwright_schema (version bigint primary key);
                 insert into planwright_schema (version) values ({version})"
            ),
        };
        on_either!(self, Transaction(inner) => { sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut **inner).await?; });
        Ok(())
    }

    pub async fn commit(self) -> Result<(), StoreError> {
        match self {
            Transaction::Sqlite(inner) => Ok(inner.commit().await?),
            Transaction::Postgres(inner) => inner.commit().await.map_err(StoreError::from_commit),
        }
    }
}

impl Row {
    pub fn get<T: Column>(&self, column: &str) -> Result<T, StoreError> {
        Ok(on_either!(self, Row(row) => row.try_get(column)?))
    }

    pub fn text(&self, column: &str) -> Result<String, StoreError> {
        Ok(self.optional_text(column)?.unwrap_or_default())
    }

    pub fn optional_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        Ok(match self {
            Row::Sqlite(row) => row.try_get(column)?,
            Row::Postgres(row) => row.try_get::<Option<String>, _>(column)?.map(unescape),
        })
    }

    pub fn number(&self, column: &str) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.get::<i64>(column)?).unwrap_or_default())
    }
}
