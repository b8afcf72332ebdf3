//! Gemini's `streamGenerateContent`.

use super::{Fault, Frame, Holds, MODEL, ScriptedReply, fragments};
use serde_json::{Value, json};

pub(super) fn frames(reply: &ScriptedReply) -> Vec<Frame> {
    let mut frames: Vec<Frame> = fragments(&reply.reasoning).iter().map(|piece| part(json!({"text": piece, "thought": true}))).collect();
    frames.extend(fragments(&reply.text).iter().map(|piece| part(json!({ "text": piece })).holding(Holds::Text)));
    let cut = reply.fault == Some(Fault::LengthInArguments);
    for (tool, args) in reply.calls.iter().filter(|_| !cut) {
        let mut call = json!({"functionCall": {"name": tool, "args": ScriptedReply::args_value(args)}});
        if !reply.signature.is_empty() {
            call["thoughtSignature"] = json!(reply.signature);
        }
        frames.push(part(call).holding(Holds::Arguments));
    }
    let (input, output, cached) = reply.usage;
    let reason = if cut { "MAX_TOKENS" } else { "STOP" };
    let usage = json!({
        "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output, "cachedContentTokenCount": cached,
    });
    let end = json!({
        "candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": usage, "modelVersion": MODEL,
    });
    frames.push(Frame::data(end).holding(Holds::End));
    frames
}

fn part(part: Value) -> Frame {
    Frame::data(json!({"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}], "modelVersion": MODEL}))
}
