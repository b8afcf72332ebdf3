//! The kinds of records, and the messages of the user and the assistant.

use super::card::QuestionCard;
use super::comment::{AnsweredComment, ReviewComment};
use super::notice::{Notice, PlannedFiles};
use super::tool::{ToolCall, ToolResult};
use super::{Author, MessageType};
use crate::ids::{CallId, MessageId, QuestionId};
use crate::plan::Plan;
use crate::question::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The typed content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageBody {
    /// The user sent a text.
    UserText(UserText),
    /// The user answered a question.
    Answer(Answer),
    AssistantText(AssistantText),
    Plan(Box<PlanVersion>),
    Question(Box<QuestionCard>),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    /// A record that the server wrote.
    Notice(Notice),
    /// A stored message that this version can't read. The server shows it and never acts on it.
    Unknown(UnknownBody),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UserText {
    /// The author's account name, if the server has accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<AttachedImage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<ReviewComment>,
    /// The user ordered execution before there was a plan: the next plan raises the approval card.
    #[serde(skip_serializing_if = "is_false")]
    pub awaits_plan: bool,
}

/// An image attached to a message.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AttachedImage {
    pub sha256: String,
    #[schemars(example = &"image/png")]
    pub mime_type: String,
    /// In bytes.
    pub size: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The author's account name, if the server has accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    pub question_answer: QuestionAnswer,
    /// The user's comment on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct QuestionAnswer {
    pub question_id: QuestionId,
    /// The questions' names are the keys.
    pub answers: Map<String, Value>,
}

impl QuestionAnswer {
    /// Removes the answer from the metadata that a client sent with a message.
    ///
    /// # Errors
    /// The metadata has an answer in the wrong form.
    pub fn take_from(sent: &mut Map<String, Value>) -> Result<Option<Self>, serde_json::Error> {
        let answer = sent.remove("question_answer").filter(|answer| !answer.is_null());
        answer.map(serde_json::from_value).transpose()
    }
}

/// Text from the assistant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantText {
    #[serde(flatten)]
    pub reply: ReplyPart,
    /// Why the text was not accepted as a plan or question, though it looks like one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_a_plan: Option<String>,
    /// The run stopped or failed while the model was writing.
    #[serde(rename = "status", default, with = "interrupted", skip_serializing_if = "is_false")]
    pub is_interrupted: bool,
    /// The review that a call submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// The call that produced this text. The model sees it in the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
}

/// The model's reply that a message is part of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyPart {
    /// Shared by all messages of one reply: the id of its text message, even if it has none.
    #[serde(rename = "reply", default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_up_to: Option<ReadMarker>,
    /// Data that the provider requires back unchanged; on the first message of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Value>,
    /// The model's visible reasoning, for people to read; on the first message of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl ReplyPart {
    /// For a message that accompanies a reply but is not part of the model's output.
    #[must_use]
    pub fn accompanying(reply: Option<MessageId>) -> Self {
        Self { id: reply, ..Self::default() }
    }

    /// Whether both belong to the same reply.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.id.is_some() && self.id == other.id
    }
}

/// The newest user message that the model had read when it replied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ReadMarker {
    /// The user had written nothing.
    Nothing,
    UpTo(MessageId),
}

impl From<ReadMarker> for String {
    fn from(marker: ReadMarker) -> Self {
        match marker {
            ReadMarker::Nothing => String::new(),
            ReadMarker::UpTo(message) => message.to_string(),
        }
    }
}

impl TryFrom<String> for ReadMarker {
    type Error = uuid::Error;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() { Ok(ReadMarker::Nothing) } else { text.parse().map(ReadMarker::UpTo) }
    }
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Review {
    pub summary: String,
    pub findings: Vec<ReviewFinding>,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ReviewFinding {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[schemars(with = "String")]
    pub severity: Severity,
    pub comment: String,
}

/// A version of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanVersion {
    pub plan: Plan,
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    /// The hashes of the plan's files when it was written; `None` in histories of early versions.
    #[serde(flatten)]
    pub files: Option<PlannedFiles>,
    /// The user wrote this version.
    #[serde(rename = "edited", default, skip_serializing_if = "is_false")]
    pub is_edited: bool,
    /// The account of the user who wrote it, if the server has accounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The comments on the version before, with what became of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<AnsweredComment>,
    /// The call that wrote it; `None` if the plan was the model's reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    #[serde(flatten)]
    pub reply: ReplyPart,
}

/// A stored message that this version can't read.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownBody {
    pub message_type: MessageType,
    /// As stored.
    pub metadata: Map<String, Value>,
    pub reason: String,
    /// The call that this is the result of, so that recovery does not repeat that call.
    pub result_of: Option<CallId>,
}

impl MessageBody {
    #[must_use]
    pub fn message_type(&self) -> MessageType {
        match self {
            MessageBody::UserText(_) | MessageBody::Answer(_) | MessageBody::AssistantText(_) | MessageBody::Notice(_) => MessageType::Text,
            MessageBody::Plan(_) => MessageType::Plan,
            MessageBody::Question(_) => MessageType::Question,
            MessageBody::ToolCall(_) => MessageType::ToolCall,
            MessageBody::ToolResult(_) => MessageType::ToolResult,
            MessageBody::Unknown(unknown) => unknown.message_type,
        }
    }

    pub(super) fn author(&self) -> Author {
        match self {
            MessageBody::UserText(_) | MessageBody::Answer(_) => Author::User,
            MessageBody::Plan(version) if version.is_edited => Author::System,
            MessageBody::AssistantText(_) | MessageBody::Plan(_) | MessageBody::Question(_) | MessageBody::ToolCall(_) => Author::Assistant,
            MessageBody::ToolResult(_) => Author::Tool,
            MessageBody::Notice(_) | MessageBody::Unknown(_) => Author::System,
        }
    }

    /// The reply that this message is part of or accompanies.
    #[must_use]
    pub fn reply(&self) -> Option<&ReplyPart> {
        match self {
            MessageBody::AssistantText(text) => Some(&text.reply),
            MessageBody::Plan(version) => Some(&version.reply),
            MessageBody::Question(card) => Some(&card.reply),
            MessageBody::ToolCall(call) => Some(&call.reply),
            MessageBody::UserText(_)
            | MessageBody::Answer(_)
            | MessageBody::ToolResult(_)
            | MessageBody::Notice(_)
            | MessageBody::Unknown(_) => None,
        }
    }

    pub fn reply_mut(&mut self) -> Option<&mut ReplyPart> {
        match self {
            MessageBody::AssistantText(text) => Some(&mut text.reply),
            MessageBody::Plan(version) => Some(&mut version.reply),
            MessageBody::Question(card) => Some(&mut card.reply),
            MessageBody::ToolCall(call) => Some(&mut call.reply),
            MessageBody::UserText(_)
            | MessageBody::Answer(_)
            | MessageBody::ToolResult(_)
            | MessageBody::Notice(_)
            | MessageBody::Unknown(_) => None,
        }
    }

    /// How far the author of this reply or summary had read.
    #[must_use]
    pub fn read_up_to(&self) -> Option<ReadMarker> {
        if let MessageBody::Notice(Notice::Compaction(compaction)) = self {
            return compaction.read_up_to;
        }
        self.reply()?.read_up_to
    }

    /// The call that this is, answers or resulted from.
    #[must_use]
    pub fn call_id(&self) -> Option<CallId> {
        match self {
            MessageBody::AssistantText(text) => text.call_id,
            MessageBody::Plan(version) => version.call_id,
            MessageBody::ToolCall(call) => Some(call.call_id),
            MessageBody::ToolResult(result) => Some(result.call_id),
            MessageBody::Unknown(unknown) => unknown.result_of,
            MessageBody::UserText(_) | MessageBody::Answer(_) | MessageBody::Question(_) | MessageBody::Notice(_) => None,
        }
    }

    /// The question that this asks, or that the call with this result asked.
    #[must_use]
    pub fn question_id(&self) -> Option<QuestionId> {
        match self {
            MessageBody::Question(card) => Some(card.question_id),
            MessageBody::ToolResult(result) => result.question_id,
            MessageBody::UserText(_)
            | MessageBody::Answer(_)
            | MessageBody::AssistantText(_)
            | MessageBody::Plan(_)
            | MessageBody::ToolCall(_)
            | MessageBody::Notice(_)
            | MessageBody::Unknown(_) => None,
        }
    }

    #[must_use]
    pub fn user_text(&self) -> Option<&UserText> {
        if let MessageBody::UserText(text) = self { Some(text) } else { None }
    }

    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        if let MessageBody::Answer(answer) = self { Some(answer) } else { None }
    }

    #[must_use]
    pub fn plan(&self) -> Option<&PlanVersion> {
        if let MessageBody::Plan(version) = self { Some(version) } else { None }
    }

    #[must_use]
    pub fn question(&self) -> Option<&QuestionCard> {
        if let MessageBody::Question(card) = self { Some(card) } else { None }
    }

    #[must_use]
    pub fn tool_call(&self) -> Option<&ToolCall> {
        if let MessageBody::ToolCall(call) = self { Some(call) } else { None }
    }

    #[must_use]
    pub fn tool_result(&self) -> Option<&ToolResult> {
        if let MessageBody::ToolResult(result) = self { Some(result) } else { None }
    }

    #[must_use]
    pub fn notice(&self) -> Option<&Notice> {
        if let MessageBody::Notice(notice) = self { Some(notice) } else { None }
    }
}

macro_rules! bodies {
    ($($variant:ident($body:ty))*) => {$(
        impl From<$body> for MessageBody {
            fn from(body: $body) -> Self {
                MessageBody::$variant(body.into())
            }
        }
    )*};
}

bodies! {
    UserText(UserText)
    Answer(Answer)
    AssistantText(AssistantText)
    Plan(PlanVersion)
    Question(QuestionCard)
    ToolCall(ToolCall)
    ToolResult(ToolResult)
    Notice(Notice)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_false(value: &bool) -> bool {
    !value
}

/// On the wire an interrupted text has the status `interrupted`; other texts have none.
mod interrupted {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Status {
        Interrupted,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub fn serialize<S: Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        Status::Interrupted.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        Status::deserialize(deserializer).map(|Status::Interrupted| true)
    }
}
