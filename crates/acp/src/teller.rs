//! What happens in a chat, as updates for the client. Holds what was told, and decides nothing.

use crate::calls;
use crate::plan;
use crate::speech::Speech;
use agent_client_protocol::v1::schema::{
    self, ContentBlock, ContentChunk, ImageContent, Plan as Entries, SessionUpdate, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use planwright_chat::ChangedText;
use planwright_protocol::message::{CallStatus, ToolResult};
use planwright_protocol::{AttachedImage, Author, Message, MessageBody, MessageId, Notice, Plan, QuestionKind, StepStatus};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Whether something is told as it happens, or because the client opens the chat anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    News,
    History,
}

pub struct Teller {
    /// Where the workspace is on this machine.
    root: PathBuf,
    speech: Speech,
    /// By their ids.
    calls: HashMap<String, Call>,
    told: HashSet<MessageId>,
    plan: Option<Plan>,
    /// What the client was last told of it.
    entries: Option<Entries>,
    /// The call that asked what waits for an answer.
    asked_by: Option<String>,
}

struct Call {
    message: MessageId,
    /// What it has printed.
    output: String,
}

impl Teller {
    pub fn new(root: PathBuf) -> Self {
        Self { root, speech: Speech::default(), calls: HashMap::new(), told: HashSet::new(), plan: None, entries: None, asked_by: None }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The message of the call that a result belongs to.
    pub fn call_of(&self, result: &ToolResult) -> Option<MessageId> {
        self.calls.get(&result.call_id.to_string()).map(|call| call.message)
    }

    /// An entry of the history. `changed` is what its call changed, if it is a result.
    pub fn message(&mut self, message: &Message, telling: Telling, changed: &[ChangedText]) -> Option<SessionUpdate> {
        if !self.told.insert(message.id) {
            return None;
        }
        match &message.body {
            MessageBody::UserText(_) | MessageBody::Answer(_) => self.users(message, telling),
            MessageBody::Notice(notice) => note(notice, &message.content),
            MessageBody::ToolCall(made) => {
                let call = Call { message: message.id, output: String::new() };
                self.calls.insert(made.call_id.to_string(), call);
                Some(SessionUpdate::ToolCall(calls::announced(made, &self.root)))
            }
            MessageBody::ToolResult(result) => Some(self.result(result, &message.content, changed)),
            MessageBody::Question(card) if card.kind != QuestionKind::User && telling == Telling::News => None,
            // What the user edited by hand.
            MessageBody::Plan(_) | MessageBody::Unknown(_) if message.author != Author::Assistant => said_by_server(&message.content),
            MessageBody::AssistantText(_) | MessageBody::Plan(_) | MessageBody::Question(_) | MessageBody::Unknown(_) => {
                let rest = self.speech.finish(message)?;
                Some(SessionUpdate::AgentMessageChunk(chunk(&rest, message.id)))
            }
        }
    }

    pub fn said(&mut self, message: MessageId, offset: usize, text: &str) -> Option<SessionUpdate> {
        let text = self.speech.hear(message, offset, text)?;
        Some(SessionUpdate::AgentMessageChunk(chunk(&text, message)))
    }

    pub fn thought(&mut self, message: MessageId, offset: usize, text: &str) -> Option<SessionUpdate> {
        let text = self.speech.think(message, offset, text)?;
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

    /// What looks as it was told is not told again.
    fn entries(&mut self, entries: Entries) -> Option<SessionUpdate> {
        let is_news = self.entries.as_ref() != Some(&entries);
        is_news.then(|| SessionUpdate::Plan(self.entries.insert(entries).clone()))
    }

    /// The call that asked what waits for an answer, if it was one.
    pub fn asked_by(&self) -> Option<&str> {
        self.asked_by.as_deref()
    }

    /// The question is shown under a call of this id.
    pub fn asks_as(&mut self, call_id: String) {
        self.asked_by = Some(call_id);
    }

    /// The question is no more; what asked it is over.
    pub fn resolved(&mut self, status: ToolCallStatus) -> Option<SessionUpdate> {
        Some(moved(&self.asked_by.take()?, status))
    }

    /// The client has the user's words already; only an answer is shown with what asked for it.
    fn users(&self, message: &Message, telling: Telling) -> Option<SessionUpdate> {
        if telling == Telling::History {
            return Some(SessionUpdate::UserMessageChunk(chunk(&message.content, message.id)));
        }
        message.body.answer()?;
        let fields = ToolCallUpdateFields::new().content(vec![calls::text(&message.content)]);
        Some(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.asked_by.clone()?, fields)))
    }

    fn result(&mut self, result: &ToolResult, words: &str, changed: &[ChangedText]) -> SessionUpdate {
        if result.question_id.is_some() {
            // The call stays open for the client until the user has answered.
            let call = result.call_id.to_string();
            let update = moved(&call, ToolCallStatus::Pending);
            self.asked_by = Some(call);
            return update;
        }
        SessionUpdate::ToolCallUpdate(calls::concluded(result, words, changed, &self.root))
    }
}

/// A call that is further than it was. Its end is told with its result.
pub fn further(call: &Message) -> Option<SessionUpdate> {
    let call = call.body.tool_call()?;
    (call.status == CallStatus::Running).then(|| moved(&call.call_id.to_string(), calls::status(call.status)))
}

/// Words of ours, which no model wrote.
pub fn remark(text: &str) -> SessionUpdate {
    let quoted = text.lines().collect::<Vec<_>>().join("\n> ");
    SessionUpdate::AgentMessageChunk(words(&format!("\n> {quoted}\n\n")))
}

/// Words that belong to no message.
pub fn words(text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text))
}

/// An image of the user's.
pub fn shown(image: &AttachedImage, bytes: &[u8], message: MessageId) -> SessionUpdate {
    let block = ContentBlock::Image(ImageContent::new(BASE64_STANDARD.encode(bytes), image.mime_type.clone()));
    SessionUpdate::UserMessageChunk(ContentChunk::new(block).message_id(schema::MessageId::new(message.to_string())))
}

fn chunk(text: &str, message: MessageId) -> ContentChunk {
    words(text).message_id(schema::MessageId::new(message.to_string()))
}

/// What the server wrote into the history; a switch of mode alone is told as such, and a task in its call.
fn note(notice: &Notice, text: &str) -> Option<SessionUpdate> {
    let is_told_elsewhere = matches!(notice, Notice::Task | Notice::ModeChange(_));
    if is_told_elsewhere { None } else { said_by_server(text) }
}

fn said_by_server(text: &str) -> Option<SessionUpdate> {
    (!text.is_empty()).then(|| remark(text))
}

fn moved(call_id: &str, status: ToolCallStatus) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call_id.to_owned(), ToolCallUpdateFields::new().status(status)))
}
