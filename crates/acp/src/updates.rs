//! Converts chat events to updates for the client. Remembers what was sent, and decides nothing.

use crate::answer_text::AnswerText;
use crate::calls;
use crate::changed_text::ChangedText;
use crate::plan;
use agent_client_protocol::v1::schema::{
    self, ContentBlock, ContentChunk, ImageContent, Plan as Entries, SessionUpdate, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use planwright_protocol::api::server::ImageContent as SentImage;
use planwright_protocol::message::{CallStatus, ToolResult};
use planwright_protocol::{Author, Message, MessageBody, MessageId, Notice, Plan, QuestionKind, StepStatus};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Whether an event is live, or replayed because the client reopens the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    News,
    History,
}

pub struct UpdateBuilder {
    /// The workspace's path on this machine.
    root: PathBuf,
    answer_text: AnswerText,
    /// By call id.
    calls: HashMap<String, Call>,
    sent: HashSet<MessageId>,
    plan: Option<Plan>,
    /// The entries that the client has.
    entries: Option<Entries>,
    /// The call that asked the pending question.
    asked_by: Option<String>,
}

struct Call {
    message: MessageId,
    /// Its output.
    output: String,
}

impl UpdateBuilder {
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            answer_text: AnswerText::default(),
            calls: HashMap::new(),
            sent: HashSet::new(),
            plan: None,
            entries: None,
            asked_by: None,
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The message of the call that a result belongs to.
    pub fn call_of(&self, result: &ToolResult) -> Option<MessageId> {
        self.calls.get(&result.call_id.to_string()).map(|call| call.message)
    }

    /// Converts a message of the history. `changed` lists the changes of its call, if it is a result.
    pub fn message(&mut self, message: &Message, delivery: Delivery, changed: &[ChangedText]) -> Option<SessionUpdate> {
        if !self.sent.insert(message.id) {
            return None;
        }
        match &message.body {
            MessageBody::UserText(_) | MessageBody::Answer(_) => self.users(message, delivery),
            MessageBody::Notice(notice) => note(notice, &message.content),
            MessageBody::ToolCall(made) => {
                let call = Call { message: message.id, output: String::new() };
                self.calls.insert(made.call_id.to_string(), call);
                Some(SessionUpdate::ToolCall(calls::started(made, &self.root)))
            }
            MessageBody::ToolResult(result) => Some(self.result(result, &message.content, changed)),
            MessageBody::Question(card) if card.kind != QuestionKind::User && delivery == Delivery::News => None,
            // The user edited the plan by hand.
            MessageBody::Plan(_) | MessageBody::Unknown(_) if message.author != Author::Assistant => said_by_server(&message.content),
            MessageBody::AssistantText(_) | MessageBody::Plan(_) | MessageBody::Question(_) | MessageBody::Unknown(_) => {
                let rest = self.answer_text.finish(message)?;
                Some(SessionUpdate::AgentMessageChunk(chunk(&rest, message.id)))
            }
        }
    }

    pub fn said(&mut self, message: MessageId, offset: usize, text: &str) -> Option<SessionUpdate> {
        let text = self.answer_text.add_delta(message, offset, text)?;
        Some(SessionUpdate::AgentMessageChunk(chunk(&text, message)))
    }

    pub fn thought(&mut self, message: MessageId, offset: usize, text: &str) -> Option<SessionUpdate> {
        let text = self.answer_text.add_reasoning(message, offset, text)?;
        Some(SessionUpdate::AgentThoughtChunk(chunk(&text, message)))
    }

    pub fn printed(&mut self, call_id: &str, text: &str) -> Option<SessionUpdate> {
        let call = self.calls.get_mut(call_id)?;
        call.output.push_str(text);
        calls::keep_newest(&mut call.output);
        Some(SessionUpdate::ToolCallUpdate(calls::printing(call_id, &call.output)))
    }

    pub fn plan(&mut self, plan: Plan) -> Option<SessionUpdate> {
        let entries = plan::entries(&plan);
        self.plan = Some(plan);
        self.entries(entries)
    }

    pub fn step(&mut self, number: u32, status: StepStatus) -> Option<SessionUpdate> {
        let plan = self.plan.as_mut()?;
        plan.steps.iter_mut().find(|step| step.step_number == number)?.status = status;
        let entries = plan::entries(plan);
        self.entries(entries)
    }

    /// Sends entries only if they differ from what the client has.
    fn entries(&mut self, entries: Entries) -> Option<SessionUpdate> {
        let is_news = self.entries.as_ref() != Some(&entries);
        is_news.then(|| SessionUpdate::Plan(self.entries.insert(entries).clone()))
    }

    /// The call that asked the pending question, if a call did.
    pub fn asked_by(&self) -> Option<&str> {
        self.asked_by.as_deref()
    }

    /// Shows the question under a call of this id.
    pub fn asks_as(&mut self, call_id: String) {
        self.asked_by = Some(call_id);
    }

    /// The question is resolved; the call that asked it ends.
    pub fn resolved(&mut self, status: ToolCallStatus) -> Option<SessionUpdate> {
        Some(moved(&self.asked_by.take()?, status))
    }

    /// The client already has the user's text; only an answer is shown, with its question.
    fn users(&self, message: &Message, delivery: Delivery) -> Option<SessionUpdate> {
        if delivery == Delivery::History {
            return Some(SessionUpdate::UserMessageChunk(chunk(&message.content, message.id)));
        }
        message.body.answer()?;
        let fields = ToolCallUpdateFields::new().content(vec![calls::text(&message.content)]);
        Some(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.asked_by.clone()?, fields)))
    }

    fn result(&mut self, result: &ToolResult, words: &str, changed: &[ChangedText]) -> SessionUpdate {
        if result.question_id.is_some() {
            // For the client, the call stays open until the user has answered.
            let call = result.call_id.to_string();
            let update = moved(&call, ToolCallStatus::Pending);
            self.asked_by = Some(call);
            return update;
        }
        SessionUpdate::ToolCallUpdate(calls::finished(result, words, changed, &self.root))
    }
}

/// An update of a call's status. Its end comes with its result.
pub fn further(call: &Message) -> Option<SessionUpdate> {
    let call = call.body.tool_call()?;
    (call.status == CallStatus::Running).then(|| moved(&call.call_id.to_string(), calls::status(call.status)))
}

/// A remark from Planwright itself.
pub fn remark(text: &str) -> SessionUpdate {
    let quoted = text.lines().collect::<Vec<_>>().join("\n> ");
    SessionUpdate::AgentMessageChunk(words(&format!("\n> {quoted}\n\n")))
}

/// Text outside any message.
pub fn words(text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text))
}

/// An image from the user.
pub fn shown(image: SentImage, message: MessageId) -> SessionUpdate {
    let block = ContentBlock::Image(ImageContent::new(image.data, image.mime_type));
    SessionUpdate::UserMessageChunk(ContentChunk::new(block).message_id(schema::MessageId::new(message.to_string())))
}

fn chunk(text: &str, message: MessageId) -> ContentChunk {
    words(text).message_id(schema::MessageId::new(message.to_string()))
}

/// A record of the server; mode changes have their own update, and a task is shown in its call.
fn note(notice: &Notice, text: &str) -> Option<SessionUpdate> {
    let has_own_update = matches!(notice, Notice::Task | Notice::ModeChange(_));
    if has_own_update { None } else { said_by_server(text) }
}

fn said_by_server(text: &str) -> Option<SessionUpdate> {
    (!text.is_empty()).then(|| remark(text))
}

fn moved(call_id: &str, status: ToolCallStatus) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call_id.to_owned(), ToolCallUpdateFields::new().status(status)))
}
