//! Requests that change something outside a chat, by their idempotency keys, so that none is executed twice.

use crate::arg::args;
use crate::db::Row;
use crate::error::StoreError;
use crate::store::{Store, micros};
use planwright_protocol::Timestamp;

/// The idempotency key of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// Caller and route of the request.
    pub scope: String,
    pub key: String,
}

/// The state of a request with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// New; from now on it is in progress.
    New,
    /// Sent before with other content.
    Other,
    /// In progress, or its process ended before it answered.
    Begun,
    /// Answered with this status and body.
    Answered(u16, String),
}

const BEGIN: &str = "insert into requests (scope, request_key, sha256, created_at) values ($1, $2, $3, $4)
    on conflict (scope, request_key) do nothing returning sha256";
const FIND: &str = "select sha256, status, body from requests where scope = $1 and request_key = $2";
const END: &str = "update requests set status = $3, body = $4 where scope = $1 and request_key = $2";
const FORGET: &str = "delete from requests where scope = $1 and request_key = $2";
const FORGET_OLD: &str = "delete from requests where created_at < $1";
/// How long a request can be repeated.
const RETENTION_MICROS: i64 = 7 * 24 * 3600 * 1_000_000;

impl Store {
    /// Records that a request is in progress, unless it was sent before.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_request(&self, key: &RequestKey, sha256: &str) -> Result<RequestState, StoreError> {
        let (scope, id, now) = (key.scope.as_str(), key.key.as_str(), micros(Timestamp::now()));
        let mut transaction = self.db.begin().await?;
        transaction.run(FORGET_OLD, args![now - RETENTION_MICROS]).await?;
        let is_new = !transaction.rows(BEGIN, args![scope, id, sha256, now]).await?.is_empty();
        let known = transaction.row(FIND, args![scope, id]).await?;
        transaction.commit().await?;
        if is_new { Ok(RequestState::New) } else { state(&known, sha256) }
    }

    /// The state of an earlier request with this key; `None` if there was none.
    ///
    /// # Errors
    /// The database failed.
    pub async fn earlier_request(&self, key: &RequestKey, sha256: &str) -> Result<Option<RequestState>, StoreError> {
        let known = self.db.row(FIND, args![key.scope.as_str(), key.key.as_str()]).await?;
        known.map(|known| state(&known, sha256)).transpose()
    }

    /// Stores the answer to a request.
    ///
    /// # Errors
    /// The database failed.
    pub async fn end_request(&self, key: &RequestKey, status: u16, body: &str) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(END, args![key.scope.as_str(), key.key.as_str(), i64::from(status), body]).await?;
        transaction.commit().await
    }

    /// Deletes the record of a refused request: it changed nothing and can be repeated.
    ///
    /// # Errors
    /// The database failed.
    pub async fn forget_request(&self, key: &RequestKey) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(FORGET, args![key.scope.as_str(), key.key.as_str()]).await?;
        transaction.commit().await
    }
}

/// The state of a stored request that is sent again with this content.
fn state(known: &Row, sha256: &str) -> Result<RequestState, StoreError> {
    if known.text("sha256")? != sha256 {
        return Ok(RequestState::Other);
    }
    let status = known.get::<Option<i64>>("status")?.and_then(|status| u16::try_from(status).ok());
    status.map_or(Ok(RequestState::Begun), |status| known.text("body").map(|body| RequestState::Answered(status, body)))
}
