//! A server of three: ann and bob have a workspace each, with a chat in it; vic may look at ann's.

use crate::client::ApiClient;
use crate::home::HomeFolder;
use crate::operations::ApiOperation;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub const BOBS_WORDS: &str = "What only bob says";
pub const BOBS_TITLE: &str = "Of bob alone";

/// `S` is the server and `H` its home, of this process or of another.
pub struct Team<S, H> {
    pub server: S,
    pub client: Client,
    /// Their tokens.
    pub ann: String,
    pub bob: String,
    pub vic: String,
    /// A workspace and a chat in it.
    pub anns: (String, String),
    pub bobs: (String, String),
    pub anns_message: String,
    pub bobs_message: String,
    pub bobs_token: String,
    // Removes the folder, so it goes last.
    pub home: H,
}

impl<S: DerefMut<Target = ApiClient>, H: Deref<Target = HomeFolder>> Team<S, H> {
    /// From a server whose first account is ann's, with bob's folder as its second workspace, and the tokens of all three.
    pub async fn new(home: H, mut server: S, [ann, bob, vic]: [String; 3]) -> Self {
        server.token.clone_from(&ann);
        // Both are the admin's, who hands one over and keeps the other.
        let workspaces = server.get("/workspaces").await;
        let id = |name: &str| {
            let mut all = workspaces.as_array().unwrap().iter();
            all.find(|workspace| workspace["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
        };
        let (own, theirs) = (id("workspace"), id("of-bob"));
        for (workspace, body) in [(&theirs, json!({ "name": "bob", "role": "owner" })), (&own, json!({ "name": "vic", "role": "viewer" }))]
        {
            let (status, made) = server.post(&format!("/workspaces/{workspace}/members"), body).await;
            assert_eq!(status, StatusCode::CREATED, "{made}");
        }
        let (anns, anns_message) = spoken(&server, &own, "Of ann", "What ann says").await;
        server.token.clone_from(&bob);
        let left = server.request(Method::DELETE, &format!("/workspaces/{theirs}/members/ann"), None).await;
        assert_eq!(left.0, StatusCode::NO_CONTENT, "{}", left.1);
        let (bobs, bobs_message) = spoken(&server, &theirs, BOBS_TITLE, BOBS_WORDS).await;
        let bobs_token = server.get("/tokens").await[0]["id"].as_str().unwrap().to_owned();
        let client = server.client().clone();
        Self { server, client, ann, bob, vic, anns, bobs, anns_message, bobs_message, bobs_token, home }
    }

    #[must_use]
    pub fn bobs_folder(&self) -> String {
        bobs_folder(&self.home)
    }

    pub async fn request(&self, token: &str, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
        let request = self.client.request(method, format!("{}/api/v1{path}", self.server.base)).bearer_auth(token);
        let response = self.server.send(request.json(&body)).await;
        (response.status(), response.json().await.unwrap_or_default())
    }

    /// An operation at a path, with this chat wherever one can be named beside it; all that is shown, of a stream its beginning.
    pub async fn ask(&self, token: &str, operation: &ApiOperation, path: &str, chat: &str) -> (StatusCode, String) {
        let mut body = operation.body.clone();
        if let Some(named) = body.get_mut("chat_id") {
            *named = chat.into();
        }
        let named = operation.query.iter().filter(|name| matches!(name.as_str(), "chat" | "chats"));
        let query = named.map(|name| format!("{name}={chat}")).collect::<Vec<_>>().join("&");
        let request = self.client.request(operation.method.clone(), format!("{}{path}?{query}", self.server.base)).bearer_auth(token);
        let request = if operation.method == Method::GET { request } else { request.json(&body) };
        let mut response = self.server.send(request).await;
        let status = response.status();
        let mut seen = Vec::new();
        // A stream does not end; what it has to tell at once it tells at once.
        while let Ok(Ok(Some(piece))) = tokio::time::timeout(Duration::from_secs(2), response.chunk()).await {
            seen.extend_from_slice(&piece);
        }
        (status, String::from_utf8_lossy(&seen).into_owned())
    }

    /// All that is somebody's.
    pub async fn look(&self, token: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        let (_, workspaces) = self.request(token, Method::GET, "/workspaces", Value::Null).await;
        for workspace in workspaces.as_array().unwrap() {
            let path = format!("/workspaces/{}", workspace["id"].as_str().unwrap());
            let (_, chats) = self.request(token, Method::GET, &format!("{path}/chats"), Value::Null).await;
            seen.push(self.request(token, Method::GET, &format!("{path}/members"), Value::Null).await.1);
            for chat in chats.as_array().unwrap() {
                let path = format!("{path}/chats/{}/messages", chat["id"].as_str().unwrap());
                seen.push(self.request(token, Method::GET, &path, Value::Null).await.1);
            }
            seen.push(chats);
        }
        let (_, tokens) = self.request(token, Method::GET, "/tokens", Value::Null).await;
        seen.extend(tokens.as_array().unwrap().iter().map(|token| token["id"].clone()));
        seen.push(workspaces);
        seen
    }
}

/// Where bob's workspace is; the caller creates it.
#[must_use]
pub fn bobs_folder(home: &HomeFolder) -> String {
    home.workspace().with_file_name("of-bob").to_str().unwrap().to_owned()
}

/// A new chat in which something was said, and the id of that.
async fn spoken(server: &ApiClient, workspace: &str, title: &str, words: &str) -> ((String, String), String) {
    let (status, chat) = server.post(&format!("/workspaces/{workspace}/chats"), json!({ "title": title })).await;
    assert_eq!(status, StatusCode::CREATED, "{chat}");
    let id = chat["id"].as_str().unwrap();
    let chat = server.reopened(&format!("/workspaces/{workspace}/chats/{id}"));
    let message = chat.say(words).await["id"].as_str().unwrap().to_owned();
    chat.run_to_end(0).await;
    ((workspace.to_owned(), id.to_owned()), message)
}
