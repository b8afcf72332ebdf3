use crate::chats::read_message;
use crate::db::{Transaction, args};
use crate::store::{Store, StoreError, micros};
use planwright_protocol::{ChatId, Message, MessageId, Timestamp, UserId, WorkspaceId};
use schemars::JsonSchema;
use serde::Serialize;

/// What makes it safe to send a message again: the same key stands for the same message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageKey {
    pub key: String,
    /// Of what was sent with it.
    pub sha256: String,
    pub message_id: MessageId,
}

/// A message that was looked for in all chats.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Found {
    pub workspace_id: WorkspaceId,
    /// The title of its chat.
    pub title: String,
    pub message: Message,
}

const MESSAGE: &str = "select * from messages where id = $1 and chat_id = $2";
const DELETE: &str = "delete from messages where id = $1 and chat_id = $2";
const SEARCH: &str = "select * from messages where chat_id = $1 and lower(content) like lower($2) escape '\\'
    and ($3 is null or seq < coalesce((select seq from messages where id = $3 and chat_id = $1),
        (select max(seq) + 1 from messages where id < $3 and chat_id = $1))) order by seq desc limit $4";
/// What was said, not what tools answered: of a word in a file there would be one for each time it was read.
const SEARCH_ALL: &str = "select messages.*, chats.workspace_id, chats.title from messages join chats on chats.id = messages.chat_id
    where lower(messages.content) like lower($1) escape '\\' and messages.author in ('user', 'assistant')
    and (messages.message_type is null or messages.message_type in ('text', 'plan', 'question'))
    and ($2 is null or exists (select 1 from rights where rights.user_id = $2 and rights.workspace_id = chats.workspace_id))
    order by messages.created_at desc, messages.id desc limit $3";
const KEY: &str = "select sha256, message_id from message_keys where chat_id = $1 and key = $2";
const PUT_KEY: &str = "insert into message_keys (chat_id, key, sha256, message_id, created_at) values ($1, $2, $3, $4, $5)";

impl Store {
    /// One message of a chat.
    ///
    /// # Errors
    /// The database failed.
    pub async fn message(&self, chat: ChatId, id: MessageId) -> Result<Option<Message>, StoreError> {
        self.db.row(MESSAGE, args![id.0, chat.0]).await?.as_ref().map(read_message).transpose()
    }

    /// The messages that have a text in them, whatever its case, newest first: those older than the one named, or the newest.
    ///
    /// # Errors
    /// The database failed.
    pub async fn search(&self, chat: ChatId, text: &str, before: Option<MessageId>, limit: u32) -> Result<Vec<Message>, StoreError> {
        let args = args![chat.0, pattern(text), before.map(|id| id.0), limit];
        self.db.rows(SEARCH, args).await?.iter().map(read_message).collect()
    }

    /// What was said that has a text in it, whatever its case, newest first; in all chats that a user may know of, or in all.
    ///
    /// # Errors
    /// The database failed.
    pub async fn search_all(&self, user: Option<UserId>, text: &str, limit: u32) -> Result<Vec<Found>, StoreError> {
        let rows = self.db.rows(SEARCH_ALL, args![pattern(text), user.map(|user| user.0), limit]).await?;
        let found = rows.iter().map(|row| {
            let workspace_id = WorkspaceId(row.get("workspace_id")?);
            Ok(Found { workspace_id, title: row.text("title")?, message: read_message(row)? })
        });
        found.collect()
    }

    /// What was sent to a chat with this key.
    ///
    /// # Errors
    /// The database failed.
    pub async fn message_key(&self, chat: ChatId, key: &str) -> Result<Option<MessageKey>, StoreError> {
        let Some(row) = self.db.row(KEY, args![chat.0, key]).await? else { return Ok(None) };
        Ok(Some(MessageKey { key: key.to_owned(), sha256: row.text("sha256")?, message_id: MessageId(row.get("message_id")?) }))
    }
}

pub(crate) async fn put_key(transaction: &mut Transaction, chat: ChatId, key: &MessageKey, at: Timestamp) -> Result<(), StoreError> {
    let args = args![chat.0, key.key.as_str(), key.sha256.as_str(), key.message_id.0, micros(at)];
    transaction.run(PUT_KEY, args).await
}

pub(crate) async fn delete_message(transaction: &mut Transaction, chat: ChatId, id: MessageId) -> Result<(), StoreError> {
    transaction.run(DELETE, args![id.0, chat.0]).await
}

/// The text anywhere, for `like`.
pub(crate) fn pattern(text: &str) -> String {
    format!("%{}%", text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}
