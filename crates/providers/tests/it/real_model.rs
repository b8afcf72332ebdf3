//! The adapter against a real model on a real server of llama.cpp: `scripts/real-model` starts both and runs these. The
//! model is tiny, so what it says counts for nothing here, only the form in which it comes.
#![expect(clippy::expect_used, clippy::disallowed_methods, reason = "a test that can't go on says why, and one starts a server")]

use crate::{request, user};
use futures::StreamExt;
use planwright_agent::{Delta, ModelCall, ModelMessage, ModelRequest, Provider, ToolDefinition};
use planwright_protocol::settings::{ProviderKind, ToolCalls};
use planwright_protocol::{ErrorCode, Mode};
use planwright_providers::{Endpoint, Remote, Timeouts, install_cryptography};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Where the server is, with its `/v1`.
fn address() -> String {
    std::env::var("PLANWRIGHT_REAL_MODEL").expect("scripts/real-model sets PLANWRIGHT_REAL_MODEL")
}

fn endpoint(base_url: String) -> Endpoint {
    install_cryptography();
    Endpoint {
        name: "real".into(),
        kind: ProviderKind::Openai,
        base_url,
        key: None,
        key_env: None,
        vendor: None,
        tools: ToolCalls::Native,
        reasoning: None,
        context_tokens: Some(8192),
        max_output_tokens: Some(96),
        images: None,
        ca_file: None,
        timeouts: Timeouts::default(),
        waits: None,
    }
}

fn model(endpoint: Endpoint) -> Remote {
    Remote::new(endpoint, "smollm2").unwrap()
}

fn asking(messages: Vec<ModelMessage>, tools: Vec<ToolDefinition>) -> ModelRequest {
    // Without a word of the system this model babbles.
    ModelRequest { system: "You are a helpful assistant. You answer in one short sentence.".into(), tools, ..request(messages) }
}

fn tool(name: &str, schema: Value) -> ToolDefinition {
    ToolDefinition { name: name.into(), description: format!("{name} it"), schema }
}

fn http() -> reqwest::Client {
    install_cryptography();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

/// Whether the server is at work on a reply.
async fn busy(base_url: &str) -> bool {
    let slots = http().get(format!("{}/slots", base_url.trim_end_matches("/v1"))).send().await.unwrap();
    let slots: Value = serde_json::from_slice(&slots.bytes().await.unwrap()).unwrap();
    slots[0]["is_processing"].as_bool().unwrap()
}

/// How long the server goes on with a reply that nobody listens to.
async fn until_idle(base_url: &str) -> Duration {
    let start = Instant::now();
    while busy(base_url).await {
        assert!(start.elapsed() < Duration::from_secs(20), "the server goes on with a reply that nobody hears");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    start.elapsed()
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn words_of_a_real_model_come_one_by_one_and_are_counted() {
    let model = model(endpoint(address()));
    let start = Instant::now();
    let mut stream = model.stream(asking(vec![user("Say hello.")], Vec::new())).await.unwrap();
    let (mut at, mut text, mut usage) = (Vec::new(), String::new(), None);
    while let Some(delta) = stream.next().await {
        match delta.unwrap() {
            Delta::Text(piece) => {
                at.push(start.elapsed());
                text.push_str(&piece);
            }
            Delta::Usage(used) => usage = Some(used),
            Delta::Reasoning(_) | Delta::Call(_) | Delta::Native(_) => {}
        }
    }
    let (first, last) = (at[0], at[at.len() - 1]);
    let usage = usage.unwrap();
    eprintln!("first word after {first:.2?}; {} pieces in {:.2?}; {usage:?}; {text:?}", at.len(), last.saturating_sub(first));
    assert!(at.len() >= 3, "the words did not come one by one: {text:?}");
    assert!(last > first, "all pieces came at once");
    assert!(usage.input_tokens > 10 && usage.output_tokens >= at.len() as u64, "{usage:?}");
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn a_plan_of_a_real_model_held_to_a_schema_is_whole_and_bounded() {
    let schema = json!({
        "type": "object",
        "properties": {
            "goal": {"type": "string", "maxLength": 40},
            "steps": {"type": "array", "minItems": 1, "maxItems": 2, "items": {
                "type": "object",
                "properties": {"step_number": {"type": "integer", "minimum": 1, "maximum": 2}, "action": {"type": "string", "maxLength": 40}},
                "required": ["step_number", "action"], "additionalProperties": false,
            }},
        },
        "required": ["goal", "steps"], "additionalProperties": false,
    });
    let model = model(Endpoint { tools: ToolCalls::Json, max_output_tokens: Some(400), ..endpoint(address()) });
    let mut messages = Vec::new();
    for (number, file) in ["a.txt", "b.txt"].into_iter().enumerate() {
        messages.push(user(&format!("Plan to write {file}")));
        messages.push(planned(number, file));
        messages.push(ModelMessage::ToolResult { call_id: number.to_string(), text: "The plan is stored.".into() });
        messages.push(ModelMessage::Assistant { mode: Mode::Plan, text: "Ready.".into(), calls: Vec::new(), native: None });
    }
    messages.push(user("Plan to write c.txt"));
    let start = Instant::now();
    let (text, calls) = hear(&model, asking(messages, vec![tool("write_plan", schema)])).await;
    eprintln!("a plan after {:.2?}: {text:?} {calls:?}", start.elapsed());
    let plan: Value = serde_json::from_str(&calls[0].args).unwrap();
    assert_eq!(calls[0].tool, "write_plan");
    let steps = plan["steps"].as_array().unwrap();
    assert!((1..=2).contains(&steps.len()), "{plan}");
    let bounded = |text: &Value| text.as_str().unwrap().chars().count() <= 40;
    assert!(bounded(&plan["goal"]) && steps.iter().all(|step| bounded(&step["action"])), "{plan}");
}

fn planned(number: usize, file: &str) -> ModelMessage {
    let args = json!({"goal": format!("Write {file}"), "steps": [{"step_number": 1, "action": format!("Write {file}")}]});
    let call = ModelCall { id: number.to_string(), tool: "write_plan".into(), args: args.to_string() };
    ModelMessage::Assistant { mode: Mode::Plan, text: "I plan.".into(), calls: vec![call], native: None }
}

async fn hear(model: &Remote, request: ModelRequest) -> (String, Vec<ModelCall>) {
    let (mut text, mut calls) = (String::new(), Vec::new());
    let mut stream = model.stream(request).await.unwrap();
    while let Some(delta) = stream.next().await {
        match delta.unwrap() {
            Delta::Text(piece) => text.push_str(&piece),
            Delta::Call(call) => calls.push(call),
            Delta::Usage(_) | Delta::Reasoning(_) | Delta::Native(_) => {}
        }
    }
    (text, calls)
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn arguments_that_a_real_model_sends_in_pieces_become_one_call() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string", "maxLength": 40}}, "required": ["path"], "additionalProperties": false});
    let read = |number: usize, path: &str| {
        let call = ModelCall { id: number.to_string(), tool: "read".into(), args: json!({ "path": path }).to_string() };
        [
            user(&format!("Read the file {path}")),
            ModelMessage::Assistant { mode: Mode::Plan, text: String::new(), calls: vec![call], native: None },
            ModelMessage::ToolResult { call_id: number.to_string(), text: "text".into() },
            ModelMessage::Assistant { mode: Mode::Plan, text: "I have read it.".into(), calls: Vec::new(), native: None },
        ]
    };
    // It calls no tool by itself, but does what it did before.
    let mut messages: Vec<ModelMessage> =
        ["/one.txt", "/src/two.txt", "/three.md"].iter().enumerate().flat_map(|(n, path)| read(n, path)).collect();
    messages.push(user("Read the file /notes/four.txt"));
    let (text, calls) = hear(&model(endpoint(address())), asking(messages, vec![tool("read", schema.clone())])).await;
    eprintln!("{text:?} {calls:?}");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].tool, "read");
    let args: Value = serde_json::from_str(&calls[0].args).unwrap();
    assert!(args["path"].is_string(), "{args}");

    let pieces = raw_pieces_of_arguments(&schema).await;
    eprintln!("on the wire its arguments come in {pieces} pieces");
    assert!(pieces > 3, "the server sends arguments whole, so that nothing was shown");
}

/// The same, as the wire has it.
async fn raw_pieces_of_arguments(schema: &Value) -> usize {
    let mut messages = vec![json!({"role": "system", "content": "You are a helpful assistant."})];
    for (number, path) in ["/one.txt", "/src/two.txt", "/three.md"].iter().enumerate() {
        let function = json!({"name": "read", "arguments": json!({ "path": path }).to_string()});
        messages.push(json!({"role": "user", "content": format!("Read the file {path}")}));
        messages.push(json!({"role": "assistant", "content": "", "tool_calls": [{"id": number.to_string(), "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": number.to_string(), "content": "text"}));
        messages.push(json!({"role": "assistant", "content": "I have read it."}));
    }
    messages.push(json!({"role": "user", "content": "Read the file /notes/four.txt"}));
    let tools = json!([{"type": "function", "function": {"name": "read", "description": "read it", "parameters": schema}}]);
    let body = json!({"messages": messages, "tools": tools, "stream": true, "max_tokens": 96});
    let reply = http().post(format!("{}/chat/completions", address())).body(body.to_string()).send().await.unwrap();
    String::from_utf8_lossy(&reply.bytes().await.unwrap()).matches("\"arguments\":").count()
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn a_reply_of_a_real_model_that_nobody_wants_any_more_is_ended_there_too() {
    let model = model(Endpoint { max_output_tokens: Some(4000), ..endpoint(address()) });
    let mut stream = model.stream(asking(vec![user(ENDLESS)], Vec::new())).await.unwrap();
    for _ in 0..5 {
        stream.next().await.unwrap().unwrap();
    }
    assert!(busy(&address()).await);
    drop(stream);
    eprintln!("the server was idle {:.2?} after the reply was dropped", until_idle(&address()).await);
}

/// What this model does not come to an end with.
const ENDLESS: &str = "Count from 1 to 10000, one number after another, and leave none out.";

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn a_real_model_that_does_not_end_is_ended_by_our_limits() {
    let cut = model(Endpoint { max_output_tokens: Some(24), ..endpoint(address()) });
    let timeouts = Timeouts { reply: Duration::from_secs(4), ..Timeouts::default() };
    let late = model(Endpoint { max_output_tokens: None, timeouts, ..endpoint(address()) });
    for (model, code) in [(cut, ErrorCode::ProviderGarbled), (late, ErrorCode::LimitReached)] {
        let start = Instant::now();
        let deltas: Vec<_> = model.stream(asking(vec![user(ENDLESS)], Vec::new())).await.unwrap().collect().await;
        let problem = deltas.last().unwrap().as_ref().unwrap_err();
        eprintln!("{} pieces, and after {:.2?}: {problem}", deltas.len() - 1, start.elapsed());
        assert_eq!(problem.code, code);
        assert!(deltas.len() > 5, "what came before is kept");
        until_idle(&address()).await;
    }
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn a_server_that_still_loads_its_model_is_asked_again() {
    let command = std::env::var("PLANWRIGHT_REAL_MODEL_SERVER").expect("scripts/real-model sets PLANWRIGHT_REAL_MODEL_SERVER");
    let (python, script) = command.split_once(' ').unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = tokio::process::Command::new(python);
    server.args([script, &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let _server = server.spawn().unwrap();
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let client = http();
    let start = Instant::now();
    let status = loop {
        assert!(start.elapsed() < Duration::from_mins(1), "the server does not start");
        if let Ok(reply) = client.get(format!("{base_url}/models")).send().await {
            break reply.status();
        }
    };
    let loading = start.elapsed();
    let (text, _) = hear(&model(endpoint(base_url)), asking(vec![user("Say hello.")], Vec::new())).await;
    eprintln!("{status} after {loading:.2?}, and an answer after {:.2?}: {text:?}", start.elapsed());
    assert_eq!(status, 503, "the model was there at once, so that nothing was shown");
    assert!(!text.is_empty());
}
