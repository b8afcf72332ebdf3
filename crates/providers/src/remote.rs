//! A model behind a wire format, with retries.

use crate::actions;
use crate::catalog::{ModelFacts, Tokens, USUAL_CONTEXT_TOKENS};
use crate::conversation::{conversation, to_keep};
use crate::endpoint::{Endpoint, effort};
use crate::problem::{ProblemReporter, Reader, Received, is_web_page, rejected};
use crate::reply::Reply;
use crate::reply_start::ReplyStart;
use crate::retry::{RetryNotice, wait};
use crate::transport::Transport;
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use planwright_agent::{Delta, ModelRequest, Provider, Purpose};
use planwright_protocol::settings::ProviderKind;
use planwright_protocol::settings::ToolCalls;
use planwright_protocol::{ErrorCode, Problem};
use rig_core::completion::{CacheRetention, CompletionRequest, CompletionResponse, OnUnsupported, ToolDefinition};
use rig_core::driver::DynModel;
use rig_core::message::ToolName;
use rig_core::operation::Completion;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::time::timeout;

/// The assumed output limit of an unknown model, in tokens.
const USUAL_OUTPUT_TOKENS: u64 = 16_000;

/// The output limit for a one-word answer. On some wire formats that includes JSON, or some reasoning.
const WORD_OUTPUT_TOKENS: u64 = 64;

/// A model of a vendor or of a compatible server.
pub struct Remote {
    name: String,
    id: String,
    model: DynModel<Completion>,
    transport: Transport,
    about: Arc<About>,
}

/// Facts about a model during a request.
pub(crate) struct About {
    pub kind: ProviderKind,
    pub tools: ToolCalls,
    pub facts: Option<ModelFacts>,
    pub reporter: ProblemReporter,
    prompt_cache: bool,
    endpoint: Endpoint,
}

impl Remote {
    /// Sends no request yet.
    ///
    /// # Errors
    /// What the configuration lacks, and how to add it.
    pub fn new(endpoint: Endpoint, model: &str) -> Result<Self, Problem> {
        let reporter = endpoint.reporter(model);
        if model.is_empty() {
            return Err(rejected(format!("Name a model of {0}, as {0}/MODEL.", endpoint.name)));
        }
        if endpoint.tools == ToolCalls::Json && json_parameters(endpoint.kind, &Value::Null).is_none() {
            let message = format!(
                "tools = \"json\" under [providers.{}] is for servers of the kinds openai, openrouter and ollama; models of the kind {} make tool calls natively. Remove the line.",
                endpoint.name, endpoint.kind
            );
            return Err(rejected(message));
        }
        if let Some(problem) = endpoint.missing_key() {
            return Err(problem);
        }
        let facts = endpoint.vendor.and_then(|vendor| vendor.model(model)).copied();
        let prompt_cache = endpoint.kind == ProviderKind::Anthropic && endpoint.vendor.is_none_or(|vendor| vendor.prompt_cache);
        let about = About { kind: endpoint.kind, tools: endpoint.tools, facts, reporter, prompt_cache, endpoint };
        let transport = about.endpoint.transport()?;
        let client = about.endpoint.client(transport.clone())?;
        let (name, id) = (format!("{}/{model}", about.endpoint.name), model.to_owned());
        Ok(Self { name, id, model: client.model(model), transport, about: Arc::new(about) })
    }

    /// The model for one reply, and the recorder of its start on a wire format with early usage data.
    fn for_one_reply(&self) -> Result<(DynModel<Completion>, Option<ReplyStart>), Problem> {
        if self.about.kind != ProviderKind::Anthropic {
            return Ok((self.model.clone(), None));
        }
        let reply_start = ReplyStart::default();
        let client = self.about.endpoint.client(self.transport.recording(reply_start.clone()))?;
        Ok((client.model(&self.id), Some(reply_start)))
    }

    fn completion_request(&self, request: ModelRequest) -> Result<CompletionRequest, Problem> {
        let about = &*self.about;
        let (mut system, mut parameters) = (request.system, json!({}));
        let mut messages = match about.tools {
            ToolCalls::Native => conversation(&request.messages, &request.images, &self.name),
            ToolCalls::Json => {
                system.push_str(&actions::instructions(&request.tools));
                parameters = json_parameters(about.kind, &actions::schema(&request.tools)).unwrap_or_default();
                conversation(&actions::without_calls(&request.messages), &request.images, &self.name)
            }
        };
        let Some(last) = messages.pop() else { return Err(about.reporter.unusable_reply("there is nothing to ask")) };
        // Only one wire format requires a limit; the others default to the model's own.
        let must = about.kind == ProviderKind::Anthropic;
        let known = about.facts.and_then(|facts| facts.max_output_tokens).unwrap_or(USUAL_OUTPUT_TOKENS);
        let is_word = request.purpose == Purpose::Intent;
        let limit = if is_word { Some(WORD_OUTPUT_TOKENS) } else { about.endpoint.max_output_tokens.or(must.then_some(known)) };
        let mut asked = CompletionRequest::new(last).messages(messages).preamble(system).max_tokens(limit);
        if about.tools == ToolCalls::Native {
            asked = asked.tools(request.tools.into_iter().filter_map(tool_definition).collect());
        }
        if about.prompt_cache && !is_word {
            asked = asked.cache(CacheRetention::Short);
        }
        if let Some(depth) = about.endpoint.reasoning.filter(|_| !is_word) {
            asked = asked.reasoning(effort(depth));
        }
        if about.kind == ProviderKind::OpenaiResponses {
            // The vendor stores nothing, so its reasoning must be sent back with each request.
            parameters = json!({ "store": false, "include": ["reasoning.encrypted_content"] });
        }
        if let (ProviderKind::Ollama, Some(tokens)) = (about.kind, about.endpoint.context_tokens) {
            // Otherwise the daemon's own, much smaller context would silently cut the conversation.
            parameters["num_ctx"] = tokens.into();
        }
        asked = asked.on_unsupported(OnUnsupported::Ignore);
        Ok(if parameters.as_object().is_some_and(serde_json::Map::is_empty) { asked } else { asked.additional_params(parameters) })
    }
}

fn tool_definition(tool: planwright_agent::ToolDefinition) -> Option<ToolDefinition> {
    Some(ToolDefinition::new(ToolName::new(tool.name).ok()?, tool.description, tool.schema))
}

/// How a wire format constrains a reply to a schema; `None` if its models make native calls.
fn json_parameters(kind: ProviderKind, schema: &Value) -> Option<Value> {
    match kind {
        ProviderKind::Openai | ProviderKind::Openrouter => {
            Some(json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "actions", "schema": schema } } }))
        }
        ProviderKind::Ollama => Some(json!({ "format": schema })),
        ProviderKind::OpenaiResponses | ProviderKind::Anthropic | ProviderKind::Gemini | ProviderKind::Script | ProviderKind::Demo => None,
    }
}

#[async_trait]
impl Provider for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> u64 {
        let known = self.about.facts.map(|facts| facts.context_tokens);
        self.about.endpoint.context_tokens.or(known).unwrap_or(USUAL_CONTEXT_TOKENS)
    }

    fn takes_images(&self) -> bool {
        let known = self.about.facts.is_some_and(|facts| facts.images);
        self.about.endpoint.images.unwrap_or(known)
    }

    async fn stream(&self, request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem> {
        let asked = self.completion_request(request)?;
        let mut tried = 0;
        loop {
            tried += 1;
            let (model, reply_start) = self.for_one_reply()?;
            let opened = match model.stream(asked.clone()) {
                Ok(mut stream) => match stream.next().await.transpose() {
                    Ok(first) => Ok(Reply::new(self.about.clone(), stream, reply_start.as_ref(), first)),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            let failure = match opened {
                Ok(reply) => return Ok(reply.deltas()),
                Err(error) => self.about.reporter.failure(&error, Received::Nothing),
            };
            if tried >= failure.tries {
                return Err(failure.problem);
            }
            let wait = wait(tried, failure.retry_after);
            tracing::info!(model = self.name, code = %failure.problem.code, tried, wait_ms = wait.as_millis(), "retrying");
            if let Some(waits) = &self.about.endpoint.waits {
                // The receiver may be gone.
                let _ = waits.send(RetryNotice { code: failure.problem.code, wait });
            }
            tokio::time::sleep(wait).await;
        }
    }
}

impl About {
    pub(crate) fn usage(&self, response: &CompletionResponse) -> Delta {
        let used = response.usage;
        let tokens = Tokens {
            input: used.input_tokens.unwrap_or_default(),
            output: used.output_tokens.unwrap_or_default(),
            cached: used.cached_input_tokens.unwrap_or_default(),
            cache_write: used.cache_creation_input_tokens.unwrap_or_default(),
        };
        let mut usage = tokens.usage(self.facts.and_then(|facts| facts.price));
        if self.kind == ProviderKind::Openrouter
            && let Some(cost) = used.cost
        {
            // The gateway knows which supplier answered, and its price.
            usage.cost = charged(cost.total);
        }
        Delta::Usage(usage)
    }

    /// The usage of a reply that has only started: it is charged even if the rest never comes.
    pub(crate) fn usage_so_far(&self, reply_start: &ReplyStart) -> Option<Delta> {
        let start = reply_start.events().into_iter().find(|event| event["type"] == "message_start")?;
        let count = |name: &str| start["message"]["usage"][name].as_u64().unwrap_or_default();
        let (cached, cache_write) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        let input = count("input_tokens").saturating_add(cached).saturating_add(cache_write);
        let tokens = Tokens { input, output: count("output_tokens"), cached, cache_write };
        Some(Delta::Usage(tokens.usage(self.facts.and_then(|facts| facts.price))))
    }

    /// The data that later requests must send back with this reply.
    pub(crate) fn native(&self, response: &CompletionResponse) -> Option<Delta> {
        match self.kind {
            ProviderKind::Anthropic | ProviderKind::OpenaiResponses | ProviderKind::Gemini | ProviderKind::Openrouter => {
                to_keep(response).map(Delta::Native)
            }
            ProviderKind::Openai | ProviderKind::Ollama | ProviderKind::Script | ProviderKind::Demo => None,
        }
    }
}

/// No reply costs more.
const MAX_COST: f64 = 1_000_000.0;

/// A cost that a server reports. A negative one would let the chat spend more than its limit.
fn charged(cost: f64) -> f64 {
    if cost > 0.0 { cost.min(MAX_COST) } else { 0.0 }
}

/// Lists a provider's models.
///
/// # Errors
/// It can't be reached, or has no list.
pub async fn list(endpoint: Endpoint) -> Result<Vec<String>, Problem> {
    let reporter = ProblemReporter { reader: Reader::Doctor, ..endpoint.reporter("") };
    let client = endpoint.client(endpoint.transport()?)?;
    let listed = timeout(endpoint.timeouts.reply, client.models()).await.map_err(|_| reporter.limit(&late_list(&endpoint)))?;
    listed.map_err(|error| reporter.failure(&error, Received::Nothing).problem)
}

/// A list has pages, each within the limits of a reply; a server could send them without end.
fn late_list(endpoint: &Endpoint) -> String {
    format!("its list of models took longer than {} s", endpoint.timeouts.reply.as_secs())
}

/// Whether an unreadable answer was at least JSON, judging by the error message.
fn is_json(error: &str) -> bool {
    !is_web_page(error) && !error.contains("expected value at line")
}

/// Checks whether a model is usable, by a request that costs nothing.
///
/// # Errors
/// The problem, and how to fix it.
pub async fn check(endpoint: Endpoint, model: &str) -> Result<String, Problem> {
    if let Some(problem) = endpoint.missing_key() {
        return Err(problem);
    }
    let reporter = ProblemReporter { reader: Reader::Doctor, ..endpoint.reporter(model) };
    let client = endpoint.client(endpoint.transport()?)?;
    let listed = timeout(endpoint.timeouts.reply, client.models()).await.map_err(|_| reporter.limit(&late_list(&endpoint)))?;
    let models = match listed {
        Ok(models) => models,
        Err(error) => {
            let failure = reporter.failure(&error, Received::Nothing);
            let unlisted =
                error.provider_response().and_then(|reply| reply.status).is_some_and(|status| matches!(status.as_u16(), 404 | 405));
            // Many gateways have lists in their own format, and work nevertheless.
            let unread = failure.problem.code == ErrorCode::ProviderGarbled && is_json(&error.to_string());
            return if unlisted && failure.problem.code == ErrorCode::ProviderRejected {
                Ok(format!("{} answers; it does not list its models", endpoint.base_url))
            } else if unread {
                Ok(format!("{} answers; its list of models is unreadable", endpoint.base_url))
            } else {
                Err(failure.problem)
            };
        }
    };
    let same = |known: &String| {
        let known = known.strip_prefix("models/").unwrap_or(known);
        known == model || known.strip_suffix(":latest") == Some(model)
    };
    if model.is_empty() || models.is_empty() {
        return Ok(format!("{} answers", endpoint.base_url));
    }
    if models.iter().any(same) {
        return Ok(format!("{} answers and knows the model", endpoint.base_url));
    }
    let others = models.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
    Err(rejected(format!(
        "{} has no model {model:?}. It has {others}{}.",
        endpoint.name,
        if models.len() > 8 { " and others" } else { "" }
    )))
}

#[cfg(test)]
mod tests {
    use super::{MAX_COST, charged};

    #[test]
    fn a_cost_below_nothing_counts_as_nothing() {
        let costs = [0.25, 0.0, -5.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY].map(charged);
        assert_eq!(costs.map(f64::to_bits), [0.25, 0.0, 0.0, 0.0, 0.0, MAX_COST].map(f64::to_bits));
    }
}
