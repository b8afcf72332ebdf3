//! `[mcp]`.

use crate::sha256_hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The `[mcp]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpSettings {
    /// MCP servers by a name that you choose: programs, or addresses.
    pub servers: BTreeMap<String, ServerConfig>,
}

/// One `[mcp.servers.NAME]`: a program, or an address.
#[derive(Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// The program: a bare name is looked up on the search path, a path is relative to the workspace's root.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The program's environment variables.
    pub env: BTreeMap<String, String>,
    /// Names of variables to pass on from Planwright's own environment; only in your own file.
    pub env_from: Vec<String>,
    /// The address: `https`, or `http` on this machine (elsewhere only without a key).
    pub url: Option<String>,
    /// The name of the variable that holds the key for the address; only in your own file.
    pub api_key_env: Option<String>,
    /// Whether to believe the server's `readOnlyHint`, which says that a tool only reads.
    pub trust_read_only: bool,
    /// Whether the program has network access.
    pub network: bool,
    /// Additional files and folders that the program may read.
    pub readable: Vec<PathBuf>,
    /// Whether to keep one process for all calls. It can't change the workspace.
    pub keep: bool,
    /// Timeout of one call in seconds (default 60, at most 1800).
    pub timeout_s: Option<u64>,
    /// Timeout in seconds for starting and listing tools (default 30).
    pub start_timeout_s: Option<u64>,
}

const USUAL_TIME: u64 = 60;
const USUAL_START: u64 = 30;

impl ServerConfig {
    /// Whether it receives variables of our own process.
    #[must_use]
    pub fn names_variables(&self) -> bool {
        !self.env_from.is_empty() || self.api_key_env.is_some()
    }

    /// The program and its arguments.
    #[must_use]
    pub fn command_line(&self) -> Option<Vec<String>> {
        self.command.as_ref().map(|command| std::iter::once(command).chain(&self.args).cloned().collect())
    }

    #[must_use]
    pub fn call_time(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(USUAL_TIME))
    }

    #[must_use]
    pub fn start_time(&self) -> Duration {
        Duration::from_secs(self.start_timeout_s.unwrap_or(USUAL_START))
    }

    /// The hash that the user accepts: the program and everything it is given, without the timeouts.
    #[must_use]
    pub fn sha256(&self) -> String {
        let whole = Self { timeout_s: None, start_timeout_s: None, ..self.clone() };
        sha256_hex(&serde_json::to_vec(&whole).unwrap_or_default())
    }

    /// The same for people, without the values of variables.
    #[must_use]
    pub fn public_view(&self) -> Value {
        let mut shown = serde_json::Map::new();
        if let Some(words) = self.command_line() {
            shown.insert("command".to_owned(), json!(words));
        }
        if let Some(url) = &self.url {
            shown.insert("url".to_owned(), json!(url));
        }
        let variables: Vec<&String> = self.env.keys().chain(&self.env_from).chain(&self.api_key_env).collect();
        if !variables.is_empty() {
            shown.insert("variables".to_owned(), json!(variables));
        }
        if !self.readable.is_empty() {
            shown.insert("readable".to_owned(), json!(self.readable));
        }
        for (key, is_set) in [("network", self.network), ("keep", self.keep), ("trust_read_only", self.trust_read_only)] {
            if is_set {
                shown.insert(key.to_owned(), json!(true));
            }
        }
        shown.into()
    }
}

/// Whether a host, as written in an address, is this machine.
#[must_use]
pub fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Hides the values of variables, which may be secrets.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.public_view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_is_all_that_is_run_and_no_value_of_a_variable_is_shown() {
        let server = |value: Value| serde_json::from_value::<ServerConfig>(value).unwrap();
        let first = server(json!({ "command": "a", "args": ["b"], "env": { "KEY": "hunter2" } }));
        for other in [
            json!({ "command": "a", "args": ["c"], "env": { "KEY": "hunter2" } }),
            json!({ "command": "a", "args": ["b"], "env": { "KEY": "hunter3" } }),
            json!({ "command": "a", "args": ["b"], "env": { "KEY": "hunter2" }, "network": true }),
            json!({ "command": "a", "args": ["b"], "env": { "KEY": "hunter2" }, "trust_read_only": true }),
        ] {
            assert_ne!(server(other.clone()).sha256(), first.sha256(), "{other}");
        }
        assert_eq!(ServerConfig { timeout_s: Some(5), ..first.clone() }.sha256(), first.sha256());
        let shown = format!("{:?} {}", first, first.public_view());
        assert!(shown.contains("KEY") && !shown.contains("hunter2"), "{shown}");
    }
}
