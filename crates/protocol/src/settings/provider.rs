//! Providers and their wire formats.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The wire format of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// Chat completions, as `OpenAI` and compatible vendors speak it.
    Openai,
    /// `OpenAI`'s responses API.
    OpenaiResponses,
    /// Anthropic's messages API.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// Ollama's own API.
    Ollama,
    /// Chat completions with `OpenRouter`'s additions.
    Openrouter,
    /// Scripts in a folder, instead of a model.
    Script,
    /// The built-in demo.
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

    /// The vendor that this wire format belongs to.
    #[must_use]
    pub fn vendor_name(self) -> Option<&'static str> {
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
    /// In the wire format's native way.
    #[default]
    Native,
    /// In a reply constrained to a JSON schema, for models without native tool calls.
    Json,
}

/// How much a model reasons before it replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Depth")]
pub enum ReasoningEffort {
    Low,
    Medium,
    High,
}

/// One `[providers.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    pub kind: ProviderKind,
    /// Only for `script`, and required there: the folder with the scripts.
    pub path: Option<PathBuf>,
    /// The address. A user, a password, `?` or `#` in it is an error.
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the key. The key itself never belongs in a file.
    pub api_key_env: Option<String>,
    /// The vendor, which decides address, key variable, context sizes and prices.
    pub vendor: Option<String>,
    /// How the model makes tool calls (default `native`).
    pub tools: Option<ToolCalls>,
    /// How much the model reasons before it replies.
    pub reasoning: Option<ReasoningEffort>,
    /// The model's context in tokens; sent to Ollama as `num_ctx`.
    pub context_tokens: Option<u64>,
    /// Maximum tokens of one reply.
    pub max_output_tokens: Option<u64>,
    /// Whether the models accept images (default: what the catalog says).
    pub images: Option<bool>,
    /// A file of PEM certificates to trust in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Timeout in seconds without a byte (default 120).
    pub timeout_s: Option<u64>,
    /// Timeout in seconds for a whole reply (default 900).
    pub reply_timeout_s: Option<u64>,
}
