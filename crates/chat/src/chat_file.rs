//! The chat as a file of the workspace, for people to read.
//!
//! The database is the truth. The file is written after it, and a file that can't be written is logged and no reason
//! for the chat to stop.

mod format;

pub use format::{ChatHeader, entry, frontmatter, missing_from, whole_entry};

use planwright_protocol::{Envelope, Event, Message, MessageId};
use planwright_store::ChatRow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub struct ChatFile {
    /// Messages that are stored and not yet in the file, in their order.
    queue: Mutex<Vec<Message>>,
    /// Held while the file is written, so that two writes don't mix.
    pub(crate) written: tokio::sync::Mutex<Written>,
    pub(crate) begun: AtomicBool,
}

#[derive(Default)]
pub(crate) struct Written {
    /// The frontmatter as it was last written; `None` when the file has not been looked at.
    pub(crate) header: Option<ChatHeader>,
    /// The newest messages that the file had when it was last compared with the store.
    pub(crate) reconciled: HashSet<MessageId>,
    /// Whether all of the file must be looked at, also where its ends are as they should be.
    pub(crate) needs_full_check: bool,
    /// Whether it was logged that the file can't be written.
    pub(crate) warned: bool,
}

impl ChatFile {
    /// Takes note of what was stored.
    pub fn note(&self, stored: &[Envelope]) {
        for envelope in stored {
            if let Event::MessageCreated { message } = &envelope.event {
                self.queue().push(message.clone());
            }
        }
    }

    /// The file of a chat that has a history: it was written before, so nobody has to wait for the first look at it.
    pub fn of_old_chat() -> Self {
        Self { begun: AtomicBool::new(true), ..Self::default() }
    }

    /// Whether the file has been written, in this process or an earlier one.
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
