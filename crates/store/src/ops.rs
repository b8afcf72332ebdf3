use crate::arg::args;
use crate::error::StoreError;
use crate::store::Store;
use planwright_protocol::{ChatId, MessageId};
use serde_json::Value;

/// An op that changed a chat, stored with the change. A client that repeats the op gets this record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpRecord {
    /// The client's idempotency key, or one that the server created.
    pub id: String,
    /// Hash of the op's content. Reusing the id with other content is an error.
    pub sha256: String,
    /// The message that the op created, if any.
    pub message_id: Option<MessageId>,
    /// The answer to the op: the chat after it, as JSON. `None` for ops that older versions stored.
    pub result: Option<Value>,
}

const OP: &str = "select sha256, message_id, result from ops where chat_id = $1 and op_id = $2";

impl Store {
    /// The op that a chat stored under this id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn op(&self, chat: ChatId, id: &str) -> Result<Option<OpRecord>, StoreError> {
        let Some(row) = self.db.row(OP, args![chat.0, id]).await? else { return Ok(None) };
        let message_id = row.get::<Option<_>>("message_id")?.map(MessageId);
        let result = row.optional_text("result")?.map(|result| serde_json::from_str(&result)).transpose()?;
        Ok(Some(OpRecord { id: id.to_owned(), sha256: row.text("sha256")?, message_id, result }))
    }
}
