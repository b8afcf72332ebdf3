//! The bytes of a call's arguments: as written, from base64, or made.

use super::{Case, Fixture};
use serde_json::{Map, Value};

impl Case {
    /// The arguments as they arrive at the tool.
    #[must_use]
    pub fn arguments(&self, fixture: &Fixture) -> Vec<u8> {
        if let Some(text) = &self.raw_args {
            return text.clone().into_bytes();
        }
        if let Some(text) = &self.raw_args_b64 {
            return base64(text);
        }
        if let Some(nested) = &self.raw_args_gen {
            return ["[".repeat(nested.depth), "]".repeat(nested.depth)].concat().into_bytes();
        }
        made(&self.args, fixture).to_string().into_bytes()
    }
}

/// The value with its variables named and its `…_gen` fields carried out.
fn made(value: &Value, fixture: &Fixture) -> Value {
    match value {
        Value::String(text) => fixture.named(text).into(),
        Value::Array(values) => values.iter().map(|value| made(value, fixture)).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, value)| match (key.strip_suffix("_gen"), value) {
                    (Some(key), Value::Object(recipe)) => (key.to_owned(), repeated(recipe).into()),
                    _ => (key.clone(), made(value, fixture)),
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// `{"byte": "A", "size": 3}` is `AAA`.
fn repeated(recipe: &Map<String, Value>) -> String {
    let size = recipe.get("size").and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok()).unwrap_or_default();
    recipe.get("byte").and_then(Value::as_str).unwrap_or("a").repeat(size)
}

/// Decodes standard base64.
///
/// # Panics
/// On anything that is not base64: the cases are part of the crate.
#[must_use]
pub fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut length) = (0_u32, 0);
    for byte in text.bytes().filter(|&byte| byte != b'=') {
        let Some(digit) = ALPHABET.iter().position(|&letter| letter == byte) else { panic!("{text:?} is not base64") };
        bits = bits << 6 | u32::try_from(digit).unwrap_or_default();
        length += 6;
        if length >= 8 {
            length -= 8;
            bytes.extend(u8::try_from(bits >> length & 0xff));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_gives_the_bytes_back() {
        assert_eq!(base64("Y2Fm6QoA/w=="), b"caf\xe9\n\0\xff");
        assert_eq!(base64("77u/YQ=="), b"\xef\xbb\xbfa");
    }

    #[test]
    fn sizes_are_carried_out() {
        let recipe = serde_json::json!({"kind": "repeat", "byte": "B", "size": 4});
        assert_eq!(repeated(recipe.as_object().unwrap()), "BBBB");
    }
}
