use crate::openapi::DOCUMENT;
use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An OpenAPI 3.1 document.
#[derive(JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(example = serde_json::json!({ "openapi": "3.1.0", "info": { "title": "Planwright", "version": "0.1.0" }, "paths": {} }))]
pub struct Document(#[schemars(with = "serde_json::Map<String, Value>")] &'static Value);

pub async fn document() -> Json<Document> {
    Json(Document(&DOCUMENT))
}

/// The same, readable before sign-in: it reveals nothing about this server.
pub async fn open_document() -> Json<Document> {
    document().await
}
