//! The schema of a tool as models get it. They pay for every word, and the server checks arguments anyway.

use serde_json::Value;

/// Leaves out that nothing else is allowed: no model needs to be told.
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
