//! Anthropic's messages.

use super::{Fault, Frame, Holds, MODEL, ScriptedReply, fragments};
use serde_json::{Value, json};

pub(super) fn frames(reply: &ScriptedReply) -> Vec<Frame> {
    let (input, output, cached) = reply.usage;
    let usage =
        json!({"input_tokens": input - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": 1});
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage,
    });
    let mut frames = vec![Frame::event(json!({"type": "message_start", "message": message})), Frame::event(json!({"type": "ping"}))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>, holds: Holds| {
        frames.push(Frame::event(json!({"type": "content_block_start", "index": index, "content_block": start})));
        let deltas = deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        frames.extend(deltas.map(|delta| Frame::event(delta).holding(holds)));
        frames.push(Frame::event(json!({"type": "content_block_stop", "index": index})));
        index += 1;
    };
    if !reply.reasoning.is_empty() {
        let mut deltas: Vec<Value> =
            fragments(&reply.reasoning).iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
        deltas.push(json!({"type": "signature_delta", "signature": reply.signature}));
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), deltas, Holds::Nothing);
    }
    if !reply.text.is_empty() {
        let deltas = fragments(&reply.text).iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect();
        block(json!({"type": "text", "text": ""}), deltas, Holds::Text);
    }
    let cut = reply.fault == Some(Fault::LengthInArguments);
    for (number, (tool, args)) in reply.calls.iter().enumerate() {
        let pieces = fragments(args);
        let sent = if cut { pieces.len() / 2 } else { pieces.len() };
        let deltas = pieces[..sent].iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect();
        block(json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": tool, "input": {}}), deltas, Holds::Arguments);
    }
    let reason = if cut {
        "max_tokens"
    } else if reply.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": output}});
    frames.push(Frame::event(end).holding(Holds::End));
    frames.push(Frame::event(json!({"type": "message_stop"})).holding(Holds::End));
    frames
}
