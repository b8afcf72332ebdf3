//! A home with servers in its configuration.

use crate::home;
use planwright_testkit::server::{Home, Server};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The workspace's own configuration.
pub const FILE: &str = ".planwright/config.toml";

/// The folder of the servers.
pub fn servers() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp/tests/servers")).canonicalize().unwrap()
}

/// A server of others, which `make test` installs.
pub fn counterpart(name: &str) -> String {
    let script = servers().join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    assert!(script.is_file(), "{} is missing; scripts/mcp-servers installs it", script.display());
    script.to_str().unwrap().to_owned()
}

/// `[mcp.servers.NAME]` for a script of node.
pub fn node(name: &str, words: &[&str], more: &str) -> String {
    format!("[mcp.servers.{name}]\ncommand = \"node\"\nargs = {}\n{more}\n", json!(words))
}

/// The hostile server, under the name `h`.
pub fn hostile(words: &[&str], more: &str) -> String {
    let script = servers().join("hostile.mjs");
    node("h", &[&[script.to_str().unwrap()], words].concat(), more)
}

/// A home whose user configured these servers; the model says little.
pub fn configured(config: &str) -> Home {
    let home = home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }));
    home.put_config(config);
    home
}

pub async fn workspace(server: &Server) -> String {
    format!("/workspaces/{}", server.get("/workspaces").await[0]["id"].as_str().unwrap())
}

/// A call of the user's, in either mode.
pub async fn call(server: &Server, mode: &str, tool: &str, args: Value) -> Value {
    let body = json!({ "tool": tool, "args": args, "config": { "plan_mode": mode == "plan" } });
    let (status, answer) = server.post(&format!("{}/tools", workspace(server).await), body).await;
    assert_eq!(status, StatusCode::OK, "{tool}: {answer}");
    answer
}

/// What such a call gives back.
pub async fn output(server: &Server, mode: &str, tool: &str, args: Value) -> String {
    let answer = call(server, mode, tool, args).await;
    assert_eq!(answer["success"], true, "{tool}: {answer}");
    answer["result"]["output"].as_str().unwrap_or_default().to_owned()
}

pub fn code(answer: &Value) -> &str {
    assert_eq!(answer["success"], false, "{answer}");
    answer["error"]["code"].as_str().unwrap()
}

/// The servers, started and asked.
pub async fn checked(server: &Server) -> Value {
    let (status, reports) = server.post(&format!("{}/mcp", workspace(server).await), json!({})).await;
    assert_eq!(status, StatusCode::OK, "{reports}");
    reports
}

/// The names of the tools that a server offers.
pub fn offered(report: &Value) -> Vec<&str> {
    report["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Processes whose command line has all of these words.
pub fn processes(words: &[&str]) -> usize {
    let lines = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    let is_node = |line: &str| line.split(' ').next().is_some_and(|program| program.ends_with("node"));
    lines.filter(|line| is_node(line) && words.iter().all(|word| line.contains(word))).count()
}
