//! Appends to PostgreSQL: one statement and one round trip each. After a lost answer, the outcome is looked up.

use crate::append_write::{AppendWrite, CHAT_ARGUMENTS, CREATE_CHAT, UPDATE_CHAT};
use crate::arg::Arg;
use crate::error::StoreError;
use crate::failure;
use crate::leases::Tenure;
use crate::ownership::{Ownership, Scope};
use crate::postgres_session::connect_writer;
use crate::rows::{self, MOST_ROWS};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection};
use sqlx::types::Uuid;
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, Row as _};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Maximum number of concurrent appends. Each waits for the server's disk, which flushes several commits together. Beyond this
/// number the server gains nothing, and every connection costs it memory.
const WRITERS: usize = 8;
/// A larger append is a transaction of several statements, so that no message to the server is huge.
const MOST_BYTES: usize = 4 << 20;
/// Timeout of an answer. Then the connection is dropped, and the outcome is looked up on another one.
const TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct PostgresAppends {
    options: PgConnectOptions,
    ownership: Ownership,
    /// Idle connections. An sqlx pool would ping each of them after use, which is another round trip.
    idle: Mutex<Vec<PgConnection>>,
    /// Closed with the store.
    places: Semaphore,
    /// Whether appends are waiting for the database to come back.
    is_out: AtomicBool,
    /// Chats whose version advanced without an append, because the append failed: from which version to which.
    moved: Mutex<HashMap<Uuid, (u64, u64)>>,
}

enum LostAppend {
    Stored,
    /// Not stored, and it never will be, even if it is still on its way to the server.
    NotStored,
}

/// The delay before the next retry.
struct Backoff(Duration);

impl Backoff {
    async fn wait(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(LONGEST_WAIT);
    }
}

impl PostgresAppends {
    pub fn new(options: PgConnectOptions, ownership: Ownership) -> Self {
        Self {
            options,
            ownership,
            idle: Mutex::default(),
            places: Semaphore::new(WRITERS),
            is_out: AtomicBool::default(),
            moved: Mutex::default(),
        }
    }

    /// Stores an append. Returns the chat's new version.
    pub async fn store(&self, write: &AppendWrite) -> Result<u64, StoreError> {
        let moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner).remove(&write.chat);
        let mut version = moved.filter(|(from, _)| *from == write.version).map_or(write.version, |(_, to)| to);
        let result = self.store_from(write, &mut version).await;
        if matches!(result, Err(StoreError::NotHere)) {
            write.tenure.disprove();
        }
        if result.is_err() && version != write.version {
            self.moved.lock().unwrap_or_else(PoisonError::into_inner).insert(write.chat, (write.version, version));
        }
        result
    }

    /// Retries until the outcome is known. `version` is the chat's current version.
    async fn store_from(&self, write: &AppendWrite, version: &mut u64) -> Result<u64, StoreError> {
        let mut backoff = Backoff(FIRST_WAIT);
        loop {
            if write.tenure.is_over() {
                return Err(StoreError::NotHere);
            }
            match self.try_store(write, *version).await {
                Err(error) if error.is_temporary() => self.note_outage(&error),
                result => {
                    self.note_answer();
                    return result;
                }
            }
            match self.settle(write, *version, &mut backoff).await? {
                LostAppend::Stored => return Ok(*version + 1),
                LostAppend::NotStored => *version += 2,
            }
        }
    }

    /// Stores a new chat. Retrying is safe: no other process creates a chat with this id.
    pub async fn create_chat(&self, args: &[Arg], tenure: &Tenure) -> Result<(), StoreError> {
        let mut backoff = Backoff(FIRST_WAIT);
        let (proof, proof_args) = self.ownership.proof(tenure.proof(), args.len() + 1);
        let text = format!(
            "with owner as materialized ({proof}), chat as ({CREATE_CHAT} where exists (select 1 from owner) on conflict (id) do nothing)
                select count(*) as owned from owner"
        );
        loop {
            if tenure.is_over() {
                return Err(StoreError::NotHere);
            }
            let created = self.with_connection(async |connection| {
                let arguments = arguments(args.iter().chain(&proof_args))?;
                let row = sqlx::query_with(AssertSqlSafe(text.clone()), arguments).fetch_one(connection).await?;
                self.ownership.owned(&row)
            });
            match created.await {
                Err(error) if error.is_temporary() => self.note_outage(&error),
                result => {
                    self.note_answer();
                    return result;
                }
            }
            self.wait(&mut backoff).await?;
        }
    }

    /// How this process owns what it writes.
    pub fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// Ends waiting appends, and releases the database.
    pub async fn close(&self) {
        self.places.close();
        self.forget_idle();
        self.ownership.close().await;
    }

    async fn try_store(&self, write: &AppendWrite, version: u64) -> Result<u64, StoreError> {
        let rows: usize = write.writes.iter().map(|part| part.rows.len()).sum();
        let bytes: usize = write.writes.iter().map(rows::RowWrite::bytes).sum();
        let is_large = rows > MOST_ROWS || bytes > MOST_BYTES;
        let stored = self.with_connection(async |connection| {
            if is_large {
                self.store_in_steps(connection, write, version).await
            } else {
                self.store_at_once(connection, write, version).await
            }
        });
        stored.await?;
        Ok(version + 1)
    }

    /// A single statement, which the server executes completely or not at all.
    async fn store_at_once(&self, connection: &mut PgConnection, write: &AppendWrite, version: u64) -> Result<(), StoreError> {
        let (proof, proof_args) = self.ownership.proof(write.tenure.proof(), CHAT_ARGUMENTS + 1);
        let mut text =
            format!("with owner as materialized ({proof}), chat as ({UPDATE_CHAT} and exists (select 1 from owner) returning id)");
        let mut arguments = arguments(write.place(version).iter().chain(&write.columns).chain(&proof_args))?;
        for (number, part) in write.writes.iter().enumerate() {
            let rows = rows::postgres_text(part, arguments.len(), "where exists (select 1 from chat)");
            text.push_str(&format!(", write_{number} as ({rows})"));
            rows::add_postgres_arrays(&mut arguments, part.statement, &part.rows).map_err(sqlx::Error::Encode)?;
        }
        text.push_str(" select (select count(*) from owner) as owned, (select count(*) from chat) as stored");
        let row = sqlx::query_with(AssertSqlSafe(text), arguments).fetch_one(connection).await?;
        self.ownership.owned(&row)?;
        if row.try_get::<i64, _>("stored")? == 1 { Ok(()) } else { Err(StoreError::Stale) }
    }

    async fn store_in_steps(&self, connection: &mut PgConnection, write: &AppendWrite, version: u64) -> Result<(), StoreError> {
        let mut transaction = connection.begin().await?;
        self.ownership.check(&mut transaction, Scope::Workspace(write.tenure.proof())).await?;
        let arguments = arguments(write.place(version).iter().chain(&write.columns))?;
        let updated = sqlx::query_with(UPDATE_CHAT, arguments).execute(&mut *transaction).await?;
        if updated.rows_affected() == 0 {
            transaction.rollback().await?;
            return Err(StoreError::Stale);
        }
        for part in &write.writes {
            for rows in part.steps(MOST_BYTES) {
                rows::write_postgres(&mut transaction, part, rows).await?;
            }
        }
        Ok(transaction.commit().await?)
    }

    /// Finds out whether an append whose answer was lost is stored. If not, advances the version by two, so that it can never be
    /// stored.
    async fn settle(&self, write: &AppendWrite, version: u64, backoff: &mut Backoff) -> Result<LostAppend, StoreError> {
        loop {
            self.wait(backoff).await?;
            if write.tenure.is_over() {
                return Err(StoreError::NotHere);
            }
            match self.try_settle(write, version).await {
                Ok(Some(found)) if found == version + 1 => return Ok(LostAppend::Stored),
                Ok(Some(found)) if found == version + 2 => return Ok(LostAppend::NotStored),
                // The append was still running, and this statement saw the state before it.
                Ok(Some(found)) if found == version => {}
                // The chat was deleted, or another process changed it. It is impossible to tell whether the append was stored
                // before.
                Ok(_) => return Err(StoreError::OutcomeUnknown(sqlx::Error::RowNotFound)),
                Err(error) if error.is_temporary() => self.note_outage(&error),
                Err(StoreError::Database(error)) => return Err(StoreError::OutcomeUnknown(error)),
                Err(error) => return Err(error),
            }
        }
    }

    /// The chat's current version; `None` if the chat was deleted.
    async fn try_settle(&self, write: &AppendWrite, version: u64) -> Result<Option<u64>, StoreError> {
        let (proof, proof_args) = self.ownership.proof(write.tenure.proof(), 3);
        let text = format!(
            "with owner as materialized ({proof}), settled as
                (update chats set version = version + 2 where id = $1 and version = $2 and exists (select 1 from owner) returning version)
                select (select count(*) from owner) as owned,
                    coalesce((select version from settled), (select version from chats where id = $1)) as version"
        );
        let settled = self.with_connection(async |connection| {
            let arguments = arguments(write.place(version).iter().chain(&proof_args))?;
            let row = sqlx::query_with(AssertSqlSafe(text), arguments).fetch_one(connection).await?;
            self.ownership.owned(&row)?;
            let version: Option<i64> = row.try_get("version")?;
            Ok(version.map(i64::cast_unsigned))
        });
        let settled = settled.await?;
        self.note_answer();
        Ok(settled)
    }

    /// Runs `work` on a connection, and keeps the connection unless it may be broken.
    async fn with_connection<T>(&self, work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let _place = self.places.acquire().await.map_err(|_| sqlx::Error::PoolClosed)?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let late = || sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the database does not answer"));
        let mut connection = match idle {
            Some(connection) => connection,
            None => tokio::time::timeout(TIMEOUT, connect_writer(&self.options)).await.map_err(|_| late())?.map_err(StoreError::Away)?,
        };
        let result = tokio::time::timeout(TIMEOUT, work(&mut connection)).await.map_err(|_| late())?;
        match &result {
            Ok(_) | Err(StoreError::Stale) => self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection),
            Err(StoreError::Away(error)) if failure::is_broken_connection(error) => self.forget_idle(),
            Err(_) => {}
        }
        result
    }

    /// Connections from before an outage are as dead as the one that just failed.
    fn forget_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Waits before the next retry, unless the store was closed.
    async fn wait(&self, backoff: &mut Backoff) -> Result<(), StoreError> {
        if self.places.is_closed() {
            return Err(sqlx::Error::PoolClosed.into());
        }
        backoff.wait().await;
        Ok(())
    }

    fn note_outage(&self, error: &StoreError) {
        if !self.is_out.swap(true, Ordering::SeqCst) {
            tracing::warn!(%error, "can't reach the database; changes to chats wait and are retried until it answers");
        }
    }

    fn note_answer(&self) {
        if self.is_out.swap(false, Ordering::SeqCst) {
            tracing::info!("the database answers again");
        }
    }
}

fn arguments<'a>(args: impl Iterator<Item = &'a Arg>) -> Result<PgArguments, StoreError> {
    let mut arguments = PgArguments::default();
    for arg in args {
        rows::add_postgres(&mut arguments, arg).map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}
