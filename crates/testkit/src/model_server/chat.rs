//! Chat completions, the wire of `OpenAI`, and as `OpenRouter` speaks it.

use super::{Fault, Frame, Holds, MODEL, ScriptedReply, fragments};
use serde_json::{Value, json};

/// What the cheapest and the dearest supplier would never take for the same reply.
pub const COST: f64 = 0.0625;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Openai,
    /// Signs its reasoning, and says what a reply has cost.
    Openrouter,
}

pub(super) fn frames(reply: &ScriptedReply, dialect: Dialect) -> Vec<Frame> {
    let mut frames = vec![delta(json!({"role": "assistant", "content": ""}))];
    frames.extend(fragments(&reply.reasoning).iter().map(|piece| match dialect {
        Dialect::Openai => delta(json!({ "reasoning_content": piece })),
        Dialect::Openrouter => delta(json!({"reasoning": piece, "reasoning_details": [thought(piece, &Value::Null)]})),
    }));
    if dialect == Dialect::Openrouter && !reply.signature.is_empty() {
        frames.push(delta(json!({"reasoning_details": [thought("", &json!(reply.signature))]})));
    }
    frames.extend(fragments(&reply.text).iter().map(|piece| delta(json!({ "content": piece })).holding(Holds::Text)));
    let cut = reply.fault == Some(Fault::LengthInArguments);
    for (index, (tool, args)) in reply.calls.iter().enumerate() {
        let call = |function: Value, head: Value| {
            let mut call = json!({ "index": index, "function": function });
            call.as_object_mut().unwrap().extend(head.as_object().unwrap().clone());
            delta(json!({ "tool_calls": [call] })).holding(Holds::Arguments)
        };
        frames.push(call(json!({"name": tool, "arguments": ""}), json!({"id": format!("call_{index}"), "type": "function"})));
        let pieces = fragments(args);
        let sent = if cut { pieces.len() / 2 } else { pieces.len() };
        frames.extend(pieces[..sent].iter().map(|piece| call(json!({ "arguments": piece }), json!({}))));
    }
    let reason = if cut {
        "length"
    } else if reply.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    frames.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]), Value::Null).holding(Holds::End));
    let (input, output, cached) = reply.usage;
    let mut usage = json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    });
    if dialect == Dialect::Openrouter {
        usage["cost"] = json!(COST);
    }
    frames.push(chunk(json!([]), usage).holding(Holds::End));
    frames.push(Frame::done());
    frames
}

fn thought(text: &str, signature: &Value) -> Value {
    json!({"type": "reasoning.text", "text": text, "signature": signature, "format": "anthropic-claude-v1", "index": 0})
}

fn delta(delta: Value) -> Frame {
    chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null)
}

fn chunk(choices: Value, usage: Value) -> Frame {
    Frame::data(json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": choices, "usage": usage,
    }))
}
