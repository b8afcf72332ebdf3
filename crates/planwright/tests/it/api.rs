//! The HTTP API as a client meets it; one file per thing that holds for every address, or per part of it.

mod document;
mod errors;
mod operation;

use crate::home;
use planwright_testkit::server::{Home, Server};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

/// A home whose model says one thing, whatever is asked.
fn quiet_home() -> Home {
    home(&json!({ "turns": [{ "text": "Hello there" }], "repeat": true }))
}

/// A request from the root of the address, without the token.
fn bare(server: &Server, method: &str, path: &str) -> RequestBuilder {
    Client::new().request(method.to_uppercase().parse().unwrap(), format!("{}{path}", server.base))
}

/// The description that a server gives of itself.
async fn description(server: &Server) -> Value {
    bare(server, "get", "/openapi.json").send().await.unwrap().json().await.unwrap()
}
