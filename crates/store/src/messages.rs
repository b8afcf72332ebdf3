use crate::arg::{Arg, args};
use crate::chats::read_message;
use crate::error::StoreError;
use crate::rows::{ColumnType, RowStatement};
use crate::store::{Store, enum_name, micros};
use planwright_protocol::{ChatId, Message, MessageId, WireMessage};

const MESSAGE: &str = "select * from messages where id = $1 and chat_id = $2";
const SEARCH: &str = "select * from messages where chat_id = $1 and lower(content) like lower($2) escape '\\'
    and ($3 is null or seq < coalesce((select seq from messages where id = $3 and chat_id = $1),
        (select max(seq) + 1 from messages where id < $3 and chat_id = $1))) order by seq desc limit $4";
/// A message keeps its first sequence number.
pub(crate) const PUT_MESSAGES: RowStatement = RowStatement {
    columns: &[
        ("id", ColumnType::Id),
        ("chat_id", ColumnType::Id),
        ("seq", ColumnType::Number),
        ("author", ColumnType::Text),
        ("agent_role", ColumnType::Text),
        ("message_type", ColumnType::Text),
        ("content", ColumnType::Text),
        ("metadata", ColumnType::Text),
        ("model", ColumnType::Text),
        ("created_at", ColumnType::Number),
    ],
    sql: "insert into messages (id, chat_id, seq, author, agent_role, message_type, content, metadata, model, created_at)
        select * from given where true
        on conflict (id) do update set message_type = excluded.message_type, content = excluded.content, metadata = excluded.metadata",
};
pub(crate) const DELETE_MESSAGES: RowStatement = RowStatement {
    columns: &[("id", ColumnType::Id), ("chat_id", ColumnType::Id)],
    sql: "delete from messages where id in (select id from given) and chat_id in (select chat_id from given)",
};

impl Store {
    /// One message of a chat.
    ///
    /// # Errors
    /// The database failed.
    pub async fn message(&self, chat: ChatId, id: MessageId) -> Result<Option<Message>, StoreError> {
        self.db.row(MESSAGE, args![id.0, chat.0]).await?.as_ref().map(read_message).transpose()
    }

    /// The messages that contain a text, ignoring case, newest first: those older than `before`, or the newest.
    ///
    /// # Errors
    /// The database failed.
    pub async fn search(&self, chat: ChatId, text: &str, before: Option<MessageId>, limit: u32) -> Result<Vec<Message>, StoreError> {
        let args = args![chat.0, pattern(text), before.map(|id| id.0), limit];
        self.db.rows(SEARCH, args).await?.iter().map(read_message).collect()
    }
}

/// A row of [`PUT_MESSAGES`].
pub(crate) fn message_row(message: &Message, seq: u64) -> Result<Vec<Arg>, StoreError> {
    // Stored beside the metadata, so that calls can be counted by it.
    let model = message.body.tool_call().map(|call| call.model().to_owned());
    let wire = WireMessage::from(message);
    Ok(args![
        wire.id.0,
        wire.chat_id.0,
        seq,
        enum_name(wire.author)?,
        wire.agent_role.map(enum_name).transpose()?,
        enum_name(wire.message_type)?,
        wire.content.as_str(),
        serde_json::to_string(&wire.metadata)?,
        model,
        micros(message.created_at),
    ])
}

/// A `like` pattern that matches the text anywhere.
pub(crate) fn pattern(text: &str) -> String {
    format!("%{}%", text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}
