//! Limits the size of an audit row's details: the caller of a tool chooses its arguments, and so their size.

use serde_json::{Map, Value};

/// Maximum size, in bytes of JSON.
const LARGEST: usize = 4096;
/// Maximum lengths of texts, in characters. Applied one after the other until the details fit.
const LENGTHS: [usize; 3] = [1024, 256, 64];
/// Maximum length of each entry as JSON, if there are too many parts.
const LENGTH_OF_AN_ENTRY: usize = 256;
/// The key with the original size in bytes, if something was cut.
const MARK: &str = "cut";

/// The details as JSON within the limit, marked if something was cut.
pub(crate) fn limit_details(details: &Value) -> String {
    let whole = details.to_string();
    if whole.len() <= LARGEST {
        return whole;
    }
    let marked = |mut entries: Map<String, Value>| {
        entries.insert(MARK.to_owned(), whole.len().into());
        Some(Value::Object(entries).to_string()).filter(|text| text.len() <= LARGEST)
    };
    let nothing = Map::new();
    let entries = details.as_object().unwrap_or(&nothing);
    let shorter = LENGTHS.iter().find_map(|&length| marked(map(entries, |value| shortened(value, length))));
    let texts = || marked(map(entries, |value| as_text(value, LENGTH_OF_AN_ENTRY)));
    shorter.or_else(texts).or_else(|| marked(Map::new())).unwrap_or_default()
}

fn map(entries: &Map<String, Value>, change: impl Fn(&Value) -> Value) -> Map<String, Value> {
    entries.iter().map(|(key, value)| (key.clone(), change(value))).collect()
}

fn shortened(value: &Value, length: usize) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text, length)),
        Value::Array(values) => values.iter().map(|value| shortened(value, length)).collect(),
        Value::Object(entries) => Value::Object(map(entries, |value| shortened(value, length))),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Replaces an array or object by the beginning of its JSON.
fn as_text(value: &Value, length: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => Value::String(cut(&value.to_string(), length)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => shortened(value, length),
    }
}

fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(details: &Value) -> Value {
        let text = limit_details(details);
        assert!(text.len() <= LARGEST, "{}", text.len());
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let details = json!({ "tool": "write", "args": { "path": "/a", "content": "x".repeat(3000) } });
        assert_eq!(read(&details), details);
    }

    #[test]
    fn a_long_text_is_cut_and_the_rest_stays() {
        let details = json!({ "tool": "write", "code": "PROTECTED_PATH", "args": { "path": "/a", "content": "é".repeat(1_900_000) } });
        let kept = read(&details);
        assert_eq!((&kept["tool"], &kept["code"], &kept["args"]["path"]), (&json!("write"), &json!("PROTECTED_PATH"), &json!("/a")));
        assert_eq!(kept["cut"], details.to_string().len());
        let content = kept["args"]["content"].as_str().unwrap();
        assert!(content.ends_with('…') && content.chars().count() == 1025, "{content}");
    }

    #[test]
    fn too_many_parts_and_keys_without_end_are_cut_too() {
        let many: Vec<Value> = (0..100_000).map(Value::from).collect();
        for args in [json!(many), json!({ "k".repeat(50_000): 1 }), json!({ "a": { "\u{0}".repeat(9_000): "\u{0}".repeat(9_000) } })] {
            let kept = read(&json!({ "tool": "ls", "args": args }));
            assert!(kept["cut"].is_number() && kept["tool"] == "ls", "{kept}");
        }
        assert!(read(&json!({ "k".repeat(50_000): 1 }))["cut"].is_number());
        assert!(read(&json!("x".repeat(50_000)))["cut"].is_number());
        assert!(read(&json!({ "tool": "x".repeat(200_000), "args": {} }))["tool"].as_str().unwrap().starts_with("xxx"));
    }
}
