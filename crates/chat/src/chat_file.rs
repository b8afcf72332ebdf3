//! The chat as a file in the workspace, for people to read.
//!
//! The database is authoritative. The file is written after it. A failed write is logged and does not stop the chat.

mod format;

pub use format::{ChatHeader, entry, frontmatter, missing_from, whole_entry};

use planwright_protocol::{Envelope, Event, Message, MessageId};
use planwright_store::ChatRow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub struct ChatFile {
    /// Stored messages that are not in the file yet, in order.
    queue: Mutex<Vec<Message>>,
    /// Held while the file is written, so that two writes don't mix.
    pub(crate) written: tokio::sync::Mutex<Written>,
    pub(crate) begun: AtomicBool,
}

#[derive(Default)]
pub(crate) struct Written {
    /// The last written frontmatter; `None` if the file was not read yet.
    pub(crate) header: Option<ChatHeader>,
    /// The newest messages of the file when it was last compared with the store.
    pub(crate) reconciled: HashSet<MessageId>,
    /// Whether the whole file must be checked, even if its ends are right.
    pub(crate) needs_full_check: bool,
    /// Whether a failure to write the file was already logged.
    pub(crate) warned: bool,
}

impl ChatFile {
    /// Queues stored messages.
    pub fn note(&self, stored: &[Envelope]) {
        for envelope in stored {
            if let Event::MessageCreated { message } = &envelope.event {
                self.queue().push(message.clone());
            }
        }
    }

    /// The file of a chat with a history: it was written before, so nothing waits for its first check.
    pub fn of_old_chat() -> Self {
        Self { begun: AtomicBool::new(true), ..Self::default() }
    }

    /// Whether the file has been written, by this process or an earlier one.
    pub fn is_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    pub(crate) fn queue(&self) -> std::sync::MutexGuard<'_, Vec<Message>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn header(row: &ChatRow) -> ChatHeader {
    ChatHeader { id: row.id, title: row.title.clone(), config: row.config.clone(), created_at: row.created_at, updated_at: row.updated_at }
}
