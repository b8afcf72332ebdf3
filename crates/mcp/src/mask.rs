//! Values that a server is given of our own environment, taken out of everything it says: most of them are keys.

use crate::offer::shown;
use planwright_protocol::settings::ServerConfig;
use serde_json::Value;

/// A shorter one says little, and would stand in every other word.
const SHORTEST: usize = 6;
/// Variables that hold no secret, and whose values stand in many a path and message.
const PLAIN: &[&str] =
    &["DISPLAY", "HOME", "HOSTNAME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// What is taken out, the longest first, and what is put there instead.
#[derive(Clone, Default)]
pub struct Mask(Vec<(String, String)>);

impl Mask {
    /// For what a server is given by `env_from` and `api_key_env`.
    #[must_use]
    pub fn of(config: &ServerConfig) -> Self {
        let names = config.env_from.iter().chain(&config.api_key_env);
        Self::new(names.filter_map(|name| Some((name.as_str(), std::env::var(name).ok()?))))
    }

    fn new<'n>(variables: impl Iterator<Item = (&'n str, String)>) -> Self {
        let mut values = Vec::new();
        for (name, value) in variables.filter(|(name, value)| !is_plain(name, value)) {
            let value = value.trim();
            // As it stands in JSON, too, where it has quotes or ends of lines.
            let quoted = Value::from(value).to_string();
            for form in [value, quoted.trim_matches('"')].into_iter().filter(|form| form.len() >= SHORTEST) {
                values.push((form.to_owned(), format!("[value of {name}]")));
            }
        }
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// A text without the values.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (value, instead)| if text.contains(value) { text.replace(value, instead) } else { text })
    }

    /// The same of a text whose beginning or end may have been cut off within a value.
    #[must_use]
    pub fn piece(&self, text: &str) -> String {
        let mut text = self.text(text);
        for (value, instead) in &self.0 {
            let places = || value.char_indices().map(|(place, _)| place);
            let tails = places().map(|place| &value[place..]).filter(|tail| tail.len() >= SHORTEST);
            if let Some(rest) = tails.into_iter().find_map(|tail| text.strip_prefix(tail)) {
                text = format!("{instead}{rest}");
            }
            let heads = places().rev().map(|place| &value[..place]).filter(|head| head.len() >= SHORTEST);
            if let Some(rest) = heads.into_iter().find_map(|head| text.strip_suffix(head)) {
                text = format!("{rest}{instead}");
            }
        }
        text
    }

    /// A text of a server for models and people.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        // Once more, because what hid between its characters is gone by then.
        self.text(&shown(&self.text(text)))
    }

    /// The same with all texts of it.
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

    fn mask(variables: &[(&'static str, &str)]) -> Mask {
        Mask::new(variables.iter().map(|(name, value)| (*name, (*value).to_owned())))
    }

    #[test]
    fn values_are_taken_out_of_texts_and_data_and_the_longest_goes_first() {
        let mask = mask(&[("SHORT", "secret"), ("LONG", "secret-and-more\n"), ("PEM", "line \"one\"\nline two"), ("TINY", "abc")]);
        assert_eq!(mask.text("a secret-and-more, a secret, abc"), "a [value of LONG], a [value of SHORT], abc");
        assert_eq!(mask.text(r#"{"k":"line \"one\"\nline two"}"#), r#"{"k":"[value of PEM]"}"#);
        let data = json!({ "secret": ["x secret", 7, { "a": "secret-and-more" }] });
        assert_eq!(mask.value(data), json!({ "[value of SHORT]": ["x [value of SHORT]", 7, { "a": "[value of LONG]" }] }));
        assert_eq!(mask.shown("s\u{200b}ecret"), "[value of SHORT]", "nor does it come back when what is hidden goes");
    }

    #[test]
    fn half_a_value_at_the_edge_of_a_text_is_taken_out_too() {
        let mask = mask(&[("KEY", "0123456789")]);
        assert_eq!(mask.piece("456789 was wrong"), "[value of KEY] was wrong");
        assert_eq!(mask.piece("it is 012345678"), "it is [value of KEY]");
        assert_eq!(mask.piece("789 and 01234"), "789 and 01234");
    }

    #[test]
    fn what_is_no_secret_is_left_where_it_stands() {
        let mask =
            mask(&[("HOME", "/home/somebody"), ("LC_ALL", "en_GB.UTF-8"), ("SOCKET", "/proc/self"), ("KEY", "/proc/self/no-such-key")]);
        assert_eq!(mask.text("/home/somebody/x en_GB.UTF-8 /proc/self/status"), "/home/somebody/x en_GB.UTF-8 /proc/self/status");
        assert_eq!(mask.text("/proc/self/no-such-key"), "[value of KEY]");
    }
}
