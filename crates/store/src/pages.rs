//! Pages of messages and events, limited in bytes as well as in number.

use crate::arg::{Arg, args};
use crate::chats::read_message;
use crate::error::StoreError;
use crate::store::Store;
use planwright_protocol::{ChatId, Message, MessageId};

macro_rules! messages_before {
    ($columns:literal) => {
        concat!(
            "select ",
            $columns,
            " from messages where chat_id = $1
            and ($2 is null or seq < coalesce((select seq from messages where id = $2 and chat_id = $1),
                -- It was taken back: those that were written before it.
                (select max(seq) + 1 from messages where id < $2 and chat_id = $1))) order by seq desc limit $3"
        )
    };
}
const MESSAGES_BEFORE: &str = messages_before!("*");
const SIZES_BEFORE: &str = messages_before!("cast(octet_length(content) + octet_length(metadata) as bigint) as size");
const SIZES_AFTER: &str =
    "select cast(octet_length(envelope) + coalesce(octet_length(messages.content) + octet_length(messages.metadata), 0) as bigint) as size
    from events left join messages on messages.id = events.message_id
    where events.chat_id = $1 and events.seq > $2 order by events.seq limit $3";

/// Maximum size of a page of messages; a single larger message is a page too.
const PAGE_BYTES: u64 = 8 << 20;

/// Up to this many messages are read without checking their sizes first.
const FEW: u32 = 2;

impl Store {
    /// A page of a chat's history, newest first: the messages older than `before`, or the newest. It has at least one message,
    /// and fewer than `limit` if they would exceed [`PAGE_BYTES`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn messages_before(&self, chat: ChatId, before: Option<MessageId>, limit: u32) -> Result<Vec<Message>, StoreError> {
        let mut limit = limit;
        if limit > FEW {
            let sizes = self.sizes(SIZES_BEFORE, args![chat.0, before.map(|id| id.0), limit]).await?;
            let fit = fitting(&sizes, PAGE_BYTES).0;
            // A message stored between the two queries must not push the oldest one off a page with room for both.
            if (fit as usize) < sizes.len() {
                limit = fit;
            }
        }
        let args = args![chat.0, before.map(|id| id.0), limit];
        self.db.rows(MESSAGES_BEFORE, args).await?.iter().map(read_message).collect()
    }

    /// How many of the next `limit` events after `seq` fit into `bytes`, and their total size. The first event always counts.
    ///
    /// # Errors
    /// The database failed.
    pub async fn events_within(&self, chat: ChatId, seq: u64, limit: u32, bytes: u64) -> Result<(u32, u64), StoreError> {
        Ok(fitting(&self.sizes(SIZES_AFTER, args![chat.0, seq, limit]).await?, bytes))
    }

    async fn sizes(&self, sql: &'static str, args: Vec<Arg>) -> Result<Vec<u64>, StoreError> {
        self.db.rows(sql, args).await?.iter().map(|row| row.number("size")).collect()
    }
}

/// How many of these sizes (at least one) fit into `bytes`, and their sum.
fn fitting(sizes: &[u64], bytes: u64) -> (u32, u64) {
    let (mut count, mut sum) = (0, 0);
    for size in sizes {
        if count > 0 && sum + size > bytes {
            break;
        }
        (count, sum) = (count + 1, sum + size);
    }
    (count, sum)
}
