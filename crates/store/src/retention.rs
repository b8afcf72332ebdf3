use crate::arg::args;
use crate::error::StoreError;
use crate::store::{Store, micros};
use planwright_protocol::{ChatId, Timestamp};

/// A running or waiting chat is in use, however old it is.
const UNUSED: &str = "select id from chats where updated_at < $1 and run_id is null and pending is null order by updated_at";
/// The last time of the next step, which has 1,000 rows or a few more with the same time.
const AUDIT_STEP: &str = "select max(created_at) as last, count(*) as entries from audit where created_at <=
    (select max(created_at) from (select created_at from audit where created_at < $1 order by created_at limit 1000) as step)";
const FORGET_AUDIT: &str = "delete from audit where created_at <= $1";
const PAST_CALLS_STEP: &str = "select max(created_at) as last, count(*) as entries from past_calls where created_at <=
    (select max(created_at) from (select created_at from past_calls where created_at < $1 order by created_at limit 1000) as step)";
const FORGET_PAST_CALLS: &str = "delete from past_calls where created_at <= $1";

impl Store {
    /// The chats that were not used since `moment`, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unused_since(&self, moment: Timestamp) -> Result<Vec<ChatId>, StoreError> {
        self.db.rows(UNUSED, args![micros(moment)]).await?.iter().map(|row| Ok(ChatId(row.get("id")?))).collect()
    }

    /// Deletes audit rows, and the counted calls of deleted chats, from before `moment`. Returns the number of rows.
    ///
    /// # Errors
    /// The database failed.
    pub async fn forget_audit(&self, moment: Timestamp) -> Result<u64, StoreError> {
        let entries = self.forget_in_steps(AUDIT_STEP, FORGET_AUDIT, moment).await?;
        self.forget_in_steps(PAST_CALLS_STEP, FORGET_PAST_CALLS, moment).await?;
        Ok(entries)
    }

    /// Deletes rows in small steps, so that no other write waits for long. Returns the number of rows.
    async fn forget_in_steps(&self, step: &'static str, forget: &'static str, moment: Timestamp) -> Result<u64, StoreError> {
        let mut entries = 0;
        loop {
            let mut transaction = self.db.begin().await?;
            let row = transaction.row(step, args![micros(moment)]).await?;
            let Some(last) = row.get::<Option<i64>>("last")? else { return Ok(entries) };
            entries += row.number("entries")?;
            transaction.run(forget, args![last]).await?;
            transaction.commit().await?;
            tokio::task::yield_now().await;
        }
    }
}
