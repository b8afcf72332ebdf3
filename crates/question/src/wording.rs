//! Words a schema's complaint for people.

use crate::findings::pointer_to;
use crate::text;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::types::JsonType;
use serde_json::Value;

/// Maximum number of listed values.
const LISTED: usize = 20;
/// Maximum number of listed ways to fix an answer.
const ALTERNATIVES: usize = 3;
const SHOWN_CHARACTERS: usize = 80;

/// A mistake in an answer, and its position: a JSON Pointer, empty for the whole. The message continues the field's name:
/// "must be …".
#[derive(Debug)]
pub(crate) struct Complaint {
    pub(crate) pointer: String,
    pub(crate) message: String,
}

impl Complaint {
    pub(crate) fn here(message: impl Into<String>) -> Self {
        Self { pointer: String::new(), message: message.into() }
    }
}

/// A missing or surplus field is a complaint about that field, not about the object around it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the validator's own enum, which grows")]
pub(crate) fn of(error: &ValidationError<'_>) -> Vec<Complaint> {
    let place = error.instance_path().as_str();
    let about_fields = |names: &[String], message: &str| {
        names.iter().map(|name| Complaint { pointer: pointer_to(place, &shown(name)), message: message.into() }).collect()
    };
    match error.kind() {
        Kind::Required { property: Value::String(name) } => about_fields(std::slice::from_ref(name), "is required"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            about_fields(unexpected, "is not expected here")
        }
        _ => vec![Complaint { pointer: place.into(), message: sentence(error) }],
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the validator's own enum, which grows")]
fn sentence(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Type { kind } => format!("must be {}", type_names(kind)),
        Kind::Enum { options } => match options.as_ref() {
            Value::Array(values) => one_of(values.iter()),
            single => one_of(std::iter::once(single)),
        },
        Kind::Constant { expected_value } => format!("must be {}", shown_value(expected_value)),
        Kind::Format { format } => format!("must be {}", format_name(format)),
        Kind::Pattern { pattern } => format!("must match the pattern {}", shown(pattern)),
        Kind::MinLength { limit: 1 } => "must not be empty".into(),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {}", counted(*limit, "character", "characters")),
        Kind::MinItems { limit } => format!("must have at least {}", counted(*limit, "entry", "entries")),
        Kind::MaxItems { limit } => format!("must have at most {}", counted(*limit, "entry", "entries")),
        Kind::AdditionalItems { limit } => format!("must have at most {}", counted(*limit as u64, "entry", "entries")),
        Kind::UnevaluatedItems { .. } => "has entries that are not expected".into(),
        Kind::UniqueItems => "must not have the same entry twice".into(),
        Kind::Contains => "lacks an entry of the kind asked for".into(),
        Kind::MinProperties { limit } => format!("must have at least {}", counted(*limit, "field", "fields")),
        Kind::MaxProperties { limit } => format!("must have at most {}", counted(*limit, "field", "fields")),
        Kind::PropertyNames { error } => format!("has a field whose name {}", sentence(error)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => any_of(context),
        Kind::OneOfMultipleValid { .. } => "fits more than one of the allowed forms, but must fit exactly one".into(),
        Kind::ContentEncoding { content_encoding } => format!("must be text in {}", shown(content_encoding)),
        Kind::ContentMediaType { content_media_type } => format!("must be text of the type {}", shown(content_media_type)),
        // The validator reports a surplus field this way if no field at all is allowed.
        Kind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => "has a field that is not expected".into(),
        Kind::FalseSchema | Kind::Not { .. } => "is not allowed".into(),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => "could not be matched with its pattern".into(),
        // The rest is about the schema; only the validator's own message is available.
        other => format!("does not fit ({})", shown(other.keyword())),
    }
}

/// Lists alternatives that are plain values; otherwise lists the ways to fix the answer.
fn any_of(branches: &[Vec<ValidationError<'static>>]) -> String {
    let constants: Option<Vec<&Value>> = branches
        .iter()
        .map(|errors| match errors.as_slice() {
            [error] if let Kind::Constant { expected_value } = error.kind() => Some(expected_value.as_ref()),
            _ => None,
        })
        .collect();
    if let Some(values) = constants.filter(|values| !values.is_empty()) {
        return one_of(values.into_iter());
    }
    let mut ways: Vec<String> = Vec::new();
    for complaint in branches.iter().filter_map(|errors| errors.first()).filter_map(|error| of(error).into_iter().next()) {
        let name = complaint.pointer.rsplit('/').next().unwrap_or_default();
        let way = if name.is_empty() { complaint.message } else { format!("{name} {}", complaint.message) };
        if !ways.contains(&way) {
            ways.push(way);
        }
        if ways.len() > ALTERNATIVES {
            return "fits none of the allowed forms".into();
        }
    }
    if ways.is_empty() { "fits none of the allowed forms".into() } else { ways.join(", or ") }
}

fn one_of<'value>(values: impl ExactSizeIterator<Item = &'value Value>) -> String {
    let count = values.len();
    let listed: Vec<String> = values.take(LISTED).map(shown_value).collect();
    let listed = listed.join(", ");
    match count {
        1 => format!("must be {listed}"),
        2..=LISTED => format!("must be one of {listed}"),
        _ => format!("must be one of {listed}, … ({count} in all)"),
    }
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(single) => type_name(*single).into(),
        TypeKind::Multiple(several) => several.iter().map(type_name).collect::<Vec<_>>().join(" or "),
    }
}

fn type_name(json_type: JsonType) -> &'static str {
    match json_type {
        JsonType::Array => "a list",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "a whole number",
        JsonType::Null => "left empty (null)",
        JsonType::Number => "a number",
        JsonType::Object => "an object with fields",
        JsonType::String => "text",
    }
}

fn format_name(format: &str) -> String {
    match format {
        "email" | "idn-email" => "an email address such as name@example.org".into(),
        "date" => "a date such as 2026-01-31".into(),
        "time" => "a time with its zone, such as 14:30:00Z".into(),
        "date-time" => "a date and time such as 2026-01-31T14:30:00Z".into(),
        "duration" => "a duration such as P3DT4H".into(),
        "uri" | "iri" => "a full web address such as https://example.org/path".into(),
        "uri-reference" | "iri-reference" => "a web address or a path".into(),
        "hostname" | "idn-hostname" => "a host name such as example.org".into(),
        "ipv4" => "an IPv4 address such as 192.0.2.1".into(),
        "ipv6" => "an IPv6 address such as 2001:db8::1".into(),
        "uuid" => "a UUID such as 123e4567-e89b-12d3-a456-426614174000".into(),
        "regex" => "a regular expression".into(),
        other => format!("a valid {}", shown(other)),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn shown(text: &str) -> String {
    text::one_line(text, SHOWN_CHARACTERS)
}

fn shown_value(value: &Value) -> String {
    text::bare(value, SHOWN_CHARACTERS)
}
