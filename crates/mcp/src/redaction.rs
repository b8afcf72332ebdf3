//! Redaction: removes values of our own environment that a server was given from everything it sends. Most of them are keys.

use crate::tool_catalog::shown;
use planwright_protocol::settings::ServerConfig;
use serde_json::Value;

/// Shorter values are hardly secret and would match everywhere.
const MIN_SECRET: usize = 6;
/// Variables without secrets, whose values occur in many paths and messages.
const PLAIN: &[&str] =
    &["DISPLAY", "HOME", "HOSTNAME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// The values to remove, the longest first, and their replacements.
#[derive(Clone, Default)]
pub struct Redaction(Vec<(String, String)>);

impl Redaction {
    /// For the values that a server gets by `env_from` and `api_key_env`.
    #[must_use]
    pub fn of(config: &ServerConfig) -> Self {
        let names = config.env_from.iter().chain(&config.api_key_env);
        Self::new(names.filter_map(|name| Some((name.as_str(), std::env::var(name).ok()?))))
    }

    fn new<'n>(variables: impl Iterator<Item = (&'n str, String)>) -> Self {
        let mut values = Vec::new();
        for (name, value) in variables.filter(|(name, value)| !is_plain(name, value)) {
            let value = value.trim();
            // Also in its JSON form, if it contains quotes or line breaks.
            let quoted = Value::from(value).to_string();
            for form in [value, quoted.trim_matches('"')].into_iter().filter(|form| form.len() >= MIN_SECRET) {
                values.push((form.to_owned(), format!("[value of {name}]")));
            }
        }
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// The text without the values.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (value, instead)| if text.contains(value) { text.replace(value, instead) } else { text })
    }

    /// The same for a text that may begin or end inside a value.
    #[must_use]
    pub fn piece(&self, text: &str) -> String {
        let mut text = self.text(text);
        for (value, instead) in &self.0 {
            let places = || value.char_indices().map(|(place, _)| place);
            let tails = places().map(|place| &value[place..]).filter(|tail| tail.len() >= MIN_SECRET);
            if let Some(rest) = tails.into_iter().find_map(|tail| text.strip_prefix(tail)) {
                text = format!("{instead}{rest}");
            }
            let heads = places().rev().map(|place| &value[..place]).filter(|head| head.len() >= MIN_SECRET);
            if let Some(rest) = heads.into_iter().find_map(|head| text.strip_suffix(head)) {
                text = format!("{rest}{instead}");
            }
        }
        text
    }

    /// A server's text for models and people.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        // Redacted again, because removing hidden characters may reveal a value.
        self.text(&shown(&self.text(text)))
    }

    /// The same for all strings of a JSON value.
    #[must_use]
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(values) => Value::Array(values.into_iter().map(|value| self.value(value)).collect()),
            Value::Object(object) => Value::Object(object.into_iter().map(|(key, value)| (self.text(&key), self.value(value))).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_plain(name: &str, value: &str) -> bool {
    let is_place = || value.starts_with('/') && std::path::Path::new(value).exists();
    PLAIN.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_") || is_place()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redaction(variables: &[(&'static str, &str)]) -> Redaction {
        Redaction::new(variables.iter().map(|(name, value)| (*name, (*value).to_owned())))
    }

    #[test]
    fn values_are_taken_out_of_texts_and_data_and_the_longest_goes_first() {
        let redaction =
            redaction(&[("SHORT", "secret"), ("LONG", "secret-and-more\n"), ("PEM", "line \"one\"\nline two"), ("TINY", "abc")]);
        assert_eq!(redaction.text("a secret-and-more, a secret, abc"), "a [value of LONG], a [value of SHORT], abc");
        assert_eq!(redaction.text(r#"{"k":"line \"one\"\nline two"}"#), r#"{"k":"[value of PEM]"}"#);
        let data = json!({ "secret": ["x secret", 7, { "a": "secret-and-more" }] });
        assert_eq!(redaction.value(data), json!({ "[value of SHORT]": ["x [value of SHORT]", 7, { "a": "[value of LONG]" }] }));
        assert_eq!(redaction.shown("s\u{200b}ecret"), "[value of SHORT]", "nor does it come back when what is hidden goes");
    }

    #[test]
    fn half_a_value_at_the_edge_of_a_text_is_taken_out_too() {
        let redaction = redaction(&[("KEY", "0123456789")]);
        assert_eq!(redaction.piece("456789 was wrong"), "[value of KEY] was wrong");
        assert_eq!(redaction.piece("it is 012345678"), "it is [value of KEY]");
        assert_eq!(redaction.piece("789 and 01234"), "789 and 01234");
    }

    #[test]
    fn what_is_no_secret_is_left_where_it_stands() {
        let redaction = redaction(&[
            ("HOME", "/home/somebody"),
            ("LC_ALL", "en_GB.UTF-8"),
            ("SOCKET", "/proc/self"),
            ("KEY", "/proc/self/no-such-key"),
        ]);
        assert_eq!(redaction.text("/home/somebody/x en_GB.UTF-8 /proc/self/status"), "/home/somebody/x en_GB.UTF-8 /proc/self/status");
        assert_eq!(redaction.text("/proc/self/no-such-key"), "[value of KEY]");
    }
}
