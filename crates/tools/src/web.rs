//! What the tools need to reach the web: the client, the hosts that need no approval, the search.

pub use planwright_fetch::{WebClient, WebNetwork};

use planwright_fetch::SearchProvider;
use planwright_protocol::Problem;
use planwright_protocol::settings::WebSettings;
use planwright_sandbox::Stop;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// How often a running request looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// How a workspace reaches the web.
pub struct WebAccess {
    pub client: Arc<WebClient>,
    pub hosts: Arc<AllowedHosts>,
    pub search: Option<SearchProvider>,
}

impl WebAccess {
    /// `environment` looks a variable up.
    ///
    /// # Errors
    /// The key of `[web]` that is wrong, and why.
    pub fn new(settings: &WebSettings, client: WebClient, environment: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let hosts = AllowedHosts::new(&settings.allow).map_err(|why| format!("allow: {why}"))?;
        let search = settings.search.as_ref().map(|search| SearchProvider::new(search, environment)).transpose();
        let search = search.map_err(|why| format!("search: {why}"))?.flatten();
        Ok(Self { client: Arc::new(client), hosts: Arc::new(hosts), search })
    }
}

impl Default for WebAccess {
    fn default() -> Self {
        Self { client: Arc::new(WebClient::system()), hosts: Arc::default(), search: None }
    }
}

impl fmt::Debug for WebAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebAccess").field("hosts", &self.hosts).field("search", &self.search).finish_non_exhaustive()
    }
}

/// Hosts that are fetched without asking: patterns of the configuration, and hosts that the user allowed in a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedHosts {
    exact: Vec<String>,
    /// `.python.org` for `*.python.org`.
    endings: Vec<String>,
}

impl AllowedHosts {
    /// # Errors
    /// The first pattern that is none.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let mut hosts = Self::default();
        for pattern in patterns {
            let plain = pattern.strip_prefix("*.").unwrap_or(pattern);
            let is_host = plain.contains('.')
                && plain.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.:".contains(letter))
                && !plain.starts_with('.')
                && !plain.ends_with('.')
                && (!plain.contains(':') || plain.parse::<std::net::Ipv6Addr>().is_ok());
            if !is_host {
                return Err(format!("{pattern:?} is not a host, such as \"docs.rs\" or \"*.python.org\""));
            }
            let plain = plain.to_ascii_lowercase();
            if pattern.starts_with("*.") { hosts.endings.push(format!(".{plain}")) } else { hosts.exact.push(plain) }
        }
        Ok(hosts)
    }

    /// The same and one more host.
    #[must_use]
    pub fn with(mut self, host: &str) -> Self {
        self.exact.push(host.to_owned());
        self
    }

    /// Whether a host, spelled as [`planwright_fetch::WebUrl::host`] spells it, is one of them.
    #[must_use]
    pub fn contains(&self, host: &str) -> bool {
        self.exact.iter().any(|exact| exact == host) || self.endings.iter().any(|ending| host.ends_with(ending.as_str()))
    }
}

/// Waits for a request on the thread of a tool; `None` if the run was stopped meanwhile.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T, Problem>>, stop: &Stop) -> Option<Result<T, Problem>> {
    let stopped = async {
        while !stop.is_set() {
            tokio::time::sleep(LOOK).await;
        }
    };
    Handle::current().block_on(async {
        tokio::select! {
            done = work => Some(done),
            () = stopped => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_by_its_name_or_by_the_domain_above_it() {
        let hosts = AllowedHosts::new(&["docs.rs".to_owned(), "*.Python.org".to_owned()]).unwrap().with("one.example");
        for host in ["docs.rs", "docs.python.org", "a.b.python.org", "one.example"] {
            assert!(hosts.contains(host), "{host}");
        }
        for host in ["python.org", "evilpython.org", "docs.rs.evil.example", "x.docs.rs", "", "rs", "two.one.example"] {
            assert!(!hosts.contains(host), "{host}");
        }
    }

    #[test]
    fn a_pattern_that_would_allow_everything_or_is_no_host_is_refused() {
        for pattern in
            ["*", "*.", "*.com", "", "https://docs.rs", "docs.rs/", "docs.rs:80", "*docs.rs", "a.*.b", ".docs.rs", "docs.rs.", "localhost"]
        {
            assert!(AllowedHosts::new(&[pattern.to_owned()]).is_err(), "{pattern}");
        }
    }
}
