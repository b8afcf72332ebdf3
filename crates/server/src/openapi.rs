//! The API's description as OpenAPI 3.1, from the table of routes and the types of its handlers.

mod example;

use crate::change_rule::ChangeRule;
use crate::describe::{DescribeInput, Operation, Schemas, error_answer};
use crate::request::IdempotencyKey;
use crate::routes;
use crate::table::{Route, SignInRule};
use axum::http::Method;
use planwright_protocol::{Envelope, ErrorCode};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The document, built on first use.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

const INTRODUCTION: &str = "Planwright over HTTP: chats that plan first, and in plan mode change nothing but the plan.\n\n\
    Errors are `{\"error\": {code, message, retryable, details?}}` everywhere; `details.fields` names each field that doesn't fit. \
    Bodies are JSON objects without unknown fields. Ids are UUIDs; what is not yours is 404. \
    Events carry a `seq` that grows per chat: come back with the last one and nothing is lost.";

fn document() -> Value {
    let mut schemas = Schemas::default();
    // Included even if no route uses it: clients derive their types from it.
    schemas.written.subschema_for::<Envelope>();
    let mut paths = Map::new();
    for route in routes::all() {
        let entry = operation(&route, &mut schemas);
        let methods = paths.entry(route.path.clone()).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = entry;
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Planwright",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "A coding agent whose plan mode cannot touch your code, and which keeps to the plan you approve.",
            "description": INTRODUCTION,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": { "schemas": schemas.components(), "securitySchemes": {
            "bearer": { "type": "http", "scheme": "bearer", "description": "The token that `planwright serve` prints, or a token of your account." },
            "cookie": { "type": "apiKey", "in": "cookie", "name": "planwright_7420", "description": "The session cookie of a browser, set by signing in; its name contains the server's port. Changes also need the header `x-planwright-csrf: 1`." },
        } },
    });
    example::add_examples(&mut document);
    document
}

fn operation(route: &Route, schemas: &mut Schemas) -> Value {
    let mut operation = Operation { path_names: names_in(&route.path), ..Operation::default() };
    (route.describe)(&mut operation, schemas);
    let has_key = operation.parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key");
    if !has_key && route.change.is_some_and(ChangeRule::takes_key) {
        <IdempotencyKey as DescribeInput>::describe(&mut operation, schemas);
    }
    operation.fails(ErrorCode::Forbidden);
    for code in &route.errors {
        operation.fails(*code);
    }
    let security = match route.sign_in {
        SignInRule::Needed => {
            // Every change is stored.
            if route.method != Method::GET {
                operation.fails(ErrorCode::StorageFull);
            }
            operation.fails(ErrorCode::Unauthenticated);
            operation.fails(ErrorCode::RateLimited);
            json!([{ "bearer": [] }, { "cookie": [] }])
        }
        SignInRule::NotNeeded => json!([]),
    };
    let mut responses = Map::new();
    for (status, answer) in operation.answers {
        responses.insert(status.to_string(), answer);
    }
    for (status, codes) in &operation.errors {
        responses.insert(status.to_string(), error_answer(codes, schemas));
    }
    let mut entry = json!({
        "operationId": route.id,
        "tags": [route.tag],
        "summary": route.summary,
        "parameters": operation.parameters,
        "responses": responses,
        "security": security,
    });
    if let Some(body) = operation.body {
        entry["requestBody"] = body;
    }
    entry
}

/// `wid` and `cid` of `/workspaces/{wid}/chats/{cid}`.
fn names_in(path: &str) -> Vec<String> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*').to_owned())
        .collect()
}

#[cfg(test)]
mod tests;
