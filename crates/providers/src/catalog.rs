//! The catalog of vendors and their models: one data file per vendor.
//!
//! A file names the wire format, the address, the variable that holds the key, and for each model its context, its output limit
//! and its price. Unknown models work too, without a price.

use planwright_protocol::event::Usage;
use planwright_protocol::settings::ProviderKind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The assumed context of an unknown model, in tokens.
pub const USUAL_CONTEXT_TOKENS: u64 = 128_000;

/// The order in which vendors are tried if no model is configured.
const FILES: &[&str] = &[
    include_str!("../catalog/anthropic.toml"),
    include_str!("../catalog/openai.toml"),
    include_str!("../catalog/gemini.toml"),
    include_str!("../catalog/openrouter.toml"),
    include_str!("../catalog/deepseek.toml"),
    include_str!("../catalog/mistral.toml"),
    include_str!("../catalog/groq.toml"),
    include_str!("../catalog/xai.toml"),
    include_str!("../catalog/ollama.toml"),
];

// A test counts the files, so an unreadable one would be noticed.
static VENDORS: LazyLock<Vec<Vendor>> = LazyLock::new(|| FILES.iter().filter_map(|text| toml::from_str(text).ok()).collect());

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// The default name of the provider.
    pub name: String,
    pub title: String,
    pub kind: ProviderKind,
    pub base_url: String,
    /// The variable that overrides `base_url`.
    pub base_url_env: Option<String>,
    pub api_key_env: Option<String>,
    /// Used if the key is set and no model is configured.
    pub default_model: Option<String>,
    /// Whether the wire format accepts hints for caching the prompt.
    #[serde(default)]
    pub prompt_cache: bool,
    #[serde(default)]
    pub models: BTreeMap<String, ModelFacts>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    pub context_tokens: u64,
    pub max_output_tokens: Option<u64>,
    /// Whether it accepts images.
    #[serde(default)]
    pub images: bool,
    pub price: Option<Price>,
}

/// In US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Input read from the cache (default: the price of other input).
    pub cached: Option<f64>,
    /// Input written to the cache.
    pub cache_write: Option<f64>,
}

/// Tokens of one reply. `input` includes the cached ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cached: u64,
    pub cache_write: u64,
}

#[must_use]
pub fn vendors() -> &'static [Vendor] {
    &VENDORS
}

#[must_use]
pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}

impl Vendor {
    /// Facts about a model. A dated or tagged name matches the model without date and tag, if it is not listed itself.
    #[must_use]
    pub fn model(&self, id: &str) -> Option<&ModelFacts> {
        let listed = self.models.iter().filter(|(known, _)| id.strip_prefix(known.as_str()).is_some_and(is_version));
        listed.max_by_key(|(known, _)| known.len()).map(|(_, facts)| facts)
    }
}

/// Whether the rest of a model's name only states its version.
fn is_version(rest: &str) -> bool {
    rest.is_empty()
        || rest == "-latest"
        || rest.starts_with([':', '@'])
        || rest.strip_prefix('-').is_some_and(|date| date.starts_with(|first: char| first.is_ascii_digit()))
}

impl Price {
    #[must_use]
    pub fn of(&self, tokens: Tokens) -> f64 {
        let fresh = tokens.input.saturating_sub(tokens.cached).saturating_sub(tokens.cache_write);
        let parts = [
            (fresh, self.input),
            (tokens.cached, self.cached.unwrap_or(self.input)),
            (tokens.cache_write, self.cache_write.unwrap_or(self.input)),
            (tokens.output, self.output),
        ];
        #[expect(clippy::cast_precision_loss, reason = "no reply has so many tokens that it shows")]
        parts.iter().map(|(count, price)| *count as f64 * price / 1_000_000.0).sum()
    }
}

/// No reply has more tokens. A server's numbers are added up for as long as a chat lives, and must not overflow.
const MAX_TOKENS: u64 = 1_000_000_000;

impl Tokens {
    #[must_use]
    pub fn usage(self, price: Option<Price>) -> Usage {
        let [input, output, cached, cache_write] =
            [self.input, self.output, self.cached, self.cache_write].map(|count| count.min(MAX_TOKENS));
        let limited = Self { input, output, cached, cache_write };
        Usage {
            input_tokens: input,
            output_tokens: output,
            cached_tokens: cached,
            cost: price.map_or(0.0, |price| price.of(limited)),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_catalog_is_listed_and_well_formed() {
        for text in FILES {
            toml::from_str::<Vendor>(text).unwrap();
        }
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog")).unwrap().count();
        assert_eq!((files, vendors().len()), (FILES.len(), FILES.len()));
        for vendor in vendors() {
            let default = vendor.default_model.as_deref();
            assert!(default.is_none_or(|model| vendor.models.contains_key(model)), "{}: {default:?} is not listed", vendor.name);
            assert!(vendor.models.values().all(|facts| facts.context_tokens > 1000), "{}", vendor.name);
        }
    }

    #[test]
    fn a_model_is_found_by_its_name_with_or_without_its_date() {
        let anthropic = vendor("anthropic").unwrap();
        let plain = anthropic.model("claude-sonnet-4-5").unwrap();
        assert_eq!(anthropic.model("claude-sonnet-4-5-20250929"), Some(plain));
        assert_eq!(anthropic.model("claude-sonnet"), None);
        let openai = vendor("openai").unwrap();
        assert_ne!(openai.model("gpt-5-mini"), openai.model("gpt-5"), "the longest name that fits");
        assert_eq!(openai.model("gpt-5.99"), None, "another model is not an edition of this one");
        assert_eq!(openai.model("gpt-5-unheard-of"), None);
    }

    #[test]
    fn numbers_that_no_reply_has_are_limited() {
        let price = Price { input: 1.0, output: 1.0, cached: None, cache_write: None };
        let tokens = Tokens { input: u64::MAX, output: u64::MAX, cached: u64::MAX, cache_write: u64::MAX };
        let usage = tokens.usage(Some(price));
        assert_eq!([usage.input_tokens, usage.output_tokens, usage.cached_tokens], [MAX_TOKENS; 3]);
        assert!(usage.cost.is_finite() && usage.cost > 0.0);
    }

    #[test]
    fn a_reply_costs_what_its_tokens_cost_each_at_its_own_price() {
        let price = Price { input: 3.0, output: 15.0, cached: Some(0.3), cache_write: Some(3.75) };
        let tokens = Tokens { input: 1_000_000, output: 100_000, cached: 600_000, cache_write: 200_000 };
        assert!((price.of(tokens) - (0.6 + 0.18 + 0.75 + 1.5)).abs() < 1e-9);
        assert!((tokens.usage(None).cost).abs() < f64::EPSILON, "no price, no cost");
    }
}
