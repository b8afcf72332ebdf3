use crate::arg::args;
use crate::error::StoreError;
use crate::store::{Store, micros};
use planwright_protocol::Timestamp;
use sqlx::types::Uuid;
use std::sync::Arc;

const PUT: &str = "insert into parcels (id, content, created_at) values ($1, $2, $3)";
const TAKE: &str = "select content from parcels where id = $1";
const FORGET_OLD: &str = "delete from parcels where created_at < $1";
/// How long the receiver may take.
const RETENTION_MICROS: i64 = 10 * 60 * 1_000_000;

impl Store {
    /// Stores a message that is too large for the bus, for ten minutes. Returns its name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn put_parcel(&self, content: &[u8]) -> Result<String, StoreError> {
        let (id, now) = (planwright_protocol::MessageId::generate().0, micros(Timestamp::now()));
        let mut transaction = self.db.begin().await?;
        transaction.run(FORGET_OLD, args![now - RETENTION_MICROS]).await?;
        transaction.run(PUT, args![id, Arc::<[u8]>::from(content), now]).await?;
        transaction.commit().await?;
        Ok(id.to_string())
    }

    /// A stored message; `None` if there is none with this name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn parcel(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Ok(id) = name.parse::<Uuid>() else { return Ok(None) };
        self.db.row(TAKE, args![id]).await?.map(|row| row.get("content")).transpose()
    }
}
