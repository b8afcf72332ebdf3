//! The wire form: the same JSON in the API, in events, in the database and in exports.
//!
//! Only this file knows the keys of `metadata`. A key that the server never writes on that kind of message loads as the
//! client's: early versions stored the client's keys among the server's own.

use super::body::{Answer, MessageBody, PlanVersion, QuestionAnswer, UnknownBody, UserText};
use super::metadata::MessageMetadata;
use super::notice::{
    ApprovalNotice, CommitOutcome, CompactionNotice, CutMessage, DriftedFile, ModeChange, Notice, PlanChanged, PlannedFiles, RevertNotice,
    ServerNotice,
};
use super::{Author, Message, MessageType};
use crate::ids::{CallId, ChatId, MessageId};
use crate::role::Role;
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

// A message in its API and database form. Not a doc comment: it would become part of the API's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct WireMessage {
    pub id: MessageId,
    pub chat_id: ChatId,
    pub author: Author,
    /// The author's role, for the assistant's messages.
    #[serde(default)]
    pub agent_role: Option<Role>,
    #[serde(default)]
    pub message_type: MessageType,
    pub content: String,
    #[serde(default)]
    #[schemars(with = "MessageMetadata")]
    pub metadata: Map<String, Value>,
    pub created_at: Timestamp,
}

const CLIENT: &str = "client";
const DELEGATION: &str = "delegation";
const IMAGES: &str = "images";
const COMMENTS: &str = "comments";

const OF_USER_TEXT: &[&str] = &["user", IMAGES, COMMENTS, "awaits_plan"];
const OF_ANSWER: &[&str] = &["user", "question_answer", "comment"];
const OF_REPLY: &[&str] = &["reply", "model", "read_up_to", "native", "reasoning"];
const OF_ASSISTANT_TEXT: &[&str] = &["not_a_plan", "status", "review", "call_id"];
const OF_PLAN: &[&str] = &["plan", "plan_file", "revision", "sha256", FILES, "files_in_part", "edited", "user", COMMENTS, "call_id"];
const OF_QUESTION: &[&str] = &["question_id", "questions", "kind", "severity", "plan", "call"];
const OF_TOOL_CALL: &[&str] = &["call_id", "tool", "args", "status", "category", "risk", "runs_command", "landing", "verified"];
const OF_TOOL_RESULT: &[&str] = &["call_id", "tool", "success", "error", "facts", "question_id", "body_size"];
const FILES: &str = "files";
const APPROVAL: &str = "approval";
const MODE_CHANGE: &str = "mode_change";
const DRIFT: &str = "drift";
const PLAN_CHANGED: &str = "plan_changed";
const REVERT: &str = "revert";
const COMPACTION: &str = "compaction";
const TASK: &str = "task";
const ANSWERED: &str = "answered";
const RETRY: &str = "retry";
const COMMIT: &str = "commit";
const CUT: &str = "cut";
const MCP_SERVER: &str = "mcp_server";
const MODE_UNDECIDED: &str = "mode_undecided";
/// The key that identifies each kind of notice, and the other keys of that kind. Approvals come first: they are mode changes too.
const OF_NOTICES: &[(&str, &[&str])] = &[
    (APPROVAL, &[MODE_CHANGE, "begins_with", FILES, "files_in_part"]),
    (MODE_CHANGE, &[]),
    (DRIFT, &[]),
    (PLAN_CHANGED, &[]),
    (REVERT, &[]),
    (COMPACTION, &["read_up_to"]),
    (TASK, &[]),
    (ANSWERED, &[]),
    (RETRY, &[]),
    (COMMIT, &[]),
    (CUT, &[]),
    (MCP_SERVER, &["mcp_trouble"]),
    (MODE_UNDECIDED, &[]),
];

/// Every key that the server writes into any message's metadata.
#[must_use]
pub fn metadata_keys() -> BTreeSet<&'static str> {
    let lists =
        [OF_USER_TEXT, OF_ANSWER, OF_REPLY, OF_ASSISTANT_TEXT, OF_PLAN, OF_QUESTION, OF_TOOL_CALL, OF_TOOL_RESULT, &[CLIENT, DELEGATION]];
    let of_notices = OF_NOTICES.iter().flat_map(|(kind, others)| std::iter::once(kind).chain(*others));
    lists.into_iter().flatten().chain(of_notices).copied().collect()
}

impl WireMessage {
    /// Adds the bytes of an attached image, as base64, to its entry.
    pub fn embed_image(&mut self, sha256: &str, base64: &str) {
        let Some(Value::Array(images)) = self.metadata.get_mut(IMAGES) else { return };
        for image in images.iter_mut().filter(|image| image["sha256"] == sha256) {
            image["data"] = base64.into();
        }
    }

    /// Copies the message into another chat. Message ids in it change to the copies' ids; the client's data stays as it was.
    #[must_use]
    pub fn copied(mut self, chat_id: ChatId, ids: &HashMap<MessageId, MessageId>) -> Self {
        self.chat_id = chat_id;
        self.id = ids.get(&self.id).copied().unwrap_or(self.id);
        self.metadata.iter_mut().filter(|(key, _)| *key != CLIENT).for_each(|(_, value)| rename(value, ids));
        self
    }

    /// The message as an unreadable one.
    #[must_use]
    pub fn into_unknown(self, reason: impl Into<String>) -> Message {
        let result_of = (self.author == Author::Tool).then(|| lenient(&self.metadata, "call_id")).flatten();
        let delegation = lenient(&self.metadata, DELEGATION);
        let body = UnknownBody { message_type: self.message_type, metadata: self.metadata, reason: reason.into(), result_of };
        Message {
            id: self.id,
            chat_id: self.chat_id,
            author: self.author,
            agent_role: self.agent_role,
            delegation,
            created_at: self.created_at,
            content: self.content,
            body: MessageBody::Unknown(body),
            client: None,
        }
    }
}

fn rename(value: &mut Value, ids: &HashMap<MessageId, MessageId>) {
    match value {
        Value::String(text) => {
            if let Some(id) = text.parse().ok().and_then(|id: MessageId| ids.get(&id)) {
                *text = id.to_string();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rename(value, ids)),
        Value::Object(object) => object.values_mut().for_each(|value| rename(value, ids)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn lenient<T: DeserializeOwned>(metadata: &Map<String, Value>, key: &str) -> Option<T> {
    T::deserialize(metadata.get(key)?).ok()
}

impl From<&Message> for WireMessage {
    fn from(message: &Message) -> Self {
        Self {
            id: message.id,
            chat_id: message.chat_id,
            author: message.author,
            agent_role: message.agent_role,
            message_type: message.message_type(),
            content: message.content.clone(),
            metadata: metadata(message),
            created_at: message.created_at,
        }
    }
}

fn metadata(message: &Message) -> Map<String, Value> {
    let mut metadata = match &message.body {
        MessageBody::UserText(text) => object(text),
        MessageBody::Answer(answer) => object(answer),
        MessageBody::AssistantText(text) => object(text),
        MessageBody::Plan(version) => object(version),
        MessageBody::Question(card) => object(card),
        MessageBody::ToolCall(call) => object(call),
        MessageBody::ToolResult(result) => object(result),
        MessageBody::Notice(notice) => of_notice(notice),
        MessageBody::Unknown(unknown) => return unknown.metadata.clone(),
    };
    if let Some(call) = message.delegation {
        metadata.insert(DELEGATION.to_owned(), call.to_string().into());
    }
    if let Some(client) = &message.client {
        metadata.insert(CLIENT.to_owned(), client.clone());
    }
    metadata
}

fn of_notice(notice: &Notice) -> Map<String, Value> {
    let one = |key: &str, value: Value| Map::from_iter([(key.to_owned(), value)]);
    match notice {
        Notice::Plain => Map::new(),
        Notice::ModeChange(change) => one(MODE_CHANGE, json_of(change)),
        Notice::Approval(approval) => object(approval),
        Notice::Drift(files) => one(DRIFT, json_of(files)),
        Notice::PlanChanged(changed) => one(PLAN_CHANGED, json_of(changed)),
        Notice::Revert(revert) => one(REVERT, json_of(revert)),
        Notice::Compaction(compaction) => object(compaction),
        Notice::Task => one(TASK, true.into()),
        Notice::Answered => one(ANSWERED, true.into()),
        Notice::Retry => one(RETRY, true.into()),
        Notice::Commit(outcome) => one(COMMIT, json_of(outcome)),
        Notice::Cut(message) => one(CUT, json_of(message)),
        Notice::Server(server) => object(server),
        Notice::ModeUndecided => one(MODE_UNDECIDED, true.into()),
    }
}

/// Can't fail: all keys of the bodies are strings.
fn json_of(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

fn object(body: &impl Serialize) -> Map<String, Value> {
    if let Value::Object(object) = json_of(body) { object } else { Map::new() }
}

impl From<WireMessage> for Message {
    fn from(wire: WireMessage) -> Self {
        let read = match (wire.author, wire.message_type) {
            (Author::User, MessageType::Text) => return of_user(wire),
            (Author::Assistant, MessageType::Text) => read(&wire, &[OF_ASSISTANT_TEXT, OF_REPLY], MessageBody::AssistantText),
            (Author::Assistant | Author::System, MessageType::Plan) => read_plan(&wire),
            (Author::Assistant | Author::System, MessageType::Question) => {
                read(&wire, &[OF_QUESTION, OF_REPLY], |card| MessageBody::Question(Box::new(card)))
            }
            (Author::Assistant, MessageType::ToolCall) => read(&wire, &[OF_TOOL_CALL, OF_REPLY], MessageBody::ToolCall),
            (Author::Tool, MessageType::ToolResult) => read(&wire, &[OF_TOOL_RESULT], MessageBody::ToolResult),
            (Author::System, MessageType::Text) => read_notice(&wire),
            (Author::User, MessageType::Plan | MessageType::Question | MessageType::ToolCall | MessageType::ToolResult)
            | (Author::Tool, MessageType::Text | MessageType::Plan | MessageType::Question | MessageType::ToolCall)
            | (Author::System, MessageType::ToolCall | MessageType::ToolResult)
            | (Author::Assistant, MessageType::ToolResult) => {
                Err(format!("no {:?} is written by the author {:?}", wire.message_type, wire.author))
            }
        };
        match read {
            Ok((body, delegation, rest)) => message(wire, body, delegation, rest),
            Err(reason) => wire.into_unknown(reason),
        }
    }
}

/// A body, its delegating call, and the keys that are not the server's.
type Read = Result<(MessageBody, Option<CallId>, Map<String, Value>), String>;

fn read<B: DeserializeOwned>(wire: &WireMessage, keys: &[&[&str]], body: impl FnOnce(B) -> MessageBody) -> Read {
    let read = B::deserialize(&wire.metadata).map_err(|error| error.to_string())?;
    with_rest(wire, body(read), keys)
}

/// Adds the parts that every body has: the delegating call, and the keys that are not the server's.
fn with_rest(wire: &WireMessage, body: MessageBody, keys: &[&[&str]]) -> Read {
    let delegation = wire.metadata.get(DELEGATION).map(CallId::deserialize).transpose();
    let delegation = delegation.map_err(|error| format!("`{DELEGATION}`: {error}"))?;
    let is_ours = |key: &str| key == DELEGATION || keys.iter().any(|list| list.contains(&key));
    let rest = wire.metadata.iter().filter(|(key, _)| !is_ours(key)).map(|(key, value)| (key.clone(), value.clone()));
    Ok((body, delegation, rest.collect()))
}

fn read_plan(wire: &WireMessage) -> Read {
    let version = PlanVersion::deserialize(&wire.metadata).map_err(|error| error.to_string())?;
    check_files(wire, version.files.as_ref())?;
    with_rest(wire, version.into(), &[OF_PLAN, OF_REPLY])
}

fn read_notice(wire: &WireMessage) -> Read {
    let Some((kind, others)) = OF_NOTICES.iter().find(|(kind, _)| wire.metadata.contains_key(*kind)) else {
        let plain = with_rest(wire, Notice::Plain.into(), &[])?;
        return match plain.2.keys().find(|key| *key != CLIENT) {
            Some(key) => Err(format!("no notice has the key `{key}`")),
            None => Ok(plain),
        };
    };
    let notice = notice(kind, &wire.metadata).map_err(|error| format!("`{kind}`: {error}"))?;
    if let Notice::Approval(approval) = &notice {
        check_files(wire, approval.files.as_ref())?;
    }
    with_rest(wire, notice.into(), &[&[kind], others])
}

/// Serde reads a malformed optional field as an absent one, so the field is checked here.
fn check_files(wire: &WireMessage, files: Option<&PlannedFiles>) -> Result<(), String> {
    let is_lost = files.is_none() && wire.metadata.contains_key(FILES);
    if is_lost { Err(format!("`{FILES}` is no list of hashes by path")) } else { Ok(()) }
}

fn notice(kind: &str, metadata: &Map<String, Value>) -> Result<Notice, serde_json::Error> {
    let fact = &metadata[kind];
    let mark = |notice: Notice| bool::deserialize(fact).map(|_| notice);
    match kind {
        APPROVAL => ApprovalNotice::deserialize(metadata).map(|approval| Notice::Approval(Box::new(approval))),
        MODE_CHANGE => ModeChange::deserialize(fact).map(Notice::ModeChange),
        DRIFT => Vec::<DriftedFile>::deserialize(fact).map(Notice::Drift),
        PLAN_CHANGED => PlanChanged::deserialize(fact).map(Notice::PlanChanged),
        REVERT => RevertNotice::deserialize(fact).map(Notice::Revert),
        COMPACTION => CompactionNotice::deserialize(metadata).map(Notice::Compaction),
        TASK => mark(Notice::Task),
        ANSWERED => mark(Notice::Answered),
        RETRY => mark(Notice::Retry),
        COMMIT => CommitOutcome::deserialize(fact).map(Notice::Commit),
        CUT => CutMessage::deserialize(fact).map(Notice::Cut),
        MCP_SERVER => ServerNotice::deserialize(metadata).map(Notice::Server),
        MODE_UNDECIDED => mark(Notice::ModeUndecided),
        other => Err(serde::de::Error::custom(format!("`{other}` is no kind of notice"))),
    }
}

/// A user's message. A value that the server would not have written is the client's, like an unknown key.
fn of_user(mut wire: WireMessage) -> Message {
    let mut rest = std::mem::take(&mut wire.metadata);
    let delegation = take(&mut rest, DELEGATION);
    let user = take(&mut rest, "user");
    let body = if let Some(question_answer) = take::<QuestionAnswer>(&mut rest, "question_answer") {
        MessageBody::Answer(Answer { user, question_answer, comment: take(&mut rest, "comment") })
    } else {
        let images = take(&mut rest, IMAGES).unwrap_or_default();
        let comments = take(&mut rest, COMMENTS).unwrap_or_default();
        MessageBody::UserText(UserText { user, images, comments, awaits_plan: take(&mut rest, "awaits_plan").unwrap_or_default() })
    };
    message(wire, body, delegation, rest)
}

fn take<T: DeserializeOwned>(metadata: &mut Map<String, Value>, key: &str) -> Option<T> {
    let value = lenient(metadata, key)?;
    metadata.remove(key);
    Some(value)
}

fn message(wire: WireMessage, body: MessageBody, delegation: Option<CallId>, mut rest: Map<String, Value>) -> Message {
    let client = match rest.remove(CLIENT) {
        // A current row: the client's metadata has its own key, and nothing else is left.
        own if rest.is_empty() => own,
        // A row of an early version: the client sent all of this.
        own => {
            rest.extend(own.map(|own| (CLIENT.to_owned(), own)));
            Some(Value::Object(rest))
        }
    };
    Message {
        id: wire.id,
        chat_id: wire.chat_id,
        author: wire.author,
        agent_role: wire.agent_role,
        delegation,
        created_at: wire.created_at,
        content: wire.content,
        body,
        client,
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WireMessage::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        WireMessage::deserialize(deserializer).map(Message::from)
    }
}

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        WireMessage::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        WireMessage::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WireMessage::json_schema(generator)
    }
}
