//! The wires that are spoken.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// How a provider is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// Chat completions, of `OpenAI` and of everyone who speaks like it.
    Openai,
    /// The responses of `OpenAI`.
    OpenaiResponses,
    /// The messages of Anthropic.
    Anthropic,
    /// Gemini, of Google.
    Gemini,
    /// The own protocol of Ollama.
    Ollama,
    /// Chat completions with what `OpenRouter` adds.
    Openrouter,
    /// Scripts in a folder, in place of a model.
    Script,
    /// The built-in demonstration.
    Demo,
}

impl ProviderKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ProviderKind::Openai => "openai",
            ProviderKind::OpenaiResponses => "openai-responses",
            ProviderKind::Anthropic => "anthropic",
            ProviderKind::Gemini => "gemini",
            ProviderKind::Ollama => "ollama",
            ProviderKind::Openrouter => "openrouter",
            ProviderKind::Script => "script",
            ProviderKind::Demo => "demo",
        }
    }

    /// The vendor whose own wire this is.
    #[must_use]
    pub fn home(self) -> Option<&'static str> {
        match self {
            ProviderKind::Openai | ProviderKind::OpenaiResponses => Some("openai"),
            ProviderKind::Anthropic | ProviderKind::Gemini | ProviderKind::Ollama | ProviderKind::Openrouter => Some(self.as_str()),
            ProviderKind::Script | ProviderKind::Demo => None,
        }
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a model makes tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolCalls {
    /// As its wire has them.
    #[default]
    Native,
    /// In an answer that is held to a JSON schema, for models that were not taught to.
    Json,
}

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    Low,
    Medium,
    High,
}

/// One `[providers.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    pub kind: ProviderKind,
    /// For `script` alone, and required there: the folder with the scripts.
    pub path: Option<PathBuf>,
    /// The address alone: one with a user, a password, `?` or `#` is refused.
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the key; the key itself never stands in a file.
    pub api_key_env: Option<String>,
    /// Whose models these are, for address, key, sizes and prices.
    pub vendor: Option<String>,
    /// How the model makes tool calls; `native` unless set.
    pub tools: Option<ToolCalls>,
    /// How much the model thinks before it answers.
    pub reasoning: Option<Depth>,
    /// How much the model reads; Ollama is told it as `num_ctx`.
    pub context_tokens: Option<u64>,
    /// How much the model may write in one reply.
    pub max_output_tokens: Option<u64>,
    /// Whether the models look at images; as the catalog says unless set.
    pub images: Option<bool>,
    /// A file of certificates in PEM form, trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// Seconds without a byte; 120 unless set.
    pub timeout_s: Option<u64>,
    /// Seconds for a whole reply; 900 unless set.
    pub reply_timeout_s: Option<u64>,
}
