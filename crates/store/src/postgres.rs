//! Connects to a PostgreSQL database.

use crate::db::Db;
use crate::error::StoreError;
use crate::leases::{LeaseChange, Leases};
use crate::node::{IS_SOLE, Node, NodeOptions};
use crate::owner::{LOCK, SoleOwner};
use crate::ownership::Ownership;
use crate::postgres_appends::PostgresAppends;
use crate::postgres_session::set_up;
use crate::store::migrate;
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Connection timeout. It is short, because a person waits for the start.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent reads.
pub(crate) const READERS: u32 = 8;
/// Statements that a connection keeps prepared: the common shapes of appends, and all others.
const PREPARED: usize = 256;
/// The number of the advisory lock under which nodes migrate the database, one after the other.
const MIGRATION_LOCK: i64 = 0x706c_616e_6d69;

/// Connects, and ensures that no other process uses the database.
pub(crate) async fn open(url: &str) -> Result<Db, StoreError> {
    let (options, first) = connect(url).await?;
    let ownership = Ownership::Sole(SoleOwner::take(&options, first).await?);
    with_writers(options, ownership).await
}

/// Connects as a node among others. Migrates the database first, one node at a time.
pub(crate) async fn join(url: &str, node: NodeOptions) -> Result<(Db, Leases, UnboundedReceiver<LeaseChange>), StoreError> {
    let (options, mut first) = connect(url).await?;
    if sqlx::query_scalar(IS_SOLE).bind(LOCK).fetch_one(&mut first).await? {
        return Err(StoreError::InUse);
    }
    sqlx::query("select pg_advisory_lock($1)").bind(MIGRATION_LOCK).execute(&mut first).await?;
    let migrated = async {
        let db = visit(url).await?;
        let migrated = migrate(&db).await;
        db.close().await;
        migrated
    };
    let migrated = migrated.await;
    sqlx::query("select pg_advisory_unlock($1)").bind(MIGRATION_LOCK).execute(&mut first).await?;
    migrated?;
    let (leases, held, changes) = Leases::of_node(node.name.clone(), sqlx::types::Uuid::nil());
    let node = Node::join(options.clone(), first, node, held).await?;
    Ok((with_writers(options, Ownership::Node(node)).await?, leases, changes))
}

async fn connect(url: &str) -> Result<(PgConnectOptions, PgConnection), StoreError> {
    let options = options(url)?;
    let unreachable = |reason: String| StoreError::Unreachable { place: place(&options), reason };
    let first = tokio::time::timeout(TIMEOUT, options.connect()).await;
    let first = first
        .map_err(|_| unreachable(format!("no answer within {} seconds", TIMEOUT.as_secs())))?
        .map_err(|error| unreachable(error.to_string()))?;
    Ok((options, first))
}

async fn with_writers(options: PgConnectOptions, ownership: Ownership) -> Result<Db, StoreError> {
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
