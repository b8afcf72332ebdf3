//! Appends to SQLite: appends that wait at the same time share one commit, and so one disk flush.

use crate::append_write::{AppendWrite, UPDATE_CHAT};
use crate::error::StoreError;
use crate::room::{self, Room};
use crate::rows::{self, MOST_ROWS};
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{Acquire as _, AssertSqlSafe, Sqlite};
use std::sync::{Arc, OnceLock};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of appends in a commit. With more, the first of them would wait too long.
const LARGEST_GROUP: usize = 256;

type Answer = oneshot::Sender<Result<u64, StoreError>>;

/// The queue of the writing task. The task ends when all senders are dropped.
#[derive(Clone, Debug)]
pub(crate) struct GroupCommit {
    waiting: mpsc::Sender<(AppendWrite, Answer)>,
}

impl GroupCommit {
    pub fn start(writer: SqlitePool, room: Arc<OnceLock<Arc<dyn Room>>>) -> Self {
        let (waiting, mut appends) = mpsc::channel(LARGEST_GROUP);
        tokio::spawn(async move {
            let mut group = Vec::new();
            while appends.recv_many(&mut group, LARGEST_GROUP).await > 0 {
                store_group(&writer, &room, std::mem::take(&mut group)).await;
            }
        });
        Self { waiting }
    }

    pub async fn store(&self, write: AppendWrite) -> Result<u64, StoreError> {
        let (answer, stored) = oneshot::channel();
        let ended = || StoreError::from(sqlx::Error::WorkerCrashed);
        self.waiting.send((write, answer)).await.map_err(|_| ended())?;
        stored.await.map_err(|_| ended())?
    }
}

/// Stores the appends in one transaction, each of them completely or not at all, and answers them after the commit.
async fn store_group(writer: &SqlitePool, room: &OnceLock<Arc<dyn Room>>, group: Vec<(AppendWrite, Answer)>) {
    let (appends, answers): (Vec<AppendWrite>, Vec<Answer>) = group.into_iter().unzip();
    let results = match try_group(writer, room, &appends).await {
        Ok(results) => results,
        Err(error) if appends.len() == 1 => vec![Err(error)],
        // The disk is full, or the transaction failed as a whole. Retries each append alone, so that each gets its own answer.
        Err(_) => {
            let mut results = Vec::new();
            for write in &appends {
                let alone = try_group(writer, room, std::slice::from_ref(write)).await;
                results.push(alone.and_then(|mut results| results.pop().unwrap_or(Err(StoreError::Stale))));
            }
            results
        }
    };
    for (answer, result) in answers.into_iter().zip(results) {
        // The caller may be gone; the append stays stored.
        let _ = answer.send(result);
    }
}

async fn try_group(
    writer: &SqlitePool,
    room: &OnceLock<Arc<dyn Room>>,
    appends: &[AppendWrite],
) -> Result<Vec<Result<u64, StoreError>>, StoreError> {
    room::make(room.get()).await;
    // Takes the write lock immediately. SQLite does not wait for a lock that is taken later, at the first write.
    let mut transaction = writer.begin_with("begin immediate").await?;
    let mut results = Vec::new();
    for write in appends {
        let mut savepoint = transaction.begin().await?;
        match write_append(&mut savepoint, write).await {
            Ok(version) => {
                savepoint.commit().await?;
                results.push(Ok(version));
            }
            // The database has rolled back the whole transaction, or is about to.
            Err(error) if error.is_full() => return Err(error),
            Err(error) => {
                savepoint.rollback().await?;
                results.push(Err(error));
            }
        }
    }
    transaction.commit().await?;
    Ok(results)
}

async fn write_append(connection: &mut SqliteConnection, write: &AppendWrite) -> Result<u64, StoreError> {
    let place = write.place(write.version);
    let update = AssertSqlSafe(format!("{UPDATE_CHAT} returning id"));
    let arguments = rows::sqlite_arguments(place.iter().chain(&write.columns)).map_err(sqlx::Error::Encode)?;
    if sqlx::query_with::<Sqlite, _>(update, arguments).fetch_all(&mut *connection).await?.is_empty() {
        return Err(StoreError::Stale);
    }
    for part in &write.writes {
        for rows in part.rows.chunks(MOST_ROWS) {
            rows::write_sqlite(connection, part, rows).await?;
        }
    }
    Ok(write.version + 1)
}
