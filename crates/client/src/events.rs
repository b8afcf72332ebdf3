//! Event streams that reconnect and resume.

use crate::client::Client;
use crate::error::ClientError;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use planwright_protocol::{ChatId, Envelope, Event};
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// The server sends something at least every 15 s. After this silence the connection is considered lost.
const SILENCE: Duration = Duration::from_secs(35);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Maximum bytes of one event.
const LARGEST_EVENT: usize = 64 << 20;

/// An event as it was received.
#[derive(Clone, Debug)]
pub struct ReceivedEvent {
    pub envelope: Envelope,
    /// The chat that it belongs to; `None` if it belongs to none.
    pub chat: Option<ChatId>,
    /// The same as one line of JSON.
    pub json: String,
}

/// What a stream delivers.
#[derive(Clone, Debug)]
pub enum StreamItem {
    Event(Box<ReceivedEvent>),
    /// Events are missing, because this client was away for too long or the server has other data: load the chat anew.
    Reset,
    /// The connection broke, for this reason; the stream tries to resume.
    Lost(String),
    /// The connection is back.
    Resumed,
}

/// The events of one chat or of all chats, read by a task of its own: whoever cancels a wait loses nothing.
pub struct EventFollower {
    items: mpsc::Receiver<Result<StreamItem, ClientError>>,
    reader: AbortHandle,
}

/// Items that wait for the caller. When it is full, the connection is not read any more.
const MOST_WAITING: usize = 64;

impl EventFollower {
    pub(crate) fn of_chat(client: Client, path: String, after: u64) -> Self {
        Self::read_by(Reader::new(client, path, true, Some(after.to_string()), after))
    }

    pub(crate) fn over_all(client: Client, path: String) -> Self {
        Self::read_by(Reader::new(client, path, false, None, 0))
    }

    fn read_by(reader: Reader) -> Self {
        let (sender, items) = mpsc::channel(MOST_WAITING);
        Self { items, reader: tokio::spawn(reader.read(sender)).abort_handle() }
    }

    /// The next item. Cancelling it loses nothing.
    ///
    /// # Errors
    /// The server refused the stream for good, for example because the chat was deleted. Nothing follows.
    pub async fn next(&mut self) -> Result<StreamItem, ClientError> {
        self.items.recv().await.unwrap_or_else(|| Err(ClientError::Unreachable("the stream has ended".to_owned())))
    }
}

impl Drop for EventFollower {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

struct Reader {
    client: Client,
    path: String,
    /// Whether ids are numbers of one chat's events.
    is_of_chat: bool,
    /// Where to resume.
    last_id: Option<String>,
    /// The number of the newest delivered event of one chat.
    last: u64,
    body: Option<Incoming>,
    frames: FrameReader,
    is_lost: bool,
    pause: Duration,
}

impl Reader {
    fn new(client: Client, path: String, is_of_chat: bool, last_id: Option<String>, last: u64) -> Self {
        let frames = FrameReader::default();
        Self { client, path, is_of_chat, last_id, last, body: None, frames, is_lost: false, pause: Duration::ZERO }
    }

    async fn read(mut self, items: mpsc::Sender<Result<StreamItem, ClientError>>) {
        loop {
            let item = self.next().await;
            let is_last = item.is_err();
            if items.send(item).await.is_err() || is_last {
                return;
            }
        }
    }

    async fn next(&mut self) -> Result<StreamItem, ClientError> {
        loop {
            if let Some(frame) = self.frames.take() {
                if let Some(item) = self.item(&frame) {
                    return Ok(item);
                }
                continue;
            }
            let Some(body) = &mut self.body else {
                match self.reopen().await? {
                    Some(item) => return Ok(item),
                    None => continue,
                }
            };
            let why = match tokio::time::timeout(SILENCE, body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    if self.frames.push(&bytes) {
                        continue;
                    }
                    "an event is too large".to_owned()
                }
                Ok(Some(Err(error))) => error.to_string(),
                Ok(None) => "the server ended the stream".to_owned(),
                Err(_) => "the server is silent".to_owned(),
            };
            if let Some(lost) = self.lost(why) {
                return Ok(lost);
            }
        }
    }

    /// Drops the connection. What was not delivered yet is sent again.
    fn lost(&mut self, why: String) -> Option<StreamItem> {
        (self.body, self.frames) = (None, FrameReader::default());
        let is_new = !std::mem::replace(&mut self.is_lost, true);
        is_new.then_some(StreamItem::Lost(why))
    }

    async fn reopen(&mut self) -> Result<Option<StreamItem>, ClientError> {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        match self.client.open_stream(&self.path, self.last_id.as_deref()).await {
            Ok(body) => {
                (self.body, self.pause) = (Some(body), FIRST_PAUSE);
                Ok(std::mem::take(&mut self.is_lost).then_some(StreamItem::Resumed))
            }
            Err(error) if error.is_transient() => Ok(self.lost(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// What a frame tells the caller; `None` if it is known or says nothing.
    fn item(&mut self, frame: &str) -> Option<StreamItem> {
        #[derive(Deserialize)]
        struct Place {
            #[serde(default)]
            chat_id: Option<ChatId>,
        }
        let field =
            |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.strip_prefix(' ').unwrap_or(value));
        let id = field("id:").map(str::to_owned);
        let json = field("data:").map(str::to_owned);
        let Some(json) = json else {
            self.last_id = id.or_else(|| self.last_id.take());
            return None;
        };
        let envelope = match serde_json::from_str::<Envelope>(&json) {
            Ok(envelope) => envelope,
            Err(error) => {
                // A newer server of the same minor version may have further events.
                tracing::debug!(%error, "an event of an unknown form");
                self.last_id = id.or_else(|| self.last_id.take());
                return None;
            }
        };
        if envelope.event == (Event::Reset {}) {
            (self.last, self.last_id) = (envelope.seq, id.or_else(|| self.last_id.take()));
            return Some(StreamItem::Reset);
        }
        if self.is_of_chat {
            if envelope.seq <= self.last {
                return None;
            }
            self.last = envelope.seq;
        }
        self.last_id = id.or_else(|| self.last_id.take());
        let chat = serde_json::from_str::<Place>(&json).ok().and_then(|place| place.chat_id);
        Some(StreamItem::Event(Box::new(ReceivedEvent { envelope, chat, json })))
    }
}

/// Splits a stream into frames.
#[derive(Default)]
struct FrameReader {
    bytes: Vec<u8>,
    /// Up to here there is no end of a frame.
    searched: usize,
}

impl FrameReader {
    /// Returns whether the unfinished frame is still small enough.
    fn push(&mut self, bytes: &Bytes) -> bool {
        self.bytes.extend_from_slice(bytes);
        self.bytes.len() <= LARGEST_EVENT
    }

    fn take(&mut self) -> Option<String> {
        let Some(end) = self.bytes[self.searched..].windows(2).position(|pair| pair == b"\n\n") else {
            self.searched = self.bytes.len().saturating_sub(1);
            return None;
        };
        let rest = self.bytes.split_off(self.searched + end + 2);
        self.searched = 0;
        Some(String::from_utf8_lossy(&std::mem::replace(&mut self.bytes, rest)).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_however_the_bytes_are_cut() {
        let sent = "retry: 500\n\nid: 1\ndata: {\"ü\"}\n\n:\n\nid: 2\ndata: x\n\nid: 3".as_bytes();
        for size in 1..sent.len() {
            let (mut reader, mut frames) = (FrameReader::default(), Vec::new());
            for piece in sent.chunks(size) {
                reader.push(&Bytes::copy_from_slice(piece));
                while let Some(frame) = reader.take() {
                    frames.push(frame);
                }
            }
            assert_eq!(frames, ["retry: 500\n\n", "id: 1\ndata: {\"ü\"}\n\n", ":\n\n", "id: 2\ndata: x\n\n"], "{size}");
        }
    }
}
