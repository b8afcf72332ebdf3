//! The chat as a file of the workspace, for people to read.
//!
//! The database is the truth. The file is written after it, and a file that can't be written is logged and no reason
//! for the chat to stop.

mod format;

pub use format::{ChatHeader, entry, frontmatter, missing_from, whole_entry};

use crate::chat::{Chat, broken, storage};
use planwright_protocol::{Envelope, ErrorCode, Event, Message, Problem};
use planwright_store::ChatRow;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub struct ChatFile {
    /// Messages that are stored and not yet in the file, in their order.
    queue: Mutex<Vec<Message>>,
    /// Held while the file is written, so that two writes don't mix.
    written: tokio::sync::Mutex<Written>,
    begun: AtomicBool,
}

#[derive(Default)]
struct Written {
    /// The frontmatter as it was last written; `None` when the file has not been looked at.
    header: Option<ChatHeader>,
    /// Whether it was logged that the file can't be written.
    warned: bool,
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

    /// Whether the file has been brought up to date since the chat was opened.
    pub fn is_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Vec<Message>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chat {
    /// Brings the chat's file up to date.
    pub async fn write_file(&self) {
        let mut written = self.file.written.lock().await;
        let header = header(&self.row().await);
        let outcome = match &written.header {
            Some(known) if known.tells_the_same(&header) => self.append_file(&header).await,
            Some(_) | None => self.reconcile_file(&header).await,
        };
        match outcome {
            Ok(()) => {
                self.file.begun.store(true, Ordering::Relaxed);
                *written = Written { header: Some(header), warned: false };
            }
            Err(problem) => {
                if !written.warned {
                    tracing::warn!(chat = %self.id, %problem, "the chat's file could not be written");
                }
                *written = Written { header: None, warned: true };
            }
        }
    }

    /// The frontmatter of the chat's file, which is mended first where it has to be. Where there can be no file, what it would have.
    ///
    /// # Errors
    /// Something broke inside.
    pub async fn frontmatter(&self) -> Result<Map<String, Value>, Problem> {
        self.file.written.lock().await.header = None;
        self.write_file().await;
        let (workspace, id, row) = (self.workspace.clone(), self.id, self.row().await);
        let read = move || {
            let found = workspace.read_chat(id).ok().and_then(|content| frontmatter(&content));
            found.or_else(|| frontmatter(&header(&row).put_into(&[]))).unwrap_or_default()
        };
        tokio::task::spawn_blocking(read).await.map_err(broken)
    }

    async fn append_file(&self, header: &ChatHeader) -> Result<(), Problem> {
        let text: String = std::mem::take(&mut *self.file.queue()).iter().filter_map(entry).collect();
        if text.is_empty() {
            return Ok(());
        }
        let (workspace, id) = (self.workspace.clone(), self.id);
        match tokio::task::spawn_blocking(move || workspace.append_chat(id, &text)).await.map_err(broken)? {
            Err(problem) if matches!(problem.code, ErrorCode::PathNotFound | ErrorCode::PathHardlinkRefused) => {
                self.reconcile_file(header).await
            }
            other => other,
        }
    }

    /// Looks at the whole file: its frontmatter is made right, and what it lacks at its end is added.
    async fn reconcile_file(&self, header: &ChatHeader) -> Result<(), Problem> {
        let history = self.store.messages(self.id).await.map_err(storage)?;
        let known: HashSet<_> = history.iter().map(|message| message.id).collect();
        self.file.queue().retain(|message| !known.contains(&message.id));
        let (workspace, id, header) = (self.workspace.clone(), self.id, header.clone());
        let edit = move |old: &[u8]| {
            let mut new = header.put_into(old);
            for text in missing_from(old, &history).iter().filter_map(entry) {
                if !new.ends_with(b"\n") {
                    new.push(b'\n');
                }
                new.extend_from_slice(text.as_bytes());
            }
            new
        };
        tokio::task::spawn_blocking(move || workspace.rewrite_chat(id, edit)).await.map_err(broken)?
    }
}

pub fn header(row: &ChatRow) -> ChatHeader {
    ChatHeader { id: row.id, title: row.title.clone(), config: row.config.clone(), created_at: row.created_at, updated_at: row.updated_at }
}
