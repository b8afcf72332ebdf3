//! Compiles and applies a model's schema within limits.

use crate::answer::{MAX_ANSWER_BYTES, MAX_ANSWER_NODES};
use crate::extent::{self, Extent, Trouble};
use crate::wording::{self, Complaint};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, EmailOptions, PatternOptions, ValidationError, Validator};
use serde_json::Value;
use std::borrow::Cow;

/// Maximum bytes of a schema's JSON.
pub const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// Maximum size of one compiled pattern. It also limits the time per character of a match.
const MAX_COMPILED_PATTERN_BYTES: usize = 384 * 1024;
/// An answer to a schema with patterns is an input field, not a document.
const MAX_MATCHED_BYTES: u64 = 8 * 1024;
/// Maximum bytes that all patterns of a schema together may have to read.
const MAX_MATCHED_BYTES_BY_PATTERNS: u64 = 64 * 1024;
/// Above this, only one complaint is collected: all of them would take memory by the product of both sizes.
const MAX_EFFORT: u64 = 64 * 1024 * 1024;
/// The approximate cost of one complaint about one node, in bytes of the answer.
const EFFORT_PER_NODE: u64 = 64;
/// Nobody reads more.
const MAX_COMPLAINTS: usize = 200;

#[derive(Debug)]
pub(crate) struct CompiledSchema {
    validator: Validator,
    extent: Extent,
}

impl CompiledSchema {
    /// # Errors
    /// An invalid JSON Schema, an external reference, or an exceeded limit.
    pub(crate) fn compile(schema: &Value) -> Result<Self, Trouble> {
        let Value::Object(members) = schema else {
            return Err(at_top("must be a JSON Schema object, such as {\"type\": \"boolean\"}"));
        };
        let extent = extent::of_schema(schema)?;
        let length = extent::byte_length(schema);
        if length > MAX_SCHEMA_BYTES {
            return Err(at_top(format!("is {length} bytes long; at most {MAX_SCHEMA_BYTES} are allowed")));
        }
        let (draft, schema) = match members.get("$schema") {
            Some(Value::String(dialect)) => (draft_of(dialect)?, Cow::Owned(without_dialect(schema))),
            Some(_) | None => (Draft::Draft202012, Cow::Borrowed(schema)),
        };
        let patterns = PatternOptions::regex().size_limit(MAX_COMPILED_PATTERN_BYTES).dfa_size_limit(MAX_COMPILED_PATTERN_BYTES);
        let validator = jsonschema::options()
            .with_draft(draft)
            .with_pattern_options(patterns)
            .with_email_options(EmailOptions::default().without_display_text())
            .should_validate_formats(true)
            .offline()
            .build(&schema)
            .map_err(|error| refusal(&error))?;
        Ok(Self { validator, extent })
    }

    /// All mistakes in an answer; empty if it is valid.
    pub(crate) fn check(&self, answer: &Value) -> Vec<Complaint> {
        let Some(nodes) = extent::count_nodes(answer) else {
            return vec![Complaint::here("is nested too deep")];
        };
        if nodes > MAX_ANSWER_NODES {
            return vec![Complaint::here(format!("has {nodes} parts; at most {MAX_ANSWER_NODES} are allowed"))];
        }
        let length = extent::byte_length(answer) as u64;
        let allowed = self.longest_answer();
        if length > allowed {
            return vec![Complaint::here(format!("is too long: at most {allowed} bytes are allowed here"))];
        }
        if self.validator.is_valid(answer) {
            return Vec::new();
        }
        let effort = nodes.saturating_mul(EFFORT_PER_NODE).saturating_add(length).saturating_mul(self.extent.nodes);
        if effort > MAX_EFFORT {
            return vec![Complaint::here("does not fit what was asked for")];
        }
        let complaints: Vec<Complaint> =
            self.validator.iter_errors(answer).take(MAX_COMPLAINTS).flat_map(|error| wording::of(&error)).collect();
        if complaints.is_empty() { vec![Complaint::here("does not fit what was asked for")] } else { complaints }
    }

    /// Shorter if patterns have to read the answer.
    fn longest_answer(&self) -> u64 {
        let share = MAX_MATCHED_BYTES_BY_PATTERNS.checked_div(self.extent.patterns);
        share.map_or(MAX_ANSWER_BYTES as u64, |share| share.min(MAX_MATCHED_BYTES))
    }
}

/// Models write the dialect's address in several ways; only its version counts.
fn draft_of(dialect: &str) -> Result<Draft, Trouble> {
    let versions =
        [("draft-07/schema", Draft::Draft7), ("draft/2019-09/schema", Draft::Draft201909), ("draft/2020-12/schema", Draft::Draft202012)];
    let path = dialect.trim_end_matches('#').split_once("://json-schema.org/").map(|(_, path)| path);
    versions.into_iter().find(|(version, _)| path == Some(version)).map(|(_, draft)| draft).ok_or_else(|| Trouble {
        pointer: "/$schema".into(),
        message: "names a dialect that is not supported: leave it out, 2020-12 is assumed".into(),
    })
}

/// The validator gets the dialect as a value, so that it has no address to look up.
fn without_dialect(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        members.remove("$schema");
    }
    schema
}

fn refusal(error: &ValidationError<'_>) -> Trouble {
    if matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex") {
        return Trouble {
            pointer: error.instance_path().to_string(),
            message: "is not a usable regular expression: fix its syntax, and where it repeats something \
                      many times use minLength and maxLength instead"
                .into(),
        };
    }
    match wording::of(error).into_iter().next() {
        Some(complaint) => Trouble { pointer: complaint.pointer, message: format!("{} to be valid JSON Schema", complaint.message) },
        None => at_top("is no valid JSON Schema"),
    }
}

fn at_top(message: impl Into<String>) -> Trouble {
    Trouble { pointer: String::new(), message: message.into() }
}
