//! The messages that a model's conversation is made of, read from the newest one backwards, so that a run costs the same
//! however long the chat is.

use crate::arg::args;
use crate::chats::{TurnStart, read_message};
use crate::error::StoreError;
use crate::store::Store;
use planwright_protocol::message::ReviewComment;
use planwright_protocol::{ChatId, Message, MessageBody, MessageId};
use std::collections::HashSet;

/// How much of a conversation is read.
#[derive(Clone, Copy, Debug)]
pub struct TurnWindow {
    /// Bytes of all messages together; the newest message is read in any case.
    pub bytes: u64,
    /// A longer message counts as so many bytes, because a model reads no more of it.
    pub bytes_of_one: u64,
}

/// The end of a conversation, oldest message first.
#[derive(Clone, Debug)]
pub struct TurnMessages {
    pub messages: Vec<Message>,
    /// Whether there are earlier messages that did not fit into the window.
    pub is_cut: bool,
}

const SIZES: &str = "select seq, cast(octet_length(content) + octet_length(metadata) as bigint) as size from messages
    where chat_id = $1 and seq >= $2 and ($3 is null or seq < $3) order by seq desc limit 500";
/// As many rows as [`SIZES`] gives at once.
const PAGE: usize = 500;
const MESSAGES_FROM: &str = "select * from messages where chat_id = $1 and seq >= $2 order by seq";
/// Written so that the partial indexes serve them.
/// The text only narrows the search: the typed body says whether there are comments.
const WITH_COMMENTS: &str = "select * from messages where chat_id = $1 and author = 'user' and metadata like '%\"comments\":%'
    and seq > coalesce((select seq from messages where chat_id = $1 and id = $2), 0) order by seq";
const LANDMARKS: &str =
    "select * from messages where chat_id = $1 and (author = 'system' or message_type in ('plan', 'question')) order by seq";
const OUTLINE: &str = "select * from messages where chat_id = $1 and seq > $2
    and (author in ('user', 'system') or message_type in ('plan', 'question', 'tool_call')) order by seq limit 500";

impl Store {
    /// The messages since the conversation was summed up, or all of them; of many the newest that fit into the window. Work
    /// that was handed on and is not finished is always whole.
    ///
    /// # Errors
    /// The database failed.
    pub async fn turn_messages(&self, chat: ChatId, start: Option<TurnStart>, window: TurnWindow) -> Result<TurnMessages, StoreError> {
        let begin = start.map_or(0, |start| start.seq);
        let mut window = window;
        loop {
            let first = self.first_in_window(chat, begin, window).await?;
            let rows = self.db.rows(MESSAGES_FROM, args![chat.0, first.unwrap_or(begin)]).await?;
            let messages = rows.iter().map(read_message).collect::<Result<Vec<Message>, _>>()?;
            let is_cut = first.is_some();
            if !is_cut || !cuts_open_delegation(&messages) {
                return Ok(TurnMessages { messages, is_cut });
            }
            window.bytes = window.bytes.saturating_mul(4);
        }
    }

    /// The place of the first message in the window; `None` if all messages from `begin` on fit.
    async fn first_in_window(&self, chat: ChatId, begin: u64, window: TurnWindow) -> Result<Option<u64>, StoreError> {
        let (mut bytes, mut first): (u64, Option<u64>) = (0, None);
        loop {
            let rows = self.db.rows(SIZES, args![chat.0, begin, first.map(u64::cast_signed)]).await?;
            for row in &rows {
                bytes = bytes.saturating_add(row.number("size")?.min(window.bytes_of_one));
                if bytes > window.bytes && first.is_some() {
                    return Ok(first);
                }
                first = Some(row.number("seq")?);
            }
            if rows.len() < PAGE {
                return Ok(None);
            }
        }
    }

    /// The few messages that tell what became of plans and approvals, oldest first: plan versions, questions and notices.
    ///
    /// # Errors
    /// The database failed.
    pub async fn landmarks(&self, chat: ChatId) -> Result<Vec<Message>, StoreError> {
        self.db.rows(LANDMARKS, args![chat.0]).await?.iter().map(read_message).collect()
    }

    /// The review comments that the user sent after a message; `None` for all of them.
    ///
    /// # Errors
    /// The database failed.
    pub async fn comments_since(&self, chat: ChatId, message: Option<MessageId>) -> Result<Vec<ReviewComment>, StoreError> {
        let rows = self.db.rows(WITH_COMMENTS, args![chat.0, message.map(|message| message.0)]).await?;
        let messages = rows.iter().map(read_message).collect::<Result<Vec<_>, _>>()?;
        let texts = messages.into_iter().filter_map(|message| message.body.user_text().cloned());
        Ok(texts.flat_map(|text| text.comments).collect())
    }

    /// A history without the model's texts and the results of tools, oldest first: what a summary keeps word for word. Read in
    /// steps, between which others get their turn.
    ///
    /// # Errors
    /// The database failed.
    pub async fn outline(&self, chat: ChatId) -> Result<Vec<Message>, StoreError> {
        let (mut messages, mut last) = (Vec::new(), 0);
        loop {
            let rows = self.db.rows(OUTLINE, args![chat.0, last]).await?;
            for row in &rows {
                messages.push(read_message(row)?);
            }
            let Some(row) = rows.last().filter(|_| rows.len() == PAGE) else { return Ok(messages) };
            last = row.number("seq")?;
            tokio::task::yield_now().await;
        }
    }
}

/// Whether work that was handed on is under way, and its beginning is missing.
fn cuts_open_delegation(messages: &[Message]) -> bool {
    let begun = messages.iter().filter_map(|message| message.body.tool_call()).map(|call| call.call_id);
    let ended = messages.iter().filter_map(|message| match &message.body {
        MessageBody::ToolResult(result) => Some(result.call_id),
        MessageBody::UserText(_)
        | MessageBody::Answer(_)
        | MessageBody::AssistantText(_)
        | MessageBody::Plan(_)
        | MessageBody::Question(_)
        | MessageBody::ToolCall(_)
        | MessageBody::Notice(_)
        | MessageBody::Unknown(_) => None,
    });
    let known: HashSet<_> = begun.chain(ended).collect();
    messages.iter().filter_map(|message| message.delegation).any(|call| !known.contains(&call))
}
