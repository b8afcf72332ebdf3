//! The wires that are spoken.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a provider is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
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

impl Kind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Openai => "openai",
            Kind::OpenaiResponses => "openai-responses",
            Kind::Anthropic => "anthropic",
            Kind::Gemini => "gemini",
            Kind::Ollama => "ollama",
            Kind::Openrouter => "openrouter",
            Kind::Script => "script",
            Kind::Demo => "demo",
        }
    }

    /// The vendor whose own wire this is.
    #[must_use]
    pub fn home(self) -> Option<&'static str> {
        match self {
            Kind::Openai | Kind::OpenaiResponses => Some("openai"),
            Kind::Anthropic | Kind::Gemini | Kind::Ollama | Kind::Openrouter => Some(self.as_str()),
            Kind::Script | Kind::Demo => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
