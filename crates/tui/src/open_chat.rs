//! A chat as its events tell it. Pure: a snapshot, then one event after the other.

use planwright_protocol::api::chat::{ChatView, Pending, ProgressView, RunEnd, Snapshot};
use planwright_protocol::event::QuestionOutcome;
use planwright_protocol::plan::StepProgress;
use planwright_protocol::{Agent, CallId, ChatState, Envelope, Event, Message, MessageId, Plan, QuestionId, StepStatus};
use std::collections::HashMap;

/// Of a running command's output, this much of its end is kept.
const MOST_OUTPUT: usize = 32 << 10;

/// A chat that is open.
#[derive(Clone, Debug)]
pub struct OpenChat {
    pub chat: ChatView,
    /// Oldest first.
    pub messages: Vec<Message>,
    /// Whether the server has older ones.
    pub has_older: bool,
    pub partial: Option<StreamedAnswer>,
    /// Live output of running commands.
    pub printed: HashMap<CallId, String>,
    pub pending: Option<Pending>,
    pub last_run: Option<RunEnd>,
    pub queued: Vec<MessageId>,
    pub plan: Option<Plan>,
    pub last_event: u64,
    /// Rises with every change but a delta's, so that rows are grouped anew only then.
    pub version: u64,
}

/// An answer that is being written.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamedAnswer {
    pub message_id: MessageId,
    pub by: Agent,
    pub text: String,
    pub reasoning: String,
    characters: usize,
    reasoned: usize,
}

/// What an event means beyond the conversation itself.
#[derive(Clone, Debug, PartialEq)]
pub enum EventEffect {
    None,
    /// A question came up, or went.
    Asked,
    Resolved(QuestionId, QuestionOutcome),
    /// The plan or its progress changed.
    Planned,
    Finished,
    /// The client loads the chat anew.
    Reset,
    Deleted,
    /// Files may have changed.
    Worked,
}

const PAGE: usize = 50;

impl OpenChat {
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Self {
        let pending = snapshot.pending_question.and_then(|pending| serde_json::from_value(pending).ok());
        let partial = snapshot.partial.map(|partial| StreamedAnswer {
            message_id: partial.message_id,
            by: partial.by,
            characters: partial.text.chars().count(),
            text: partial.text,
            reasoning: String::new(),
            reasoned: 0,
        });
        let plan = snapshot.messages.iter().rev().find_map(|message| message.body.plan()).map(|version| version.plan.clone());
        Self {
            has_older: snapshot.messages.len() >= PAGE,
            chat: snapshot.chat,
            messages: snapshot.messages,
            partial,
            printed: snapshot.printed.into_iter().collect(),
            pending,
            last_run: snapshot.last_run,
            queued: snapshot.queued,
            plan,
            last_event: snapshot.last_event_id,
            version: 0,
        }
    }

    /// Whether a run is in progress or waits for an answer.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !matches!(self.chat.state, ChatState::Idle | ChatState::Failed)
    }

    /// Whether the model or a tool is at work.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.is_busy() && self.chat.state != ChatState::AwaitingAnswer
    }

    /// Adds older messages, newest first as the server lists them.
    pub fn add_older(&mut self, mut page: Vec<Message>) {
        self.has_older = page.len() >= PAGE;
        page.reverse();
        page.retain(|message| !self.messages.iter().any(|known| known.id == message.id));
        page.append(&mut self.messages);
        self.messages = page;
        self.version += 1;
    }

    /// Takes an event in. Numbers that were seen before change nothing.
    pub fn apply(&mut self, envelope: Envelope) -> EventEffect {
        if envelope.seq <= self.last_event && !matches!(envelope.event, Event::Reset {}) {
            return EventEffect::None;
        }
        self.last_event = envelope.seq.max(self.last_event);
        if !matches!(envelope.event, Event::TextDelta { .. } | Event::ReasoningDelta { .. }) {
            self.version += 1;
        }
        self.apply_event(envelope.event)
    }

    fn apply_event(&mut self, event: Event) -> EventEffect {
        match event {
            Event::TextDelta { message_id, offset, text } => self.add_text(message_id, offset, &text),
            Event::ReasoningDelta { message_id, offset, text } => self.add_reasoning(message_id, offset, &text),
            Event::MessageCreated { message } | Event::MessageUpdated { message } => return self.put(message),
            Event::MessageDeleted { message_id } => {
                self.messages.retain(|message| message.id != message_id);
                self.queued.retain(|queued| *queued != message_id);
            }
            Event::ToolOutput { call_id, text } => self.print(call_id, &text),
            Event::StateChanged { state } => self.chat.state = state,
            Event::QuestionPending { question_id, questions, kind, severity, created_at, plan, call } => {
                let by = Agent::own(self.chat.config.role);
                self.pending = Some(Pending { question_id, questions, kind, severity, created_at, by, plan, call });
                return EventEffect::Asked;
            }
            Event::QuestionResolved { question_id, outcome } => {
                if self.pending.as_ref().is_some_and(|pending| pending.question_id == question_id) {
                    self.pending = None;
                }
                return EventEffect::Resolved(question_id, outcome);
            }
            Event::ModeChanged { config, by: _ } => {
                self.chat.app_data = config.clone();
                self.chat.config = config;
                return EventEffect::Planned;
            }
            Event::PlanUpdated { plan_file, plan } => {
                self.chat.config.plan_file = Some(plan_file);
                self.plan = Some(plan);
                return EventEffect::Planned;
            }
            Event::PlanStep { step_number, status } => {
                self.set_step(step_number, status);
                return EventEffect::Planned;
            }
            Event::Usage(usage) => {
                self.chat.usage.count(&usage);
                self.chat.usage.context_tokens = usage.context_tokens;
            }
            Event::RunFinished { outcome, error, open_steps } => {
                self.partial = None;
                self.queued.clear();
                self.last_run = Some(RunEnd { outcome, error, open_steps });
                return EventEffect::Finished;
            }
            Event::ChatUpdated { title, pinned, archived, model, effort } => {
                self.chat.title = title;
                (self.chat.pinned, self.chat.archived) = (pinned, archived);
                (self.chat.model, self.chat.effort) = (model, effort);
            }
            Event::ToolResult { .. } => return EventEffect::Worked,
            Event::Reset {} => return EventEffect::Reset,
            Event::ChatDeleted {} => return EventEffect::Deleted,
            Event::ToolCall { .. } | Event::IntentSuggested { .. } | Event::Violation { .. } | Event::ChatCreated { .. } => {}
        }
        EventEffect::None
    }

    fn put(&mut self, message: Message) -> EventEffect {
        let replaces = |partial: &StreamedAnswer| {
            message.id == partial.message_id || message.body.reply().is_some_and(|reply| reply.id == Some(partial.message_id))
        };
        if self.partial.as_ref().is_some_and(replaces) {
            self.partial = None;
        }
        let mut effect = EventEffect::None;
        if let Some(version) = message.body.plan() {
            self.plan = Some(version.plan.clone());
            effect = EventEffect::Planned;
        }
        if let Some(result) = message.body.tool_result() {
            self.printed.remove(&result.call_id);
        }
        if message.body.user_text().is_some() && self.is_running() && !self.messages.iter().any(|known| known.id == message.id) {
            self.queued.push(message.id);
        }
        match self.messages.iter_mut().rev().find(|known| known.id == message.id) {
            Some(known) => *known = message,
            None => self.messages.push(message),
        }
        effect
    }

    fn partial_of(&mut self, message_id: MessageId) -> &mut StreamedAnswer {
        let by = Agent::own(self.chat.config.role);
        let is_other = self.partial.as_ref().is_none_or(|partial| partial.message_id != message_id);
        if is_other {
            // The model has read what was queued when it writes anew.
            self.queued.clear();
            self.partial = None;
        }
        self.partial.get_or_insert_with(|| StreamedAnswer {
            message_id,
            by,
            text: String::new(),
            reasoning: String::new(),
            characters: 0,
            reasoned: 0,
        })
    }

    fn add_text(&mut self, message_id: MessageId, offset: usize, text: &str) {
        if self.messages.iter().rev().take(PAGE).any(|message| message.id == message_id) {
            return;
        }
        let partial = self.partial_of(message_id);
        let known = partial.characters.saturating_sub(offset);
        let new: String = text.chars().skip(known).collect();
        partial.characters += new.chars().count();
        partial.text.push_str(&new);
    }

    fn add_reasoning(&mut self, message_id: MessageId, offset: usize, text: &str) {
        let partial = self.partial_of(message_id);
        let known = partial.reasoned.saturating_sub(offset);
        let new: String = text.chars().skip(known).collect();
        partial.reasoned += new.chars().count();
        partial.reasoning.push_str(&new);
    }

    fn print(&mut self, call: CallId, text: &str) {
        let printed = self.printed.entry(call).or_default();
        printed.push_str(text);
        if printed.len() > MOST_OUTPUT {
            let start = printed.ceil_char_boundary(printed.len() - MOST_OUTPUT);
            printed.drain(..start);
        }
    }

    fn set_step(&mut self, step_number: u32, status: StepStatus) {
        let (plan, config) = (&self.plan, &self.chat.config);
        let steps = |plan: &Plan| {
            let step = |step: &planwright_protocol::PlanStep| StepProgress {
                step_number: step.step_number,
                action: step.action.clone(),
                status: step.status,
                note: None,
            };
            plan.steps.iter().map(step).collect::<Vec<_>>()
        };
        let progress = self.chat.progress.get_or_insert_with(|| {
            let steps = plan.as_ref().map(steps).unwrap_or_default();
            let plan_file = config.plan_file.clone().unwrap_or_default();
            ProgressView { plan_file, done: 0, skipped: 0, total: steps.len(), steps, chosen_steps: None, stop_after: None }
        });
        if let Some(step) = progress.steps.iter_mut().find(|step| step.step_number == step_number) {
            step.status = status;
        }
        let count = |status: StepStatus| progress.steps.iter().filter(|step| step.status == status).count();
        (progress.done, progress.skipped) = (count(StepStatus::Done), count(StepStatus::Skipped));
    }
}
