//! One session of the client: a chat with its prompts, questions and updates. Handles one command at a time.

mod history;
mod turn;

use crate::changed_text::{ChangedText, changed_by};
use crate::commands::{self, SlashCommand};
use crate::modes;
use crate::problem::{invalid_answer, to_client};
use crate::prompt::{self, PromptImage, PromptMessage};
use crate::question::{self, Asker};
use crate::typed;
use crate::updates::{Delivery, UpdateBuilder, further, remark, words};
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    ContentBlock, CurrentModeUpdate, PromptResponse, SessionInfoUpdate, SessionNotification, SessionUpdate, SetSessionModeResponse,
    StopReason, ToolCallStatus, UsageUpdate,
};
use planwright_client::{ClientError, EventFollower, RemoteChat, StreamItem};
use planwright_protocol::api::chat::{Pending, RunEnd};
use planwright_protocol::api::requests::{ChatUpdate, ExecuteBody, NewMessageBody};
use planwright_protocol::event::{ChatState, QuestionOutcome, RunOutcome, Usage};
use planwright_protocol::{Agent, Envelope, ErrorCode, Event, Message, Problem, QuestionId, QuestionKind, Role};
use serde_json::{Map, Value};
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
    chat: RemoteChat,
    role: Role,
    /// The question that the chat waits for.
    pending: Option<Pending>,
    /// The size of the model's context, by the role that it was asked for.
    context_limit: Option<(Role, u64)>,
    asker: Asker,
    updates: UpdateBuilder,
    turn: Option<PromptTurn>,
    asking: Option<JoinHandle<()>>,
    answers: mpsc::UnboundedSender<Answered>,
    /// Number of invalid answers to the pending question.
    tries: usize,
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
    pub async fn open(chat: RemoteChat, asker: Asker, delivery: Delivery) -> Result<mpsc::UnboundedSender<SessionCommand>, Problem> {
        let snapshot = chat.snapshot().await.map_err(ClientError::into_problem)?;
        let (answers, answered) = mpsc::unbounded_channel();
        let mut session = Session {
            updates: UpdateBuilder::new(asker.root.clone()),
            role: snapshot.chat.config.role,
            pending: snapshot.chat.pending(),
            context_limit: None,
            chat,
            asker,
            turn: None,
            asking: None,
            answers,
            tries: 0,
        };
        if delivery == Delivery::History {
            session.send_history(&snapshot).await.map_err(ClientError::into_problem)?;
        }
        let events = session.chat.events(snapshot.last_event_id);
        let (commands, received) = mpsc::unbounded_channel();
        tokio::spawn(session.live(received, events, answered));
        Ok(commands)
    }

    async fn live(
        mut self,
        mut commands: mpsc::UnboundedReceiver<SessionCommand>,
        mut events: EventFollower,
        mut answered: mpsc::UnboundedReceiver<Answered>,
    ) {
        loop {
            tokio::select! {
                item = events.next() => match item {
                    Ok(StreamItem::Event(event)) => self.on_event(event.envelope).await,
                    Ok(StreamItem::Reset) => self.load().await,
                    Ok(StreamItem::Lost(_) | StreamItem::Resumed) => {}
                    // The chat was deleted.
                    Err(error) if error.code() == Some(ErrorCode::NotFound) => return self.end_turn(Ok(StopReason::Cancelled)),
                    Err(error) => return self.end_turn(Err(to_client(&error.into_problem()))),
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

    /// Events are missing: the chat says where the run is.
    async fn load(&mut self) {
        let Ok(snapshot) = self.chat.snapshot().await else { return };
        (self.role, self.pending) = (snapshot.chat.config.role, snapshot.chat.pending());
        for message in &snapshot.messages {
            let update = self.updates.message(message, Delivery::News, &[]);
            self.send(update);
        }
        if self.pending.is_some() {
            self.awaits_answer(snapshot.last_event_id);
        } else if let Some(RunEnd { outcome, error, .. }) = snapshot.last_run {
            self.finished(snapshot.last_event_id, outcome, error);
        }
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
            Event::ModeChanged { config, .. } => {
                self.role = config.role;
                Some(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(modes::id(config.role))))
            }
            Event::ChatUpdated { title, .. } => Some(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title))),
            Event::Usage(usage) => self.used(usage).await,
            Event::IntentSuggested { .. } => Some(remark("To start the work, send /execute: it approves the plan and executes it.")),
            Event::QuestionPending { question_id, questions, kind, severity, created_at, plan, call } => {
                let by = Agent::own(self.role);
                self.pending = Some(Pending { question_id, questions, kind, severity, created_at, by, plan, call });
                None
            }
            Event::QuestionResolved { outcome, .. } => {
                self.pending = None;
                self.stop_asking();
                self.updates.resolved(match outcome {
                    QuestionOutcome::Answered => ToolCallStatus::Completed,
                    QuestionOutcome::Superseded | QuestionOutcome::Stopped => ToolCallStatus::Failed,
                })
            }
            Event::StateChanged { state: ChatState::AwaitingAnswer } => return self.awaits_answer(seq),
            Event::RunFinished { outcome, error, .. } => return self.finished(seq, outcome, error),
            Event::StateChanged { .. }
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
        let since = match self.chat.snapshot().await {
            Ok(snapshot) => snapshot.last_event_id,
            Err(error) => return answer(responder.respond_with_error(to_client(&error.into_problem()))),
        };
        self.turn.get_or_insert_with(|| PromptTurn::after(since)).wait(responder);
        let command = commands::parse(&words);
        if command.is_some() && !images.is_empty() {
            return self.end_turn(Err(to_client(&prompt::image_with_command())));
        }
        let mut is_answer = false;
        let sent = match command {
            None => Self::say(&self.chat, words, images).await,
            Some(SlashCommand::Execute) => self.chat.execute(&ExecuteBody::default()).await.map(drop),
            Some(SlashCommand::Compact) => self.chat.compact().await.map(drop),
            Some(SlashCommand::Answer(text)) => match &self.pending {
                None => {
                    self.send(Some(remark("There is no pending question.")));
                    return self.end_turn(Ok(StopReason::EndTurn));
                }
                Some(_) if text.is_empty() => {
                    self.tries = 0;
                    return self.ask(None);
                }
                Some(pending) => {
                    is_answer = true;
                    let answers = typed::answers(&pending.questions, text);
                    self.chat.answer(pending.question_id, &answers, "").await.map(drop)
                }
            },
        };
        match sent.map_err(ClientError::into_problem) {
            Ok(()) => {}
            Err(problem) if is_answer => self.answer_refused(&problem),
            Err(problem) => self.refused(&problem),
        }
    }

    async fn say(chat: &RemoteChat, words: String, images: Vec<PromptImage>) -> Result<(), ClientError> {
        let mut ids = Vec::new();
        for PromptImage { mime_type, bytes } in images {
            ids.push(chat.upload_image(&mime_type, bytes).await?);
        }
        chat.send(&NewMessageBody { content: words, images: ids, ..NewMessageBody::default() }).await.map(drop)
    }

    /// A question with an invalid answer stays pending.
    fn answer_refused(&mut self, problem: &Problem) {
        if problem.code == ErrorCode::ValidationFailed && self.pending.is_some() {
            self.send(Some(remark(&invalid_answer(problem))));
            self.send_pending();
            return self.end_turn(Ok(StopReason::EndTurn));
        }
        self.refused(problem);
    }

    /// The chat rejected a request. A plan that changed is shown again instead.
    fn refused(&mut self, problem: &Problem) {
        if problem.code == ErrorCode::Conflict && self.pending.is_some() {
            self.send(Some(remark(&problem.message)));
            return;
        }
        self.end_turn(Err(to_client(problem)));
    }

    /// Replies when the switch is in force: nothing of the old role can take effect any more.
    async fn set_mode(&mut self, role: Role, responder: Responder<SetSessionModeResponse>) {
        let change = ChatUpdate { agent_role: Some(role.row().name.to_owned()), confirm: true, ..ChatUpdate::default() };
        let switched = self.chat.update(&change).await.map(|_| SetSessionModeResponse::new());
        answer(responder.respond_with_result(switched.map_err(|error| to_client(&error.into_problem()))));
    }

    async fn cancel(&mut self) {
        if self.turn.is_none() {
            return;
        }
        self.stop_asking();
        // The turn ends with the run, whose last event says when nothing of it can take effect any more.
        if let Err(error) = self.chat.stop().await {
            self.end_turn(Err(to_client(&error.into_problem())));
        }
    }

    /// A run does not continue without a client; a question stays pending for the next one.
    async fn close(&mut self) {
        self.stop_asking();
        if self.turn.is_some()
            && self.pending.is_none()
            && let Err(error) = self.chat.stop().await
        {
            tracing::warn!(%error, "can't stop the run");
        }
    }

    fn awaits_answer(&mut self, seq: u64) {
        if self.turn.as_ref().is_some_and(|turn| turn.is_about(seq)) {
            self.tries = 0;
            self.ask(None);
        }
    }

    fn ask(&mut self, again: Option<String>) {
        let Some(pending) = self.pending.clone() else { return };
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
        match self.chat.answer(question_id, &answers, "").await.map_err(ClientError::into_problem) {
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
        let Some(pending) = self.pending.clone() else { return };
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
            Some(call) => changed_by(&self.chat, call).await,
            None => Vec::new(),
        }
    }

    async fn used(&mut self, usage: Usage) -> Option<SessionUpdate> {
        let limit = match self.context_limit {
            Some((role, limit)) if role == self.role => limit,
            Some(_) | None => self.chat.context_limit().await.ok().flatten()?,
        };
        self.context_limit = Some((self.role, limit));
        Some(SessionUpdate::UsageUpdate(UsageUpdate::new(usage.context_tokens, limit)))
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
