//! What each wire must carry in both directions.

use crate::{endpoint, hear, hear_request, model, request, user, vendor};
use planwright_agent::{ModelCall, ModelMessage, Provider};
use planwright_protocol::settings::ReasoningEffort;
use planwright_protocol::{AttachedImage, Mode};
use planwright_providers::{Endpoint, Remote};
use planwright_testkit::model_server::{COST, MODEL, ModelServer, ScriptedReply, Wire};
use serde_json::{Value, json};

/// Arguments with everything in them that can come apart badly.
const ARGS: &str = r#"{"path": "/a \"b\" \\ \u5f00\ud83d\ude80 é.txt", "limit": 3}"#;

#[tokio::test]
async fn every_wire_gives_text_reasoning_whole_calls_and_usage() {
    for wire in Wire::ALL {
        let reply = ScriptedReply::text("开始执行 🚀")
            .thinking("Hm — 想", "sig-1")
            .call("read", ARGS)
            .call("ls", r#"{"path": "/"}"#)
            .using(1000, 50, 400);
        let server = ModelServer::start(wire, [reply]).await;
        let heard = hear(&model(&server), vec![user("Go")]).await;
        assert_eq!(heard.failure, None, "{wire:?}");
        assert_eq!((heard.text.as_str(), heard.reasoning.as_str()), ("开始执行 🚀", "Hm — 想"), "{wire:?}");
        let calls: Vec<(&str, Value)> =
            heard.calls.iter().map(|call| (call.tool.as_str(), serde_json::from_str(&call.args).unwrap())).collect();
        let args: Value = serde_json::from_str(ARGS).unwrap();
        assert_eq!(calls, [("read", args), ("ls", json!({"path": "/"}))], "{wire:?}");
        let usage = heard.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (1000, 50), "{wire:?}");
        assert_eq!(usage.cached_tokens, if wire == Wire::Ollama { 0 } else { 400 }, "{wire:?}");
    }
}

#[tokio::test]
async fn every_wire_is_told_the_system_prompt_the_tools_and_the_key_and_nothing_is_left_with_the_vendor() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [ScriptedReply::text("Done.")]).await;
        hear(&model(&server), vec![user("Go"), user("and hurry")]).await;
        let asked = server.asked().remove(0);
        let body = asked.body.to_string();
        for part in ["You are a test.", "read it", "Go\\n\\nand hurry"] {
            assert!(body.contains(part), "{wire:?} lacks {part:?}: {body}");
        }
        assert!(body.contains("\"minimum\":1") || wire == Wire::Gemini, "{wire:?} changed the schema: {body}");
        assert!(!body.contains("\"required\":[\"path\",\"limit\"]"), "{wire:?} made an optional argument a must: {body}");
        let (name, value) = match wire {
            Wire::Chat | Wire::Responses | Wire::Ollama | Wire::Openrouter => ("authorization", "Bearer sk-live-CANARY"),
            Wire::Anthropic => ("x-api-key", "sk-live-CANARY"),
            Wire::Gemini => ("x-goog-api-key", "sk-live-CANARY"),
        };
        assert_eq!(asked.header(name), Some(value), "{wire:?}");
        assert!(!asked.path.contains("CANARY"), "{wire:?}: {}", asked.path);
        match wire {
            Wire::Responses => assert_eq!(asked.body["store"], false),
            Wire::Anthropic => assert_eq!(asked.body["cache_control"]["type"], "ephemeral", "{body}"),
            Wire::Chat | Wire::Gemini | Wire::Ollama | Wire::Openrouter => {}
        }
    }
}

#[tokio::test]
async fn every_wire_carries_an_image_and_tells_of_one_that_is_not_shown() {
    let image = |sum: &str| ModelMessage::Image(AttachedImage { sha256: sum.into(), mime_type: "image/png".into(), size: 3 });
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [ScriptedReply::text("A duck.")]).await;
        let mut asked = request(vec![user("What is this?"), image("shown"), image("hidden")]);
        asked.images.insert("shown".into(), b"png".as_slice().into());
        let heard = hear_request(&model(&server), asked).await;
        assert_eq!((heard.failure, heard.text.as_str()), (None, "A duck."), "{wire:?}");
        let body = server.asked()[0].body.to_string();
        for part in ["What is this?", "cG5n", "There is an image here"] {
            assert!(body.contains(part), "{wire:?} lacks {part:?}: {body}");
        }
        assert!(body.contains("image/png") || wire == Wire::Ollama, "{wire:?}: {body}");
    }
}

#[tokio::test]
async fn a_model_takes_images_if_the_catalog_or_the_user_says_so() {
    let server = ModelServer::start(Wire::Anthropic, []).await;
    let takes = |vendor_name: Option<&str>, images, id: &str| {
        Remote::new(Endpoint { vendor: vendor_name.and_then(vendor), images, ..endpoint(&server) }, id).unwrap().takes_images()
    };
    assert!(takes(Some("anthropic"), None, "claude-sonnet-4-5-20250929"));
    assert!(!takes(Some("anthropic"), None, "claude-of-tomorrow") && !takes(None, None, MODEL));
    assert!(takes(None, Some(true), MODEL) && !takes(Some("anthropic"), Some(false), "claude-sonnet-4-5"));
}

/// A conversation in which calls were answered, with our own ids.
fn answered(reply: ModelMessage) -> Vec<ModelMessage> {
    let result = |id: &str, text: &str| ModelMessage::ToolResult { call_id: id.into(), text: text.into() };
    vec![user("Go"), reply, result("our-id-1", "first"), result("our-id-2", ""), user("and then?")]
}

fn calls() -> Vec<ModelCall> {
    let call = |id: &str, tool: &str| ModelCall { id: id.into(), tool: tool.into(), args: r#"{"path": "/x"}"#.into() };
    vec![call("our-id-1", "read"), call("our-id-2", "ls")]
}

#[tokio::test]
async fn calls_and_their_results_go_back_under_the_same_ids() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [ScriptedReply::text("Done.")]).await;
        let reply = ModelMessage::Assistant { mode: Mode::Plan, text: "Looking.".into(), calls: calls(), native: None };
        let heard = hear(&model(&server), answered(reply)).await;
        assert_eq!((heard.failure, heard.text.as_str()), (None, "Done."), "{wire:?}");
        let body = server.asked()[0].body.clone();
        let (made, given) = ids(wire, &body);
        assert_eq!(made.len(), 2, "{wire:?}: {body}");
        assert_eq!(made, given, "{wire:?}: {body}");
        assert!(body.to_string().contains("Looking.") && body.to_string().contains("(nothing)"), "{wire:?}: {body}");
    }
}

/// The ids, or where there are none the names, of calls and results, in the order they stand.
fn ids(wire: Wire, body: &Value) -> (Vec<String>, Vec<String>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (mut made, mut given) = (Vec::new(), Vec::new());
    match wire {
        Wire::Chat | Wire::Openrouter => {
            for message in list(&body["messages"]) {
                made.extend(list(&message["tool_calls"]).iter().map(|call| text(&call["id"])));
                given.extend(message.get("tool_call_id").map(text));
            }
        }
        Wire::Responses => {
            for item in list(&body["input"]) {
                match item["type"].as_str() {
                    Some("function_call") => made.push(text(&item["call_id"])),
                    Some("function_call_output") => given.push(text(&item["call_id"])),
                    Some(_) | None => {}
                }
            }
        }
        Wire::Anthropic => {
            for block in list(&body["messages"]).iter().flat_map(|message| list(&message["content"])) {
                made.extend(block.get("input").map(|_| text(&block["id"])));
                given.extend(block.get("tool_use_id").map(text));
            }
        }
        Wire::Gemini => {
            for part in list(&body["contents"]).iter().flat_map(|content| list(&content["parts"])) {
                made.extend(part.get("functionCall").map(|call| text(&call["name"])));
                given.extend(part.get("functionResponse").map(|result| text(&result["name"])));
            }
        }
        Wire::Ollama => {
            for message in list(&body["messages"]) {
                made.extend(list(&message["tool_calls"]).iter().map(|call| text(&call["function"]["name"])));
                given.extend(message.get("tool_name").map(text));
            }
        }
    }
    (made, given)
}

#[tokio::test]
async fn signed_reasoning_goes_back_to_the_model_it_came_from_and_to_no_other() {
    for wire in [Wire::Responses, Wire::Anthropic, Wire::Gemini, Wire::Openrouter] {
        let thought = ScriptedReply::text("Looking.")
            .thinking("Hm.", "c2lnbmF0dXJl")
            .call("read", r#"{"path": "/x"}"#)
            .call("ls", r#"{"path": "/x"}"#);
        let server = ModelServer::start(wire, [thought, ScriptedReply::text("Done."), ScriptedReply::text("Done.")]).await;
        let model = model(&server);
        let mut first = hear(&model, vec![user("Go")]).await;
        assert!(first.native.is_some(), "{wire:?}");
        first.calls = calls();
        for (whose, expected) in [("test/test-model", true), ("other/test-model", false)] {
            let heard = hear(&model, answered(first.message(whose))).await;
            assert_eq!(heard.failure, None, "{wire:?}");
            let body = server.asked().pop().unwrap().body;
            assert_eq!(body.to_string().contains("c2lnbmF0dXJl"), expected, "{wire:?}, a reply of {whose}: {body}");
            assert_eq!(body.to_string().matches("Looking.").count(), 1, "{wire:?}: {body}");
            let (made, given) = ids(wire, &body);
            assert_eq!((made.len(), &made), (2, &given), "{wire:?}: {body}");
        }
    }
}

#[tokio::test]
async fn what_was_kept_by_another_version_is_left_out() {
    let server = ModelServer::start(Wire::Anthropic, [ScriptedReply::text("Done.")]).await;
    let mut reply = hear_nothing();
    reply.native = Some(json!({"form": "rig 9", "blocks": "?"}));
    let heard = hear(&model(&server), vec![user("Go"), reply.message("test/test-model"), user("Well?")]).await;
    assert_eq!((heard.failure, heard.text.as_str()), (None, "Done."));
}

fn hear_nothing() -> crate::Heard {
    crate::Heard { text: "Hello.".into(), ..crate::Heard::default() }
}

#[tokio::test]
async fn a_reply_costs_what_the_catalog_says_and_sizes_come_from_it_too() {
    let server = ModelServer::start(Wire::Anthropic, [ScriptedReply::text("Done.").using(1_000_000, 100_000, 500_000)]).await;
    let known =
        Remote::new(planwright_providers::Endpoint { vendor: vendor("anthropic"), ..endpoint(&server) }, "claude-sonnet-4-5-20250929")
            .unwrap();
    assert_eq!(known.context_tokens(), 200_000);
    assert_eq!(model(&server).context_tokens(), 128_000);
    let usage = hear(&known, vec![user("Go")]).await.usage.unwrap();
    assert!((usage.cost - (1.5 + 0.15 + 1.5)).abs() < 1e-9, "{usage:?}");
    assert_eq!(server.asked()[0].body["max_tokens"], 64_000);
}

#[tokio::test]
async fn a_vendor_that_says_what_a_reply_has_cost_is_believed() {
    let server = ModelServer::start(Wire::Openrouter, [ScriptedReply::text("Done.").using(1000, 50, 0)]).await;
    let usage = hear(&model(&server), vec![user("Go")]).await.usage.unwrap();
    assert!((usage.cost - COST).abs() < f64::EPSILON, "{usage:?}");
}

#[tokio::test]
async fn reasoning_that_a_server_leaves_in_the_answer_is_told_apart_on_chat_wires() {
    for wire in [Wire::Chat, Wire::Openrouter] {
        let server =
            ModelServer::start(wire, [ScriptedReply::text("<think>What is there?</think>\n\n{\"goal\": 1}").call("ls", "{}")]).await;
        let heard = hear(&model(&server), vec![user("Go")]).await;
        assert_eq!((heard.reasoning.as_str(), heard.text.as_str()), ("What is there?", "{\"goal\": 1}"), "{wire:?}");
        assert_eq!((heard.failure, heard.calls.len()), (None, 1), "{wire:?}");
    }
}

#[tokio::test]
async fn ollama_is_told_how_much_the_model_is_to_read_and_write() {
    let server = ModelServer::start(Wire::Ollama, [ScriptedReply::text("Hi."), ScriptedReply::text("Hi.")]).await;
    let sized = Endpoint { context_tokens: Some(32_768), max_output_tokens: Some(1_234), ..endpoint(&server) };
    hear(&Remote::new(sized, MODEL).unwrap(), vec![user("Go")]).await;
    hear(&model(&server), vec![user("Go")]).await;
    let asked = server.asked();
    assert_eq!(asked[0].body["options"], json!({ "num_ctx": 32_768, "num_predict": 1_234 }));
    assert_eq!(asked[1].body.get("options"), None, "the daemon's own choice");
}

#[tokio::test]
async fn a_request_for_one_word_is_small_on_every_wire_and_asks_for_no_thought() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [ScriptedReply::text("PLAN_ONLY")]).await;
        let thinking = Endpoint { reasoning: Some(ReasoningEffort::High), max_output_tokens: Some(30_000), ..endpoint(&server) };
        let asked = planwright_agent::intent::classifier::request("Yes");
        let heard = hear_request(&Remote::new(thinking, MODEL).unwrap(), asked).await;
        assert_eq!((heard.failure, heard.text.as_str()), (None, "PLAN_ONLY"), "{wire:?}");
        let body = server.asked()[0].body.to_string();
        assert!(body.contains(":64") && !body.contains("30000"), "{wire:?}: {body}");
        for thought in ["\"thinking\"", "reasoning_effort", "\"effort\"", "thinkingConfig"] {
            assert!(!body.contains(thought), "{wire:?}: {body}");
        }
        assert!(body.len() < 2000, "{wire:?}: {body}");
    }
}
