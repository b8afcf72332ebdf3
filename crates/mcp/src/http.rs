//! A server that has an address: streamable HTTP, bounded, without redirects. The key stays in here.

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

/// So much may be said in one answer, or in one stream of them.
const SAID: usize = 16 << 20;
/// So much of a refusal is looked at.
const REFUSAL: usize = 64 << 10;
const CONNECT: Duration = Duration::from_secs(10);
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// Asks one server. Its key is in a header that is never shown.
#[derive(Clone)]
pub struct Caller {
    client: reqwest::Client,
    key: Option<HeaderValue>,
}

type Failure = StreamableHttpError<Wrong>;

/// What is wrong with an answer, without the address that was asked.
#[derive(Debug)]
pub struct Wrong(String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// In one sentence: what happened, and the cause of all causes.
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

impl Caller {
    /// # Errors
    /// The key can't stand in a header, or the system has no certificates.
    pub fn new(url: &str, key: Option<&str>) -> Result<Self, String> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("planwright/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // Neither the key nor what is asked follows a redirect to somewhere else.
            .redirect(reqwest::redirect::Policy::none());
        if reqwest::Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(is_loopback_host)) {
            builder = builder.no_proxy();
        }
        if url.starts_with("http://") {
            // Nothing is verified here, so a system without certificates will do.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| Wrong::from(error).0)?;
        let key = key.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))).transpose();
        let mut key = key.map_err(|_| "its key has characters that can't be sent".to_owned())?;
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
            return Err(unexpected("it sends us on to another address, which is not followed. Put the right one into the configuration"));
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(unexpected(&format!("it answers {status}; `api_key_env` names the variable with its key")));
        }
        Ok(response)
    }
}

impl StreamableHttpClient for Caller {
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
        let body = read(response, SAID).await?;
        let message =
            serde_json::from_slice(&body).map_err(|error| unexpected(&format!("it answers with something else than MCP: {error}")))?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        // Whether it minds is its own affair.
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

/// The error of a server that refuses in its own words.
async fn refusal(response: Response) -> Result<ServerJsonRpcMessage, Failure> {
    let (status, is_json) = (response.status(), is_of(&response, JSON));
    let body = if is_json { read(response, REFUSAL).await? } else { Vec::new() };
    match serde_json::from_slice(&body) {
        Ok(message @ ServerJsonRpcMessage::Error(_)) => Ok(message),
        Ok(_) | Err(_) => Err(unexpected(&format!("it answers {status}"))),
    }
}

fn is_of(response: &Response, kind: &str) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(wrong)? {
        if body.len() + piece.len() > most {
            return Err(unexpected("it says more than is listened to"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// The events of a stream, as long as there are not too many.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut room = SAID;
    let pieces = response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(Wrong::from)?;
        room = room.checked_sub(piece.len()).ok_or_else(|| Wrong("it says more than is listened to".to_owned()))?;
        Ok::<_, Wrong>(piece)
    });
    SseStream::from_bytes_stream(pieces).boxed()
}

fn wrong(error: reqwest::Error) -> Failure {
    StreamableHttpError::Client(Wrong::from(error))
}

fn unexpected(why: &str) -> Failure {
    StreamableHttpError::Client(Wrong(why.to_owned()))
}
