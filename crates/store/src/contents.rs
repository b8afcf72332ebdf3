//! Collects file contents that nothing refers to any more, in small steps, so that no other write waits for long.

use crate::arg::args;
use crate::db::{Db, Row, Transaction};
use crate::error::StoreError;
use crate::rows::{ColumnType, RowStatement, RowWrite};
use crate::store::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a collection is running.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collector {
    is_running: Arc<AtomicBool>,
}

macro_rules! loosen_where {
    ($changes:literal, $images:literal) => {
        concat!(
            "insert into loose_contents (sha256)
                select before_sha256 from file_changes where before_sha256 is not null and ",
            $changes,
            " union select after_sha256 from file_changes where after_sha256 is not null and ",
            $changes,
            " union select sha256 from images where ",
            $images,
            " on conflict do nothing"
        )
    };
}
/// Run these before deleting rows that refer to contents.
pub(crate) const LOOSEN_CHAT: &str = loosen_where!("chat_id = $1", "chat_id = $1");
pub(crate) const LOOSEN_CHANGE: &str = loosen_where!("message_id = $1 and path = $2", "false");

/// The last content of the next step. A step has at most 200 contents, so that other writes wait only milliseconds.
const STEP: &str = "select max(sha256) as last from (select sha256 from loose_contents order by sha256 limit 200) as step";
const COLLECT: &str = "delete from contents where sha256 in (select sha256 from loose_contents where sha256 <= $1)
        and not exists (select 1 from file_changes where before_sha256 = contents.sha256)
        and not exists (select 1 from file_changes where after_sha256 = contents.sha256)
        and not exists (select 1 from images where images.sha256 = contents.sha256)
    returning sha256";
/// Contents that an append began to refer to while the step waited for it.
const STILL_NEEDED: RowStatement = RowStatement {
    columns: &[("sha256", ColumnType::Text)],
    sql: "select sha256 from given where exists (select 1 from file_changes where before_sha256 = given.sha256)
        or exists (select 1 from file_changes where after_sha256 = given.sha256)
        or exists (select 1 from images where images.sha256 = given.sha256)",
};
const STEP_DONE: &str = "delete from loose_contents where sha256 <= $1";

impl Store {
    /// Starts a collection in the background, unless one is running. After an error or the end of the process, the next deletion
    /// or start continues it.
    pub(crate) fn collect_contents(&self) {
        let (db, collector) = (self.db.clone(), self.collector.clone());
        if collector.is_running.swap(true, Ordering::SeqCst) {
            return;
        }
        tokio::spawn(async move {
            loop {
                let result = collect_all(&db).await;
                collector.is_running.store(false, Ordering::SeqCst);
                if let Err(error) = &result {
                    tracing::debug!(%error, "can't collect unreferenced contents now; a later collection removes them");
                }
                // Another deletion may have happened after the last step.
                let is_left = result.is_ok() && matches!(is_left(&db).await, Ok(true));
                if !is_left || collector.is_running.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
        });
    }
}

async fn is_left(db: &Db) -> Result<bool, StoreError> {
    Ok(db.row(STEP, args![]).await?.map(|row| row.optional_text("last")).transpose()?.flatten().is_some())
}

async fn collect_all(db: &Db) -> Result<(), StoreError> {
    while is_left(db).await? {
        let mut transaction = db.begin().await?;
        if collect_step(&mut transaction).await? {
            transaction.commit().await?;
        }
        // Lets waiting writers go first.
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Returns `false` if the step must be rolled back and repeated.
async fn collect_step(transaction: &mut Transaction) -> Result<bool, StoreError> {
    let Some(last) = transaction.row(STEP, args![]).await?.optional_text("last")? else { return Ok(true) };
    let collected = transaction.rows(COLLECT, args![last.as_str()]).await?;
    let collected = collected.iter().map(|row: &Row| Ok(args![row.text("sha256")?])).collect::<Result<Vec<_>, StoreError>>()?;
    if !transaction.write(&RowWrite::new(&STILL_NEEDED, collected)).await?.is_empty() {
        return Ok(false);
    }
    transaction.run(STEP_DONE, args![last]).await?;
    Ok(true)
}
