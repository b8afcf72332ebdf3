//! Ollama's own `/api/chat`.

use super::{Fault, Frame, Holds, MODEL, ScriptedReply, fragments};
use serde_json::{Value, json};

pub(super) fn frames(reply: &ScriptedReply) -> Vec<Frame> {
    let mut frames: Vec<Frame> = fragments(&reply.reasoning).iter().map(|piece| say(json!({"content": "", "thinking": piece}))).collect();
    frames.extend(fragments(&reply.text).iter().map(|piece| say(json!({ "content": piece })).holding(Holds::Text)));
    let cut = reply.fault == Some(Fault::LengthInArguments);
    for (tool, args) in reply.calls.iter().filter(|_| !cut) {
        let call = json!({"function": {"name": tool, "arguments": ScriptedReply::args_value(args)}});
        frames.push(say(json!({"content": "", "tool_calls": [call]})).holding(Holds::Arguments));
    }
    let (input, output, _) = reply.usage;
    let mut end = message(json!({"content": ""}));
    let reason = if cut { "length" } else { "stop" };
    let counts = json!({
        "done": true, "done_reason": reason, "total_duration": 1, "load_duration": 1, "prompt_eval_count": input,
        "prompt_eval_duration": 1, "eval_count": output, "eval_duration": 1,
    });
    end.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
    frames.push(Frame::line(end).holding(Holds::End));
    frames
}

fn say(fields: Value) -> Frame {
    Frame::line(message(fields))
}

fn message(mut fields: Value) -> Value {
    fields["role"] = json!("assistant");
    json!({"model": MODEL, "created_at": "2026-01-01T00:00:00Z", "message": fields, "done": false})
}
