//! A run: from what the user said to the end of what it set off.

use crate::call::{self, Carried};
use crate::card;
use crate::chat::{Change, Chat, storage};
use crate::crash;
use crate::plan;
use crate::progress::{self, Execution};
use crate::reading::{READ_UP_TO, as_read, read_up_to};
use crate::surroundings::Surroundings;
use async_trait::async_trait;
use futures::StreamExt;
use planwright_agent::answer::{Answer, read_answer};
use planwright_agent::prompt::{Facts, system_prompt, tool_definitions};
use planwright_agent::{Delta, ModelCall, Outcome, Provider, Purpose, Request, Turn, World, compaction, drive};
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::{Author, CallId, Event, Message, MessageId, MessageType, Mode, Problem, Role};
use planwright_store::ChatRow;
use planwright_tools::tool::tool_named;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What the user wrote while the run was under way, for the next request to the model.
#[derive(Clone, Default)]
pub struct Inbox(Arc<Mutex<Vec<Message>>>);

impl Inbox {
    pub fn put(&self, message: Message) {
        self.lock().push(message);
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

pub struct Run {
    pub(crate) chat: Arc<Chat>,
    inbox: Inbox,
    surroundings: Surroundings,
}

impl Run {
    pub fn new(chat: Arc<Chat>, inbox: Inbox) -> Self {
        Self { chat, inbox, surroundings: Surroundings::default() }
    }

    pub async fn finish(mut self) -> Outcome {
        match self.turn().await {
            Ok(mut turn) => drive(&mut turn, &mut self).await,
            Err(problem) => Outcome::Failed(problem),
        }
    }

    /// Sums the conversation up, and does nothing else.
    pub async fn compact(self) -> Outcome {
        let summed_up = async {
            let provider = self.chat.rules().models.model(self.chat.row().await.config.role.mode()).await?;
            self.sum_up(&*provider, &self.turn().await?).await
        };
        match summed_up.await {
            Ok(_) => Outcome::Done,
            Err(problem) => Outcome::Failed(problem),
        }
    }

    async fn turn(&self) -> Result<Turn, Problem> {
        let history = self.chat.store.messages(self.chat.id).await.map_err(storage)?;
        Ok(Turn::replay(as_read(history), self.chat.settings().limits.turns))
    }

    async fn request(&mut self, role: Role, turn: &Turn) -> Result<Request, Problem> {
        self.surroundings.look(&self.chat, turn.history()).await?;
        let plan = Execution::of(&self.chat).await.map(|execution| execution.text());
        let inspect = self.chat.settings().inspect();
        let Surroundings { environment, instructions, .. } = &self.surroundings;
        let facts = Facts { approved_plan: plan.as_deref(), instructions, environment, inspect };
        Ok(Request {
            system: system_prompt(role, &facts),
            messages: turn.conversation().entries(),
            tools: tool_definitions(role, inspect),
            mode: role.mode(),
            purpose: Purpose::Reply,
            replies: turn.conversation().replies(),
        })
    }

    /// Reads the reply to its end; what has come so far is shown while it comes.
    async fn receive(&self, provider: &dyn Provider, request: Request, text_id: MessageId) -> Result<Received, Problem> {
        let mut received = Received::default();
        let mut stream = provider.stream(request).await?;
        while let Some(delta) = stream.next().await {
            match delta? {
                Delta::Text(text) => {
                    received.text.push_str(&text);
                    self.chat.delta(text_id, text).await?;
                }
                Delta::Reasoning(_) => {}
                Delta::Call(call) => received.calls.push(call),
                Delta::Usage(usage) => received.usage = usage,
            }
        }
        Ok(received)
    }

    /// What a reply is: text and calls, or a plan, or a question.
    async fn read(&self, received: Received, role: Role, text_id: MessageId) -> Result<Reply, Problem> {
        let mut reply = Reply::default();
        let mut message = Message::new(self.chat.id, Author::Assistant, MessageType::Text, received.text.clone());
        let answer = if received.calls.is_empty() { read_answer(&received.text) } else { Answer::Text { reason: None } };
        match answer {
            Answer::Plan { plan, prose } if role.mode() == Mode::Plan => match plan::store(&self.chat, plan).await {
                Ok(stored) => {
                    message.content = if prose.is_empty() { stored.goal().to_owned() } else { prose };
                    message = stored.tell(&self.chat, message).await?;
                    reply.change = stored.change(self.chat.row().await.config.role, "");
                    reply.plan_file = Some(stored.path);
                }
                Err(problem) => {
                    reply.note = Some(format!("This plan could not be stored: {}", problem.message));
                    message = message.with("not_a_plan", problem.message);
                }
            },
            Answer::Question { question, severity, prose } => {
                let pending = card::asked(&self.chat, vec![question], severity).await;
                let asked = pending.message(self.chat.id, role);
                message = Message {
                    content: [prose, asked.content.clone()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"),
                    ..asked
                };
                reply.change = Change::default().event(pending.event());
                reply.pending = serde_json::to_value(&pending).ok();
            }
            Answer::Text { reason: Some(reason) } => {
                reply.note = Some(format!("This answer was not taken as a plan or a question: {reason}."));
                message = message.with("not_a_plan", reason);
            }
            Answer::Plan { .. } | Answer::Text { reason: None } => {}
        }
        message.id = text_id;
        if !received.text.is_empty() || received.calls.is_empty() {
            reply.messages.push(message);
        }
        reply.messages.extend(received.calls.iter().map(|call| call_message(&self.chat, call)));
        Ok(reply)
    }
}

/// A reply, ready to be stored.
#[derive(Default)]
struct Reply {
    messages: Vec<Message>,
    change: Change,
    pending: Option<Value>,
    plan_file: Option<String>,
    /// Why it is not what it was perhaps meant to be, for the user and the model to read.
    note: Option<String>,
}

#[derive(Default)]
struct Received {
    text: String,
    calls: Vec<ModelCall>,
    usage: Usage,
}

#[async_trait]
impl World for Run {
    async fn heard(&mut self) -> Result<Vec<Message>, Problem> {
        let notice = progress::notice(&self.chat).await?;
        Ok(notice.into_iter().chain(self.inbox.take()).collect())
    }

    async fn model(&mut self, turn: &Turn) -> Result<Vec<Message>, Problem> {
        self.chat.settings().limits.check(&self.chat.row().await.usage)?;
        self.chat.show(|_| ChatState::Thinking).await?;
        let read = read_up_to(turn.history());
        let role = self.chat.row().await.config.role;
        let provider = self.chat.rules().models.model(role.mode()).await?;
        if compaction::is_due(turn.conversation(), self.chat.row().await.usage.context_tokens, provider.context_tokens()) {
            return self.sum_up(&*provider, turn).await;
        }
        let text_id = MessageId::generate();
        crash::point("model_asked");
        let request = self.request(role, turn).await?;
        let received = self.receive(&*provider, request, text_id).await?;

        crash::point("reply_received");
        let usage = received.usage;
        let Reply { messages, mut change, pending, plan_file, note } = self.read(received, role, text_id).await?;
        let messages: Vec<Message> = messages
            .into_iter()
            .map(|message| {
                message.by(role).with("reply", text_id.to_string()).with("model", provider.name()).with(READ_UP_TO, read.as_str())
            })
            .collect();
        let note = note.map(|text| Message::new(self.chat.id, Author::System, MessageType::Text, text));
        let messages: Vec<Message> = messages.into_iter().chain(note).collect();
        let mut events: Vec<Event> = messages.iter().map(|message| Event::MessageCreated { message: message.clone() }).collect();
        events.extend(messages.iter().filter_map(call_event));
        events.append(&mut change.events);
        events.push(Event::Usage(usage));
        change.events = events;
        let edit = move |row: &mut ChatRow| {
            add(&mut row.usage, usage);
            row.pending = pending.or(row.pending.take());
            row.config.plan_file = plan_file.or(row.config.plan_file.take());
        };
        self.chat.publish(change, edit).await?;
        crash::point("reply_stored");
        Ok(messages)
    }

    async fn tools(&mut self, calls: Vec<Message>, history: &[Message]) -> Result<Vec<Message>, Problem> {
        let mut happened = Vec::new();
        let mut open = VecDeque::from(calls);
        while let Some(first) = open.front() {
            let tool = first.meta("tool").to_owned();
            self.chat.show(move |role| state_of(role, &tool)).await?;
            let together = call::take_together(&mut open);
            match call::carry_out_together(&self.chat, together, history).await? {
                Carried::Done(messages) => happened.extend(messages),
                Carried::Asked(messages) => {
                    happened.extend(messages);
                    break;
                }
            }
        }
        Ok(happened)
    }
}

fn call_message(chat: &Chat, call: &ModelCall) -> Message {
    // Arguments that are not clean JSON are kept as they came, so that nobody reads them differently later.
    let args = planwright_protocol::json::parse_strict(&call.args).unwrap_or_else(|_| Value::String(call.args.clone()));
    let mut message = Message::new(chat.id, Author::Assistant, MessageType::ToolCall, format!("{}({})", call.tool, call.args))
        .with("call_id", CallId::generate().to_string())
        .with("tool", call.tool.clone())
        .with("args", args)
        .with("status", "pending");
    if let Ok(tool) = tool_named(&call.tool) {
        message = message
            .with("category", serde_json::to_value(tool.spec().category).unwrap_or_default())
            .with("risk", serde_json::to_value(tool.spec().risk).unwrap_or_default());
    }
    message
}

fn call_event(message: &Message) -> Option<Event> {
    if message.message_type != MessageType::ToolCall {
        return None;
    }
    let call_id = message.meta("call_id").parse().ok()?;
    Some(Event::ToolCall {
        call_id,
        tool: message.meta("tool").to_owned(),
        args: message.metadata.get("args").cloned().unwrap_or_default(),
    })
}

fn state_of(role: Role, tool: &str) -> ChatState {
    match role.mode() {
        Mode::Act => ChatState::Executing,
        Mode::Plan if tool == "write_plan" => ChatState::Planning,
        Mode::Plan => ChatState::Exploring,
    }
}

pub(crate) fn add(total: &mut Usage, more: Usage) {
    total.input_tokens += more.input_tokens;
    total.output_tokens += more.output_tokens;
    total.cached_tokens += more.cached_tokens;
    total.cost += more.cost;
    total.context_tokens = more.input_tokens + more.output_tokens;
}
