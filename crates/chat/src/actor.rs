//! Handles the ops of a chat, one at a time.

mod auto_mode;
mod idempotency;
mod plan;
mod plan_edit;
mod run_end;
mod step_choice;
mod stop_point;
mod tasks;
mod user_message;

pub use auto_mode::note as undecided;
pub use idempotency::SentKey;

use crate::action::{self, plan_progress};
use crate::chat::{Activity, Change, Chat, Draft};
use crate::classifier::{self, Classifying};
use crate::crash;
use crate::progress::open_steps;
use crate::run::Run;
use crate::sessions::UNTITLED;
use futures::future::BoxFuture;
use planwright_agent::TurnOutcome;
use planwright_agent::thread::open_calls;
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::event::{ChatState, QuestionOutcome, RunOutcome};
use planwright_protocol::message::ModeChange;
use planwright_protocol::op::{Confirm, PlanChange};
use planwright_protocol::{ErrorCode, Event, Message, Mode, Notice, Op, Problem, Role, RunId, SwitchedBy};
use planwright_store::{AuditKind, ChatRow};
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::Arc;
use tasks::Tasks;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The answer to an op.
#[derive(Clone, Debug)]
pub struct Reply {
    pub chat: ChatView,
    /// The message that the op added to the history.
    pub message: Option<Message>,
}

/// Maximum number of waiting ops.
const MAILBOX: usize = 256;

/// The name of the person who runs Planwright, in records.
pub const OPERATOR: &str = "user";

/// The sender of an op.
pub struct Sender {
    /// Their name in approval records.
    pub name: String,
    /// The idempotency key.
    pub key: Option<SentKey>,
}

type Answer = oneshot::Sender<Result<Reply, Problem>>;

/// Starts a tool call of the user.
pub type StartCall = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>;

pub enum Command {
    Op(Box<Op>, Sender, Answer),
    /// Resume the interrupted run.
    Resume(Answer),
    /// Perform a tool call of the user.
    Perform(StartCall),
    /// Close the chat; the run resumes after the next start.
    Park(Answer),
}

pub fn spawn(chat: Arc<Chat>) -> mpsc::Sender<Command> {
    let (sender, receiver) = mpsc::channel(MAILBOX);
    let actor =
        Actor { chat, key: None, running: None, unstored_end: None, classifying: None, by: OPERATOR.to_owned(), tasks: Tasks::default() };
    tokio::spawn(actor.serve(receiver));
    sender
}

struct Actor {
    chat: Arc<Chat>,
    /// The key of the op that is being admitted, until it is stored with its message.
    key: Option<SentKey>,
    running: Option<Running>,
    /// Why the end of the last run could not be stored. It is retried.
    unstored_end: Option<Problem>,
    /// The classifier, while it examines the user's newest message.
    classifying: Option<Classifying>,
    /// The sender of the current op.
    by: String,
    tasks: Tasks,
}

struct Running {
    task: JoinHandle<Option<TurnOutcome>>,
    cancel: CancellationToken,
}

impl Actor {
    async fn serve(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            tokio::select! {
                command = commands.recv(), if self.tasks.has_room() => {
                    let Some(command) = command else { return };
                    if self.take(command).await.is_break() {
                        return;
                    }
                }
                report = self.tasks.next_report() => {
                    if self.handle_report(report).await.is_break() {
                        return;
                    }
                }
                outcome = finished(&mut self.running) => {
                    if let Err(problem) = self.conclude(outcome).await {
                        tracing::error!(chat = %self.chat.id, %problem, "can't store the end of a run; retrying");
                        self.unstored_end = Some(problem);
                    }
                }
                () = run_end::pause_before_retry(self.unstored_end.as_ref()) => self.store_end_again().await,
                classified = classifier::answer_of(&mut self.classifying) => self.suggest(classified).await,
            }
        }
    }

    async fn handle(&mut self, command: Command) -> ControlFlow<()> {
        match command {
            Command::Op(op, Sender { name, key }, answer) => {
                self.by = name;
                if let Op::Revert { target, conflicts } = *op {
                    self.start_revert(target, conflicts, key, answer).await;
                } else if matches!(*op, Op::Stop) {
                    self.stop_all(key, answer).await;
                } else {
                    let reply = self.admit_once(*op, key).await;
                    let _ = answer.send(reply);
                }
            }
            Command::Resume(answer) => self.resume(answer).await,
            Command::Perform(start) => self.perform(start),
            Command::Park(answer) => {
                self.halt().await;
                self.tasks.end(&self.chat).await;
                let _ = answer.send(Ok(self.reply(None)));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn reply(&self, message: Option<Message>) -> Reply {
        Reply { chat: ChatView::from(&self.chat.record().row), message }
    }

    async fn admit(&mut self, op: Op) -> Result<Option<Message>, Problem> {
        match op {
            Op::Stop | Op::Update { .. } | Op::Revert { .. } | Op::Withdraw { .. } | Op::RevokeGrant { .. } => {}
            Op::UserMessage { .. }
            | Op::Answer { .. }
            | Op::Execute { .. }
            | Op::EditPlan { .. }
            | Op::Ask { .. }
            | Op::Retry
            | Op::Compact => self.chat.configure().await?,
        }
        match op {
            Op::UserMessage { content, metadata, images, comments } => {
                self.user_message(content, metadata, images, comments).await.map(Some)
            }
            Op::Answer { question_id, answers, comment, metadata } => self.answer(question_id, answers, comment, metadata).await.map(Some),
            Op::Execute { plan_file, content, expected } => self.execute(plan_file, content, expected).await.map(Some),
            Op::EditPlan { content, base_sha256 } => self.edit_plan(content, &base_sha256).await.map(Some),
            Op::RevokeGrant { grant_id } => self.revoke_grant(&grant_id).await.map(|()| None),
            op @ Op::Update { .. } => self.update(op).await.map(|()| None),
            Op::Withdraw { message_id } => self.withdraw(message_id).await.map(|()| None),
            Op::Ask { inquiry } => self.ask(inquiry).await.map(|()| None),
            Op::Retry => self.retry().await.map(Some),
            Op::Compact => self.compact().await.map(|()| None),
            // These are tasks, or end tasks.
            Op::Revert { .. } | Op::Stop => Ok(None),
        }
    }

    async fn update(&mut self, op: Op) -> Result<(), Problem> {
        let Op::Update { title, role, plan_file, confirm, marks } = op else { return Ok(()) };
        self.chat.check_model_choice(&marks).await?;
        let row = self.chat.record();
        let role = role.resolve(Some(row.config.role))?.unwrap_or(row.config.role);
        let plan_file = match plan_file {
            PlanChange::Keep => row.config.plan_file.clone(),
            PlanChange::Clear => None,
            PlanChange::Take(path) => Some(plan::named(&path)?.to_string()),
        };
        let title = title.map(checked_title).transpose()?;
        let in_progress = self.running.is_some() || row.activity.pending().is_some();
        if row.config.role.mode() == Mode::Act && role.mode() == Mode::Plan && in_progress {
            if confirm == Confirm::NotGiven {
                return Err(Problem::new(
                    ErrorCode::ConfirmationRequired,
                    "Work is in progress and will stop. Send `confirm: true` to switch anyway.",
                ));
            }
            // The key belongs to the switch, which follows.
            let key = self.key.take();
            self.stop().await?;
            self.key = key;
        }
        let mut change = self.keyed(Change::default(), None);
        if role != row.config.role {
            let note =
                switch_note(&row, role, SwitchedBy::User, &format!("The user switched the role from {} to {role}.", row.config.role));
            change = change
                .event(Event::MessageCreated { message: note })
                .event(mode_changed(&row, role, plan_file.clone(), SwitchedBy::User))
                .log(AuditKind::ModeEntered, "", role, json!({ "mode": role.mode(), "by": SwitchedBy::User }))
                .by(self.account());
        }
        let edit = move |row: &mut Draft| {
            row.config.role = role;
            row.config.plan_file = plan_file;
            row.title = title.unwrap_or_else(|| row.title.clone());
            row.marks.change(marks);
        };
        if role == row.config.role { self.chat.publish(change, edit).await } else { self.chat.switch(change, edit).await }
    }

    async fn stop(&mut self) -> Result<(), Problem> {
        self.classifying = None;
        crash::point("stop_begun");
        let row = self.chat.record();
        if self.running.is_none() && row.activity.pending().is_none() {
            return Ok(());
        }
        self.chat.amend(|chat| chat.activity.begin_stop()).await?;
        let interrupted = self.halt().await;
        crash::point("stop_halted");
        let mut change = Change::messages(interrupted);
        if let Some(pending) = self.chat.pending() {
            change = change.event(Event::QuestionResolved { question_id: pending.question_id, outcome: QuestionOutcome::Stopped });
        }
        for open in open_calls(&self.chat.turn_messages().await?.messages) {
            change.events.extend(action::cancelled(&self.chat, &open).await);
        }
        change = change
            .event(Event::RunFinished { outcome: RunOutcome::Stopped, error: None, open_steps: open_steps(&row) })
            .event(Event::StateChanged { state: ChatState::Idle });
        let change = self.keyed(change, None);
        self.chat.publish(change, |chat| chat.activity = Activity::Idle).await?;
        crash::point("stop_stored");
        Ok(())
    }

    /// Ends the run so that it can have no further effect. Returns the partial answer.
    async fn halt(&mut self) -> Option<Message> {
        let running = self.running.take()?;
        running.cancel.cancel();
        // A tool may still run on its own thread after its decision; its permit ends here.
        let _ = self.chat.close_fence().await;
        crash::point("stop_fenced");
        self.chat.end_commands().await;
        let _ = running.task.await;
        self.chat.inbox.clear();
        self.chat.settle().await
    }

    /// Stores the user's message, and lets the current run read it, or starts one.
    async fn publish_and_start(&mut self, change: Change, message: &Message) -> Result<(), Problem> {
        crash::point("message_unstored");
        if self.running.is_some() {
            self.chat.publish(change, |chat| chat.activity.resolve_question()).await?;
            crash::point("message_queued");
            self.chat.inbox.put(message.clone());
            return Ok(());
        }
        let title = title_of(&message.content);
        self.chat
            .publish(change.event(Event::StateChanged { state: ChatState::Thinking }), move |row| {
                row.activity.begin_run();
                if row.title == UNTITLED {
                    row.title = title;
                }
            })
            .await?;
        crash::point("message_stored");
        self.start();
        Ok(())
    }

    async fn resume_run(&mut self) -> Result<(), Problem> {
        self.chat.amend(|chat| chat.activity.continue_run()).await?;
        plan_progress::mark(&self.chat).await;
        self.start();
        Ok(())
    }

    /// Continues a failed run. The request is stored in the history.
    async fn retry(&mut self) -> Result<Message, Problem> {
        if self.running.is_some() || !matches!(self.chat.record().activity, Activity::Failed) {
            return Err(Problem::new(ErrorCode::Conflict, "The last run did not fail, so there is nothing to retry."));
        }
        let text = "The last run failed. The user asked to retry; continue where it stopped.";
        let note = Message::notice(self.chat.id, Notice::Retry, text);
        let change = self.sent(&note).event(Event::StateChanged { state: ChatState::Thinking });
        self.chat.publish(change, |chat| chat.activity.begin_run()).await?;
        self.start();
        Ok(note)
    }

    /// Compacts the conversation now, as a separate run.
    async fn compact(&mut self) -> Result<(), Problem> {
        if self.running.is_some() || self.chat.pending().is_some() {
            let text = "The chat is working or waits for an answer. Compact it afterwards, or stop it first.";
            return Err(Problem::new(ErrorCode::Conflict, text));
        }
        let change = self.keyed(Change::default().event(Event::StateChanged { state: ChatState::Thinking }), None);
        self.chat.publish(change, |chat| chat.activity = Activity::Compacting(RunId::generate())).await?;
        self.begin_run(Run::compact);
        Ok(())
    }

    fn start(&mut self) {
        self.begin_run(Run::finish);
    }

    fn begin_run<W: Future<Output = TurnOutcome> + Send + 'static>(&mut self, work: impl FnOnce(Run) -> W) {
        let cancel = CancellationToken::new();
        self.unstored_end = None;
        // A run begins by reading the stored messages, which include the waiting ones.
        self.chat.inbox.clear();
        let inbox = self.chat.inbox.clone();
        let run = Run::new(self.chat.clone(), inbox);
        let task = tokio::spawn(cancel.clone().run_until_cancelled_owned(work(run)));
        self.running = Some(Running { task, cancel });
    }
}

/// A title is one line that fits into a list.
pub fn checked_title(title: String) -> Result<String, Problem> {
    if title.trim().is_empty() || title.chars().count() > 200 || title.chars().any(char::is_control) {
        let text = "`title` must be one line of 1 to 200 characters.";
        return Err(
            Problem::new(ErrorCode::ValidationFailed, text).with_details(json!({"fields": {"title": "one line of 1 to 200 characters"}}))
        );
    }
    Ok(title)
}

/// A chat without a title is named after its first message.
fn title_of(content: &str) -> String {
    const LONGEST: usize = 60;
    let line = content.trim().lines().next().unwrap_or_default().trim_end();
    let Some((end, _)) = line.char_indices().nth(LONGEST) else { return line.to_owned() };
    // A line without spaces, such as one in Chinese, can be cut anywhere.
    let words = line[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", line[..words].trim_end())
}

async fn finished(running: &mut Option<Running>) -> Option<TurnOutcome> {
    match running {
        Some(running) => (&mut running.task).await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// The switch as an entry of the history.
fn switch_note(row: &ChatRow, to: Role, by: SwitchedBy, text: &str) -> Message {
    Message::notice(row.id, Notice::ModeChange(switch(row, to, by)), text)
}

fn switch(row: &ChatRow, to: Role, by: SwitchedBy) -> ModeChange {
    ModeChange { from: row.config.role, to, by }
}

fn mode_changed(row: &ChatRow, role: Role, plan_file: Option<String>, by: SwitchedBy) -> Event {
    let mut config = row.config.clone();
    config.role = role;
    config.plan_file = plan_file;
    Event::ModeChanged { config, by }
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn a_title_is_the_first_line_and_ends_at_a_word() {
        assert_eq!(title_of("  Add a farewell\nand tests"), "Add a farewell");
        let long = "Make every public endpoint answer with the same kind of error, please";
        assert_eq!(title_of(long), "Make every public endpoint answer with the same kind of…");
        assert_eq!(title_of(&"改".repeat(80)), format!("{}…", "改".repeat(60)));
        assert_eq!(title_of(&"x".repeat(60)), "x".repeat(60));
    }
}
