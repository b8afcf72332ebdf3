//! Writes the chat's file.

use super::{Chat, broken};
use crate::chat_file::{ChatHeader, Written, entry, frontmatter, header, missing_from};
use planwright_protocol::{ErrorCode, Message, MessageId, Problem};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

/// Page size when searching for the newest message that the file has.
const PAGE: u32 = 200;
/// How many of the newest messages are searched at the end of the file.
const FEW: u32 = 32;
/// How much of the beginning and of the end of the file is read, in bytes.
const ENDS: usize = 64 << 10;

impl Chat {
    /// Updates the chat's file.
    pub async fn write_file(&self) {
        let mut written = self.file.written.lock().await;
        let header = header(&self.record());
        let outcome = match &written.header {
            Some(known) if known.tells_the_same(&header) => self.append_file(&header, &written.reconciled).await,
            None if !written.needs_full_check => match self.add_missing(&header).await {
                Ok(None) => self.reconcile_file(&header).await.map(Some),
                added => added,
            },
            Some(_) | None => self.reconcile_file(&header).await.map(Some),
        };
        match outcome {
            Ok(reconciled) => {
                self.file.begun.store(true, Ordering::Relaxed);
                let reconciled = reconciled.unwrap_or_else(|| std::mem::take(&mut written.reconciled));
                *written = Written { header: Some(header), reconciled, ..Written::default() };
            }
            Err(problem) => {
                if !written.warned {
                    tracing::warn!(chat = %self.id, %problem, "can't write the chat's file");
                }
                *written = Written { warned: true, ..Written::default() };
            }
        }
    }

    /// The frontmatter of the chat's file, which is first repaired if necessary. If there can be no file, the content it would
    /// have.
    ///
    /// # Errors
    /// An internal error.
    pub async fn frontmatter(&self) -> Result<Map<String, Value>, Problem> {
        *self.file.written.lock().await = Written { needs_full_check: true, ..Written::default() };
        self.write_file().await;
        let (workspace, id, row) = (self.workspace.clone(), self.id, self.record());
        let read = move || {
            let found = workspace.read_chat(id).ok().and_then(|content| frontmatter(&content));
            found.or_else(|| frontmatter(&header(&row).put_into(&[]))).unwrap_or_default()
        };
        tokio::task::spawn_blocking(read).await.map_err(broken)
    }

    /// Appends the waiting messages. If the file is missing, returns the messages of the new one.
    async fn append_file(&self, header: &ChatHeader, reconciled: &HashSet<MessageId>) -> Result<Option<HashSet<MessageId>>, Problem> {
        let waiting = std::mem::take(&mut *self.file.queue());
        // A message can be stored before it is queued; then the last comparison with the store has found it.
        let text: String = waiting.iter().filter(|message| !reconciled.contains(&message.id)).filter_map(entry).collect();
        if text.is_empty() {
            return Ok(None);
        }
        let (workspace, id) = (self.workspace.clone(), self.id);
        match tokio::task::spawn_blocking(move || workspace.append_chat(id, &text)).await.map_err(broken)? {
            Err(problem) if matches!(problem.code, ErrorCode::PathNotFound | ErrorCode::PathHardlinkRefused) => {
                self.reconcile_file(header).await.map(Some)
            }
            other => other.map(|()| None),
        }
    }

    /// Appends missing messages, and returns the messages that were checked; `None` if the ends of the file don't suffice. Its
    /// cost does not depend on the length of the file.
    async fn add_missing(&self, header: &ChatHeader) -> Result<Option<HashSet<MessageId>>, Problem> {
        let (workspace, id) = (self.workspace.clone(), self.id);
        let ends = tokio::task::spawn_blocking(move || workspace.chat_ends(id, ENDS)).await.map_err(broken)?;
        let Ok([beginning, end]) = ends else { return Ok(None) };
        if !header.is_shown_by(&beginning) || !end.ends_with(b"\n") {
            return Ok(None);
        }
        let mut newest = self.store.messages_before(id, None, FEW).await?;
        newest.reverse();
        let missing = missing_from(&end, &newest);
        if missing.len() == newest.len() {
            return Ok(None);
        }
        let known: HashSet<MessageId> = newest.iter().map(|message| message.id).collect();
        self.file.queue().retain(|message| !known.contains(&message.id));
        let text: String = missing.iter().filter_map(entry).collect();
        let workspace = self.workspace.clone();
        let added = tokio::task::spawn_blocking(move || workspace.append_chat(id, &text)).await.map_err(broken)?;
        Ok(added.is_ok().then_some(known))
    }

    /// The stored messages from the newest one that the file has, oldest first; all of them if it has none.
    async fn missing_messages(&self) -> Result<Vec<Message>, Problem> {
        let (workspace, id) = (self.workspace.clone(), self.id);
        let content = tokio::task::spawn_blocking(move || workspace.read_chat(id).unwrap_or_default()).await.map_err(broken)?;
        let mut newest_first: Vec<Message> = Vec::new();
        loop {
            let page = self.store.messages_before(id, newest_first.last().map(|message| message.id), PAGE).await?;
            let is_last = page.is_empty();
            let is_found = missing_from(&content, &page).len() < page.len();
            newest_first.extend(page);
            if is_last || is_found {
                newest_first.reverse();
                return Ok(newest_first);
            }
        }
    }

    /// Checks the whole file: corrects its frontmatter, and appends missing messages. Returns the messages that were checked,
    /// which the file has now.
    async fn reconcile_file(&self, header: &ChatHeader) -> Result<HashSet<MessageId>, Problem> {
        let missing = self.missing_messages().await?;
        let known: HashSet<MessageId> = missing.iter().map(|message| message.id).collect();
        self.file.queue().retain(|message| !known.contains(&message.id));
        let (workspace, id, header) = (self.workspace.clone(), self.id, header.clone());
        let edit = move |old: &[u8]| {
            let mut new = header.put_into(old);
            for text in missing_from(old, &missing).iter().filter_map(entry) {
                if !new.ends_with(b"\n") {
                    new.push(b'\n');
                }
                new.extend_from_slice(text.as_bytes());
            }
            new
        };
        tokio::task::spawn_blocking(move || workspace.rewrite_chat(id, edit)).await.map_err(broken)??;
        Ok(known)
    }
}
