//! A database on a PostgreSQL server.

use crate::db::Db;
use crate::store::StoreError;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How long the server may take to answer; a person waits for the start.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the connections of a process that was just killed may take to go.
const HAND_OVER: Duration = Duration::from_secs(5);
/// "planwright" in the server's numbered locks, which are counted for each database by itself.
const LOCK: i64 = 0x706c_616e_7772;

/// Connects, and makes sure that no other process uses the database.
pub(crate) async fn open(url: &str) -> Result<Db, StoreError> {
    let options = options(url)?;
    let unreachable = |reason: String| StoreError::Unreachable { place: place(&options), reason };
    let first = tokio::time::timeout(PATIENCE, options.connect()).await;
    let mut first = first
        .map_err(|_| unreachable(format!("no answer within {} seconds", PATIENCE.as_secs())))?
        .map_err(|error| unreachable(error.to_string()))?;
    let owner = take_over(&mut first).await?;
    // One connection, and it holds the lock: a process that lost the database can't write.
    let writer = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(PATIENCE)
        .idle_timeout(None)
        .max_lifetime(None)
        .after_connect(move |connection, _| Box::pin(hold(connection, owner)))
        .connect_with(options.clone())
        .await?;
    first.close().await?;
    let reader = PgPoolOptions::new().max_connections(8).acquire_timeout(PATIENCE).connect_lazy_with(options);
    Ok(Db::Postgres { writer, reader })
}

/// Connects beside a process that uses the database.
pub(crate) async fn visit(url: &str) -> Result<Db, StoreError> {
    let options = options(url)?;
    let place = place(&options);
    let few = || PgPoolOptions::new().max_connections(1).acquire_timeout(PATIENCE);
    let writer = few().connect_with(options.clone()).await.map_err(|error| StoreError::Unreachable { place, reason: error.to_string() })?;
    Ok(Db::Postgres { writer, reader: few().connect_lazy_with(options) })
}

pub(crate) async fn version(writer: &PgPool) -> Result<i64, StoreError> {
    sqlx::raw_sql("create table if not exists planwright_schema (version bigint primary key)").execute(writer).await?;
    Ok(sqlx::query_scalar("select coalesce(max(version), 0) from planwright_schema").fetch_one(writer).await?)
}

/// A text as the server takes it: it has no room for the character NUL. Its place is taken by two others, of which the
/// first is no character that texts may hold, so what comes back is what was stored.
pub(crate) fn escape(text: String) -> String {
    if text.contains(['\0', ESCAPE]) { text.replace(ESCAPE, "\u{10FFFF}1").replace('\0', "\u{10FFFF}0") } else { text }
}

pub(crate) fn unescape(text: String) -> String {
    if text.contains(ESCAPE) { text.replace("\u{10FFFF}0", "\0").replace("\u{10FFFF}1", "\u{10FFFF}") } else { text }
}

const ESCAPE: char = '\u{10FFFF}';

fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
        return Err(StoreError::Address("it must begin with postgres://".to_owned()));
    }
    let options = PgConnectOptions::from_str(url).map_err(|error| StoreError::Address(error.to_string()))?;
    Ok(options.application_name("planwright"))
}

/// Where the database is, without the password.
fn place(options: &PgConnectOptions) -> String {
    let server = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let user = options.get_username();
    format!("{server}, database {}, as {user}", options.get_database().unwrap_or(user))
}

/// Makes this process the owner, unless another one is at work; gives its number. The lock is tried for on a connection of
/// its own, so that the reason is told plainly.
async fn take_over(connection: &mut PgConnection) -> Result<i64, StoreError> {
    let began = Instant::now();
    while !sqlx::query_scalar("select pg_try_advisory_lock($1)").bind(LOCK).fetch_one(&mut *connection).await? {
        if began.elapsed() > HAND_OVER {
            return Err(StoreError::InUse);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let table = "create table if not exists planwright_owner (number bigint generated always as identity primary key,
        since timestamptz not null default now())";
    sqlx::raw_sql(table).execute(&mut *connection).await?;
    let number = sqlx::query_scalar("insert into planwright_owner default values returning number").fetch_one(&mut *connection).await?;
    sqlx::query("select pg_advisory_unlock($1)").bind(LOCK).execute(connection).await?;
    Ok(number)
}

/// What every connection that writes does first: takes the lock, and makes sure that nobody had it in between. What this
/// process knows of the chats would be out of date.
async fn hold(connection: &mut PgConnection, owner: i64) -> Result<(), sqlx::Error> {
    // A commit that was answered is on the server's disk, whatever the server's own setting is.
    let durable = "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";
    sqlx::query(durable).execute(&mut *connection).await?;
    sqlx::raw_sql("set lock_timeout = '8s'").execute(&mut *connection).await?;
    sqlx::query("select pg_advisory_lock($1)").bind(LOCK).execute(&mut *connection).await?;
    let newest: i64 = sqlx::query_scalar("select max(number) from planwright_owner").fetch_one(connection).await?;
    if newest == owner {
        return Ok(());
    }
    Err(sqlx::Error::Protocol("another planwright has taken this database over; start this one again".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_any_character_comes_back_as_it_was() {
        for text in ["", "plain", "a\0b", "\0\0", "\u{10FFFF}", "\u{10FFFF}0\0", "\0\u{10FFFF}1", "\u{10FFFF}\u{10FFFF}10\0"] {
            let stored = escape(text.to_owned());
            assert!(!stored.contains('\0'));
            assert_eq!(unescape(stored), text);
        }
    }

    #[test]
    fn the_place_of_a_database_has_no_password() {
        let place = place(&options("postgres://ann:secret@db.example:5433/team").unwrap());
        assert_eq!(place, "db.example:5433, database team, as ann");
    }
}
