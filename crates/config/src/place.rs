//! Describes a mistake in a configuration file: place, key and reason. Never a value, which may be a secret in the wrong place.

use toml::de::{DeTable, DeValue};

/// `3:1: chat.default_mod: the reason`, to append to `FILE:`; the place as far as it is known.
pub(crate) fn describe(text: &str, error: &toml::de::Error) -> String {
    let why = reason(error.message());
    let Some(start) = error.span().map(|span| span.start).filter(|start| text.is_char_boundary(*start)) else { return format!(" {why}") };
    let (line, column) = place(text, start);
    let key = DeTable::parse(text).ok().and_then(|table| key_at(table.get_ref(), start)).map(|key| format!("{key}: ")).unwrap_or_default();
    format!("{line}:{column}: {key}{why}")
}

/// The same for a table of the file, by its keys.
pub(crate) fn of_key(text: &str, keys: &[&str], why: &str) -> String {
    let name = keys.join(".");
    let found = DeTable::parse(text).ok().and_then(|table| start_of(table.get_ref(), keys));
    match found.map(|start| place(text, start)) {
        Some((line, column)) => format!("{line}:{column}: {name}: {why}"),
        None => format!(" {name}: {why}"),
    }
}

fn start_of(table: &DeTable<'_>, keys: &[&str]) -> Option<usize> {
    let [first, rest @ ..] = keys else { return None };
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    match (rest, value.get_ref()) {
        ([], DeValue::Table(_)) => Some(value.span().start),
        ([], _) => Some(key.span().start),
        (_, DeValue::Table(below)) => start_of(below, rest),
        (_, _) => None,
    }
}

/// The parser's message, without the value.
pub(crate) fn reason(message: &str) -> String {
    if let Some(field) = ["api_key", "apikey", "key", "token"].iter().find(|field| message.starts_with(&format!("unknown field `{field}`")))
    {
        return format!("unknown field `{field}`; keys don't belong in files: set an environment variable and name it in `api_key_env`");
    }
    let about_a_value =
        ["invalid type", "invalid value", "invalid length", "unknown variant"].iter().find(|kind| message.starts_with(**kind));
    let (Some(kind), Some(wanted)) = (about_a_value, message.rfind(", expected ")) else { return message.to_owned() };
    format!("{kind}{}", &message[wanted..])
}

/// Line and column, from 1.
fn place(text: &str, start: usize) -> (usize, usize) {
    let before = &text[..start];
    (before.matches('\n').count() + 1, before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1)
}

/// The key at this position, or the key of the value there.
fn key_at(table: &DeTable<'_>, start: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let below = if let DeValue::Table(below) = value.get_ref() { key_at(below, start) } else { None };
        let here = key.span().contains(&start) || value.span().contains(&start);
        let name = key.get_ref();
        below.map(|below| format!("{name}.{below}")).or_else(|| here.then(|| name.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_quoted_in_no_reason() {
        for (message, expected) in [
            ("invalid type: string \"sk-1, expected x\", expected u64", "invalid type, expected u64"),
            ("unknown variant `sk-1`, expected `native` or `json`", "unknown variant, expected `native` or `json`"),
            ("invalid type: integer `1`, expected a boolean", "invalid type, expected a boolean"),
            ("unknown field `x`, expected one of `a`, `b`", "unknown field `x`, expected one of `a`, `b`"),
            ("missing field `kind`", "missing field `kind`"),
        ] {
            assert_eq!(reason(message), expected);
        }
        assert!(reason("unknown field `api_key`, expected one of `kind`").contains("api_key_env"));
    }
}
