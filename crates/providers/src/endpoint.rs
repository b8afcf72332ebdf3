//! A provider's address and options, before a model is chosen.

use crate::catalog::Vendor;
use crate::problem::{ProblemReporter, Reader, rejected};
use crate::retry::RetryNotice;
use crate::transport::{Timeouts, Transport};
use planwright_protocol::Problem;
use planwright_protocol::settings::ProviderKind;
use planwright_protocol::settings::{ReasoningEffort, ToolCalls};
use rig_core::completion::Effort;
use rig_core::driver::DynModel;
use rig_core::error::ProviderError;
use rig_core::operation::Completion;
use rig_core::providers::anthropic::wire::AnthropicConfig;
use rig_core::providers::anthropic::{self, Anthropic};
use rig_core::providers::gemini::{Gemini, GeminiConfig};
use rig_core::providers::ollama::{Ollama, OllamaConfig};
use rig_core::providers::openai::wire::{Auth, Dialect};
use rig_core::providers::openai::{self, OpenAI, OpenAIConfig};
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;

/// The user's configuration of a provider.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its name in the configuration.
    pub name: String,
    pub kind: ProviderKind,
    pub base_url: String,
    pub key: Option<SecretString>,
    /// The variable with the key, for error messages.
    pub key_env: Option<String>,
    /// The vendor, for context sizes and prices.
    pub vendor: Option<&'static Vendor>,
    pub tools: ToolCalls,
    pub reasoning: Option<ReasoningEffort>,
    pub context_tokens: Option<u64>,
    pub max_output_tokens: Option<u64>,
    /// Whether its models accept images (default: what the catalog says).
    pub images: Option<bool>,
    pub ca_file: Option<PathBuf>,
    pub timeouts: Timeouts,
    /// Notified when a request is retried.
    pub waits: Option<UnboundedSender<RetryNotice>>,
}

/// The effort on the wire.
pub(crate) fn effort(depth: ReasoningEffort) -> Effort {
    match depth {
        ReasoningEffort::Low => Effort::Low,
        ReasoningEffort::Medium => Effort::Medium,
        ReasoningEffort::High => Effort::High,
    }
}

/// Any server that speaks chat completions, as far as all of them agree.
const COMPATIBLE: Dialect = Dialect::gateway("openai-compatible", "", "");

/// A client for an endpoint.
pub(crate) enum Client {
    Chat(OpenAI),
    Responses(OpenAI),
    Anthropic(Anthropic),
    Gemini(Gemini),
    Ollama(Ollama),
}

impl Endpoint {
    pub(crate) fn reporter(&self, model: &str) -> ProblemReporter {
        ProblemReporter {
            reader: Reader::Chat,
            kind: self.kind,
            provider: self.name.clone(),
            model: model.to_owned(),
            base_url: self.base_url.clone(),
            key_env: self.key_env.clone(),
            key: self.key.clone(),
        }
    }

    /// The error for a missing key, and where to put it.
    pub(crate) fn missing_key(&self) -> Option<Problem> {
        let variable = self.key_env.as_ref().filter(|_| self.key.is_none())?;
        Some(rejected(format!("{} needs a key: set {variable} to it.", self.name)))
    }

    pub(crate) fn transport(&self) -> Result<Transport, Problem> {
        Transport::new(&self.base_url, self.ca_file.as_deref(), self.timeouts)
            .map_err(|why| rejected(format!("The provider {:?} can't be used: {why}.", self.name)))
    }

    pub(crate) fn client(&self, transport: Transport) -> Result<Client, Problem> {
        let key = self.key.as_ref().map(|key| key.expose_secret().to_owned()).unwrap_or_default();
        let base = self.base_url.trim_end_matches('/').to_owned();
        Ok(match self.kind {
            ProviderKind::Openai => Client::Chat(chat(&base, key).connect(transport)),
            ProviderKind::Openrouter => {
                let config = OpenAIConfig::with_key(&openai::wire::OPENROUTER, key).with_base_url(base);
                Client::Chat(config.connect(transport))
            }
            ProviderKind::OpenaiResponses => Client::Responses(chat(&base, key).connect(transport)),
            ProviderKind::Anthropic => {
                // The wire format adds the version, which some users write into the address.
                let base = base.strip_suffix("/v1").unwrap_or(&base);
                let config = AnthropicConfig::with_key(&anthropic::wire::ANTHROPIC, key).with_base_url(base);
                Client::Anthropic(config.connect(transport))
            }
            ProviderKind::Gemini => Client::Gemini(GeminiConfig::new(key).with_base_url(base).connect(transport)),
            ProviderKind::Ollama => Client::Ollama(OllamaConfig::new().with_base_url(base).with_api_key(key).connect(transport)),
            ProviderKind::Script | ProviderKind::Demo => {
                return Err(rejected(format!("A provider of kind {} has no address.", self.kind)));
            }
        })
    }
}

fn chat(base: &str, key: String) -> OpenAIConfig {
    // Special cases of a vendor's own server must not apply to other servers.
    let known = openai::wire::all().find(|dialect| dialect.base_url == base && base.starts_with("https://"));
    let mut config = OpenAIConfig::with_key(known.unwrap_or(&COMPATIBLE), key).with_base_url(base);
    config.auth = Auth::OptionalBearer;
    config
}

impl Client {
    pub(crate) fn model(&self, id: &str) -> DynModel<Completion> {
        match self {
            Client::Chat(client) => client.chat(id).erase(),
            Client::Responses(client) => client.responses(id).erase(),
            Client::Anthropic(client) => client.completion(id).erase(),
            Client::Gemini(client) => client.completion(id).erase(),
            Client::Ollama(client) => client.native_completion(id).erase(),
        }
    }

    /// The names of its models.
    pub(crate) async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let list = match self {
            Client::Chat(client) | Client::Responses(client) => {
                // Some providers list their models without a key, so the key is checked as well.
                client.verify().await?;
                client.list_models().await?
            }
            Client::Anthropic(client) => client.list_models().await?,
            Client::Gemini(client) => client.list_models().await?,
            Client::Ollama(client) => client.list_models().await?,
        };
        Ok(list.into_iter().map(|model| model.id).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::vendors;

    #[test]
    fn a_vendor_that_differs_is_spoken_to_in_its_own_way() {
        for vendor in vendors().iter().filter(|vendor| vendor.kind == ProviderKind::Openai) {
            assert_ne!(chat(&vendor.base_url, String::new()).dialect.name, COMPATIBLE.name, "{}", vendor.name);
        }
        assert_eq!(chat("http://127.0.0.1:8080/v1", String::new()).dialect.name, COMPATIBLE.name);
    }
}
