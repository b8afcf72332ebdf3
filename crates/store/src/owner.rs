//! Which process owns a PostgreSQL database.
//!
//! Two things, because they serve two purposes. A lock of the server, held by a connection of its own, tells a second process
//! at once that the database is in use. The row in `planwright_owner` with this process's number is the proof: every
//! write checks it, and a process that takes over deletes it first. So a process that lost its lock unnoticed writes on until
//! another one takes over, and not a moment longer.

use crate::error::StoreError;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long the connections of a process that was just killed may take to go.
const HAND_OVER: Duration = Duration::from_secs(5);
/// "planwright" in the server's numbered locks, which are counted for each database by itself.
const LOCK: i64 = 0x706c_616e_7772;
/// How often the connection that holds the lock is looked at.
const BEAT: Duration = Duration::from_secs(1);
/// How long the server may take to answer before the connection counts as lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for writes of an earlier owner that are under way: they hold their row.
const TAKE_OVER: &str = "with earlier as (delete from planwright_owner) insert into planwright_owner default values returning number";
/// Is the owner's row still there? It can't go before the statement or transaction that asks has ended.
pub(crate) const CHECK_OWNER: &str = "select number from planwright_owner where number = $1 for key share";

/// Holds the lock until it is dropped or closed.
#[derive(Debug)]
pub(crate) struct Ownership {
    pub number: i64,
    watch: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

impl Ownership {
    /// Makes this process the owner, unless another one is at work.
    pub async fn take(options: &PgConnectOptions, mut connection: PgConnection) -> Result<Self, StoreError> {
        let began = Instant::now();
        while !try_lock(&mut connection).await? {
            if began.elapsed() > HAND_OVER {
                return Err(StoreError::InUse);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let table = "create table if not exists planwright_owner (number bigint generated always as identity primary key,
            since timestamptz not null default now())";
        sqlx::raw_sql(table).execute(&mut connection).await?;
        let number = sqlx::query_scalar(TAKE_OVER).fetch_one(&mut connection).await?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(hold(options.clone(), number, connection, stopped));
        Ok(Self { number, watch: Mutex::new(Some((stop, task))) })
    }

    /// Lets go of the lock.
    pub async fn close(&self) {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, task)) = watch {
            let _ = stop.send(());
            let _ = task.await;
        }
    }
}

/// Keeps the connection that holds the lock alive, and replaces it when it is lost. Ends when nobody needs it any more.
async fn hold(options: PgConnectOptions, number: i64, mut connection: PgConnection, mut stopped: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            _ = &mut stopped => {
                let _ = connection.close().await;
                return;
            }
            () = tokio::time::sleep(BEAT) => {}
        }
        if matches!(tokio::time::timeout(PATIENCE, connection.ping()).await, Ok(Ok(()))) {
            continue;
        }
        tokio::select! {
            _ = &mut stopped => return,
            retaken = retake(&options, number) => {
                let Some(fresh) = retaken else {
                    tracing::error!("another planwright has taken the database over; this one stores nothing more and must be started again");
                    return;
                };
                connection = fresh;
            }
        }
    }
}

/// Takes the lock again on a new connection; `None` if another process has become the owner.
async fn retake(options: &PgConnectOptions, number: i64) -> Option<PgConnection> {
    loop {
        // A lock that is taken may still be our own, of the connection that the server has not given up yet.
        let tried = tokio::time::timeout(PATIENCE, async {
            let mut connection = options.connect().await?;
            let is_owner = sqlx::query(CHECK_OWNER).bind(number).fetch_optional(&mut connection).await?.is_some();
            let is_locked = is_owner && try_lock(&mut connection).await?;
            Ok::<_, sqlx::Error>((connection, is_owner, is_locked))
        });
        match tried.await {
            Ok(Ok((_, false, _))) => return None,
            Ok(Ok((connection, true, true))) => return Some(connection),
            Ok(Ok((_, true, false)) | Err(_)) | Err(_) => tokio::time::sleep(BEAT).await,
        }
    }
}

async fn try_lock(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select pg_try_advisory_lock($1)").bind(LOCK).fetch_one(connection).await
}
