//! `.planwright/config.toml` of a workspace, merged over the user's own configuration.
//!
//! Whoever can write to a repository can write this file. Stricter settings apply at once. Settings that would allow, run or
//! spend more need the user's trust; in `[approvals]`, `[sandbox]` and `[policy]` they never apply.

use crate::config::Config;
use crate::mcp;
use crate::place::{describe, reason};
use planwright_protocol::api::workspace::TrustItem;
use planwright_protocol::settings::{DefaultMode, IntentClassifier, IntentSwitch, ServerConfig};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

pub const PATH: &str = ".planwright/config.toml";

/// Maximum number of settings in a file. Each one is checked together with all others, so the cost grows with the square.
const MAX_SETTINGS: usize = 256;

/// The user's configuration merged with a workspace's file.
pub struct Effective {
    pub config: Config,
    /// Items that need the user's trust, whether or not they apply.
    pub items: Vec<TrustItem>,
    /// What is ignored, and why.
    pub warnings: Vec<String>,
    /// MCP servers that need the user's trust.
    pub waiting: BTreeMap<String, ServerConfig>,
}

/// Whether the user accepted the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Obeyed {
    /// Only stricter settings apply.
    Strictness,
    All,
}

/// # Errors
/// The mistake, with file, line and key.
pub fn lay_over(user: &Config, text: &str, obeyed: Obeyed) -> Result<Effective, String> {
    let mut table = user.table.clone();
    let (mut items, mut warnings, mut waiting) = (Vec::new(), Vec::new(), BTreeMap::new());
    for entry in entries(text)? {
        let place = format!("{PATH}:{}: {}", entry.line, entry.key());
        let mut candidate = table.clone();
        set(&mut candidate, &entry.keys, entry.value.clone());
        let config = match Config::of(candidate.clone(), user.vendors.clone()) {
            Ok(config) => config,
            Err(error) if !entry.is_guard() && error.starts_with("unknown field") => {
                warnings.push(format!("{place} is not a setting and is ignored: {}", reason(&error)));
                continue;
            }
            // A malformed server is not started, and nothing depends on it.
            Err(error) if entry.is_of_servers() => {
                warnings.push(format!("{place} is ignored: {}", reason(&error)));
                continue;
            }
            Err(error) => return Err(format!("{place}: {}", reason(&error))),
        };
        if let Err(why) = mcp::check(&config.mcp).map_err(|why| format!("{place} is ignored: {why}")) {
            warnings.push(why);
            continue;
        }
        if ["retention", "cluster"].contains(&entry.keys[0].as_str()) {
            warnings.push(format!("{place} is ignored: only your own configuration may set it"));
            continue;
        }
        let strict = is_as_strict(&entry, &config, user);
        if entry.is_guard() && !strict {
            warnings.push(format!("{place} is ignored: it would allow more than your own configuration does"));
            continue;
        }
        if let Some((_, server)) = entry.server(&config).filter(|(_, server)| server.names_variables()) {
            let variable = if server.url.is_some() { "api_key_env" } else { "env_from" };
            warnings
                .push(format!("{place} is ignored: {variable} would pass on your environment, which only your own configuration may do"));
            continue;
        }
        if entry.keys[0] == "web"
            && config.web.search != user.web.search
            && config.web.search.as_ref().is_some_and(|search| search.api_key_env.is_some())
        {
            warnings
                .push(format!("{place} is ignored: api_key_env would pass on your environment, which only your own configuration may do"));
            continue;
        }
        if !strict {
            items.push(entry.item());
        }
        if !strict && obeyed == Obeyed::Strictness {
            waiting.extend(entry.server(&config));
        }
        if strict || obeyed == Obeyed::All {
            config.check().map_err(|error| format!("{place}: {error:#}"))?;
            table = candidate;
        }
    }
    let config = Config::of(table, user.vendors.clone()).map_err(|error| format!("{PATH}: {}", reason(&error)))?;
    Ok(Effective { config, items, warnings, waiting })
}

/// One setting of the file.
struct Entry {
    keys: Vec<String>,
    line: usize,
    value: Value,
}

impl Entry {
    fn key(&self) -> String {
        self.keys.join(".")
    }

    /// Whether it is about permissions, where a typing mistake must not pass as a rule.
    fn is_guard(&self) -> bool {
        matches!(self.keys[0].as_str(), "approvals" | "sandbox" | "policy")
    }

    fn is_of_servers(&self) -> bool {
        self.keys[0] == "mcp"
    }

    /// The MCP server that it belongs to.
    fn server(&self, config: &Config) -> Option<(String, ServerConfig)> {
        let [first, second, name] = &self.keys[..] else { return None };
        let server = config.mcp.servers.get(name).filter(|_| first == "mcp" && second == "servers")?;
        Some((name.clone(), server.clone()))
    }

    fn item(&self) -> TrustItem {
        let kind = match self.keys[0].as_str() {
            "models" => "model",
            "providers" => "provider",
            "mcp" => "mcp_server",
            _ => "setting",
        };
        let value = serde_json::to_value(&self.value).unwrap_or_default();
        TrustItem { kind: kind.to_owned(), key: self.key(), value, line: Some(self.line), sha256: None }
    }
}

/// Whether the configuration with this entry allows, runs and spends no more than the user's own. Unknown settings do not
/// qualify: a new setting needs trust until somebody has added it here.
fn is_as_strict(entry: &Entry, config: &Config, user: &Config) -> bool {
    let keys: Vec<&str> = entry.keys.iter().map(String::as_str).collect();
    match keys[..] {
        ["approvals", ..] => config.approvals.are_as_strict_as(&user.approvals),
        ["sandbox", ..] => config.sandbox.is_as_strict_as(&user.sandbox),
        ["policy", ..] => config.policy.is_as_strict_as(user.policy),
        ["chat", "intent_classifier"] => [IntentClassifier::Off, user.chat.intent_classifier].contains(&config.chat.intent_classifier),
        ["chat", "default_mode"] => reach_of_mode(config.chat.default_mode) <= reach_of_mode(user.chat.default_mode),
        ["chat", "intent_switch"] => reach_of_switch(config.chat.intent_switch) <= reach_of_switch(user.chat.intent_switch),
        ["files", "secrets"] => user.files.secrets.iter().all(|pattern| config.files.secrets.contains(pattern)),
        ["web", "allow"] => config.web.allow.iter().all(|host| user.web.allow.contains(host)),
        ["web", "search"] => config.web.search == user.web.search,
        ["limits", "turns"] => config.limits.turns <= user.limits.turns,
        ["limits", "cost"] => config.limits.cost <= user.limits.cost,
        _ => false,
    }
}

/// How much happens without the user's confirmation.
fn reach_of_mode(mode: DefaultMode) -> u8 {
    match mode {
        DefaultMode::Plan => 0,
        DefaultMode::Auto => 1,
        DefaultMode::Act => 2,
    }
}

fn reach_of_switch(switch: IntentSwitch) -> u8 {
    match switch {
        IntentSwitch::Off => 0,
        IntentSwitch::Suggest => 1,
        IntentSwitch::Switch => 2,
    }
}

/// The settings of a file in order: `section.key`, or one level deeper for rules by tool and servers by name.
fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let line = |start: usize| text[..start].matches('\n').count() + 1;
    let broken = |error: toml::de::Error| format!("{PATH}:{}", describe(text, &error));
    let values: Table = toml::from_str(text).map_err(broken)?;
    let spans = DeTable::parse(text).map_err(broken)?;
    let mut found = Vec::new();
    let mut count = 0;
    collect(spans.get_ref(), &values, &mut Vec::new(), &mut |_, _, _| count += 1);
    if count > MAX_SETTINGS {
        return Err(format!("{PATH} has {count} settings, and at most {MAX_SETTINGS} are read. Remove some."));
    }
    collect(spans.get_ref(), &values, &mut Vec::new(), &mut |keys, start, value| {
        found.push(Entry { keys: keys.to_vec(), line: line(start), value: value.clone() });
    });
    found.sort_by_key(|entry| entry.line);
    Ok(found)
}

fn collect(spans: &DeTable<'_>, values: &Table, above: &mut Vec<String>, found: &mut impl FnMut(&[String], usize, &Value)) {
    for (key, span) in spans {
        let Some(value) = values.get(key.get_ref().as_ref()) else { continue };
        above.push(key.get_ref().to_string());
        let is_section = above.len() == 1 || matches!(above.join(".").as_str(), "approvals.tools" | "mcp.servers");
        match (span.get_ref(), value) {
            (DeValue::Table(spans), Value::Table(values)) if is_section && !values.is_empty() => collect(spans, values, above, found),
            _ => found(above, key.span().start, value),
        }
        above.pop();
    }
}

/// Sets a value at the path of its keys, replacing anything in the way; the types are checked later.
fn set(table: &mut Table, keys: &[String], value: Value) {
    let [first, rest @ ..] = keys else { return };
    if rest.is_empty() {
        table.insert(first.clone(), value);
        return;
    }
    let below = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(below) = below {
        set(below, rest, value);
    }
}

#[cfg(test)]
mod tests;
