//! A server that is a program, in the sandbox.

use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{Pipes, Stop};
use planwright_tools::command::Post;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{oneshot, watch};

/// So much of what it writes to stderr is kept, and of the beginning of its output, for the one who has to find out why it
/// does not work.
const KEPT: usize = 4 << 10;
/// So much it may say in answer to one request.
const SAID: u64 = 64 << 20;

/// A running program. It ends when this is dropped.
pub struct Process {
    stop: Stop,
    ended: watch::Receiver<Option<Result<(), Problem>>>,
    last_words: Arc<Mutex<Vec<u8>>>,
    first_words: Arc<Mutex<Vec<u8>>>,
    pub room: Room,
}

/// The streams of a program, for whoever talks to it.
pub struct Streams {
    pub output: Metered<Receiver>,
    pub input: Sender,
}

impl Process {
    /// Starts it on a thread of its own, with which the kernel would end it.
    ///
    /// # Errors
    /// There is no sandbox, or no thread.
    pub async fn start(name: &str, post: Arc<Post>) -> Result<(Self, Streams), Problem> {
        let (stop, last_words, first_words) = (Stop::default(), Arc::default(), Arc::default());
        let (met, meeting) = oneshot::channel::<Pipes>();
        let (over, ended) = watch::channel(None);
        let (its_stop, its_words): (_, Arc<Mutex<Vec<u8>>>) = (stop.clone(), Arc::clone(&last_words));
        let run = move || {
            let heard = |bytes: &[u8]| keep(&mut its_words.lock().unwrap_or_else(PoisonError::into_inner), bytes);
            // Nobody may be there any more to be told.
            let finished = post.run(&its_stop, |pipes| drop(met.send(pipes)), heard);
            let _ = over.send(Some(finished.map(|_| ())));
        };
        let thread = std::thread::Builder::new().name(format!("mcp {name}")).spawn(run);
        thread.map_err(|error| failed(name, &format!("no thread can be started: {error}")))?;
        let process = Self { stop, ended, last_words, first_words, room: Room::default() };
        let Ok(pipes) = meeting.await else {
            process.over().await;
            let why = process.ended.borrow().clone();
            return Err(why.and_then(Result::err).unwrap_or_else(|| failed(name, "it could not be started")));
        };
        let broken = |error: std::io::Error| failed(name, &format!("its streams can't be used: {error}"));
        let inner = Receiver::from_owned_fd(pipes.output).map_err(broken)?;
        let output = Metered { inner, room: process.room.clone(), first_words: process.first_words.clone() };
        let input = Sender::from_owned_fd(pipes.input).map_err(broken)?;
        Ok((process, Streams { output, input }))
    }

    /// The end of what it wrote to stderr, as far as it is text.
    pub fn last_words(&self) -> String {
        String::from_utf8_lossy(&self.last_words.lock().unwrap_or_else(PoisonError::into_inner)).trim().to_owned()
    }

    /// The first line that it wrote to stdout, if that is no message of the protocol.
    pub fn first_words(&self) -> Option<String> {
        let said = String::from_utf8_lossy(&self.first_words.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
        let is_message = serde_json::from_str::<serde_json::Value>(line).is_ok_and(|value| value.get("jsonrpc").is_some());
        // One that is longer than what is kept can't be judged.
        let is_whole = said.len() < KEPT || said.trim_start().contains('\n');
        (!is_message && (is_whole || !line.starts_with('{'))).then(|| line.to_owned())
    }

    /// Ends it, and waits until nothing of it is left.
    pub async fn end(&self) {
        self.stop.now();
        self.over().await;
    }

    /// Waits until nothing of it is left.
    pub async fn over(&self) {
        let _ = self.ended.clone().wait_for(Option::is_some).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.now();
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT)..]);
    kept.drain(..kept.len().saturating_sub(KEPT));
}

fn failed(name: &str, why: &str) -> Problem {
    Problem::new(ErrorCode::McpFailed, format!("The MCP server `{name}` can't be used: {why}."))
}

/// How much may still be said.
#[derive(Clone)]
pub struct Room(Arc<AtomicU64>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(SAID)))
    }
}

impl Room {
    /// Before each request.
    pub fn renew(&self) {
        self.0.store(SAID, Ordering::Relaxed);
    }

    fn take(&self, bytes: u64) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// Whether more was said than there was room for.
    pub fn is_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) < 64 << 10
    }
}

/// A stream that fails when there is no room left.
pub struct Metered<R> {
    inner: R,
    room: Room,
    /// The beginning of it.
    first_words: Arc<Mutex<Vec<u8>>>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, buffer));
        let length = (buffer.filled().len() - before) as u64;
        let mut first = self.first_words.lock().unwrap_or_else(PoisonError::into_inner);
        let news = &buffer.filled()[before..];
        let room_for_more = news.len().min(KEPT - first.len());
        first.extend_from_slice(&news[..room_for_more]);
        drop(first);
        if read.is_ok() && !self.room.take(length) {
            return Poll::Ready(Err(std::io::Error::other("more was said than is listened to")));
        }
        Poll::Ready(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_flood_ends_when_there_is_no_room_left() {
        let room = Room::default();
        let mut flood = Metered { inner: tokio::io::repeat(b'x'), room: room.clone(), first_words: Arc::default() };
        let mut buffer = vec![0; 1 << 20];
        let mut read = 0;
        while let Ok(length) = flood.read(&mut buffer).await {
            read += length as u64;
        }
        assert!(read <= SAID && read > SAID - (2 << 20), "{read}");
        room.renew();
        assert!(flood.read(&mut buffer).await.is_ok());
    }

    #[test]
    fn of_what_it_writes_to_stderr_the_end_is_kept() {
        let mut kept = Vec::new();
        keep(&mut kept, &[b'x'; 3 * KEPT]);
        keep(&mut kept, b"end");
        assert!(kept.len() == KEPT && kept.ends_with(b"xend"));
    }
}
