//! Collects all mistakes of one check, by field, into one error.

use planwright_protocol::{ErrorCode, Problem};
use serde_json::{Map, Value, json};

/// Nobody reads more, and each costs memory that the sender controls.
const MAX_FIELDS: usize = 50;
/// The message contains the first ones; `details.fields` has the rest.
const TOLD: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Findings {
    fields: Vec<(String, String)>,
    left_off: usize,
}

impl Findings {
    /// A second mistake in the same field is appended to the first.
    pub(crate) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        let (field, message) = (field.into(), message.into());
        if let Some((_, known)) = self.fields.iter_mut().find(|(name, _)| *name == field) {
            if !known.contains(&message) && known.len() < 1000 {
                known.push_str(", and ");
                known.push_str(&message);
            }
        } else if self.fields.len() < MAX_FIELDS {
            self.fields.push((field, message));
        } else {
            self.left_off += 1;
        }
    }

    /// # Errors
    /// One problem with every finding, if there is any.
    pub(crate) fn into_result(self, code: ErrorCode, lead: &str) -> Result<(), Problem> {
        if self.fields.is_empty() {
            return Ok(());
        }
        let mut message = String::from(lead);
        for (index, (field, complaint)) in self.fields.iter().take(TOLD).enumerate() {
            message.push_str(if index == 0 { " " } else { "; " });
            message.push_str(field);
            message.push(' ');
            message.push_str(complaint);
        }
        let untold = self.fields.len().saturating_sub(TOLD) + self.left_off;
        if untold > 0 {
            message.push_str("; and ");
            message.push_str(&untold.to_string());
            message.push_str(" more");
        }
        message.push('.');
        let fields: Map<String, Value> = self.fields.into_iter().map(|(field, text)| (field, Value::String(text))).collect();
        Err(Problem::new(code, message).with_details(json!({ "fields": fields })))
    }
}

/// A JSON Pointer one level down.
pub(crate) fn pointer_to(parent: &str, child: &str) -> String {
    format!("{parent}/{}", child.replace('~', "~0").replace('/', "~1"))
}
