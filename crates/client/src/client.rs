//! One request: sent, retried under its `Idempotency-Key`, its answer read.

use crate::connection::{Busy, ConnectionPool, unreachable};
use crate::error::ClientError;
use crate::target::ServerTarget;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use planwright_protocol::{ErrorCode, Problem};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long requests are sent again while nobody answers.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pauses between two attempts: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Timeout for the head of an answer. Stopping a run may take as long as its running call.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);
const LARGEST_ANSWER: usize = 256 << 20;
/// Names the client whose run ends when it is gone.
const LEASH: &str = "planwright-leash";

/// A client of one server. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    connections: Arc<ConnectionPool>,
    patience: Duration,
    leash: Option<String>,
}

/// A body, with its type.
pub(crate) enum Body {
    Empty,
    Json(Vec<u8>),
    Image { mime_type: String, bytes: Vec<u8> },
}

impl Body {
    pub fn json(value: &impl Serialize) -> Result<Self, ClientError> {
        serde_json::to_vec(value).map(Self::Json).map_err(|error| ClientError::Foreign(format!("Can't write a request: {error}.")))
    }
}

impl Client {
    /// Contacts the server, and checks that it has this version.
    ///
    /// # Errors
    /// It can't be reached, wants another token, or has another version.
    pub async fn connect(target: ServerTarget) -> Result<Self, ClientError> {
        let client = Self::new(target)?;
        client.clone().with_patience(Duration::from_secs(10)).check_version().await?;
        Ok(client)
    }

    /// Checks that the server has this version.
    ///
    /// # Errors
    /// It has another one.
    pub async fn check_version(&self) -> Result<(), ClientError> {
        check_version(&self.me().await?.version)
    }

    /// Contacts nobody yet.
    ///
    /// # Errors
    /// The address is not one of a server.
    pub fn new(target: ServerTarget) -> Result<Self, ClientError> {
        let connector = target.connector().map_err(ClientError::Foreign)?;
        Ok(Self { connections: Arc::new(ConnectionPool::new(connector)), patience: PATIENCE, leash: None })
    }

    /// For how long a request is sent again while the server can't be reached (default 30 s).
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    #[must_use]
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Runs that this client starts stop 10 s after its last event stream ended: nobody would see what they do.
    #[must_use]
    pub fn leashed(self) -> Self {
        Self { leash: Some(Uuid::now_v7().to_string()), ..self }
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.read(Method::GET, path, Body::Empty).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.read(Method::POST, path, Body::json(body)?).await
    }

    /// A request whose answer is JSON.
    pub(crate) async fn read<T: DeserializeOwned>(&self, method: Method, path: &str, body: Body) -> Result<T, ClientError> {
        let bytes = self.answer(method, path, body).await?.1;
        serde_json::from_slice(&bytes).map_err(|error| ClientError::Foreign(format!("The server's answer can't be read: {error}.")))
    }

    /// A request whose answer is empty.
    pub(crate) async fn run(&self, method: Method, path: &str, body: Body) -> Result<(), ClientError> {
        self.answer(method, path, body).await.map(drop)
    }

    /// Sends a request until it is answered, under one key. Returns the head and the body of the answer.
    pub(crate) async fn answer(&self, method: Method, path: &str, body: Body) -> Result<(hyper::HeaderMap, Bytes), ClientError> {
        let key = (!method.is_safe()).then(|| Uuid::now_v7().to_string());
        let (content_type, bytes) = match body {
            Body::Empty => (None, Bytes::new()),
            Body::Json(bytes) => (Some("application/json".to_owned()), bytes.into()),
            Body::Image { mime_type, bytes } => (Some(mime_type), bytes.into()),
        };
        let request = || {
            let mut request = self.request(method.clone(), path);
            if let Some(key) = &key {
                request = request.header("idempotency-key", key);
            }
            if let Some(content_type) = &content_type {
                request = request.header(CONTENT_TYPE, content_type);
            }
            request.body(Full::new(bytes.clone())).map_err(|error| ClientError::Foreign(format!("Can't write a request: {error}.")))
        };
        let (until, mut pause) = (Instant::now() + self.patience, FIRST_PAUSE);
        loop {
            let outcome = match self.send(request()?).await {
                Ok((response, busy)) => self.read_answer(response, busy).await,
                Err(error) => Err(error),
            };
            match outcome {
                Err(error) if error.is_transient() && Instant::now() < until => {
                    tracing::debug!(%error, path, "sending a request again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                outcome => return outcome,
            }
        }
    }

    /// Opens an event stream, on a connection of its own.
    pub(crate) async fn open_stream(&self, path: &str, last_event_id: Option<&str>) -> Result<Incoming, ClientError> {
        let mut request = self.request(Method::GET, path).header(ACCEPT, "text/event-stream");
        if let Some(last) = last_event_id {
            request = request.header("last-event-id", last);
        }
        let request = request.body(Full::default()).map_err(|error| ClientError::Foreign(format!("Can't write a request: {error}.")))?;
        let mut busy = self.connections.open().await?;
        let response = within(busy.send(request)).await?;
        if response.status() == StatusCode::OK {
            return Ok(response.into_body());
        }
        match self.read_answer(response, busy).await {
            Err(error) => Err(error),
            Ok(_) => Err(ClientError::Foreign("The server answered a stream by something else.".to_owned())),
        }
    }

    fn request(&self, method: Method, path: &str) -> hyper::http::request::Builder {
        let connector = &self.connections.connector;
        let mut request = Request::builder().method(method).uri(format!("/api/v1{path}")).header(HOST, connector.authority());
        if let Some(token) = connector.token() {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(leash) = &self.leash {
            request = request.header(LEASH, leash);
        }
        request
    }

    /// Sends one request. If an idle connection turns out to be closed, another one is tried at once.
    async fn send(&self, request: Request<Full<Bytes>>) -> Result<(Response<Incoming>, Busy), ClientError> {
        let mut busy = self.connections.take().await?;
        match within(busy.send(request.clone())).await {
            Err(ClientError::Unreachable(_)) if busy.is_reused => {
                self.connections.forget();
                let mut busy = self.connections.open().await?;
                let response = within(busy.send(request)).await?;
                Ok((response, busy))
            }
            sent => Ok((sent?, busy)),
        }
    }

    /// Reads an answer to its end.
    async fn read_answer(&self, response: Response<Incoming>, busy: Busy) -> Result<(hyper::HeaderMap, Bytes), ClientError> {
        let (head, body) = response.into_parts();
        let read = Limited::new(body, LARGEST_ANSWER).collect();
        let bytes = match tokio::time::timeout(ANSWER_TIMEOUT, read).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) => return Err(ClientError::Unreachable(error.to_string())),
            Err(_) => return Err(ClientError::Unreachable("the answer took too long".to_owned())),
        };
        self.connections.give_back(busy);
        if head.status.is_success() {
            return Ok((head.headers, bytes));
        }
        Err(refusal(head.status, &bytes))
    }
}

async fn within<T>(sending: impl Future<Output = Result<T, ClientError>>) -> Result<T, ClientError> {
    tokio::time::timeout(ANSWER_TIMEOUT, sending).await.map_err(unreachable)?
}

/// The error that the server answered.
fn refusal(status: StatusCode, body: &[u8]) -> ClientError {
    #[derive(Deserialize)]
    struct Answer {
        error: Problem,
    }
    match serde_json::from_slice::<Answer>(body) {
        Ok(Answer { error }) => ClientError::Refused(error),
        // A proxy in front of the server answers while the server is away.
        Err(_) if status.is_server_error() => ClientError::Unreachable(format!("it answered {status}")),
        Err(_) => ClientError::Foreign(format!("What answered is no Planwright: {status}.")),
    }
}

/// Clients and servers work together within one minor version.
fn check_version(of_server: &str) -> Result<(), ClientError> {
    let own = env!("CARGO_PKG_VERSION");
    let minor = |version: &str| version.splitn(3, '.').take(2).map(str::to_owned).collect::<Vec<_>>();
    if minor(own) == minor(of_server) {
        return Ok(());
    }
    let text = format!(
        "The running Planwright has version {of_server}, and this one has {own}. Stop the other one, or use the same version for both."
    );
    Err(ClientError::Refused(Problem::new(ErrorCode::Conflict, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_differ_by_their_major_and_minor_numbers_only() {
        let own = env!("CARGO_PKG_VERSION");
        let (minor, _) = own.rsplit_once('.').unwrap();
        assert!(check_version(own).is_ok() && check_version(&format!("{minor}.999")).is_ok());
        for other in ["99.0.0", "0.99.1", ""] {
            let error = check_version(other).unwrap_err().to_string();
            assert!(error.contains("Stop the other one"), "{error}");
        }
    }

    #[test]
    fn an_answer_that_is_no_error_of_ours_is_either_away_or_foreign() {
        let ours = br#"{"error": {"code": "NO_PLAN", "message": "None.", "retryable": false}}"#;
        assert_eq!(refusal(StatusCode::CONFLICT, ours).code(), Some(ErrorCode::NoPlan));
        assert!(matches!(refusal(StatusCode::BAD_GATEWAY, b"<html>"), ClientError::Unreachable(_)));
        assert!(matches!(refusal(StatusCode::NOT_FOUND, b"<html>"), ClientError::Foreign(_)));
    }
}
