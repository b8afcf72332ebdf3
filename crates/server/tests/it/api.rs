//! The API as a client meets it; one file per thing that holds for every address, or per part of it.

mod chats;
mod document;
mod entry;
mod errors;
mod operation;
mod plans;

use crate::quiet_home;
use planwright_testkit::client::ApiClient;
use reqwest::RequestBuilder;
use serde_json::Value;

/// A request from the root of the address, without the token.
fn bare(server: &ApiClient, method: &str, path: &str) -> RequestBuilder {
    server.client().request(method.to_uppercase().parse().unwrap(), format!("{}{path}", server.base))
}

/// The description that a server gives of itself.
async fn description(server: &ApiClient) -> Value {
    server.send(bare(server, "get", "/openapi.json")).await.json().await.unwrap()
}
