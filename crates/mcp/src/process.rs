//! A server that is a program, in the sandbox.

use crate::ear::{Ear, Metered};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{Pipes, Stop};
use planwright_tools::command::Post;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{oneshot, watch};

/// So much of what it writes to stderr is kept, for the one who has to find out why it does not work.
const KEPT: usize = 4 << 10;

/// A running program. It ends when this is dropped.
pub struct Process {
    stop: Stop,
    ended: watch::Receiver<Option<Result<(), Problem>>>,
    last_words: Arc<Mutex<Vec<u8>>>,
    pub ear: Ear,
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
        let (stop, last_words) = (Stop::default(), Arc::default());
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
        let process = Self { stop, ended, last_words, ear: Ear::default() };
        let Ok(pipes) = meeting.await else {
            process.over().await;
            let why = process.ended.borrow().clone();
            return Err(why.and_then(Result::err).unwrap_or_else(|| failed(name, "it could not be started")));
        };
        let broken = |error: std::io::Error| failed(name, &format!("its streams can't be used: {error}"));
        let inner = Receiver::from_owned_fd(pipes.output).map_err(broken)?;
        let output = Metered { inner, ear: process.ear.clone() };
        let input = Sender::from_owned_fd(pipes.input).map_err(broken)?;
        Ok((process, Streams { output, input }))
    }

    /// The end of what it wrote to stderr, as far as it is text.
    pub fn last_words(&self) -> String {
        String::from_utf8_lossy(&self.last_words.lock().unwrap_or_else(PoisonError::into_inner)).trim().to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_it_writes_to_stderr_the_end_is_kept() {
        let mut kept = Vec::new();
        keep(&mut kept, &[b'x'; 3 * KEPT]);
        keep(&mut kept, b"end");
        assert!(kept.len() == KEPT && kept.ends_with(b"xend"));
    }
}
