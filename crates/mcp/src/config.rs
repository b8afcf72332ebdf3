//! A server as the configuration has it.

use planwright_protocol::sha256_hex;
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
pub struct Config {
    /// Any number of MCP servers, by names of your own: programs, or addresses.
    pub servers: BTreeMap<String, ServerConfig>,
}

/// One `[mcp.servers.NAME]`: a program, or an address.
#[derive(Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// The program: a name is looked for on the search path, a path is taken from the workspace's root.
    pub command: Option<String>,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Variables of the program.
    pub env: BTreeMap<String, String>,
    /// Names of variables of Planwright's own environment that the program gets as well; in your own file alone.
    pub env_from: Vec<String>,
    /// The address: `https`, or `http` on this machine (elsewhere only without a key).
    pub url: Option<String>,
    /// The name of the variable that holds the key for the address; in your own file alone.
    pub api_key_env: Option<String>,
    /// Whether the server's word is taken (its `readOnlyHint`) that a tool only reads.
    pub trust_read_only: bool,
    /// Whether the program has the network.
    pub network: bool,
    /// More files and folders that the program may read.
    pub readable: Vec<PathBuf>,
    /// One process for all calls, in which the workspace can't be changed.
    pub keep: bool,
    /// Seconds for one call; 60 unless set, at most 1800.
    pub timeout_s: Option<u64>,
    /// Seconds for coming up and saying what it offers; 30 unless set.
    pub start_timeout_s: Option<u64>,
}

const USUAL_TIME: u64 = 60;
const USUAL_START: u64 = 30;
const LONGEST_TIME: u64 = 1800;
/// With the name of a tool it has to fit into what models may call.
const LONGEST_NAME: usize = 32;

impl Config {
    /// # Errors
    /// Which server is wrong, and in what.
    pub fn check(&self) -> Result<(), String> {
        let mut folded: BTreeMap<String, &str> = BTreeMap::new();
        for (name, server) in &self.servers {
            check_name(name).and_then(|()| server.check()).map_err(|why| format!("[mcp.servers.{name}] {why}"))?;
            if let Some(other) = folded.insert(name.to_lowercase().replace('-', "_"), name) {
                return Err(format!("[mcp.servers.{name}] looks too much like [mcp.servers.{other}]; give it another name"));
            }
        }
        Ok(())
    }
}

/// No name may be read as another name and the beginning of a tool's.
fn check_name(name: &str) -> Result<(), String> {
    let fits = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && !name.contains("__")
        && !name.starts_with(['_', '-'])
        && !name.ends_with('_');
    let why = format!(
        "the name has at most {LONGEST_NAME} of a-z, A-Z, 0-9, - and _, begins with a letter or digit, and has no two _ in a row or at its end"
    );
    if fits { Ok(()) } else { Err(why) }
}

impl ServerConfig {
    fn check(&self) -> Result<(), String> {
        let own = |words: &str| Err(words.to_owned());
        match (&self.command, &self.url) {
            (None, None) => return own("has neither `command` nor `url`; say what to run, or where it is"),
            (Some(_), Some(_)) => return own("has both `command` and `url`; a server has one of them"),
            (Some(command), None) if command.trim().is_empty() => return own("`command` is empty"),
            (Some(_), None) if self.api_key_env.is_some() => {
                return own("`api_key_env` is for servers with a `url`; a program gets a variable by `env_from`");
            }
            (None, Some(_)) if self.is_about_program() => {
                return own("`args`, `env`, `env_from`, `network`, `readable` and `keep` are for servers with a `command`");
            }
            (None, Some(url)) => self.check_address(url)?,
            (Some(_), None) => {}
        }
        if self.readable.iter().any(|path| !path.is_absolute()) {
            return own("`readable` has a path that is not a full one");
        }
        let names = self.env.keys().chain(&self.env_from).chain(&self.api_key_env);
        if names.into_iter().any(|name| name.is_empty() || name.contains(['=', '\0']) || name.starts_with("PLANWRIGHT_")) {
            return own("names a variable that can't be passed on");
        }
        let all = std::iter::once(&self.command).flatten().chain(&self.args).chain(self.env.values());
        if all.into_iter().any(|word| word.contains('\0')) {
            return own("has a NUL in what is to be run");
        }
        for (key, value) in [("timeout_s", self.timeout_s), ("start_timeout_s", self.start_timeout_s)] {
            if value.is_some_and(|seconds| !(1..=LONGEST_TIME).contains(&seconds)) {
                return Err(format!("`{key}` must be between 1 and {LONGEST_TIME}"));
            }
        }
        Ok(())
    }

    fn is_about_program(&self) -> bool {
        let Self { args, env, env_from, network, readable, keep, .. } = self;
        !args.is_empty() || !env.is_empty() || !env_from.is_empty() || *network || !readable.is_empty() || *keep
    }

    fn check_address(&self, address: &str) -> Result<(), String> {
        let url = reqwest::Url::parse(address).map_err(|_| "`url` is not an address")?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        if !is_web || !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err("`url` must be an http or https address without a user, a password or `#`".to_owned());
        }
        if self.api_key_env.is_some() && url.scheme() == "http" && !is_this_machine(&url) {
            return Err("would send a key without encryption; use https".to_owned());
        }
        Ok(())
    }

    /// Whether it is given variables of our own process.
    #[must_use]
    pub fn names_variables(&self) -> bool {
        !self.env_from.is_empty() || self.api_key_env.is_some()
    }

    /// The program and its arguments.
    #[must_use]
    pub fn words(&self) -> Option<Vec<String>> {
        self.command.as_ref().map(|command| std::iter::once(command).chain(&self.args).cloned().collect())
    }

    pub(crate) fn call_time(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(USUAL_TIME))
    }

    pub(crate) fn start_time(&self) -> Duration {
        Duration::from_secs(self.start_timeout_s.unwrap_or(USUAL_START))
    }

    /// What the user accepts: everything about what is started and what it is given. Times are not part of it.
    #[must_use]
    pub fn sha256(&self) -> String {
        let whole = Self { timeout_s: None, start_timeout_s: None, ..self.clone() };
        sha256_hex(&serde_json::to_vec(&whole).unwrap_or_default())
    }

    /// The same for people, without the values of variables.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut shown = serde_json::Map::new();
        if let Some(words) = self.words() {
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

pub(crate) fn is_this_machine(url: &reqwest::Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// Values of variables may be secrets.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(name: &str, server: Value) -> Result<(), String> {
        let server = serde_json::from_value(server).unwrap();
        Config { servers: BTreeMap::from([(name.to_owned(), server)]) }.check()
    }

    #[test]
    fn a_server_is_a_program_or_an_address_and_says_what_is_wrong_with_it() {
        assert_eq!(checked("notes", json!({ "command": "notes", "args": ["-v"], "env": { "A": "b" } })), Ok(()));
        assert_eq!(checked("notes", json!({ "url": "https://notes.example/mcp", "api_key_env": "NOTES_KEY" })), Ok(()));
        assert_eq!(checked("notes", json!({ "url": "http://127.0.0.1:9/mcp", "api_key_env": "NOTES_KEY" })), Ok(()));
        for (server, part) in [
            (json!({}), "neither"),
            (json!({ "command": "a", "url": "http://x" }), "both"),
            (json!({ "command": " " }), "empty"),
            (json!({ "command": "a", "api_key_env": "X" }), "env_from"),
            (json!({ "url": "http://x", "args": ["a"] }), "for servers with a `command`"),
            (json!({ "url": "ftp://x" }), "http or https"),
            (json!({ "url": "https://user:word@x/" }), "without a user"),
            (json!({ "url": "http://notes.example/mcp", "api_key_env": "X" }), "encryption"),
            (json!({ "command": "a", "readable": ["b"] }), "full one"),
            (json!({ "command": "a", "env_from": ["PLANWRIGHT_TOKEN"] }), "can't be passed on"),
            (json!({ "command": "a", "timeout_s": 0 }), "timeout_s"),
        ] {
            let why = checked("notes", server.clone()).unwrap_err();
            assert!(why.starts_with("[mcp.servers.notes] ") && why.contains(part), "{server}: {why}");
        }
    }

    #[test]
    fn no_name_can_be_read_as_another_one() {
        for name in ["a", "a-b", "a_b", "A1"] {
            assert_eq!(checked(name, json!({ "command": "x" })), Ok(()), "{name}");
        }
        for name in ["", "a__b", "_a", "-a", "a_", "ä", "a b", "a.b", &"a".repeat(33)] {
            assert!(checked(name, json!({ "command": "x" })).is_err(), "{name}");
        }
        let server = ServerConfig { command: Some("x".to_owned()), ..ServerConfig::default() };
        let both = Config { servers: BTreeMap::from([("Notes".to_owned(), server.clone()), ("notes".to_owned(), server)]) };
        assert!(both.check().unwrap_err().contains("looks too much like"));
    }

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
        let shown = format!("{:?} {}", first, first.shown());
        assert!(shown.contains("KEY") && !shown.contains("hunter2"), "{shown}");
    }
}
