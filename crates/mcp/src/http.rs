//! A server with an address: streamable HTTP with limits and without redirects. The key never leaves this module.

use crate::json_size::JsonSize;
use futures::stream::{BoxStream, StreamExt};
use http::{HeaderName, HeaderValue, StatusCode};
use planwright_protocol::settings::is_loopback_host;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse};
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Maximum bytes of one answer or one stream.
const MAX_BYTES: usize = 16 << 20;
/// Maximum bytes read of an error response.
const MAX_ERROR_BODY: usize = 64 << 10;
const CONNECT: Duration = Duration::from_secs(10);
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// The HTTP client of one server. Its key is in a header marked as sensitive.
#[derive(Clone)]
pub struct HttpClient {
    client: reqwest::Client,
    key: Option<HeaderValue>,
}

type Failure = StreamableHttpError<Wrong>;

/// An error without the server's address.
#[derive(Debug)]
pub struct Wrong(String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// One sentence: what happened, and the root cause.
impl From<reqwest::Error> for Wrong {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let told = cause.to_string();
        let why = told.split(" (os error").next().unwrap_or_default();
        Self(if error.is_timeout() {
            "its address did not answer in time".to_owned()
        } else if error.is_connect() {
            format!("its address can't be reached: {why}")
        } else if error.is_builder() {
            why.to_owned()
        } else {
            format!("the connection to its address failed: {why}")
        })
    }
}

impl HttpClient {
    /// # Errors
    /// The key can't be used in a header, or the system has no certificates.
    pub fn new(url: &str, key: Option<&str>) -> Result<Self, String> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("planwright/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // Neither the key nor the request may follow a redirect to another host.
            .redirect(reqwest::redirect::Policy::none());
        if reqwest::Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(is_loopback_host)) {
            builder = builder.no_proxy();
        }
        if url.starts_with("http://") {
            // Plain HTTP verifies nothing, so it needs no certificates.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| Wrong::from(error).0)?;
        let key = key.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))).transpose();
        let mut key = key.map_err(|_| "its key contains characters that can't be sent".to_owned())?;
        if let Some(key) = &mut key {
            key.set_sensitive(true);
        }
        Ok(Self { client, key })
    }

    async fn send(
        &self,
        mut request: RequestBuilder,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, Failure> {
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        let response = request.header(ACCEPT, format!("{JSON}, {EVENTS}")).send().await.map_err(wrong)?;
        let status = response.status();
        if status.is_redirection() {
            return Err(unexpected("it redirects to another address, which is not followed. Put the right address into the configuration"));
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(unexpected(&format!("it answers {status}; set the variable that `api_key_env` names to its key")));
        }
        Ok(response)
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = Wrong;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = session_id.is_some();
        let response = self.send(self.client.post(uri.as_ref()).json(&message), session_id.as_deref(), headers).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let wants_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        if status.is_success() && !wants_answer {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if !status.is_success() {
            return refusal(response).await.map(|message| StreamableHttpPostResponse::Json(message, session));
        }
        if is_of(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        if !is_of(&response, JSON) {
            return Err(unexpected("it answers neither with JSON nor with events; is this the address of an MCP server?"));
        }
        let body = read(response, MAX_BYTES).await?;
        let message = serde_json::from_slice(&body).map_err(|error| unexpected(&format!("its answer is not MCP: {error}")))?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        // The server's answer does not matter.
        let _ = self.send(self.client.delete(uri.as_ref()), Some(&session_id), headers).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut request = self.client.get(uri.as_ref());
        if let Some(id) = last_event_id {
            request = request.header(LAST_EVENT, id);
        }
        let response = self.send(request, session_id.as_deref(), headers).await?;
        if !response.status().is_success() || !is_of(&response, EVENTS) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(events(response))
    }
}

/// The error in the server's own JSON, if there is one.
async fn refusal(response: Response) -> Result<ServerJsonRpcMessage, Failure> {
    let (status, is_json) = (response.status(), is_of(&response, JSON));
    let body = if is_json { read(response, MAX_ERROR_BODY).await? } else { Vec::new() };
    match serde_json::from_slice(&body) {
        Ok(message @ ServerJsonRpcMessage::Error(_)) => Ok(message),
        Ok(_) | Err(_) => Err(unexpected(&format!("it answers {status}"))),
    }
}

fn is_of(response: &Response, kind: &str) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, Failure> {
    let (mut body, mut size) = (Vec::new(), JsonSize::default());
    while let Some(piece) = response.chunk().await.map_err(wrong)? {
        if body.len() + piece.len() > most || !size.add(&piece) {
            return Err(unexpected("it sent more than the limit"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// The events of a stream, within the limit.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let (mut room, mut size) = (MAX_BYTES, JsonSize::default());
    let parts = response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(Wrong::from)?;
        let is_small = size.add(&piece);
        room = room.checked_sub(piece.len()).filter(|_| is_small).ok_or_else(|| Wrong("it sent more than the limit".to_owned()))?;
        Ok::<_, Wrong>(piece)
    });
    SseStream::from_bytes_stream(parts).boxed()
}

fn wrong(error: reqwest::Error) -> Failure {
    StreamableHttpError::Client(Wrong::from(error))
}

fn unexpected(why: &str) -> Failure {
    StreamableHttpError::Client(Wrong(why.to_owned()))
}
