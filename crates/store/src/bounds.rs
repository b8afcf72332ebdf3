//! How much is kept of what a row of the log tells: whoever makes a call chooses its arguments, and so their size.

use serde_json::{Map, Value};

/// In bytes of JSON.
const LARGEST: usize = 4096;
/// What texts are cut to, in characters, one after the other until all of it fits.
const LENGTHS: [usize; 3] = [1024, 256, 64];
/// Where there are too many parts, what each entry is cut to, as JSON.
const LENGTH_OF_AN_ENTRY: usize = 256;
/// Says how many bytes there were before something was left out.
const MARK: &str = "cut";

/// The details as JSON that is not too large, marked where something is left out.
pub(crate) fn bounded(details: &Value) -> String {
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

/// What has parts becomes the beginning of its JSON.
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
        let text = bounded(details);
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
