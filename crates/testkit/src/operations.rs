//! The API as it describes itself.

use crate::client::ApiClient;
use reqwest::Method;
use serde_json::{Map, Value, json};

/// A method at a path.
pub struct ApiOperation {
    pub method: Method,
    template: String,
    /// The names in its path.
    pub names: Vec<String>,
    /// The names in its query.
    pub query: Vec<String>,
    pub needs_sign_in: bool,
    /// An example that fits; empty where it takes none.
    pub body: Value,
}

/// Every operation of every path.
pub async fn operations(server: &ApiClient) -> Vec<ApiOperation> {
    let response = server.send(server.client().get(format!("{}/openapi.json", server.base))).await;
    let document: Value = response.json().await.unwrap();
    let mut operations = Vec::new();
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, entry) in methods.as_object().unwrap() {
            let named = |place: &str| -> Vec<String> {
                let parameters = entry["parameters"].as_array().unwrap().iter().filter(|parameter| parameter["in"] == place);
                parameters.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
            };
            operations.push(ApiOperation {
                method: method.to_uppercase().parse().unwrap(),
                template: template.clone(),
                names: named("path"),
                query: named("query"),
                needs_sign_in: entry["security"] != json!([]),
                body: body(&document, entry),
            });
        }
    }
    operations
}

/// The example of a body, with every field that there is, so that none is overlooked.
fn body(document: &Value, entry: &Value) -> Value {
    let media = &entry["requestBody"]["content"]["application/json"];
    let mut fields: Map<String, Value> = media["example"].as_object().cloned().unwrap_or_default();
    let schema = media["schema"]["$ref"].as_str().and_then(|name| document.pointer(name.trim_start_matches('#')));
    let properties = schema.and_then(|schema| schema["properties"].as_object());
    if properties.is_some_and(|properties| properties.contains_key("chat_id")) {
        fields.insert("chat_id".to_owned(), Value::Null);
    }
    Value::Object(fields)
}

impl ApiOperation {
    /// The path, with these values for its names.
    #[must_use]
    pub fn path(&self, value: impl Fn(&str) -> String) -> String {
        let part = |part: &str| match part.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => value(name.trim_start_matches('*')),
            None => part.to_owned(),
        };
        self.template.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    #[must_use]
    pub fn is_for_admins(&self) -> bool {
        ["/api/v1/admin/", "/api/v1/cluster/"].iter().any(|prefix| self.template.starts_with(prefix))
    }

    /// Whether a chat can be named elsewhere than in the path.
    #[must_use]
    pub fn mentions_chat(&self) -> bool {
        self.body.get("chat_id").is_some() || self.query.iter().any(|name| name == "chat" || name == "chats")
    }
}
