//! What is heard of a program on its stdout: how much of it in answer to one request, and what of it is no message.

use serde_json::Value;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// So much it may say in answer to one request, and in so many messages.
const SAID: usize = 64 << 20;
const MESSAGES: usize = 20_000;
/// A longer message would be left out without a word.
const LINE: usize = 16 << 20;
/// So much of a line is looked at.
const KEPT: usize = 4 << 10;

/// Shared by the one who reads and the one who asks.
#[derive(Clone, Default)]
pub struct Ear(Arc<Hearing>);

#[derive(Default)]
struct Hearing {
    heard: Mutex<Heard>,
    /// Whether more was said than is listened to. Nothing is heard after that.
    flooded: watch::Sender<bool>,
}

#[derive(Default)]
struct Heard {
    bytes: usize,
    messages: usize,
    /// The beginning of the line that is being said, and how long it is by now.
    line: Vec<u8>,
    length: usize,
    /// The first line that is no message.
    stray: Option<String>,
}

impl Ear {
    /// Before each request.
    pub fn renew(&self) {
        let mut heard = self.heard();
        (heard.bytes, heard.messages, heard.stray) = (0, 0, None);
    }

    /// The first line since the last request that is no message of the protocol.
    pub fn stray(&self) -> Option<String> {
        let heard = self.heard();
        heard.stray.clone().or_else(|| heard.judged())
    }

    pub fn is_flooded(&self) -> bool {
        *self.0.flooded.borrow()
    }

    /// Waits until more was said than is listened to.
    pub async fn flooded(&self) {
        let _ = self.0.flooded.subscribe().wait_for(|is_flooded| *is_flooded).await;
    }

    /// Whether it is still listened to.
    fn hears(&self, news: &[u8]) -> bool {
        let mut heard = self.heard();
        heard.bytes = heard.bytes.saturating_add(news.len());
        let mut is_flood = heard.bytes > SAID;
        for piece in news.split_inclusive(|&byte| byte == b'\n') {
            is_flood |= heard.take(piece);
        }
        if is_flood {
            self.0.flooded.send_replace(true);
        }
        !self.is_flooded()
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    /// Takes a line, or a piece of it; whether that is too much.
    fn take(&mut self, piece: &[u8]) -> bool {
        let room = KEPT.saturating_sub(self.line.len()).min(piece.len());
        self.line.extend_from_slice(&piece[..room]);
        self.length = self.length.saturating_add(piece.len());
        let is_too_long = self.length > LINE;
        if piece.ends_with(b"\n") {
            self.messages += 1;
            if self.stray.is_none() {
                self.stray = self.judged();
            }
            self.line.clear();
            self.length = 0;
        }
        is_too_long || self.messages > MESSAGES
    }

    /// The line, if it is no message. One that is longer than what is kept can't be judged if it begins like one.
    fn judged(&self) -> Option<String> {
        let line = self.line.trim_ascii();
        let may_be_one = self.length > self.line.len() && line.starts_with(b"{");
        let is_message = || serde_json::from_slice::<Value>(line).is_ok_and(|message| message.get("jsonrpc").is_some());
        let is_stray = !line.is_empty() && !may_be_one && !is_message();
        is_stray.then(|| String::from_utf8_lossy(line).into_owned())
    }
}

/// A stream that fails when more is said than is listened to.
pub struct Metered<R> {
    pub inner: R,
    pub ear: Ear,
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, buffer));
        if read.is_ok() && !self.ear.hears(&buffer.filled()[before..]) {
            return Poll::Ready(Err(std::io::Error::other("more was said than is listened to")));
        }
        Poll::Ready(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    /// How much is heard of what is said again and again.
    async fn heard(piece: &'static [u8]) -> (usize, Ear) {
        let ear = Ear::default();
        let said = piece.repeat((128 << 20) / piece.len());
        let mut flood = Metered { inner: std::io::Cursor::new(said), ear: ear.clone() };
        let mut buffer = vec![0; 64 << 10];
        let mut read = 0;
        while let Ok(length @ 1..) = flood.read(&mut buffer).await {
            read += length;
        }
        (read, ear)
    }

    #[tokio::test]
    async fn a_flood_ends_when_a_line_all_lines_or_their_number_is_too_much() {
        let near = |read: usize, limit: usize| read <= limit && read + (128 << 10) > limit;
        let (line, ear) = heard(b"x").await;
        assert!(near(line, LINE) && ear.is_flooded(), "{line}");
        ear.flooded().await;
        let (number, _) = heard(b"{\"jsonrpc\":\"2.0\"}\n").await;
        assert!(near(number, MESSAGES * 18), "{number}");
        let long: &'static [u8] = Box::leak(format!("{}\n", "x".repeat(1 << 20)).into_bytes().into_boxed_slice());
        let (all, _) = heard(long).await;
        assert!(near(all, SAID), "{all}");
    }

    #[test]
    fn the_first_line_that_is_no_message_is_known_until_the_next_request() {
        let ear = Ear::default();
        for news in [&b"{\"jsonrpc\":\"2.0\",\"id\":1}\n\n{\"js"[..], b"onrpc\":\"2.0\"}\nListen", b"ing\nand more\n"] {
            assert!(ear.hears(news));
        }
        assert_eq!(ear.stray().as_deref(), Some("Listening"));
        ear.renew();
        assert_eq!(ear.stray(), None);
        assert!(ear.hears(b"{\"jsonrpc\":"));
        assert_eq!(ear.stray().as_deref(), Some("{\"jsonrpc\":"), "half a message is none");
        assert!(ear.hears(&b"x".repeat(KEPT)));
        assert_eq!(ear.stray(), None, "one that is longer than what is kept may be one");
    }
}
