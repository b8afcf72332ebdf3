//! Which field a schema gets.

use super::field::{Choice, Field, FieldInput};
use crate::text_field::{Lines, TextField};
use serde_json::Value;

/// Beyond this length a text gets several lines.
const LONG_TEXT: u64 = 120;
const DEEPEST: usize = 4;

pub(super) struct Place {
    pub path: Vec<String>,
    pub label: String,
    pub is_required: bool,
}

pub(super) fn add_fields(fields: &mut Vec<Field>, place: Place, schema: &Value, root: &Value, depth: usize) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| depth < DEEPEST) {
        let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
        for (index, (name, inner)) in properties.iter().enumerate() {
            let inner = resolved(inner, root);
            let title = inner.get("title").and_then(Value::as_str).unwrap_or(name);
            let label = if index == 0 && depth == 0 { format!("{}\n{title}", place.label) } else { title.to_owned() };
            let path = [place.path.clone(), vec![name.clone()]].concat();
            add_fields(fields, Place { path, label, is_required: place.is_required && required(name) }, &inner, root, depth + 1);
        }
        return;
    }
    let hint = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Place { path, label, is_required } = place;
    let mut field = Field { path, label, hint, is_required, input: input(schema, root), error: None, schema: schema.clone() };
    if let Some(default) = schema.get("default") {
        field.input.set(default);
    }
    fields.push(field);
}

/// Follows a reference within the document; any other stays, and gets the JSON editor.
pub(super) fn resolved(schema: &Value, root: &Value) -> Value {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(found) => schema = found,
            None => break,
        }
    }
    schema.clone()
}

fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let plain = |value: &Value| Choice { label: label_of(value), description: String::new(), value: value.clone(), is_danger: false };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().map(plain).collect());
    }
    let variants = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let choice = |variant: &Value| {
        let value = variant.get("const")?.clone();
        let text = |key: &str| variant.get(key).and_then(Value::as_str).map(str::to_owned);
        let label = text("title").unwrap_or_else(|| label_of(&value));
        Some(Choice { label, description: text("description").unwrap_or_default(), value, is_danger: false })
    };
    variants.iter().map(choice).collect()
}

pub(super) fn label_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn input(schema: &Value, root: &Value) -> FieldInput {
    if let Some(options) = choices(schema).filter(|options| !options.is_empty()) {
        return FieldInput::Choice { options, chosen: None, cursor: 0 };
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => FieldInput::Toggle(None),
        Some("string") => {
            let is_long = schema["maxLength"].as_u64().is_some_and(|most| most > LONG_TEXT) || schema["format"] == "textarea";
            FieldInput::Text(TextField::new(if is_long { Lines::Many } else { Lines::One }))
        }
        Some("number" | "integer") => FieldInput::Number(TextField::new(Lines::One)),
        Some("array") => {
            let items = resolved(&schema["items"], root);
            if let Some(options) = choices(&items).filter(|options| !options.is_empty()) {
                let checked = vec![false; options.len()];
                return FieldInput::Checks { options, checked, cursor: 0 };
            }
            match items.get("type").and_then(Value::as_str) {
                Some(kind @ ("string" | "number" | "integer")) => {
                    FieldInput::Tags { tags: Vec::new(), entry: TextField::new(Lines::One), are_numbers: kind != "string" }
                }
                _ => FieldInput::Json(TextField::new(Lines::Many)),
            }
        }
        _ => FieldInput::Json(TextField::new(Lines::Many)),
    }
}
