//! Web searches with a configured provider.

use crate::client::{WebClient, body, request};
use crate::exchange::{exchange, failed};
use crate::page::clean;
use crate::web_url::Scheme;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use planwright_protocol::settings::{SearchKind, SearchSettings};
use planwright_protocol::{ErrorCode, Problem};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use url::Url;

const LONGEST_TITLE: usize = 200;
const LONGEST_EXCERPT: usize = 500;
const LONGEST_LINK: usize = 500;

/// A search service, with the key from the environment.
#[derive(Clone, Debug)]
pub struct SearchProvider {
    kind: SearchKind,
    url: Url,
    key: Option<SecretString>,
}

/// One result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub title: String,
    pub url: String,
    pub excerpt: String,
}

impl SearchProvider {
    /// `environment` looks a variable up.
    ///
    /// # Errors
    /// What is wrong with the settings. A key that is not set is no error: the provider is left out.
    pub fn new(settings: &SearchSettings, environment: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let default = match settings.kind {
            SearchKind::Searxng => None,
            SearchKind::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            SearchKind::Tavily => Some("https://api.tavily.com/search"),
        };
        let text = settings.url.as_deref().or(default).ok_or("search of the kind searxng needs `url`")?;
        let url = Url::parse(text).map_err(|error| format!("`url` is not an address: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !url.username().is_empty() || url.password().is_some() {
            return Err("`url` must be an http or https address without credentials".to_owned());
        }
        let key = settings.api_key_env.as_deref().and_then(environment).filter(|key| !key.trim().is_empty());
        let key = key.map(|key| SecretString::from(key.trim()));
        if settings.kind != SearchKind::Searxng && key.is_none() {
            return Ok(None);
        }
        Ok(Some(Self { kind: settings.kind, url, key }))
    }

    /// The host that gets the query.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// # Errors
    /// `FETCH_FAILED`, in words without the key.
    pub async fn search(&self, client: &WebClient, query: &str, limit: usize) -> Result<Vec<SearchHit>, Problem> {
        client.in_time(self.ask(client, query, limit)).await
    }

    async fn ask(&self, client: &WebClient, query: &str, limit: usize) -> Result<Vec<SearchHit>, Problem> {
        let unusable = |_| failed("the search is not set up well");
        let mut url = self.url.clone();
        let mut content = Vec::new();
        match self.kind {
            SearchKind::Searxng => {
                if !url.path().ends_with("/search") {
                    url.set_path(&format!("{}/search", url.path().trim_end_matches('/')));
                }
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
            }
            SearchKind::Brave => {
                url.query_pairs_mut().append_pair("q", query).append_pair("count", &limit.to_string());
            }
            SearchKind::Tavily => content = json!({ "query": query, "max_results": limit }).to_string().into_bytes(),
        }
        let mut built = request(&url).header(ACCEPT, "application/json");
        if let Some(key) = &self.key {
            let (name, value) = match self.kind {
                SearchKind::Brave => (HeaderName::from_static("x-subscription-token"), key.expose_secret().to_owned()),
                SearchKind::Searxng | SearchKind::Tavily => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
            };
            let mut value = HeaderValue::try_from(value).map_err(|_| failed("the key of the search can't be sent"))?;
            value.set_sensitive(true);
            built = built.header(name, value);
        }
        if self.kind == SearchKind::Tavily {
            built = built.method(Method::POST).header(CONTENT_TYPE, "application/json");
        }
        let request = built.body(body(content)).map_err(unusable)?;
        let scheme = if url.scheme() == "https" { Scheme::Https } else { Scheme::Http };
        let stream = client.connect_configured(scheme, self.host(), url.port_or_known_default().unwrap_or(443)).await?;
        let reply = exchange(stream, request).await?;
        let status = reply.status();
        if !status.is_success() {
            let advice = match status.as_u16() {
                401 | 403 => "; the user has to look at the key or the settings of the search",
                429 => "; too many searches, wait before the next",
                _ => "",
            };
            return Err(Problem::new(ErrorCode::FetchFailed, format!("The search failed: {} answered {status}{advice}.", self.host())));
        }
        let found: Value = serde_json::from_slice(&reply.body().await?.bytes).map_err(|_| failed("the search did not answer in JSON"))?;
        Ok(self.hits(&found, limit))
    }

    fn hits(&self, found: &Value, limit: usize) -> Vec<SearchHit> {
        let (results, excerpt) = match self.kind {
            SearchKind::Brave => (&found["web"]["results"], "description"),
            SearchKind::Searxng | SearchKind::Tavily => (&found["results"], "content"),
        };
        let text = |value: &Value, longest: usize| {
            let plain = value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            clean(&plain).replace("<strong>", "").replace("</strong>", "").chars().take(longest).collect::<String>()
        };
        let hit = |result: &Value| {
            let url = result["url"].as_str().filter(|url| url.len() <= LONGEST_LINK)?;
            let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
            let (title, excerpt) = (text(&result["title"], LONGEST_TITLE), text(&result[excerpt], LONGEST_EXCERPT));
            Some(SearchHit { title, url: url.into(), excerpt })
        };
        results.as_array().into_iter().flatten().filter_map(hit).take(limit).collect()
    }
}
