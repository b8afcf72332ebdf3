//! One session of the client: a chat with its prompts, questions and updates. Handles one command at a time.

mod turn;

use crate::commands::{self, SlashCommand};
use crate::modes;
use crate::problem::{invalid_answer, to_client};
use crate::prompt::{self, PromptMessage};
use crate::question::{self, Asker};
use crate::typed;
use crate::updates::{Delivery, UpdateBuilder, further, remark, shown, words};
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    ContentBlock, CurrentModeUpdate, PromptResponse, SessionInfoUpdate, SessionNotification, SessionUpdate, SetSessionModeResponse,
    StopReason, ToolCallStatus, UsageUpdate,
};
use planwright_chat::{ChangedText, Handle, shorten};
use planwright_feed::{EventLog, Follower, Frame};
use planwright_protocol::event::{ChatState, QuestionOutcome, RunOutcome, Usage};
use planwright_protocol::op::{Confirm, ExpectedPlan, MarkChange, PlanChange};
use planwright_protocol::{Envelope, ErrorCode, Event, Message, Op, Plan, Problem, QuestionId, QuestionKind, Role, RoleRequest};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use turn::PromptTurn;

/// Maximum number of attempts after an invalid answer.
const MAX_ATTEMPTS: usize = 3;

/// A request of the client to a session.
pub enum SessionCommand {
    Prompt(Vec<ContentBlock>, Responder<PromptResponse>),
    SetMode(Role, Responder<SetSessionModeResponse>),
    Cancel,
    /// Releases the chat; its run stops.
    Close(oneshot::Sender<()>),
}

pub struct Session {
    handle: Handle,
    asker: Asker,
    updates: UpdateBuilder,
    turn: Option<PromptTurn>,
    asking: Option<JoinHandle<()>>,
    answers: mpsc::UnboundedSender<Answered>,
    /// Number of invalid answers to the pending question.
    tries: usize,
    /// Whether a run of an earlier process was interrupted. It resumes with the next prompt.
    is_interrupted: bool,
}

/// The outcome of asking; `None` if there is no answer.
struct Answered {
    question_id: QuestionId,
    answers: Option<Map<String, Value>>,
}

impl Session {
    /// Opens a chat for the client, and sends its history if requested.
    ///
    /// # Errors
    /// The chat can't be read.
    pub async fn open(handle: Handle, asker: Asker, delivery: Delivery) -> Result<mpsc::UnboundedSender<SessionCommand>, Problem> {
        let (row, since) = (handle.chat().record(), handle.chat().newest());
        let (answers, answered) = mpsc::unbounded_channel();
        let mut session = Session {
            updates: UpdateBuilder::new(asker.root.clone()),
            handle,
            asker,
            turn: None,
            asking: None,
            answers,
            tries: 0,
            is_interrupted: row.run.is_some(),
        };
        if delivery == Delivery::History {
            session.send_history().await?;
        }
        let frames = Follower::after(session.handle.chat().clone(), since).await?.frames();
        let (commands, received) = mpsc::unbounded_channel();
        tokio::spawn(session.live(received, frames, answered));
        Ok(commands)
    }

    async fn live(
        mut self,
        mut commands: mpsc::UnboundedReceiver<SessionCommand>,
        mut frames: mpsc::Receiver<Result<Arc<Frame>, Problem>>,
        mut answered: mpsc::UnboundedReceiver<Answered>,
    ) {
        loop {
            tokio::select! {
                frame = frames.recv() => match frame {
                    Some(Ok(frame)) => match serde_json::from_str::<Envelope>(frame.json()) {
                        Ok(envelope) => self.on_event(envelope).await,
                        Err(error) => tracing::error!(%error, "can't read an event"),
                    },
                    Some(Err(problem)) => return self.end_turn(Err(to_client(&problem))),
                    None => return self.end_turn(Ok(StopReason::Cancelled)),
                },
                command = commands.recv() => match command {
                    Some(SessionCommand::Prompt(blocks, responder)) => self.prompt(&blocks, responder).await,
                    Some(SessionCommand::SetMode(role, responder)) => self.set_mode(role, responder).await,
                    Some(SessionCommand::Cancel) => self.cancel().await,
                    Some(SessionCommand::Close(closed)) => {
                        self.close().await;
                        let _ = closed.send(());
                        return;
                    }
                    None => return,
                },
                Some(answered) = answered.recv() => self.answered(answered).await,
            }
        }
    }

    /// Sends the chat's history to a client that reopens it.
    async fn send_history(&mut self) -> Result<(), Problem> {
        let chat = self.handle.chat().clone();
        let messages = chat.store.messages(chat.id).await?;
        let mut plan = None;
        for mut message in messages {
            shorten(&mut message);
            let changed = self.changed_by(&message).await;
            let update = self.updates.message(&message, Delivery::History, &changed);
            self.send(update);
            if !message.images().is_empty() {
                for (image, bytes) in chat.images(message.id).await? {
                    self.send(Some(shown(&image, &bytes, message.id)));
                }
            }
            plan = plan_of(&message).or(plan);
        }
        let progress = chat.record().progress.clone();
        if let Some(plan) = plan {
            let plan = progress.map_or(plan.clone(), |progress| progress.apply_to(plan));
            let update = self.updates.plan(plan);
            self.send(update);
        }
        if chat.pending().is_some() {
            self.send_pending();
        } else if self.is_interrupted {
            self.send(Some(remark("The run was interrupted when Planwright ended. It resumes with your next message.")));
        }
        Ok(())
    }

    async fn on_event(&mut self, Envelope { event, seq, .. }: Envelope) {
        let update = match event {
            Event::MessageCreated { message } => {
                let changed = self.changed_by(&message).await;
                self.updates.message(&message, Delivery::News, &changed)
            }
            Event::MessageUpdated { message } => further(&message),
            Event::TextDelta { message_id, offset, text } => self.updates.said(message_id, offset, &text),
            Event::ReasoningDelta { message_id, offset, text } => self.updates.thought(message_id, offset, &text),
            Event::ToolOutput { call_id, text } => self.updates.printed(&call_id.to_string(), &text),
            Event::PlanUpdated { plan, .. } => self.updates.plan(plan),
            Event::PlanStep { step_number, status } => self.updates.step(step_number, status),
            Event::ModeChanged { config, .. } => Some(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(modes::id(config.role)))),
            Event::ChatUpdated { title, .. } => Some(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title))),
            Event::Usage(usage) => self.used(usage).await,
            Event::IntentSuggested { .. } => Some(remark("To start the work, send /execute: it approves the plan and executes it.")),
            Event::QuestionResolved { outcome, .. } => {
                self.stop_asking();
                self.updates.resolved(match outcome {
                    QuestionOutcome::Answered => ToolCallStatus::Completed,
                    QuestionOutcome::Superseded | QuestionOutcome::Stopped => ToolCallStatus::Failed,
                })
            }
            Event::StateChanged { state: ChatState::AwaitingAnswer } => return self.awaits_answer(seq),
            Event::RunFinished { outcome, error, .. } => return self.finished(seq, outcome, error),
            Event::StateChanged { .. }
            | Event::QuestionPending { .. }
            | Event::ToolCall { .. }
            | Event::ToolResult { .. }
            | Event::Violation { .. }
            | Event::MessageDeleted { .. }
            | Event::ChatCreated { .. }
            | Event::ChatDeleted {}
            | Event::Reset {} => None,
        };
        self.send(update);
    }

    async fn prompt(&mut self, blocks: &[ContentBlock], responder: Responder<PromptResponse>) {
        let PromptMessage { words, images } = match prompt::read(blocks, self.updates.root()) {
            Ok(said) => said,
            Err(problem) => return answer(responder.respond_with_error(to_client(&problem))),
        };
        if std::mem::take(&mut self.is_interrupted)
            && let Err(problem) = self.handle.resume().await
        {
            return answer(responder.respond_with_error(to_client(&problem)));
        }
        let since = self.handle.chat().newest();
        self.turn.get_or_insert_with(|| PromptTurn::after(since)).wait(responder);
        let command = commands::parse(&words);
        if command.is_some() && !images.is_empty() {
            return self.end_turn(Err(to_client(&prompt::image_with_command())));
        }
        let is_answer = matches!(command, Some(SlashCommand::Answer(_)));
        let op = match command {
            None => Op::UserMessage { content: words, metadata: Map::new(), images, comments: Vec::new() },
            Some(SlashCommand::Execute) => Op::Execute { plan_file: None, content: None, expected: ExpectedPlan::default() },
            Some(SlashCommand::Compact) => Op::Compact,
            Some(SlashCommand::Answer(text)) => match self.handle.chat().pending() {
                None => {
                    self.send(Some(remark("There is no pending question.")));
                    return self.end_turn(Ok(StopReason::EndTurn));
                }
                Some(_) if text.is_empty() => {
                    self.tries = 0;
                    return self.ask(None);
                }
                Some(pending) => {
                    let answers = typed::answers(&pending.questions, text);
                    Op::Answer { question_id: pending.question_id, answers, comment: String::new(), metadata: Map::new() }
                }
            },
        };
        match self.handle.submit(op).await {
            Ok(_) => {}
            Err(problem) if is_answer => self.answer_refused(&problem),
            Err(problem) => self.refused(&problem),
        }
    }

    /// A question with an invalid answer stays pending.
    fn answer_refused(&mut self, problem: &Problem) {
        if problem.code == ErrorCode::ValidationFailed && self.handle.chat().pending().is_some() {
            self.send(Some(remark(&invalid_answer(problem))));
            self.send_pending();
            return self.end_turn(Ok(StopReason::EndTurn));
        }
        self.refused(problem);
    }

    /// The chat rejected a request. A plan that changed is shown again instead.
    fn refused(&mut self, problem: &Problem) {
        if problem.code == ErrorCode::Conflict && self.handle.chat().record().state == ChatState::AwaitingAnswer {
            self.send(Some(remark(&problem.message)));
            return;
        }
        self.end_turn(Err(to_client(problem)));
    }

    /// Replies when the switch is in force: nothing of the old role can take effect any more.
    async fn set_mode(&mut self, role: Role, responder: Responder<SetSessionModeResponse>) {
        let role = RoleRequest::role(role.row().name);
        let op = Op::Update { title: None, role, plan_file: PlanChange::Keep, confirm: Confirm::Given, marks: MarkChange::default() };
        let switched = self.handle.submit(op).await.map(|_| SetSessionModeResponse::new());
        answer(responder.respond_with_result(switched.map_err(|problem| to_client(&problem))));
    }

    async fn cancel(&mut self) {
        if self.turn.is_none() {
            return;
        }
        self.stop_asking();
        // The turn ends with the run, whose last event says when nothing of it can take effect any more.
        if let Err(problem) = self.handle.submit(Op::Stop).await {
            self.end_turn(Err(to_client(&problem)));
        }
    }

    /// A run does not continue without a client; a question stays pending for the next one.
    async fn close(&mut self) {
        self.stop_asking();
        if self.turn.is_some()
            && self.handle.chat().pending().is_none()
            && let Err(problem) = self.handle.submit(Op::Stop).await
        {
            tracing::warn!(%problem, "can't stop the run");
        }
    }

    fn awaits_answer(&mut self, seq: u64) {
        if self.turn.as_ref().is_some_and(|turn| turn.is_about(seq)) {
            self.tries = 0;
            self.ask(None);
        }
    }

    fn ask(&mut self, again: Option<String>) {
        let Some(pending) = self.handle.chat().pending() else { return };
        let call = match (&pending.call, self.updates.asked_by()) {
            (Some(call), _) => call.call_id.to_string(),
            (None, Some(call)) => call.to_owned(),
            (None, None) => {
                let placeholder = question::placeholder(&pending);
                self.updates.asks_as(question::placeholder_id(&pending));
                self.send(Some(SessionUpdate::ToolCall(placeholder)));
                question::placeholder_id(&pending)
            }
        };
        let (asker, sender) = (self.asker.clone(), self.answers.clone());
        self.asking = Some(tokio::spawn(async move {
            let answers = asker.ask(&pending, &call, again.as_deref()).await;
            let _ = sender.send(Answered { question_id: pending.question_id, answers });
        }));
    }

    async fn answered(&mut self, Answered { question_id, answers }: Answered) {
        if self.turn.is_none() {
            return;
        }
        let Some(answers) = answers else {
            self.send_pending();
            return self.end_turn(Ok(StopReason::EndTurn));
        };
        match self.handle.submit(Op::Answer { question_id, answers, comment: String::new(), metadata: Map::new() }).await {
            Ok(_) => {}
            // It was resolved elsewhere meanwhile, and the run reports how it continues.
            Err(problem) if problem.code == ErrorCode::QuestionNotPending => {}
            Err(problem) if problem.code == ErrorCode::ValidationFailed && self.tries < MAX_ATTEMPTS => {
                self.tries += 1;
                self.ask(Some(invalid_answer(&problem)));
            }
            Err(problem) => self.answer_refused(&problem),
        }
    }

    /// Shows the pending question, and how to answer it.
    fn send_pending(&mut self) {
        let Some(pending) = self.handle.chat().pending() else { return };
        self.send(Some(SessionUpdate::AgentMessageChunk(words(&question::text(&pending)))));
        let instead = match pending.kind {
            QuestionKind::User => "a message replaces the answer",
            QuestionKind::PlanApproval => "a message continues planning",
            QuestionKind::ToolApproval => "a message denies it",
            QuestionKind::StepStop => "a message leaves the later steps undone",
        };
        self.send(Some(remark(&format!("Waiting for your answer: /answer asks again, /answer with text answers, {instead}."))));
    }

    fn finished(&mut self, seq: u64, outcome: RunOutcome, error: Option<Problem>) {
        if !self.turn.as_ref().is_some_and(|turn| turn.is_about(seq)) {
            let failed = error.map(|problem| remark(&format!("The run failed. {}", problem.message)));
            return self.send(failed);
        }
        self.end_turn(match (outcome, error) {
            (RunOutcome::Failed, Some(problem)) if problem.code == ErrorCode::LimitReached => {
                self.send(Some(remark(&problem.message)));
                Ok(StopReason::MaxTurnRequests)
            }
            (RunOutcome::Failed, Some(problem)) => Err(to_client(&problem)),
            (RunOutcome::Stopped, _) => Ok(StopReason::Cancelled),
            (RunOutcome::Done | RunOutcome::Blocked | RunOutcome::Failed, _) => Ok(StopReason::EndTurn),
        });
    }

    /// The files that the call of a result changed.
    async fn changed_by(&mut self, result: &Message) -> Vec<ChangedText> {
        let call = result.body.tool_result().and_then(|result| self.updates.call_of(result));
        match call {
            Some(call) => self.handle.chat().changed_texts(call).await.unwrap_or_default(),
            None => Vec::new(),
        }
    }

    async fn used(&mut self, usage: Usage) -> Option<SessionUpdate> {
        let chat = self.handle.chat();
        let model = chat.model(chat.record().config.role.mode()).await.ok()?;
        Some(SessionUpdate::UsageUpdate(UsageUpdate::new(usage.context_tokens, model.context_tokens())))
    }

    fn stop_asking(&mut self) {
        if let Some(asking) = self.asking.take() {
            asking.abort();
        }
    }

    fn end_turn(&mut self, result: Result<StopReason, agent_client_protocol::Error>) {
        if let Some(turn) = self.turn.take() {
            turn.end(&result);
        }
    }

    fn send(&self, update: Option<SessionUpdate>) {
        if let Some(update) = update {
            answer(self.asker.connection.send_notification(SessionNotification::new(self.asker.session.clone(), update)));
        }
    }
}

/// A disconnected client needs no reply.
fn answer(sent: Result<(), agent_client_protocol::Error>) {
    if let Err(error) = sent {
        tracing::debug!(code = ?error.code, "the client is gone");
    }
}

/// The plan in a message, if there is one.
fn plan_of(message: &Message) -> Option<Plan> {
    message.body.plan().map(|version| version.plan.clone())
}
