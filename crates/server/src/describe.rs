//! Derives the API's description from the types of the handlers, so that the two can't differ.
//!
//! Every type in a handler's signature describes itself: extractors are [`DescribeInput`], responses are [`DescribeOutput`].

use crate::App;
use crate::answer::{
    Accepted, ApiError, Created, ErrorAnswer, EventStream, NEXT, NoContent, Page, Picture, PlainText, WithCookie, status_of,
};
use crate::guard::{Arrival, Caller};
use crate::readiness::ReadinessChecks;
use crate::request::{Body, IdempotencyKey, Ids, ImageBody, LARGEST_IMAGE, LONGEST_KEY, LastEventId, OptionalBody, Params};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use planwright_feed::SentEvent;
use planwright_protocol::{ErrorCode, Problem};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::ReplaceBoolSchemas;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A route's entry in the description, under construction.
#[derive(Default)]
pub struct Operation {
    /// The names in the path, in order.
    pub path_names: Vec<String>,
    pub parameters: Vec<Value>,
    pub body: Option<Value>,
    /// By status.
    pub answers: BTreeMap<u16, Value>,
    pub errors: BTreeMap<u16, BTreeSet<ErrorCode>>,
}

impl Operation {
    pub fn fails(&mut self, code: ErrorCode) {
        self.errors.entry(status_of(code).as_u16()).or_default().insert(code);
    }

    fn answers(&mut self, status: u16, description: &str, content_type: &str, schema: Schema) {
        self.answers.insert(status, json!({ "description": description, "content": { content_type: { "schema": schema } } }));
    }
}

/// The schemas of the description. Input and output schemas differ in which fields are optional.
pub struct Schemas {
    pub read: SchemaGenerator,
    pub written: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12()
                .with(|settings| {
                    settings.definitions_path = "/components/schemas".into();
                    settings.meta_schema = None;
                })
                .with_transform(ReplaceBoolSchemas::default())
        };
        Self { read: settings().for_deserialize().into_generator(), written: settings().for_serialize().into_generator() }
    }
}

impl Schemas {
    pub fn components(mut self) -> Map<String, Value> {
        let mut written = self.written.take_definitions(true);
        written.values_mut().for_each(never_null_and_left_out);
        let mut components = self.read.take_definitions(true);
        components.extend(written);
        components.sort_keys();
        components
    }
}

/// A field that is left out when empty is never null.
fn never_null_and_left_out(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let required: Vec<Value> = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                let optional = properties.iter_mut().filter(|(name, _)| !required.iter().any(|known| known == *name));
                optional.for_each(|(_, property)| without_null(property));
            }
            object.values_mut().for_each(never_null_and_left_out);
        }
        Value::Array(values) => values.iter_mut().for_each(never_null_and_left_out),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes `null` from a schema's types.
pub fn without_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if let Some(Value::Array(either)) = object.get_mut("anyOf") {
        either.retain(|one| one["type"] != "null");
        if let [Value::Object(one)] = &either[..] {
            let one = one.clone();
            object.remove("anyOf");
            object.extend(one);
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
}

/// A part of a request.
pub trait DescribeInput {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// The response of a handler.
pub trait DescribeOutput {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// A handler, identified by the types of its parts.
pub trait Described<Parts> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

macro_rules! described {
    ($($part:ident)*) => {
        impl<Function, Answer, Given, $($part,)*> Described<($($part,)*)> for Function
        where
            Function: Fn($($part),*) -> Answer,
            Answer: Future<Output = Given>,
            Given: DescribeOutput,
            $($part: DescribeInput,)*
        {
            fn describe(operation: &mut Operation, schemas: &mut Schemas) {
                $($part::describe(operation, schemas);)*
                Given::describe(operation, schemas);
            }
        }
    };
}

described! {}
described! { One }
described! { One Two }
described! { One Two Three }
described! { One Two Three Four }
described! { One Two Three Four Five }
described! { One Two Three Four Five Six }

macro_rules! says_nothing {
    ($($part:ty),*) => {$(
        impl DescribeInput for $part {
            fn describe(_: &mut Operation, _: &mut Schemas) {}
        }
    )*};
}

says_nothing!(State<App>, HeaderMap, Extension<Arrival>, Extension<Arc<ReadinessChecks>>, Caller);

impl<T: JsonSchema> DescribeInput for Ids<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = T::json_schema(&mut schemas.read).to_value();
        let single = [schemas.read.subschema_for::<T>().to_value()];
        let each = schema.get("prefixItems").and_then(Value::as_array).map_or(&single[..], Vec::as_slice);
        for (name, schema) in operation.path_names.iter().zip(each) {
            operation.parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        }
        operation.fails(ErrorCode::NotFound);
    }
}

impl<T: JsonSchema> DescribeInput for Params<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = T::json_schema(&mut schemas.read).to_value();
        let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let mut property = property.clone();
            without_null(&mut property);
            let description = property.as_object_mut().and_then(|property| property.remove("description")).unwrap_or_default();
            let is_required = required.iter().any(|known| *known == name);
            operation
                .parameters
                .push(json!({ "name": name, "in": "query", "required": is_required, "description": description, "schema": property }));
        }
        operation.fails(ErrorCode::ValidationFailed);
    }
}

impl DescribeInput for LastEventId {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "The `id:` of the newest event that the client has. Takes precedence over `after`.",
            "schema": { "type": "string" },
        }));
    }
}

impl DescribeInput for IdempotencyKey {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "Makes a retry safe: requests with the same key are executed once and get the same response.",
            "schema": { "type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$" },
        }));
        operation.fails(ErrorCode::Conflict);
        operation.fails(ErrorCode::ValidationFailed);
    }
}

impl<T: JsonSchema> DescribeOutput for Page<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.answers(200, "Done.", "application/json", schemas.written.subschema_for::<Vec<T>>());
        if let Some(answer) = operation.answers.get_mut(&200) {
            answer["headers"] = json!({ NEXT: {
                "description": "The `cursor` of the next page; absent on the last one.", "schema": { "type": "string" },
            } });
        }
    }
}

impl<T: JsonSchema> DescribeInput for Body<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        take_body(operation, schemas.read.subschema_for::<T>(), true);
    }
}

impl<T: JsonSchema> DescribeInput for OptionalBody<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        take_body(operation, schemas.read.subschema_for::<T>(), false);
    }
}

fn take_body(operation: &mut Operation, schema: Schema, required: bool) {
    operation.body = Some(json!({ "required": required, "content": { "application/json": { "schema": schema } } }));
    operation.errors.entry(400).or_default().insert(ErrorCode::ValidationFailed);
    for code in [ErrorCode::ValidationFailed, ErrorCode::TooLarge, ErrorCode::UnsupportedMediaType] {
        operation.fails(code);
    }
}

impl<T: DescribeOutput> DescribeOutput for Result<T, ApiError> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        T::describe(operation, schemas);
        operation.fails(ErrorCode::Internal);
    }
}

impl<T: JsonSchema> DescribeOutput for Json<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.answers(200, "Done.", "application/json", schemas.written.subschema_for::<T>());
    }
}

impl<T: JsonSchema> DescribeOutput for Created<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.answers(201, "Made.", "application/json", schemas.written.subschema_for::<T>());
    }
}

impl<T: JsonSchema> DescribeOutput for Accepted<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.answers(202, "Stored. The consequences arrive as events.", "application/json", schemas.written.subschema_for::<T>());
    }
}

impl DescribeOutput for NoContent {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.answers.insert(204, json!({ "description": "Done, without a body." }));
    }
}

impl<T: DescribeOutput> DescribeOutput for WithCookie<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        T::describe(operation, schemas);
    }
}

impl DescribeOutput for EventStream {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let description =
            "A stream of server-sent events. `id:` is the position to resume from, `event:` the type, `data:` the JSON described here.";
        operation.answers(200, description, "text/event-stream", schemas.written.subschema_for::<SentEvent<'static>>());
    }
}

impl DescribeOutput for Picture {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.answers(
            200,
            "The image; its type follows from its bytes.",
            "image/*",
            json_schema!({ "type": "string", "format": "binary" }),
        );
    }
}

impl DescribeInput for ImageBody {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        let schema = json!({ "type": "string", "format": "binary", "maxLength": LARGEST_IMAGE });
        operation.body = Some(json!({ "required": true, "content": { "image/*": { "schema": schema } } }));
        operation.errors.entry(400).or_default().insert(ErrorCode::ValidationFailed);
        for code in [ErrorCode::ValidationFailed, ErrorCode::TooLarge, ErrorCode::UnsupportedMediaType] {
            operation.fails(code);
        }
    }
}

impl DescribeOutput for PlainText {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.answers(200, "Text.", "text/plain", json_schema!({ "type": "string" }));
    }
}

/// The response for one error status of an operation.
pub fn error_answer(codes: &BTreeSet<ErrorCode>, schemas: &mut Schemas) -> Value {
    let schema = schemas.written.subschema_for::<ErrorAnswer>();
    let names = codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
    let example = codes.iter().next().map(|code| ErrorAnswer { error: Problem::new(*code, error_description(*code)) });
    json!({ "description": names, "content": { "application/json": { "schema": schema, "example": example } } })
}

fn error_description(code: ErrorCode) -> String {
    let words = code.as_str().to_lowercase().replace('_', " ");
    format!("What happened ({words}), and what to do about it.")
}
