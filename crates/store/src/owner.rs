//! Ensures that only one process owns a PostgreSQL database that no nodes share.
//!
//! Two mechanisms serve two purposes. An advisory lock on its own connection tells a second process immediately that the database
//! is in use. A row in `planwright_owner` with this process's number is the proof of ownership: every write checks it, and a
//! process that takes over deletes it first. So a process that lost its lock unnoticed can write until another one takes over,
//! and no longer.

use crate::error::StoreError;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long the connections of a killed process may take to close.
const HAND_OVER: Duration = Duration::from_secs(5);
/// "planwright" as the number of the advisory lock, which is separate for each database.
pub(crate) const LOCK: i64 = 0x706c_616e_7772;
/// How often the connection that holds the lock is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long the server may take to answer before the connection counts as lost.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Waits for running writes of an earlier owner: they hold a lock on its row.
const TAKE_OVER: &str = "with earlier as (delete from planwright_owner) insert into planwright_owner default values returning number";
const LIVE_NODES: &str = "select string_agg(name, ', ' order by name) from nodes
    where is_ended = 0 and expires_at > (extract(epoch from clock_timestamp()) * 1000000)::bigint";
const END_NODES: &str = "update nodes set is_ended = 1 where is_ended = 0;
    with owned as materialized (select workspace_id from workspace_leases where incarnation is not null for update)
    update workspace_leases set incarnation = null from owned where workspace_leases.workspace_id = owned.workspace_id";
/// Checks and locks the owner's row: it can't be deleted until the statement or transaction has ended.
pub(crate) const CHECK_OWNER: &str = "select number from planwright_owner where number = $1 for key share";

/// Holds the lock until it is dropped or closed.
#[derive(Debug)]
pub(crate) struct SoleOwner {
    pub number: i64,
    watch: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

impl SoleOwner {
    /// Makes this process the owner, unless another one is running.
    pub async fn take(options: &PgConnectOptions, mut connection: PgConnection) -> Result<Self, StoreError> {
        let began = Instant::now();
        while !try_lock(&mut connection).await? {
            if began.elapsed() > HAND_OVER {
                return Err(StoreError::InUse);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let nodes = live_nodes(&mut connection).await?;
        if !nodes.is_empty() {
            return Err(StoreError::NodesRun(nodes));
        }
        let table = "create table if not exists planwright_owner (number bigint generated always as identity primary key,
            since timestamptz not null default now())";
        sqlx::raw_sql(table).execute(&mut connection).await?;
        let number = sqlx::query_scalar(TAKE_OVER).fetch_one(&mut connection).await?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(hold(options.clone(), number, connection, stopped));
        Ok(Self { number, watch: Mutex::new(Some((stop, task))) })
    }

    /// Releases the lock.
    pub async fn close(&self) {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, task)) = watch {
            let _ = stop.send(());
            let _ = task.await;
        }
    }
}

/// Keeps the connection that holds the lock alive, and replaces it when it is lost. Ends when `stopped` fires.
async fn hold(options: PgConnectOptions, number: i64, mut connection: PgConnection, mut stopped: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            _ = &mut stopped => {
                let _ = connection.close().await;
                return;
            }
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
        if matches!(tokio::time::timeout(TIMEOUT, connection.ping()).await, Ok(Ok(()))) {
            continue;
        }
        tokio::select! {
            _ = &mut stopped => return,
            retaken = retake(&options, number) => {
                let Some(fresh) = retaken else {
                    tracing::error!("another planwright has taken over the database; this one can't store anything and must be restarted");
                    return;
                };
                connection = fresh;
            }
        }
    }
}

/// Takes the lock again on a new connection. Returns `None` if another process has become the owner.
async fn retake(options: &PgConnectOptions, number: i64) -> Option<PgConnection> {
    loop {
        // The lock may still be held by our own lost connection, which the server has not closed yet.
        let tried = tokio::time::timeout(TIMEOUT, async {
            let mut connection = options.connect().await?;
            let is_owner = sqlx::query(CHECK_OWNER).bind(number).fetch_optional(&mut connection).await?.is_some();
            let is_locked = is_owner && try_lock(&mut connection).await?;
            Ok::<_, sqlx::Error>((connection, is_owner, is_locked))
        });
        match tried.await {
            Ok(Ok((_, false, _))) => return None,
            Ok(Ok((connection, true, true))) => return Some(connection),
            Ok(Ok((_, true, false)) | Err(_)) | Err(_) => tokio::time::sleep(CHECK_INTERVAL).await,
        }
    }
}

/// The names of running nodes. Ends those that were late, with their leases.
async fn live_nodes(connection: &mut PgConnection) -> Result<String, StoreError> {
    if !sqlx::query_scalar("select to_regclass('workspace_leases') is not null").fetch_one(&mut *connection).await? {
        return Ok(String::new());
    }
    let nodes = sqlx::query_scalar::<_, Option<String>>(LIVE_NODES).fetch_one(&mut *connection).await?;
    if nodes.is_none() {
        sqlx::raw_sql(END_NODES).execute(connection).await?;
    }
    Ok(nodes.unwrap_or_default())
}

async fn try_lock(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select pg_try_advisory_lock($1)").bind(LOCK).fetch_one(connection).await
}
