use crate::arg::args;
use crate::error::StoreError;
use crate::store::{Store, micros};
use planwright_protocol::{ChatId, Timestamp};

/// A chat that runs or waits for an answer is in use, however old it is.
const UNUSED: &str = "select id from chats where updated_at < $1 and run_id is null and pending is null order by updated_at";
/// The last moment of the next step, which has 1,000 rows or a few more of the same moment.
const AUDIT_STEP: &str = "select max(created_at) as last, count(*) as entries from audit where created_at <=
    (select max(created_at) from (select created_at from audit where created_at < $1 order by created_at limit 1000) as step)";
const FORGET_AUDIT: &str = "delete from audit where created_at <= $1";
const PAST_CALLS_STEP: &str = "select max(created_at) as last, count(*) as entries from past_calls where created_at <=
    (select max(created_at) from (select created_at from past_calls where created_at < $1 order by created_at limit 1000) as step)";
const FORGET_PAST_CALLS: &str = "delete from past_calls where created_at <= $1";

impl Store {
    /// The chats that nobody has used since a moment, those that were left longest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unused_since(&self, moment: Timestamp) -> Result<Vec<ChatId>, StoreError> {
        self.db.rows(UNUSED, args![micros(moment)]).await?.iter().map(|row| Ok(ChatId(row.get("id")?))).collect()
    }

    /// Forgets what was logged before a moment, and the calls of deleted chats that were counted; says how many entries.
    ///
    /// # Errors
    /// The database failed.
    pub async fn forget_audit(&self, moment: Timestamp) -> Result<u64, StoreError> {
        let entries = self.forget_in_steps(AUDIT_STEP, FORGET_AUDIT, moment).await?;
        self.forget_in_steps(PAST_CALLS_STEP, FORGET_PAST_CALLS, moment).await?;
        Ok(entries)
    }

    /// Deletes rows in small steps, so that nobody waits for it; says how many.
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
