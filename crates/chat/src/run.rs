//! A run: from a user message to its end.

mod explore;
mod replay;

use crate::action::agent_call::{CallOutcome, perform_together, take_together};
use crate::action::plan_reply;
use crate::available_tools::AvailableTools;
use crate::chat::{Change, Chat, Draft};
use crate::crash;
use crate::delta_batches::DeltaBatches;
use crate::exploration;
use crate::inbox::Inbox;
use crate::models::check_cost;
use crate::plan;
use crate::progress::{self, Execution};
use crate::prompt_context::PromptContext;
use crate::read_marker::read_up_to;
use crate::reasoning::Reasoning;
use async_trait::async_trait;
use planwright_agent::answer::{ParsedAnswer, parse_answer};
use planwright_agent::prompt::{PromptFacts, system_prompt, tool_definitions};
use planwright_agent::thread::{is_task, of_thread};
use planwright_agent::{Delta, ModelCall, ModelRequest, Provider, Purpose, Turn, World, compaction, fit, out_of_turns};
use planwright_protocol::Agent;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::message::{AssistantText, ReplyPart};
use planwright_protocol::{CallMessage, ErrorCode, Event, Message, MessageId, Mode, Notice, Problem, Role};
use planwright_tools::AgentKind;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of calls in a reply.
const MOST_CALLS: usize = 128;

pub struct Run {
    pub(crate) chat: Arc<Chat>,
    inbox: Inbox,
    pub(crate) prompt_context: PromptContext,
    /// The delegate that this run belongs to; `None` for the chat's own agent, whose role the user may switch.
    delegate: Option<Agent>,
    /// How full a delegate's context is; the chat stores that of its own agent.
    context_tokens: u64,
    pub(crate) available_tools: AvailableTools,
    /// The number of model requests since the user's last message, of the chat's own agent and its delegates together.
    asked: Arc<AtomicU32>,
}

impl Run {
    pub fn new(chat: Arc<Chat>, inbox: Inbox) -> Self {
        Self {
            chat,
            inbox,
            prompt_context: PromptContext::default(),
            delegate: None,
            context_tokens: 0,
            available_tools: AvailableTools::default(),
            asked: Arc::default(),
        }
    }

    /// The same for a delegate. The user's messages meanwhile are for the delegating agent.
    pub(crate) fn for_delegate(&self, delegate: Agent) -> Self {
        Self { delegate: Some(delegate), asked: self.asked.clone(), ..Self::new(self.chat.clone(), Inbox::default()) }
    }

    /// The agent of this run.
    ///
    /// # Errors
    /// `MODE_CHANGED` if the chat's role no longer permits this delegate.
    pub(crate) fn agent(&self) -> Result<Agent, Problem> {
        let own = self.chat.agent();
        match self.delegate {
            None => Ok(own),
            Some(delegate) => delegate.check(own.role).map(|()| delegate),
        }
    }

    /// The messages of this conversation among those of the chat.
    pub(crate) fn thread_of(&self, messages: Vec<Message>) -> Vec<Message> {
        of_thread(messages, self.delegate.and_then(|delegate| delegate.delegation))
    }

    /// Whether this is the conversation of the chat's own agent.
    pub(crate) fn is_own(&self) -> bool {
        self.delegate.is_none()
    }

    /// Stores a reply with its usage.
    pub(crate) async fn record_usage(
        &mut self,
        change: Change,
        usage: Usage,
        context_tokens: u64,
        edit: impl FnOnce(&mut Draft) + Send + 'static,
    ) -> Result<(), Problem> {
        self.context_tokens = context_tokens;
        let is_own = self.delegate.is_none();
        let edit = move |row: &mut Draft| {
            row.usage.count(&usage);
            if is_own {
                row.usage.context_tokens = context_tokens;
            }
            edit(row);
        };
        self.chat.publish(change, edit).await
    }

    /// The usage that clients see: they show the context of the chat's own agent, and not that of a delegate.
    fn visible_usage(&self, usage: Usage) -> Usage {
        if self.delegate.is_none() {
            return usage;
        }
        Usage { context_tokens: self.chat.record().usage.context_tokens, ..usage }
    }

    /// Counts the usage of a discarded reply.
    async fn count_discarded(&mut self, usage: Usage) -> Result<(), Problem> {
        if usage == Usage::default() {
            return Ok(());
        }
        let usage = Usage { context_tokens: usage.input_tokens, ..usage };
        let visible_usage = self.visible_usage(usage);
        self.record_usage(Change::default().event(Event::Usage(visible_usage)), usage, usage.context_tokens, |_| {}).await
    }

    fn is_too_long(&self, turn: &Turn, provider: &dyn Provider) -> bool {
        let used = if self.delegate.is_some() { self.context_tokens } else { self.chat.record().usage.context_tokens };
        compaction::is_due(turn.conversation(), used, provider.context_tokens())
    }

    /// The request for a model with this context size.
    pub(crate) async fn request(&mut self, agent: Agent, turn: &Turn, context: u64) -> Result<ModelRequest, Problem> {
        let role = agent.role;
        self.prompt_context.look(&self.chat, turn.history()).await?;
        let plan = Execution::of(&self.chat).map(|execution| execution.text());
        let offer = self.chat.settings().offer(AgentKind::from(agent));
        let (environment, instructions) = (&self.prompt_context.environment, &self.prompt_context.instructions(context));
        let works_for = if agent.delegation.is_some() { Some(self.chat.agent().role) } else { None };
        let facts = PromptFacts {
            approved_plan: plan.as_deref(),
            instructions,
            environment,
            offer,
            mcp_tools: &self.available_tools.tools,
            works_for,
        };
        Ok(ModelRequest {
            system: system_prompt(role, &facts),
            messages: fit::shorten(turn.conversation().entries(), context),
            images: HashMap::new(),
            tools: tool_definitions(role, offer, &self.available_tools.tools),
            mode: role.mode(),
            purpose: Purpose::Reply,
            replies: turn.conversation().replies(),
            task: turn.history().first().filter(|first| is_task(first)).map(|task| task.content.clone()),
        })
    }

    /// Reads the reply to its end, and publishes it as it arrives.
    pub(crate) async fn receive(
        &mut self,
        provider: &dyn Provider,
        agent: Agent,
        request: ModelRequest,
        text_id: MessageId,
    ) -> Result<Received, Problem> {
        let mut received = Received::default();
        let mut batches = DeltaBatches::new(provider.stream(request).await?);
        while let Some(delta) = batches.next().await {
            let delta = match delta {
                Err(problem) => {
                    self.count_discarded(received.usage).await?;
                    return Err(problem);
                }
                Ok(delta) => delta,
            };
            match delta {
                Delta::Text(text) => {
                    received.text.push_str(&text);
                    if AgentKind::from(agent) == AgentKind::Main {
                        self.chat.delta(agent, text_id, &text).await?;
                    }
                }
                Delta::Reasoning(text) => {
                    received.reasoning.add(&text);
                    if AgentKind::from(agent) == AgentKind::Main {
                        self.chat.publish_reasoning(agent, text_id, &text).await?;
                    }
                }
                Delta::Call(call) => received.calls.push(call),
                Delta::Usage(usage) => received.usage = usage,
                Delta::Native(value) => received.native = Some(value),
            }
        }
        if received.calls.len() > MOST_CALLS {
            self.count_discarded(received.usage).await?;
            return Err(too_many(received.calls.len()));
        }
        Ok(received)
    }

    /// Parses a reply: text and calls, a plan, or a question.
    async fn read(&self, received: Received, model: &str, agent: Agent, text_id: MessageId) -> Result<Reply, Problem> {
        let mut reply = Reply::default();
        let mut text = AssistantText::default();
        let mut message = None;
        // A helper writes no plan and asks nobody, in whatever form.
        let is_answer = received.calls.is_empty() && AgentKind::from(agent) == AgentKind::Main;
        let answer = if is_answer { parse_answer(&received.text) } else { ParsedAnswer::Text { reason: None } };
        match answer {
            ParsedAnswer::Plan { plan, prose } if agent.role.mode() == Mode::Plan => {
                match plan_reply::write(&self.chat, agent, plan, text_id).await {
                    Ok(stored) => {
                        let content = if prose.is_empty() { stored.goal().to_owned() } else { prose };
                        message = Some(Message::new(self.chat.id, stored.version(&self.chat).await?, content));
                        reply.change = stored.change(agent.role, "");
                        reply.plan_file = Some(stored.path);
                    }
                    Err(problem) => {
                        reply.note = Some(format!("This plan could not be stored: {}", problem.message));
                        text.not_a_plan = Some(problem.message);
                    }
                }
            }
            ParsedAnswer::Question { question, severity, prose } => {
                let pending = plan::question_card(&self.chat, agent, vec![question], severity).await;
                let asked = pending.message(self.chat.id);
                message = Some(Message {
                    content: [prose, asked.content.clone()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"),
                    ..asked
                });
                reply.change = Change::default().event(pending.event()).log_question(&pending, model);
                reply.pending = Some(pending);
            }
            ParsedAnswer::Text { reason: Some(reason) } => {
                reply.note = Some(format!("This answer is not a valid plan or question: {reason}."));
                text.not_a_plan = Some(reason);
            }
            ParsedAnswer::Text { reason: None } if received.calls.is_empty() && received.text.trim().is_empty() => {
                reply.note = Some("The model's answer is empty. Ask again, or describe the task differently.".to_owned());
            }
            ParsedAnswer::Plan { .. } | ParsedAnswer::Text { reason: None } => {}
        }
        let message = Message { id: text_id, ..message.unwrap_or_else(|| Message::new(self.chat.id, text, received.text.clone())) };
        if !received.text.is_empty() || received.calls.is_empty() {
            reply.messages.push(message);
        }
        reply.messages.extend(received.calls.iter().map(|call| self.available_tools.call_message(&self.chat, call)));
        Ok(reply)
    }
}

/// A reply, ready to be stored.
#[derive(Default)]
struct Reply {
    messages: Vec<Message>,
    change: Change,
    pending: Option<Pending>,
    plan_file: Option<String>,
    /// Why it is not what it was perhaps meant to be, for the user and the model.
    note: Option<String>,
}

#[derive(Default)]
pub(crate) struct Received {
    text: String,
    calls: Vec<ModelCall>,
    usage: Usage,
    reasoning: Reasoning,
    native: Option<Value>,
}

#[async_trait]
impl World for Run {
    async fn take_messages(&mut self) -> Result<Vec<Message>, Problem> {
        if self.is_helper() {
            return Ok(Vec::new());
        }
        let of_servers = self.available_tools.ask(&self.chat).await?;
        if self.delegate.is_some() {
            return Ok(of_servers);
        }
        let notice = progress::notice(&self.chat).await?;
        let words = self.inbox.take();
        if !words.is_empty() {
            self.asked.store(0, Ordering::Relaxed);
        }
        Ok(notice.into_iter().chain(of_servers).chain(words).collect())
    }

    async fn model(&mut self, turn: &Turn) -> Result<Vec<Message>, Problem> {
        let limits = self.chat.settings().limits;
        check_cost(limits, &self.chat.record().usage)?;
        let agent = self.agent()?;
        let provider = self.chat.model(agent.role.mode()).await?;
        let notes = self.note_cuts(agent, turn, provider.context_tokens()).await?;
        if !notes.is_empty() {
            return Ok(notes);
        }
        // A helper has its own count, which survives a crash with its conversation.
        let (asked, most) = match AgentKind::from(agent) {
            AgentKind::Main => (self.asked.fetch_add(1, Ordering::Relaxed), limits.turns),
            AgentKind::Helper => (u32::try_from(turn.conversation().replies().plan).unwrap_or(u32::MAX), exploration::MOST_REPLIES),
        };
        if asked >= most {
            return Err(out_of_turns(most));
        }
        self.show(|_| ChatState::Thinking).await?;
        let read = read_up_to(turn.history());
        if self.is_too_long(turn, &*provider) {
            return self.sum_up(agent, &*provider, turn).await;
        }
        let text_id = MessageId::generate();
        crash::point("model_asked");
        let mut received = match self.ask(&*provider, agent, turn, text_id).await {
            Err(problem) if compaction::is_too_long(&problem) && turn.conversation().has_grown() => {
                return self.sum_up(agent, &*provider, turn).await;
            }
            received => received?,
        };

        crash::point("reply_received");
        let (mut native, mut reasoning) = (received.native.take(), std::mem::take(&mut received.reasoning).stored());
        let usage = Usage { context_tokens: received.usage.input_tokens + received.usage.output_tokens, ..received.usage };
        let Reply { mut messages, mut change, pending, plan_file, note } = self.read(received, provider.name(), agent, text_id).await?;
        for part in messages.iter_mut().filter_map(|message| message.body.reply_mut()) {
            let model = Some(provider.name().to_owned());
            *part = ReplyPart { id: Some(text_id), model, read_up_to: Some(read), native: native.take(), reasoning: reasoning.take() };
        }
        let note = note.map(|text| agent.place(Message::notice(self.chat.id, Notice::Plain, text)));
        let messages: Vec<Message> = messages.into_iter().map(|message| agent.sign(message)).chain(note).collect();
        let mut events: Vec<Event> = messages.iter().map(|message| Event::MessageCreated { message: message.clone() }).collect();
        events.extend(messages.iter().filter_map(call_event));
        events.append(&mut change.events);
        events.push(Event::Usage(self.visible_usage(usage)));
        change.events = events;
        let edit = move |row: &mut Draft| {
            if let Some(pending) = pending {
                row.activity.ask(pending);
            }
            row.config.plan_file = plan_file.or(row.config.plan_file.take());
        };
        self.record_usage(change, usage, usage.context_tokens, edit).await?;
        crash::point("reply_stored");
        Ok(messages)
    }

    async fn tools(&mut self, calls: Vec<CallMessage>, history: &[Message]) -> Result<Vec<Message>, Problem> {
        let mut happened = Vec::new();
        let mut open = VecDeque::from(calls);
        while let Some(first) = open.front() {
            let tool = first.body.tool.clone();
            self.show(move |role| state_of(role, &tool)).await?;
            let together = take_together(&mut open);
            for outcome in Box::pin(perform_together(&self.chat, together, history)).await? {
                let followed = match outcome {
                    CallOutcome::Done(messages) => ControlFlow::Continue(messages),
                    CallOutcome::Asked(messages) => ControlFlow::Break(messages),
                    CallOutcome::HandedOn(call) if exploration::is_one(&call.body) => ControlFlow::Continue(self.explore(*call).await?),
                    CallOutcome::HandedOn(call) => self.delegate(*call).await?,
                };
                match followed {
                    ControlFlow::Continue(messages) => happened.extend(messages),
                    ControlFlow::Break(messages) => {
                        happened.extend(messages);
                        return Ok(happened);
                    }
                }
            }
        }
        Ok(happened)
    }
}

fn too_many(calls: usize) -> Problem {
    let text = format!(
        "The model requested {calls} calls in one reply; at most {MOST_CALLS} are allowed, so none was executed. Ask for less at once."
    );
    Problem::new(ErrorCode::LimitReached, text)
}

fn call_event(message: &Message) -> Option<Event> {
    let call = message.body.tool_call()?;
    Some(Event::ToolCall { call_id: call.call_id, tool: call.tool.clone(), args: call.args.clone() })
}

fn state_of(role: Role, tool: &str) -> ChatState {
    match role.mode() {
        Mode::Act => ChatState::Executing,
        Mode::Plan if tool == "write_plan" => ChatState::Planning,
        Mode::Plan => ChatState::Exploring,
    }
}
