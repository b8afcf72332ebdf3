//! Responses, the newer wire of `OpenAI`.

use super::{Fault, Frame, Holds, MODEL, ScriptedReply, fragments};
use serde_json::{Value, json};

pub(super) fn frames(reply: &ScriptedReply) -> Vec<Frame> {
    let mut stream = Stream::default();
    stream.push(json!({"type": "response.created", "response": response("in_progress", &json!([]), Value::Null)}), Holds::Nothing);
    if !reply.reasoning.is_empty() {
        stream.reasoning(reply);
    }
    if !reply.text.is_empty() {
        stream.message(&reply.text);
    }
    let cut = reply.fault == Some(Fault::LengthInArguments);
    for (number, (tool, args)) in reply.calls.iter().enumerate() {
        stream.call(number, tool, args, cut);
    }
    let (input, output, cached) = reply.usage;
    let usage = json!({
        "input_tokens": input, "output_tokens": output, "total_tokens": input + output,
        "input_tokens_details": {"cached_tokens": cached}, "output_tokens_details": {"reasoning_tokens": 0},
    });
    let (kind, status) = if cut { ("response.incomplete", "incomplete") } else { ("response.completed", "completed") };
    let mut whole = response(status, &Value::from(stream.items.clone()), usage);
    if cut {
        whole["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    stream.push(json!({"type": kind, "response": whole}), Holds::End);
    stream.frames
}

#[derive(Default)]
struct Stream {
    frames: Vec<Frame>,
    items: Vec<Value>,
}

impl Stream {
    fn push(&mut self, mut value: Value, holds: Holds) {
        value["sequence_number"] = json!(self.frames.len());
        self.frames.push(Frame::event(value).holding(holds));
    }

    fn item(&mut self, began: &Value, ended: Value, between: impl FnOnce(&mut Self, usize)) {
        let index = self.items.len();
        self.push(json!({"type": "response.output_item.added", "output_index": index, "item": began}), Holds::Nothing);
        between(self, index);
        self.push(json!({"type": "response.output_item.done", "output_index": index, "item": ended}), Holds::Nothing);
        self.items.push(ended);
    }

    fn reasoning(&mut self, reply: &ScriptedReply) {
        let item = |summary: Value| json!({"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": reply.signature});
        let part = json!({"type": "summary_text", "text": reply.reasoning});
        let pieces = fragments(&reply.reasoning);
        self.item(&item(json!([])), item(json!([part])), |stream, index| {
            let place = json!({"item_id": "rs_1", "output_index": index, "summary_index": 0});
            let event = |kind: &str, more: Value| with(&place, json!({"type": format!("response.reasoning_summary_{kind}")}), &more);
            stream.push(event("part.added", json!({"part": {"type": "summary_text", "text": ""}})), Holds::Nothing);
            for piece in &pieces {
                stream.push(event("text.delta", json!({ "delta": piece })), Holds::Nothing);
            }
            stream.push(event("text.done", json!({ "text": part["text"] })), Holds::Nothing);
            stream.push(event("part.done", json!({ "part": part })), Holds::Nothing);
        });
    }

    fn message(&mut self, text: &str) {
        let item = |status: &str, content: Value| json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content});
        let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
        self.item(&item("in_progress", json!([])), item("completed", json!([part(text)])), |stream, index| {
            let place = json!({"item_id": "msg_1", "output_index": index, "content_index": 0});
            let event = |kind: &str, more: Value| with(&place, json!({"type": format!("response.{kind}")}), &more);
            stream.push(event("content_part.added", json!({ "part": part("") })), Holds::Nothing);
            for piece in fragments(text) {
                stream.push(event("output_text.delta", json!({"delta": piece, "logprobs": []})), Holds::Text);
            }
            stream.push(event("output_text.done", json!({"text": text, "logprobs": []})), Holds::Text);
            stream.push(event("content_part.done", json!({ "part": part(text) })), Holds::Text);
        });
    }

    fn call(&mut self, number: usize, tool: &str, args: &str, cut: bool) {
        let id = format!("fc_{number}");
        let item = |status: &str, args: &str| json!({"id": id, "type": "function_call", "status": status, "call_id": format!("call_{number}"), "name": tool, "arguments": args});
        let pieces = fragments(args);
        let sent = if cut { pieces.len() / 2 } else { pieces.len() };
        let written = pieces[..sent].concat();
        let status = if cut { "incomplete" } else { "completed" };
        self.item(&item("in_progress", ""), item(status, &written), |stream, index| {
            let place = json!({"item_id": id, "output_index": index});
            for piece in &pieces[..sent] {
                let event = with(&place, json!({"type": "response.function_call_arguments.delta"}), &json!({ "delta": piece }));
                stream.push(event, Holds::Arguments);
            }
            if !cut {
                stream.push(
                    with(&place, json!({"type": "response.function_call_arguments.done"}), &json!({ "arguments": args })),
                    Holds::Nothing,
                );
            }
        });
    }
}

fn with(place: &Value, mut event: Value, more: &Value) -> Value {
    let fields = event.as_object_mut().unwrap();
    fields.extend(place.as_object().unwrap().clone());
    fields.extend(more.as_object().unwrap().clone());
    event
}

fn response(status: &str, output: &Value, usage: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "error": null, "incomplete_details": null,
        "instructions": null, "max_output_tokens": null, "model": MODEL, "output": output, "usage": usage, "tools": [],
    })
}
