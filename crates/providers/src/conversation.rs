//! Converts the conversation to the wire formats, and stores the parts of a reply that must be sent back unchanged.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use planwright_agent::{IMAGE_PLACEHOLDER, ModelCall, ModelMessage, Native};
use planwright_protocol::AttachedImage;
use rig_core::completion::CompletionResponse;
use rig_core::message::{
    self, AssistantContent, AssistantMessage, CallId, DocumentSourceKind, Image, ImageMediaType, Message, MimeType, Origin, ProviderCallId,
    Reasoning, Text, ToolCall, ToolFunction, ToolName, ToolResult, ToolResultContent, UserContent,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The library and the form of stored parts. Parts from another library are ignored.
const FORM: &str = "rig 0.44";

/// Maximum bytes of stored JSON per reply; it is sent with each later request.
const MAX_KEPT: usize = 4 * 1024 * 1024;

/// Replaces an empty text, which some wire formats reject.
const NOTHING: &str = "(nothing)";

/// A reply in order, with the parts that can't be rewritten.
#[derive(Serialize, Deserialize)]
struct Kept {
    form: String,
    origin: Origin,
    blocks: Vec<Block>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Block {
    /// Text, with the vendor's id for it.
    Text(Option<Value>),
    Call(Option<Value>),
    /// A call with more data than name and arguments.
    SignedCall(Value),
    Reasoning(Value),
}

/// The parts of this reply that the model requires back, if any.
pub(crate) fn to_keep(response: &CompletionResponse) -> Option<Value> {
    let mut blocks = Vec::new();
    // Generated images and vendor-specific parts are not requested.
    for content in &response.choice {
        let item = content.native_item();
        if let AssistantContent::Text(_) = content {
            blocks.push(Block::Text(item.and_then(identity)));
        } else if let AssistantContent::ToolCall(_) = content {
            blocks.push(match item {
                Some(item) if item.get("thoughtSignature").is_some() => Block::SignedCall(item.clone()),
                item => Block::Call(item.and_then(identity)),
            });
        } else if let AssistantContent::Reasoning(_) = content {
            blocks.extend(item.map(|item| Block::Reasoning(item.clone())));
        }
    }
    let needed = blocks.iter().any(|block| matches!(block, Block::SignedCall(_) | Block::Reasoning(_)));
    let kept = Kept { form: FORM.to_owned(), origin: response.origin.clone(), blocks };
    let kept = needed.then(|| serde_json::to_value(kept).ok()).flatten()?;
    (kept.to_string().len() <= MAX_KEPT).then_some(kept)
}

/// The vendor's id of an item: reasoning is only accepted together with the item that it led to.
fn identity(item: &Value) -> Option<Value> {
    let named = |kind: &Value| kind == "message" || kind == "function_call";
    item.get("type").filter(|kind| named(kind)).map(|kind| json!({ "type": kind, "id": item.get("id"), "phase": item.get("phase") }))
}

/// The conversation for `model`, beginning and ending with the user's side, as every wire format requires.
pub(crate) fn conversation(messages: &[ModelMessage], images: &HashMap<String, Arc<[u8]>>, model: &str) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    let mut said: Vec<UserContent> = Vec::new();
    let mut results: Vec<ToolResult> = Vec::new();
    let mut calls: Vec<&ModelCall> = Vec::new();
    for message in messages {
        match message {
            ModelMessage::User(text) => say(&mut said, text),
            ModelMessage::Image(attached) => match images.get(&attached.sha256).and_then(|bytes| image(attached, bytes)) {
                Some(image) => said.push(image),
                None => say(&mut said, IMAGE_PLACEHOLDER),
            },
            ModelMessage::ToolResult { call_id, text } => {
                let tool = calls.iter().rev().find(|call| call.id == *call_id).map_or("unknown", |call| call.tool.as_str());
                results.extend(result(call_id, tool, text));
            }
            ModelMessage::Assistant { text, calls: made, native, .. } => {
                users_side(&mut out, &mut results, &mut said);
                calls.extend(made);
                let kept = native.as_ref().filter(|native| native.model == model).and_then(kept);
                let reply = reply(text, made, kept);
                if !reply.content.is_empty() {
                    out.push(Message::Assistant(reply));
                }
            }
        }
    }
    users_side(&mut out, &mut results, &mut said);
    if !matches!(out.first(), Some(Message::User { .. })) {
        out.insert(0, Message::user("Go on."));
    }
    if !matches!(out.last(), Some(Message::User { .. })) {
        out.push(Message::user("Go on."));
    }
    out
}

/// Joins consecutive texts.
fn say(said: &mut Vec<UserContent>, text: &str) {
    match said.last_mut() {
        _ if text.is_empty() => {}
        Some(UserContent::Text(words)) => {
            words.text.push_str("\n\n");
            words.text.push_str(text);
        }
        _ => said.push(UserContent::Text(Text::new(text))),
    }
}

fn image(attached: &AttachedImage, bytes: &[u8]) -> Option<UserContent> {
    let media_type = Some(ImageMediaType::from_mime_type(&attached.mime_type)?);
    Some(UserContent::Image(Image { data: DocumentSourceKind::base64(BASE64_STANDARD.encode(bytes)), media_type, ..Image::default() }))
}

/// Results first, because they belong to the preceding calls; later texts form one message.
fn users_side(out: &mut Vec<Message>, results: &mut Vec<ToolResult>, said: &mut Vec<UserContent>) {
    if !results.is_empty() {
        out.push(Message::tool_results(std::mem::take(results)));
    }
    if !said.is_empty() {
        out.push(Message::from(std::mem::take(said)));
    }
}

fn kept(native: &Native) -> Option<Kept> {
    serde_json::from_value::<Kept>(native.value.clone()).ok().filter(|kept| kept.form == FORM)
}

fn reply(text: &str, made: &[ModelCall], kept: Option<Kept>) -> AssistantMessage {
    let mut text = Some(text).filter(|text| !text.is_empty()).map(|text| AssistantContent::Text(Text::new(text)));
    let mut calls = made.iter().filter_map(call);
    let mut content = Vec::new();
    let (blocks, origin) = kept.map_or_else(|| (Vec::new(), None), |kept| (kept.blocks, Some(kept.origin)));
    for block in blocks {
        match block {
            Block::Text(identity) => content.extend(text.take().map(|text| known_as(text, identity))),
            Block::Call(identity) => content.extend(calls.next().map(|call| known_as(call, identity))),
            Block::SignedCall(item) => content.extend(calls.next().map(|call| call.with_native(item))),
            Block::Reasoning(item) => content.push(AssistantContent::Reasoning(Reasoning::default()).with_native(item)),
        }
    }
    content.extend(text);
    content.extend(calls);
    AssistantMessage::new(content).with_origin(origin)
}

/// The rewritten block, with the id of its original item.
fn known_as(mut content: AssistantContent, identity: Option<Value>) -> AssistantContent {
    let Some(mut item) = identity else { return content };
    if let Some(fields) = item.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    // Marked as an item of another kind, so that only its id is used.
    let fingerprint = AssistantContent::Reasoning(Reasoning::default()).fingerprint();
    let native = Some(message::Native { item, fingerprint });
    if let AssistantContent::Text(text) = &mut content {
        text.native = native;
    } else if let AssistantContent::ToolCall(call) = &mut content {
        call.native = native;
    }
    content
}

fn call(call: &ModelCall) -> Option<AssistantContent> {
    let mut function = ToolFunction::new(ToolName::new(call.tool.clone()).ok()?, Value::Null);
    match serde_json::from_str(&call.args) {
        Ok(Value::Object(arguments)) => function.arguments = arguments,
        // Not left to the library, which would try to complete cut-off arguments at any cost.
        Ok(_) | Err(_) => function.invalid_arguments = Some(call.args.clone()).filter(|args| !args.trim().is_empty()),
    }
    Some(AssistantContent::ToolCall(ToolCall::new(call_id(&call.id)?, function)))
}

fn result(id: &str, tool: &str, text: &str) -> Option<ToolResult> {
    let text = if text.is_empty() { NOTHING } else { text };
    let call = ToolCall::new(call_id(id)?, ToolFunction::new(ToolName::new(tool).ok()?, Value::Null));
    Some(call.result(vec![ToolResultContent::text(text)]))
}

fn call_id(id: &str) -> Option<CallId> {
    ProviderCallId::new(id).map(CallId::from)
}
