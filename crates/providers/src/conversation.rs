//! The conversation as the wires take it, and what of a reply must come back as it was.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use planwright_agent::{ModelCall, ModelMessage, NOT_SHOWN, Native};
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

/// Which library wrote what is kept, and in which form. What another one wrote is left out.
const FORM: &str = "rig 0.44";

/// What is kept of a reply is sent with each request that follows, in bytes of JSON.
const MAX_KEPT: usize = 4 * 1024 * 1024;

/// Some wires refuse an empty text, and a tool may well have nothing to say.
const NOTHING: &str = "(nothing)";

/// A reply in its order, with the parts that can't be written anew.
#[derive(Serialize, Deserialize)]
struct Kept {
    form: String,
    origin: Origin,
    blocks: Vec<Block>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Block {
    /// Words, and the name that the vendor gave them.
    Text(Option<Value>),
    Call(Option<Value>),
    /// A call whose item has more to it than name and arguments.
    SignedCall(Value),
    Reasoning(Value),
}

/// What this reply's model wants back, if anything.
pub(crate) fn to_keep(response: &CompletionResponse) -> Option<Value> {
    let mut blocks = Vec::new();
    // Pictures and what only the vendor understands are not asked for.
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

/// The name under which a vendor knows an item: reasoning goes back only with the item that it led to.
fn identity(item: &Value) -> Option<Value> {
    let named = |kind: &Value| kind == "message" || kind == "function_call";
    item.get("type").filter(|kind| named(kind)).map(|kind| json!({ "type": kind, "id": item.get("id"), "phase": item.get("phase") }))
}

/// The conversation for `model`, beginning and ending with the user's side, as every wire wants it.
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
                None => say(&mut said, NOT_SHOWN),
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

/// Words that follow each other are one text.
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

/// Results first, since they belong to the calls right before; what is said after them is one message.
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

/// The block, written anew under the name that its item had.
fn known_as(mut content: AssistantContent, identity: Option<Value>) -> AssistantContent {
    let Some(mut item) = identity else { return content };
    if let Some(fields) = item.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    // Marked as the item of something else, so that only its name is taken from it.
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
        // Not left to the library, which would look for what cut-off arguments still say, at any cost.
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
