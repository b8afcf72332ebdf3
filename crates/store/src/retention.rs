use crate::arg::args;
use crate::error::StoreError;
use crate::store::{Store, micros};
use planwright_protocol::{ChatId, Timestamp};

/// A chat that runs or waits for an answer is in use, however old it is.
const UNUSED: &str = "select id from chats where updated_at < $1 and run_id is null and pending is null order by updated_at";
const COUNT_AUDIT: &str = "select count(*) as entries from audit where created_at < $1";
const FORGET_AUDIT: &str = "delete from audit where created_at < $1";
const FORGET_PAST_CALLS: &str = "delete from past_calls where created_at < $1";

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
        let mut transaction = self.db.begin().await?;
        let entries = transaction.row(COUNT_AUDIT, args![micros(moment)]).await?.number("entries")?;
        for sql in [FORGET_AUDIT, FORGET_PAST_CALLS] {
            transaction.run(sql, args![micros(moment)]).await?;
        }
        transaction.commit().await?;
        Ok(entries)
    }
}
