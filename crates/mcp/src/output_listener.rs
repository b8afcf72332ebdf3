//! Limits and checks a program's stdout: how much it may send per request, and which lines are not messages.

use crate::json_size::JsonSize;
use serde_json::Value;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// Maximum bytes and messages in answer to one request.
const MAX_BYTES: usize = 64 << 20;
const MESSAGES: usize = 20_000;
/// Maximum bytes of a line; longer messages would be lost silently.
const MAX_LINE: usize = 16 << 20;
/// How much of a line is examined.
const KEPT_BYTES: usize = 4 << 10;

/// Shared by the reader and the requester.
#[derive(Clone, Default)]
pub struct OutputListener(Arc<ListenerState>);

#[derive(Default)]
struct ListenerState {
    heard: Mutex<OutputState>,
    /// Whether the program exceeded its limit. Nothing is read after that.
    flooded: watch::Sender<bool>,
}

#[derive(Default)]
struct OutputState {
    bytes: usize,
    messages: usize,
    /// The beginning of the current line, and its length so far.
    line: Vec<u8>,
    length: usize,
    size: JsonSize,
    /// The first line that is not a message.
    stray: Option<String>,
}

impl OutputListener {
    /// Resets the limits before each request.
    pub fn renew(&self) {
        let mut heard = self.state();
        (heard.bytes, heard.messages, heard.stray) = (0, 0, None);
    }

    /// The first line since the last request that is not a message of the protocol.
    pub fn stray(&self) -> Option<String> {
        let heard = self.state();
        heard.stray.clone().or_else(|| heard.judged())
    }

    pub fn is_flooded(&self) -> bool {
        *self.0.flooded.borrow()
    }

    /// Waits until the program exceeds its limit.
    pub async fn flooded(&self) {
        let _ = self.0.flooded.subscribe().wait_for(|is_flooded| *is_flooded).await;
    }

    /// Counts the bytes; returns whether reading may continue.
    fn count_bytes(&self, news: &[u8]) -> bool {
        let mut heard = self.state();
        heard.bytes = heard.bytes.saturating_add(news.len());
        let mut is_flood = heard.bytes > MAX_BYTES;
        for piece in news.split_inclusive(|&byte| byte == b'\n') {
            is_flood |= heard.take(piece);
        }
        if is_flood {
            self.0.flooded.send_replace(true);
        }
        !self.is_flooded()
    }

    fn state(&self) -> MutexGuard<'_, OutputState> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutputState {
    /// Adds a line or part of it; returns whether the limit is exceeded.
    fn take(&mut self, piece: &[u8]) -> bool {
        let room = KEPT_BYTES.saturating_sub(self.line.len()).min(piece.len());
        self.line.extend_from_slice(&piece[..room]);
        self.length = self.length.saturating_add(piece.len());
        let is_too_long = self.length > MAX_LINE || !self.size.add(piece);
        if piece.ends_with(b"\n") {
            self.messages += 1;
            if self.stray.is_none() {
                self.stray = self.judged();
            }
            self.line.clear();
            (self.length, self.size) = (0, JsonSize::default());
        }
        is_too_long || self.messages > MESSAGES
    }

    /// The line, if it is not a message. A line longer than the examined part counts as one if it begins like one.
    fn judged(&self) -> Option<String> {
        let line = self.line.trim_ascii();
        let may_be_one = self.length > self.line.len() && line.starts_with(b"{");
        let is_message = || serde_json::from_slice::<Value>(line).is_ok_and(|message| message.get("jsonrpc").is_some());
        let is_stray = !line.is_empty() && !may_be_one && !is_message();
        is_stray.then(|| String::from_utf8_lossy(line).into_owned())
    }
}

/// A reader that fails when the program exceeds its limit.
pub struct Metered<R> {
    pub inner: R,
    pub listener: OutputListener,
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, buffer));
        if read.is_ok() && !self.listener.count_bytes(&buffer.filled()[before..]) {
            return Poll::Ready(Err(std::io::Error::other("the program sent more than the limit")));
        }
        Poll::Ready(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    /// How much is heard of what is said again and again.
    async fn state(piece: &'static [u8]) -> (usize, OutputListener) {
        let listener = OutputListener::default();
        let said = piece.repeat((128 << 20) / piece.len());
        let mut flood = Metered { inner: std::io::Cursor::new(said), listener: listener.clone() };
        let mut buffer = vec![0; 64 << 10];
        let mut read = 0;
        while let Ok(length @ 1..) = flood.read(&mut buffer).await {
            read += length;
        }
        (read, listener)
    }

    #[tokio::test]
    async fn a_flood_ends_when_a_line_all_lines_or_their_number_is_too_much() {
        let near = |read: usize, limit: usize| read <= limit && read + (128 << 10) > limit;
        let (line, listener) = state(b"x").await;
        assert!(near(line, MAX_LINE) && listener.is_flooded(), "{line}");
        listener.flooded().await;
        let (values, listener) = state(b"[{},").await;
        assert!(values < 1 << 20 && listener.is_flooded(), "{values} bytes of values that take a hundred times as much in memory");
        let (number, _) = state(b"{\"jsonrpc\":\"2.0\"}\n").await;
        assert!(near(number, MESSAGES * 18), "{number}");
        let long: &'static [u8] = Box::leak(format!("{}\n", "x".repeat(1 << 20)).into_bytes().into_boxed_slice());
        let (all, _) = state(long).await;
        assert!(near(all, MAX_BYTES), "{all}");
    }

    #[test]
    fn the_first_line_that_is_no_message_is_known_until_the_next_request() {
        let listener = OutputListener::default();
        for news in [&b"{\"jsonrpc\":\"2.0\",\"id\":1}\n\n{\"js"[..], b"onrpc\":\"2.0\"}\nListen", b"ing\nand more\n"] {
            assert!(listener.count_bytes(news));
        }
        assert_eq!(listener.stray().as_deref(), Some("Listening"));
        listener.renew();
        assert_eq!(listener.stray(), None);
        assert!(listener.count_bytes(b"{\"jsonrpc\":"));
        assert_eq!(listener.stray().as_deref(), Some("{\"jsonrpc\":"), "half a message is none");
        assert!(listener.count_bytes(&b"x".repeat(KEPT_BYTES)));
        assert_eq!(listener.stray(), None, "one that is longer than what is kept may be one");
    }
}
