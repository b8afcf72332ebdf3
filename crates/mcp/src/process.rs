//! A server that is a program, in the sandbox.

use crate::output_listener::{Metered, OutputListener};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{Pipes, Stop};
use planwright_tools::command::Post;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{oneshot, watch};

/// Bytes of stderr to keep, for finding out why the program does not work.
const KEPT_BYTES: usize = 4 << 10;

/// A running program. Dropping this ends it.
pub struct Process {
    stop: Stop,
    ended: watch::Receiver<Option<Result<(), Problem>>>,
    last_output: Arc<Mutex<Vec<u8>>>,
    pub listener: OutputListener,
}

/// The streams of a program.
pub struct Streams {
    pub output: Metered<Receiver>,
    pub input: Sender,
}

impl Process {
    /// Starts it on its own thread: when the thread ends, the kernel ends the program.
    ///
    /// # Errors
    /// There is no sandbox, or no thread.
    pub async fn start(name: &str, post: Arc<Post>) -> Result<(Self, Streams), Problem> {
        let (stop, last_output) = (Stop::default(), Arc::default());
        let (met, meeting) = oneshot::channel::<Pipes>();
        let (over, ended) = watch::channel(None);
        let (its_stop, its_words): (_, Arc<Mutex<Vec<u8>>>) = (stop.clone(), Arc::clone(&last_output));
        let run = move || {
            let heard = |bytes: &[u8]| keep(&mut its_words.lock().unwrap_or_else(PoisonError::into_inner), bytes);
            // The receiver may be gone.
            let finished = post.run(&its_stop, |pipes| drop(met.send(pipes)), heard);
            let _ = over.send(Some(finished.map(|_| ())));
        };
        let thread = std::thread::Builder::new().name(format!("mcp {name}")).spawn(run);
        thread.map_err(|error| failed(name, &format!("can't start a thread: {error}")))?;
        let process = Self { stop, ended, last_output, listener: OutputListener::default() };
        let Ok(pipes) = meeting.await else {
            process.over().await;
            let why = process.ended.borrow().clone();
            return Err(why.and_then(Result::err).unwrap_or_else(|| failed(name, "it could not be started")));
        };
        let broken = |error: std::io::Error| failed(name, &format!("its streams can't be used: {error}"));
        let inner = Receiver::from_owned_fd(pipes.output).map_err(broken)?;
        let output = Metered { inner, listener: process.listener.clone() };
        let input = Sender::from_owned_fd(pipes.input).map_err(broken)?;
        Ok((process, Streams { output, input }))
    }

    /// The end of its stderr, as far as it is text.
    pub fn last_output(&self) -> String {
        String::from_utf8_lossy(&self.last_output.lock().unwrap_or_else(PoisonError::into_inner)).trim().to_owned()
    }

    /// Ends it, and waits until no process of it is left.
    pub async fn end(&self) {
        self.stop.now();
        self.over().await;
    }

    /// Waits until no process of it is left.
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
    kept.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT_BYTES)..]);
    kept.drain(..kept.len().saturating_sub(KEPT_BYTES));
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
        keep(&mut kept, &[b'x'; 3 * KEPT_BYTES]);
        keep(&mut kept, b"end");
        assert!(kept.len() == KEPT_BYTES && kept.ends_with(b"xend"));
    }
}
