//! Generates an example for every body and response from the examples of its parts.

use serde_json::{Map, Value, json};

/// Deeper than any of our types; recursive types end there.
const DEEPEST: usize = 40;

/// Adds an example to every body, response and parameter of the document.
pub fn add_examples(document: &mut Value) {
    let components = document["components"]["schemas"].clone();
    let operations = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut) {
        for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
            let example = of(&parameter["schema"], &components, 0);
            parameter["example"] = example;
        }
        if let Some(body) = operation.get_mut("requestBody") {
            add_to_content(&mut body["content"], &components);
        }
        for answer in operation["responses"].as_object_mut().into_iter().flat_map(Map::values_mut) {
            if let Some(content) = answer.get_mut("content") {
                add_to_content(content, &components);
            }
        }
    }
}

fn add_to_content(content: &mut Value, components: &Value) {
    for media in content.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if media.get("example").is_none() {
            media["example"] = of(&media["schema"], components, 0);
        }
    }
}

/// A value that matches the schema, as meaningful as the schema allows.
fn of(schema: &Value, components: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Null;
    }
    let within = |schema: &Value| of(schema, components, depth + 1);
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return within(&components[name]);
    }
    let given = schema["examples"].get(0).or_else(|| schema.get("const")).or_else(|| schema["enum"].get(0));
    if let Some(given) = given.or_else(|| schema.get("default").filter(|default| !default.is_null())) {
        return given.clone();
    }
    let base = ["oneOf", "anyOf"].into_iter().find_map(|key| schema[key].get(0)).map_or(Value::Null, within);
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("object") | None if schema.get("properties").is_some() || kind.is_some() => {
            let mut object = base.as_object().cloned().unwrap_or_default();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                object.insert(name.clone(), within(property));
            }
            Value::Object(object)
        }
        Some("array") => json!([within(&schema["items"])]),
        Some("string") => text_like(schema["format"].as_str()),
        Some("integer" | "number") => schema.get("minimum").filter(|least| **least != 0).cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some(_) | None => base,
    }
}

fn text_like(format: Option<&str>) -> Value {
    match format {
        Some("uuid") => json!("019a86d0-7c1e-7b3a-9c55-3f2a8d1e4b60"),
        Some("date-time") => json!("2026-01-31T12:00:00Z"),
        Some(_) | None => json!("text"),
    }
}
