//! The schema of a tool in the form that models get. Every word costs tokens, and the server validates arguments anyway.

use serde_json::Value;

/// Removes `additionalProperties: false`: no model needs it.
pub fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, value| key != "additionalProperties" || *value != Value::Bool(false));
            object.values_mut().for_each(shorten);
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
