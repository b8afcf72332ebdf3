//! The API as a client uses it, over any transport.

use crate::PATIENCE;
use futures::StreamExt;
use futures::future::BoxFuture;
use reqwest::{Client, Method, Request, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// The largest page of messages that the server gives.
const PAGE: usize = 500;

/// Brings requests to a server and responses back: over HTTP, or within this process.
pub trait RequestTransport: Send + Sync {
    /// The error says why no response came.
    fn carry(&self, request: Request) -> BoxFuture<'static, Result<Response, String>>;
}

impl RequestTransport for Client {
    fn carry(&self, request: Request) -> BoxFuture<'static, Result<Response, String>> {
        let response = self.execute(request);
        Box::pin(async { response.await.map_err(|error| error.to_string()) })
    }
}

/// A client that talks to this machine only, without the certificates that it would take long to read.
#[must_use]
pub fn http_client() -> Client {
    // The first call selects the cryptography.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().tls_certs_only([]).build().unwrap()
}

/// A client of one server, with a token.
#[derive(Clone)]
pub struct ApiClient {
    pub base: String,
    pub token: String,
    client: Client,
    transport: Arc<dyn RequestTransport>,
}

impl ApiClient {
    /// A client over HTTP.
    #[must_use]
    pub fn over_http(base: String) -> Self {
        let client = http_client();
        Self { base, token: String::new(), transport: Arc::new(client.clone()), client }
    }

    #[must_use]
    pub fn over(transport: Arc<dyn RequestTransport>, base: String, token: String) -> Self {
        Self { base, token, client: http_client(), transport }
    }

    /// Builds requests for [`Self::send`]; sends them itself to a server that has an address.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request as it is, without the token.
    pub async fn send(&self, request: RequestBuilder) -> Response {
        tokio::time::timeout(PATIENCE, self.try_send(request)).await.unwrap().unwrap()
    }

    async fn try_send(&self, request: RequestBuilder) -> Result<Response, String> {
        self.transport.carry(request.build().unwrap()).await
    }

    /// A request to a path of the API, with the token.
    fn build(&self, method: Method, path: &str, body: Option<&Value>) -> RequestBuilder {
        let request = self.client.request(method, format!("{}/api/v1{path}", self.base)).bearer_auth(&self.token);
        match body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    /// Any request, with the token; gives the status and the body, null where it is not JSON.
    pub async fn request(&self, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let response = self.send(self.build(method, path, body.as_ref())).await;
        (response.status(), response.json().await.unwrap_or_default())
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, body) = self.request(Method::GET, path, None).await;
        assert!(status.is_success(), "GET {path}: {status} {body}");
        body
    }

    pub async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.request(Method::POST, path, Some(body)).await
    }

    /// A request to a server that may die of it: `None` if the answer got lost.
    pub async fn attempt(&self, method: Method, path: &str, body: Option<Value>) -> Option<(StatusCode, Value)> {
        let sent = self.try_send(self.build(method, path, body.as_ref()));
        let response = tokio::time::timeout(PATIENCE, sent).await.unwrap().ok()?;
        Some((response.status(), response.json().await.ok()?))
    }

    /// The numbers of a chat's events after one of them, as they come until the server is gone.
    #[must_use]
    pub fn numbers(&self, path: &str, after: u64) -> JoinHandle<Vec<u64>> {
        let request = self.build(Method::GET, &format!("{path}/events"), None).header("last-event-id", after.to_string());
        let response = self.transport.carry(request.build().unwrap());
        tokio::spawn(async move {
            let (mut text, mut numbers) = (String::new(), Vec::new());
            let Ok(response) = response.await else { return numbers };
            let mut stream = response.bytes_stream();
            while let Some(Ok(bytes)) = stream.next().await {
                text.push_str(&String::from_utf8_lossy(&bytes));
                while let Some((frame, rest)) = text.split_once("\n\n") {
                    let event = parse_frame(frame);
                    text = rest.to_owned();
                    numbers.extend(event.and_then(|event| event["seq"].as_u64()));
                }
            }
            numbers
        })
    }

    /// A request whose answer may get lost with the server.
    pub async fn post_unchecked(&self, path: &str, body: &Value) {
        let _ = self.try_send(self.build(Method::POST, path, Some(body))).await;
    }

    /// A new chat in the one workspace.
    pub async fn chat(&self, body: Value) -> ChatClient<'_> {
        let workspaces = self.get("/workspaces").await;
        let workspace = workspaces[0]["id"].as_str().unwrap();
        let (status, chat) = self.post(&format!("/workspaces/{workspace}/chats"), body).await;
        assert_eq!(status, StatusCode::CREATED, "{chat}");
        ChatClient { server: self, path: format!("/workspaces/{workspace}/chats/{}", chat["id"].as_str().unwrap()) }
    }

    /// A chat of an earlier server of the same home.
    #[must_use]
    pub fn reopened(&self, path: &str) -> ChatClient<'_> {
        ChatClient { server: self, path: path.to_owned() }
    }
}

/// One chat of a server.
pub struct ChatClient<'s> {
    pub server: &'s ApiClient,
    pub path: String,
}

impl ChatClient<'_> {
    pub async fn show(&self) -> Value {
        self.server.get(&self.path).await
    }

    /// The whole history, oldest first.
    pub async fn messages(&self) -> Vec<Value> {
        let mut messages: Vec<Value> = Vec::new();
        loop {
            let before = messages.last().map_or_else(String::new, |oldest| format!("&before={}", oldest["id"].as_str().unwrap()));
            let page = self.server.get(&format!("{}/messages?limit={PAGE}{before}", self.path)).await;
            let page = page.as_array().unwrap();
            messages.extend_from_slice(page);
            if page.len() < PAGE {
                messages.reverse();
                return messages;
            }
        }
    }

    pub async fn say(&self, content: &str) -> Value {
        let (status, body) = self.server.post(&format!("{}/messages", self.path), json!({ "content": content })).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{body}");
        body["message"].clone()
    }

    pub async fn answer(&self, question_id: &Value, answers: Value) -> (StatusCode, Value) {
        let body = json!({ "metadata": { "question_answer": { "question_id": question_id, "answers": answers } } });
        self.server.post(&format!("{}/messages", self.path), body).await
    }

    pub async fn post(&self, what: &str) -> (StatusCode, Value) {
        self.server.post(&format!("{}/{what}", self.path), json!({})).await
    }

    pub async fn patch(&self, body: Value) -> (StatusCode, Value) {
        self.server.request(Method::PATCH, &self.path, Some(body)).await
    }

    /// The event stream after an id, up to and including the first event that `until` accepts.
    pub async fn events(&self, after: u64, until: impl Fn(&Value) -> bool) -> Vec<Value> {
        let request = self.server.build(Method::GET, &format!("{}/events", self.path), None).header("last-event-id", after.to_string());
        let read = async {
            let response = self.server.send(request).await;
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            let mut stream = response.bytes_stream();
            let (mut received, mut events) = (Vec::new(), Vec::new());
            while let Some(Ok(bytes)) = stream.next().await {
                received.extend_from_slice(&bytes);
                // A piece may end in the middle of a character, a frame never does.
                while let Some(end) = received.windows(2).position(|pair| pair == b"\n\n") {
                    let frame: Vec<u8> = received.drain(..end + 2).collect();
                    let event = parse_frame(std::str::from_utf8(&frame).unwrap());
                    let Some(event) = event else { continue };
                    let last = until(&event);
                    events.push(event);
                    if last {
                        return events;
                    }
                }
            }
            panic!("the stream ended early, after {events:#?}")
        };
        tokio::time::timeout(PATIENCE, read).await.expect("the event did not come")
    }

    /// Everything up to the end of a run.
    pub async fn run_to_end(&self, after: u64) -> Vec<Value> {
        self.events(after, |event| event["type"] == "run_finished").await
    }
}

/// An event as a client reads it, with the checks every one of them must stand.
fn parse_frame(frame: &str) -> Option<Value> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let data: Value = serde_json::from_str(field("data:")?).unwrap();
    assert_eq!(field("event:"), data["type"].as_str());
    assert_eq!(field("id:").and_then(|id| id.parse().ok()), data["seq"].as_u64());
    Some(data)
}

/// The events of one type.
#[must_use]
pub fn of_type<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == name).map(|event| &event["data"]).collect()
}

/// The number of the last event, to go on from.
#[must_use]
pub fn last_id(events: &[Value]) -> u64 {
    events.last().and_then(|event| event["seq"].as_u64()).unwrap_or_default()
}
