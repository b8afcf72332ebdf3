//! `[web]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The `[web]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebSettings {
    /// Hosts that `web_fetch` reaches without asking, such as `docs.rs`; `*.python.org` is every host below it.
    pub allow: Vec<String>,
    /// The service of `web_search`; without one the tool is not offered.
    pub search: Option<SearchSettings>,
}

/// A search service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchSettings {
    /// The kind of service.
    pub kind: SearchKind,
    /// The address of the service; required for `searxng`.
    pub url: Option<String>,
    /// The environment variable that contains the key; required for `brave` and `tavily`.
    pub api_key_env: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    Searxng,
    Brave,
    Tavily,
}
