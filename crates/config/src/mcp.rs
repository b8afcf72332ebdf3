//! Validates an MCP server of the configuration.

use planwright_protocol::settings::{McpSettings, ServerConfig, is_loopback_host};
use std::collections::BTreeMap;

const LONGEST_TIME: u64 = 1800;
/// Together with a tool's name, it must fit into the names that models can call.
const LONGEST_NAME: usize = 32;

/// # Errors
/// Which server is invalid, and why.
pub fn check(settings: &McpSettings) -> Result<(), String> {
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    for (name, server) in &settings.servers {
        check_name(name).and_then(|()| check_server(server)).map_err(|why| format!("[mcp.servers.{name}] {why}"))?;
        if let Some(other) = folded.insert(name.to_lowercase().replace('-', "_"), name) {
            return Err(format!("[mcp.servers.{name}] is too similar to [mcp.servers.{other}]; choose another name"));
        }
    }
    Ok(())
}

/// No name may be readable as another name plus the beginning of a tool's name.
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

fn check_server(server: &ServerConfig) -> Result<(), String> {
    let own = |words: &str| Err(words.to_owned());
    match (&server.command, &server.url) {
        (None, None) => return own("has neither `command` nor `url`; name the program to run, or the address"),
        (Some(_), Some(_)) => return own("has both `command` and `url`; a server has only one of them"),
        (Some(command), None) if command.trim().is_empty() => return own("`command` is empty"),
        (Some(_), None) if server.api_key_env.is_some() => {
            return own("`api_key_env` is for servers with a `url`; a program gets a variable by `env_from`");
        }
        (None, Some(_)) if is_about_program(server) => {
            return own("`args`, `env`, `env_from`, `network`, `readable` and `keep` are for servers with a `command`");
        }
        (None, Some(url)) => check_address(server, url)?,
        (Some(_), None) => {}
    }
    if server.readable.iter().any(|path| !path.is_absolute()) {
        return own("`readable` contains a path that is not absolute");
    }
    let names = server.env.keys().chain(&server.env_from).chain(&server.api_key_env);
    if names.into_iter().any(|name| name.is_empty() || name.contains(['=', '\0']) || name.starts_with("PLANWRIGHT_")) {
        return own("names a variable that can't be passed to a program");
    }
    let all = std::iter::once(&server.command).flatten().chain(&server.args).chain(server.env.values());
    if all.into_iter().any(|word| word.contains('\0')) {
        return own("contains a NUL character in the command");
    }
    for (key, value) in [("timeout_s", server.timeout_s), ("start_timeout_s", server.start_timeout_s)] {
        if value.is_some_and(|seconds| !(1..=LONGEST_TIME).contains(&seconds)) {
            return Err(format!("`{key}` must be between 1 and {LONGEST_TIME}"));
        }
    }
    Ok(())
}

fn is_about_program(server: &ServerConfig) -> bool {
    let ServerConfig { args, env, env_from, network, readable, keep, .. } = server;
    !args.is_empty() || !env.is_empty() || !env_from.is_empty() || *network || !readable.is_empty() || *keep
}

fn check_address(server: &ServerConfig, address: &str) -> Result<(), String> {
    let url = url::Url::parse(address).map_err(|_| "`url` is not an address")?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    if !is_web || !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("`url` must be an http or https address without a user, a password or `#`".to_owned());
    }
    if server.api_key_env.is_some() && url.scheme() == "http" && !url.host_str().is_some_and(is_loopback_host) {
        return Err("would send a key without encryption; use https".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn checked(name: &str, server: Value) -> Result<(), String> {
        let server = serde_json::from_value(server).unwrap();
        check(&McpSettings { servers: BTreeMap::from([(name.to_owned(), server)]) })
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
            (json!({ "command": "a", "readable": ["b"] }), "not absolute"),
            (json!({ "command": "a", "env_from": ["PLANWRIGHT_TOKEN"] }), "can't be passed to a program"),
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
        let both = McpSettings { servers: BTreeMap::from([("Notes".to_owned(), server.clone()), ("notes".to_owned(), server)]) };
        assert!(check(&both).unwrap_err().contains("is too similar to"));
    }
}
