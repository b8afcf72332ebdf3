//! A handle to an open chat, for everything that wants something from it.

use crate::actor::{self, Command, Reply, Sender, SentKey};
use crate::chat::Chat;
use futures::FutureExt;
use planwright_feed::EventLog;
use planwright_protocol::{ErrorCode, Op, Problem};
use planwright_tools::tool::Seen;
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

/// A handle to an open chat. Dropping it changes nothing.
#[derive(Clone)]
pub struct Handle {
    pub(crate) chat: Arc<Chat>,
    pub(crate) ops: mpsc::Sender<Command>,
}

impl Handle {
    /// Sends an op to the chat's actor and waits until its effect is stored.
    ///
    /// # Errors
    /// Why the chat refused it.
    pub async fn submit(&self, op: Op) -> Result<Reply, Problem> {
        self.submit_by(op, actor::OPERATOR).await
    }

    /// The same, on behalf of a person, whose name appears in approval records.
    ///
    /// # Errors
    /// Why the chat refused it.
    pub async fn submit_by(&self, op: Op, name: &str) -> Result<Reply, Problem> {
        self.submit_once(op, name, None).await
    }

    /// The same, for an op that may be repeated: with the same key and content it is executed once.
    ///
    /// # Errors
    /// Why the chat refused it; `CONFLICT` if the key was used for another request.
    pub async fn submit_once(&self, op: Op, name: &str, key: Option<SentKey>) -> Result<Reply, Problem> {
        self.send(|answer| Command::Op(Box::new(op), Sender { name: name.to_owned(), key }, answer)).await
    }

    /// Performs a tool call of the user beside the run. Stopping the chat ends it.
    ///
    /// # Errors
    /// The chat accepts no more, or was closed meanwhile.
    pub(crate) async fn perform<T, C>(&self, call: impl FnOnce() -> C + Send + Sync + 'static) -> Result<T, Problem>
    where
        T: Send + 'static,
        C: Future<Output = T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let start = move || {
            let task = call();
            let reporting = async move {
                let _ = answer.send(task.await);
            };
            reporting.boxed()
        };
        self.put(Command::Perform(Box::new(start)))?;
        answered.await.map_err(|_| closed())
    }

    /// Ends all work of the chat, which resumes after the next start.
    pub async fn park(&self) {
        let _ = self.send(Command::Park).await;
    }

    #[must_use]
    pub fn chat(&self) -> &Arc<Chat> {
        &self.chat
    }

    /// Resumes the run that the end of an earlier process interrupted.
    ///
    /// # Errors
    /// It can't be resumed.
    pub async fn resume(&self) -> Result<Reply, Problem> {
        self.send(Command::Resume).await
    }

    /// The number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        self.chat.newest()
    }

    /// The file contents that the model has read.
    pub(crate) fn seen(&self) -> Arc<Seen> {
        self.chat.seen.clone()
    }

    /// Whether nobody runs, follows or holds the chat, besides its actor and the caller.
    pub(crate) fn is_idle(&self) -> bool {
        self.chat.is_at_rest() && Arc::strong_count(&self.chat) == 2
    }

    async fn send(&self, command: impl FnOnce(oneshot::Sender<Result<Reply, Problem>>) -> Command) -> Result<Reply, Problem> {
        let (answer, answered) = oneshot::channel();
        self.put(command(answer))?;
        answered.await.map_err(|_| closed())?
    }

    fn put(&self, command: Command) -> Result<(), Problem> {
        self.ops.try_send(command).map_err(|error| match error {
            TrySendError::Full(_) => {
                Problem::new(ErrorCode::NotReady, "Too many requests are waiting for this chat. Try again in a moment.")
            }
            TrySendError::Closed(_) => closed(),
        })
    }
}

fn closed() -> Problem {
    let text = "The chat is closed: it was deleted, or the server is shutting down. Try again when it is back.";
    Problem::new(ErrorCode::Conflict, text)
}
