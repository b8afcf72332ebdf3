//! A model's reply can't end the server, on any wire.

use crate::wires::{home_with, serve};
use planwright_testkit::model_server::{Fault, ModelServer, ScriptedReply, Wire};
use planwright_testkit::server::{last_id, of_type};
use serde_json::{Value, json};

/// Far more than the server needs, far less than a parser that is not linear takes.
const MAX_MEMORY: u64 = 600 << 20;

/// Whether the reply ends its run alone: the server keeps its memory, and the chat goes on.
async fn ends_only_its_run(wire: Wire, what: &str, hostile: ScriptedReply) {
    let models = ModelServer::start(wire, [hostile, ScriptedReply::text("Here I am.")]).await;
    let home = home_with(&models, "");
    let server = serve(&home).await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    let error = of_type(&events, "run_finished")[0]["error"].clone();
    assert_eq!(error["code"], "PROVIDER_GARBLED", "{wire:?}, {what}: {error}");
    assert!(of_type(&events, "tool_call").is_empty(), "{wire:?}, {what}: a call was passed on");
    assert!(server.peak() < MAX_MEMORY, "{wire:?}, {what}: {} MiB", server.peak() >> 20);
    chat.say("Go on").await;
    let again = chat.run_to_end(last_id(&events)).await;
    assert_eq!(of_type(&again, "run_finished")[0]["outcome"], "done", "{wire:?}, {what}: {again:#?}");
}

#[tokio::test]
async fn arguments_of_400_kb_of_brackets_end_the_reply_and_not_the_server_on_every_wire() {
    for wire in Wire::ALL {
        for (what, args) in [("lists", "[".repeat(400_000)), ("objects", "{\"a\":".repeat(20_000))] {
            ends_only_its_run(wire, what, ScriptedReply::text("Look:").call("read", args)).await;
        }
    }
}

#[tokio::test]
async fn wide_arguments_that_are_cut_off_end_the_reply_and_not_the_server() {
    for wire in Wire::ALL {
        let args = format!("{}{}", "[".repeat(900), "1,".repeat(200_000));
        ends_only_its_run(wire, "wide", ScriptedReply::text("Look:").call("read", args)).await;
    }
}

/// A call whose name comes last, so that nothing of it is seen before all of it is read.
fn named_last(wire: Wire) -> Vec<Value> {
    let pieces = "[".repeat(400_000);
    let pieces: Vec<&str> = pieces.as_bytes().chunks(40_000).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    let mut events = Vec::new();
    match wire {
        Wire::Responses => {
            events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "id": "a"}}));
            let delta = |piece: &&str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece});
            events.extend(pieces.iter().map(delta));
            let item = json!({"type": "function_call", "id": "a", "call_id": "c", "name": "read"});
            events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
        }
        Wire::Chat | Wire::Openrouter | Wire::Anthropic | Wire::Gemini | Wire::Ollama => {
            let chunk = |delta: Value, reason: Value| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
            let call = |function: Value| json!({"tool_calls": [{"index": 0, "function": function}]});
            events.extend(pieces.iter().map(|piece| chunk(call(json!({"arguments": piece})), Value::Null)));
            events.push(chunk(call(json!({"name": "read"})), json!("tool_calls")));
        }
    }
    events
}

#[tokio::test]
async fn a_call_that_is_named_last_is_measured_from_its_beginning() {
    for wire in [Wire::Chat, Wire::Openrouter, Wire::Responses] {
        ends_only_its_run(wire, "named last", ScriptedReply::text("x").but(Fault::Events(named_last(wire)))).await;
    }
}

#[tokio::test]
async fn a_number_that_asks_for_room_gets_none() {
    let start =
        json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {}}});
    let block = json!({"type": "content_block_start", "index": 4_000_000_000_u64, "content_block": {"type": "text", "text": ""}});
    ends_only_its_run(Wire::Anthropic, "index", ScriptedReply::text("x").but(Fault::Events(vec![start, block]))).await;
}

#[tokio::test]
async fn deep_and_huge_json_in_an_answer_is_text() {
    let answers = [
        format!("{{\"type\": \"question\", \"question\": {}", "[".repeat(60_000)),
        format!("{{\"goal\": {}{}, \"steps\": []}}", "[".repeat(60_000), "]".repeat(60_000)),
        format!("```json\n{{\"steps\": [{}]}}\n```", "{\"action\": [1]},".repeat(20_000)),
    ];
    for answer in answers {
        let models = ModelServer::start(Wire::Chat, [ScriptedReply::text(&answer), ScriptedReply::text("Here I am.")]).await;
        let home = home_with(&models, "");
        let server = serve(&home).await;
        let chat = server.chat(json!({})).await;
        chat.say("Go").await;
        let events = chat.run_to_end(0).await;
        let beginning: String = answer.chars().take(60).collect();
        assert!(of_type(&events, "question_pending").is_empty() && of_type(&events, "plan_updated").is_empty(), "{beginning}");
        assert!(server.peak() < MAX_MEMORY, "{beginning}: {} MiB", server.peak() >> 20);
        chat.say("Go on").await;
        chat.run_to_end(last_id(&events)).await;
    }
}
