use crate::arg::args;
use crate::chats::read_message;
use crate::contents::LOOSEN_CHANGE;
use crate::db::Row;
use crate::error::StoreError;
use crate::rows::{ColumnType, RowStatement, RowWrite};
use crate::store::Store;
use planwright_protocol::{ChatId, Image, Message, MessageId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One path that a call changes, or that a revert restores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChangeRow {
    pub message_id: MessageId,
    pub path: String,
    pub before: Image,
    pub after: Image,
}

/// A stored [`FileChangeRow`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    pub id: i64,
    pub change: FileChangeRow,
    pub reverted_by: Option<MessageId>,
    /// The sequence number of its message; `None` if the message was never stored.
    pub seq: Option<u64>,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub sha256: String,
    pub bytes: Arc<[u8]>,
}

/// The file versions of one append.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    pub contents: Vec<Content>,
    pub rows: Vec<FileChangeRow>,
    /// Rows of earlier messages that are reverted, and by which message.
    pub reverted: Vec<(i64, MessageId)>,
    /// The hashes of those contents that are images of the chat.
    pub images: Vec<String>,
}

/// Locks existing contents too, so that none is collected while this refers to it.
const PUT_CONTENTS: RowStatement = RowStatement {
    columns: &[("sha256", ColumnType::Text), ("bytes", ColumnType::Bytes)],
    sql: "insert into contents (sha256, bytes) select * from given where true
        on conflict (sha256) do update set bytes = excluded.bytes where false",
};
/// The first row for a message stays: after a crash, part of the change may have happened.
const PUT_CHANGES: RowStatement = RowStatement {
    columns: &[
        ("chat_id", ColumnType::Id),
        ("message_id", ColumnType::Id),
        ("path", ColumnType::Text),
        ("before", ColumnType::Text),
        ("after", ColumnType::Text),
        ("before_sha256", ColumnType::Text),
        ("after_sha256", ColumnType::Text),
    ],
    sql: "insert into file_changes (chat_id, message_id, path, before, after, before_sha256, after_sha256)
        select * from given where true on conflict (message_id, path) do nothing",
};
const PUT_IMAGES: RowStatement = RowStatement {
    columns: &[("chat_id", ColumnType::Id), ("sha256", ColumnType::Text)],
    sql: "insert into images (chat_id, sha256) select * from given where true on conflict do nothing",
};
const MARK_REVERTED: RowStatement = RowStatement {
    columns: &[("id", ColumnType::Number), ("reverted_by", ColumnType::Id)],
    sql: "update file_changes set reverted_by = given.reverted_by from given where file_changes.id = given.id",
};
const CHANGES: &str = "select file_changes.*, messages.seq from file_changes left join messages on messages.id = file_changes.message_id
    where file_changes.chat_id = $1 order by file_changes.id";
const CHANGES_OF: &str = "select file_changes.*, messages.seq from file_changes left join messages on messages.id = file_changes.message_id
    where file_changes.message_id = $1 order by file_changes.id";
const CHANGING: &str = "select * from messages where id in (select message_id from file_changes where chat_id = $1) order by seq";
const IS_KEPT: &str = "select 1 as kept from contents where sha256 = $1";
const CONTENT: &str = "select bytes from contents where sha256 = $1";
const PLACE: &str = "select seq from messages where id = $1 and chat_id = $2";
const FORGET_CHANGE: &str = "delete from file_changes where message_id = $1 and path = $2";
const UNMARK: &str = "update file_changes set reverted_by = null where reverted_by = $1 and path = $2";

impl Store {
    /// All file changes of a chat, in order.
    ///
    /// # Errors
    /// The database failed.
    pub async fn file_changes(&self, chat: ChatId) -> Result<Vec<StoredChange>, StoreError> {
        self.db.rows(CHANGES, args![chat.0]).await?.iter().map(read_change).collect()
    }

    /// The file changes of one message.
    ///
    /// # Errors
    /// The database failed.
    pub async fn file_changes_of(&self, message: MessageId) -> Result<Vec<StoredChange>, StoreError> {
        self.db.rows(CHANGES_OF, args![message.0]).await?.iter().map(read_change).collect()
    }

    /// The messages that changed files, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn changing_messages(&self, chat: ChatId) -> Result<Vec<Message>, StoreError> {
        self.db.rows(CHANGING, args![chat.0]).await?.iter().map(read_message).collect()
    }

    /// Whether a file's content is stored.
    ///
    /// # Errors
    /// The database failed.
    pub async fn has_content(&self, sha256: &str) -> Result<bool, StoreError> {
        Ok(self.db.row(IS_KEPT, args![sha256]).await?.is_some())
    }

    /// A file's content, if it is stored.
    ///
    /// # Errors
    /// The database failed.
    pub async fn content(&self, sha256: &str) -> Result<Option<Arc<[u8]>>, StoreError> {
        let row = self.db.row(CONTENT, args![sha256]).await?;
        row.map(|row| Ok(row.get::<Vec<u8>>("bytes")?.into())).transpose()
    }

    /// The sequence number of a message.
    ///
    /// # Errors
    /// The database failed.
    pub async fn place(&self, chat: ChatId, message: MessageId) -> Result<Option<u64>, StoreError> {
        self.db.row(PLACE, args![message.0, chat.0]).await?.map(|row| row.number("seq")).transpose()
    }

    /// Deletes changes that did not happen. Changes that they had reverted count again.
    ///
    /// # Errors
    /// The database failed.
    pub async fn forget_changes(&self, message: MessageId, paths: &[String]) -> Result<(), StoreError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut transaction = self.db.begin_in(self.scope()).await?;
        for path in paths {
            transaction.run(LOOSEN_CHANGE, args![message.0, path.as_str()]).await?;
            transaction.run(FORGET_CHANGE, args![message.0, path.as_str()]).await?;
            transaction.run(UNMARK, args![message.0, path.as_str()]).await?;
        }
        transaction.commit().await
    }
}

/// The rows of an append for file versions.
pub(crate) fn version_writes(chat: ChatId, versions: &Versions) -> Result<[RowWrite; 4], StoreError> {
    // Each content once and in one order, so that appends with the same contents can't deadlock.
    let contents: BTreeMap<&str, &Content> = versions.contents.iter().map(|content| (content.sha256.as_str(), content)).collect();
    let contents = contents.into_values().map(|content| args![content.sha256.as_str(), content.bytes.clone()]).collect();
    let change = |row: &FileChangeRow| {
        Ok(args![
            chat.0,
            row.message_id.0,
            row.path.as_str(),
            serde_json::to_string(&row.before)?,
            serde_json::to_string(&row.after)?,
            row.before.content().map(str::to_owned),
            row.after.content().map(str::to_owned),
        ])
    };
    let reverted: BTreeMap<i64, MessageId> = versions.reverted.iter().copied().collect();
    Ok([
        RowWrite::new(&PUT_CONTENTS, contents),
        RowWrite::new(&PUT_CHANGES, versions.rows.iter().map(change).collect::<Result<_, StoreError>>()?),
        RowWrite::new(&MARK_REVERTED, reverted.into_iter().map(|(id, by)| args![id, by.0]).collect()),
        RowWrite::new(&PUT_IMAGES, versions.images.iter().map(|sha256| args![chat.0, sha256.as_str()]).collect()),
    ])
}

fn read_change(row: &Row) -> Result<StoredChange, StoreError> {
    Ok(StoredChange {
        id: row.get("id")?,
        change: FileChangeRow {
            message_id: MessageId(row.get("message_id")?),
            path: row.text("path")?,
            before: serde_json::from_str(&row.text("before")?)?,
            after: serde_json::from_str(&row.text("after")?)?,
        },
        reverted_by: row.get::<Option<_>>("reverted_by")?.map(MessageId),
        seq: row.get::<Option<i64>>("seq")?.and_then(|seq| u64::try_from(seq).ok()),
    })
}
