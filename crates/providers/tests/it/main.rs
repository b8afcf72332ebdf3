//! Real wires against a scripted model server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

mod faults;
mod limits;
mod real_model;
mod wires;
mod without_tools;

use futures::StreamExt;
use planwright_agent::{Delta, ModelCall, ModelMessage, ModelRequest, Native, Provider, Purpose, Replies, ToolDefinition};
use planwright_protocol::event::Usage;
use planwright_protocol::settings::{ProviderKind, ToolCalls};
use planwright_protocol::{MessageId, Mode, Problem};
use planwright_providers::{Endpoint, Remote, SecretString, Timeouts, catalog, install_cryptography};
use planwright_testkit::model_server::{MODEL, ModelServer, Wire};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

const KEY: &str = "sk-live-CANARY";

fn endpoint(server: &ModelServer) -> Endpoint {
    install_cryptography();
    let kind = match server.wire {
        Wire::Chat => ProviderKind::Openai,
        Wire::Responses => ProviderKind::OpenaiResponses,
        Wire::Anthropic => ProviderKind::Anthropic,
        Wire::Gemini => ProviderKind::Gemini,
        Wire::Ollama => ProviderKind::Ollama,
        Wire::Openrouter => ProviderKind::Openrouter,
    };
    Endpoint {
        name: "test".into(),
        kind,
        base_url: server.base_url(),
        key: Some(SecretString::from(KEY)),
        key_env: Some("TEST_API_KEY".into()),
        vendor: None,
        tools: ToolCalls::Native,
        reasoning: None,
        context_tokens: None,
        max_output_tokens: None,
        images: None,
        ca_file: None,
        timeouts: Timeouts { silence: Duration::from_secs(2), ..Timeouts::default() },
        waits: None,
    }
}

fn model(server: &ModelServer) -> Remote {
    Remote::new(endpoint(server), MODEL).unwrap()
}

fn request(messages: Vec<ModelMessage>) -> ModelRequest {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}}, "required": ["path"]});
    let tools = ["read", "ls"].map(|name| ToolDefinition { name: name.into(), description: format!("{name} it"), schema: schema.clone() });
    ModelRequest {
        system: "You are a test.".into(),
        messages: messages.into(),
        images: HashMap::new(),
        tools: tools.into(),
        mode: Mode::Plan,
        purpose: Purpose::Reply,
        replies: Replies::default(),
        task: None,
    }
}

fn user(text: &str) -> ModelMessage {
    ModelMessage::User(text.into())
}

/// A reply as it was heard, up to its end or its failure.
#[derive(Debug, Default)]
struct Heard {
    text: String,
    reasoning: String,
    calls: Vec<ModelCall>,
    usage: Option<Usage>,
    native: Option<Value>,
    failure: Option<Problem>,
}

impl Heard {
    /// As the next request has it.
    fn message(&self, model: &str) -> ModelMessage {
        let native = self.native.clone().map(|value| Native { model: model.into(), reply: MessageId::generate(), value });
        ModelMessage::Assistant { mode: Mode::Plan, text: self.text.clone(), calls: self.calls.clone(), native }
    }
}

async fn hear(model: &Remote, messages: Vec<ModelMessage>) -> Heard {
    hear_request(model, request(messages)).await
}

async fn hear_request(model: &Remote, request: ModelRequest) -> Heard {
    let mut heard = Heard::default();
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(problem) => return Heard { failure: Some(problem), ..heard },
    };
    while let Some(delta) = stream.next().await {
        match delta {
            Ok(Delta::Text(text)) => heard.text.push_str(&text),
            Ok(Delta::Reasoning(text)) => heard.reasoning.push_str(&text),
            Ok(Delta::Call(call)) => heard.calls.push(call),
            Ok(Delta::Usage(usage)) => heard.usage = Some(usage),
            Ok(Delta::Native(value)) => heard.native = Some(value),
            Err(problem) => heard.failure = Some(problem),
        }
    }
    heard
}

fn vendor(name: &str) -> Option<&'static catalog::Vendor> {
    catalog::vendor(name)
}
