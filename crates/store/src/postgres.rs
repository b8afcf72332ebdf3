//! Connects to a PostgreSQL database.

use crate::db::Db;
use crate::error::StoreError;
use crate::owner::Ownership;
use crate::postgres_appends::PostgresAppends;
use crate::postgres_session::set_up;
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Connection timeout. It is short, because a person waits for the start.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent reads.
pub(crate) const READERS: u32 = 8;
/// Statements that a connection keeps prepared: the common shapes of appends, and all others.
const PREPARED: usize = 256;
/// Connects, and ensures that no other process uses the database.
pub(crate) async fn open(url: &str) -> Result<Db, StoreError> {
    let options = options(url)?;
    let unreachable = |reason: String| StoreError::Unreachable { place: place(&options), reason };
    let first = tokio::time::timeout(TIMEOUT, options.connect()).await;
    let first = first
        .map_err(|_| unreachable(format!("no answer within {} seconds", TIMEOUT.as_secs())))?
        .map_err(|error| unreachable(error.to_string()))?;
    let ownership = Ownership::take(&options, first).await?;
    let writer = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(TIMEOUT)
        .after_connect(|connection, _| Box::pin(set_up(connection)))
        .connect_with(options.clone())
        .await?;
    // Connections are not tested before each use, which would be a round trip. A read on a dead connection is retried.
    let reader = PgPoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(TIMEOUT)
        .test_before_acquire(false)
        .connect_lazy_with(options.clone());
    Ok(Db::Postgres { writer, reader, appends: Some(Arc::new(PostgresAppends::new(options, ownership))) })
}

/// Connects beside a process that uses the database.
pub(crate) async fn visit(url: &str) -> Result<Db, StoreError> {
    let options = options(url)?;
    let place = place(&options);
    let few = || PgPoolOptions::new().max_connections(1).acquire_timeout(TIMEOUT);
    let writer = few().connect_with(options.clone()).await.map_err(|error| StoreError::Unreachable { place, reason: error.to_string() })?;
    Ok(Db::Postgres { writer, reader: few().connect_lazy_with(options), appends: None })
}

pub(crate) async fn version(writer: &PgPool) -> Result<i64, StoreError> {
    // A visiting process creates no table.
    let is_there: bool = sqlx::query_scalar("select to_regclass('planwright_schema') is not null").fetch_one(writer).await?;
    if !is_there {
        return Ok(0);
    }
    Ok(sqlx::query_scalar("select coalesce(max(version), 0) from planwright_schema").fetch_one(writer).await?)
}

fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
        return Err(StoreError::Address("it must begin with postgres://".to_owned()));
    }
    let options = PgConnectOptions::from_str(url).map_err(|error| StoreError::Address(error.to_string()))?;
    Ok(options.application_name("planwright").statement_cache_capacity(PREPARED))
}

/// The location of the database, without the password.
fn place(options: &PgConnectOptions) -> String {
    let server = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let user = options.get_username();
    format!("{server}, database {}, as {user}", options.get_database().unwrap_or(user))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_database_has_no_password() {
        let place = place(&options("postgres://ann:secret@db.example:5433/team").unwrap());
        assert_eq!(place, "db.example:5433, database team, as ann");
    }
}
