//! The tasks of a chat besides its run: taking changes back, and tool calls of the user. They report to the actor, which
//! serves on meanwhile; a stop is answered when all of them have ended.

use super::once::{SentKey, record_of};
use super::{Actor, Answer, Command, MAILBOX, StartCall};
use crate::action::take_back;
use crate::chat::{Chat, broken};
use crate::crash;
use planwright_protocol::op::{OnConflict, RevertTarget};
use planwright_protocol::{ErrorCode, Message, Op, Problem};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use tokio::task::{JoinHandle, JoinSet};

#[derive(Default)]
pub struct Tasks {
    reverting: Option<Reverting>,
    /// Tool calls of the user.
    calls: JoinSet<()>,
    /// Commands that wait for the end of the revert, or of a stop.
    deferred: VecDeque<Command>,
    /// Stops that are answered when nothing is under way any more.
    stops: Vec<Answer>,
}

struct Reverting {
    task: JoinHandle<Result<Option<Message>, Problem>>,
    key: Option<SentKey>,
    answer: Answer,
}

pub enum TaskReport {
    Reverted(Box<Result<Option<Message>, Problem>>),
    Called,
}

impl Tasks {
    /// Whether another command can be taken from the mailbox.
    pub fn has_room(&self) -> bool {
        self.deferred.len() < MAILBOX
    }

    fn is_over(&self) -> bool {
        self.reverting.is_none() && self.calls.is_empty()
    }

    /// Whether a command has to wait: nothing begins between a stop and its answer, and a revert has the chat for itself,
    /// besides tool calls of the user.
    fn defers(&self, command: &Command) -> bool {
        let (is_reverting, is_stopping) = (self.reverting.is_some(), !self.stops.is_empty());
        match command {
            Command::Op(op, ..) if matches!(**op, Op::Stop) => false,
            // Tool calls of the user ask, and a stop waits for their end.
            Command::Op(op, ..) if matches!(**op, Op::Ask { .. }) => is_reverting,
            Command::Op(..) | Command::Resume(_) => is_reverting || is_stopping,
            Command::Perform(_) => is_stopping,
            Command::Park(_) => false,
        }
    }

    /// Waits until one of the tasks has ended.
    pub async fn next_report(&mut self) -> TaskReport {
        let reverted = async {
            match &mut self.reverting {
                Some(reverting) => (&mut reverting.task).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            reverted = reverted => TaskReport::Reverted(Box::new(reverted.map_err(broken).flatten())),
            Some(_) = self.calls.join_next() => TaskReport::Called,
        }
    }

    /// Ends all tasks, before the actor ends.
    pub async fn end(&mut self, chat: &Chat) {
        if !self.calls.is_empty() {
            self.calls.shutdown().await;
            chat.end_commands().await;
        }
        // A revert that has begun comes to its end.
        if let Some(Reverting { task, .. }) = self.reverting.take() {
            let _ = task.await;
        }
    }
}

impl Actor {
    /// Takes a command now, or when what it waits for is over. Breaks when the actor is to end.
    pub(super) async fn take(&mut self, command: Command) -> ControlFlow<()> {
        if self.tasks.defers(&command) {
            self.tasks.deferred.push_back(command);
            return ControlFlow::Continue(());
        }
        self.obey(command).await
    }

    pub(super) async fn hear(&mut self, report: TaskReport) -> ControlFlow<()> {
        if let TaskReport::Reverted(reverted) = report
            && let Some(Reverting { answer, key, .. }) = self.tasks.reverting.take()
        {
            // A revert that did something has stored the key with its notice.
            self.key = key.filter(|_| matches!(*reverted, Ok(None)));
            let _ = answer.send(self.reply_once(*reverted).await);
        }
        if self.tasks.is_over() {
            for answer in std::mem::take(&mut self.tasks.stops) {
                let _ = answer.send(Ok(self.reply(None)));
            }
        }
        for command in std::mem::take(&mut self.tasks.deferred) {
            self.take(command).await?;
        }
        ControlFlow::Continue(())
    }

    /// Begins to take back changes of the chat.
    pub(super) async fn start_revert(&mut self, target: RevertTarget, conflicts: OnConflict, key: Option<SentKey>, answer: Answer) {
        if let Some(known) = self.known_reply(key.as_ref()).await.transpose() {
            let _ = answer.send(known);
            return;
        }
        if self.running.is_some() || self.chat.pending().is_some() {
            let text = "A run is in progress or waits for an answer. Stop it first, then take back.";
            let _ = answer.send(Err(Problem::new(ErrorCode::Conflict, text)));
            return;
        }
        let (chat, user, op) = (self.chat.clone(), self.account().cloned(), key.clone().map(|sent| record_of(sent, None)));
        let task = tokio::spawn(async move { take_back::take_back(&chat, target, conflicts, user, op).await });
        self.tasks.reverting = Some(Reverting { task, key, answer });
    }

    /// Goes on with what was cut off: taking something back, or a run.
    pub(super) async fn resume(&mut self, answer: Answer) {
        let unfinished = match self.chat.configure().await {
            Ok(()) => take_back::unfinished(&self.chat).await,
            Err(problem) => Err(problem),
        };
        let resumed = match unfinished {
            Ok(Some(notice)) => {
                self.resume_revert(notice, answer);
                return;
            }
            Ok(None) => self.resume_run().await,
            Err(problem) => Err(problem),
        };
        crash::point("run_resumed");
        let _ = answer.send(resumed.map(|()| self.reply(None)));
    }

    /// Goes on with taking back what a crash cut off.
    fn resume_revert(&mut self, notice: Message, answer: Answer) {
        let chat = self.chat.clone();
        let task = tokio::spawn(async move { take_back::resume(&chat, notice).await.map(|()| None) });
        self.tasks.reverting = Some(Reverting { task, key: None, answer });
    }

    /// Performs a tool call of the user.
    pub(super) fn perform(&mut self, start: StartCall) {
        self.tasks.calls.spawn(start());
    }

    /// Stops the run and the user's tool calls. A revert comes to its end.
    pub(super) async fn stop_all(&mut self, key: Option<SentKey>, answer: Answer) {
        let stopped = match self.known_reply(key.as_ref()).await {
            Ok(Some(known)) => Ok(known),
            Ok(None) => {
                self.key = key;
                let stopped = self.stop().await.map(|()| None);
                self.reply_once(stopped).await
            }
            Err(problem) => Err(problem),
        };
        if stopped.is_err() || self.tasks.is_over() {
            let _ = answer.send(stopped);
            return;
        }
        self.chat.stop_commands();
        if self.tasks.reverting.is_none() {
            // No permit of a call holds any more.
            let _ = self.chat.close_fence().await;
        }
        self.tasks.stops.push(answer);
    }
}
