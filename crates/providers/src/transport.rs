//! HTTP for every wire format: timeouts, size limits, whole characters, and no key in an address.

use crate::reply_guard::{Framing, ReplyGuard, check_document};
use crate::reply_start::ReplyStart;
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use planwright_protocol::settings::is_loopback_host;
use reqwest::redirect;
use rig_core::http_client::{
    self, BoxedStream, HeaderMap, HeaderValue, HttpClientExt, LazyBody, MultipartForm, Request, Response, StatusCode, StreamingResponse,
    Uri,
};
use std::error::Error;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// Headers with a key; their values never appear in a log.
const KEY_HEADERS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// Maximum bytes of a line. A line reader examines the line again with each chunk, so an endless line would cost more and more.
const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// Maximum bytes read of an error's body.
const LONGEST_ERROR: usize = 64 * 1024;

/// Timeouts and the size limit of a reply.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    pub connect: Duration,
    /// Without a byte, at the beginning and between two chunks.
    pub silence: Duration,
    /// For a whole reply.
    pub reply: Duration,
    /// Maximum bytes of a whole reply, as sent.
    pub bytes: usize,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), silence: Duration::from_mins(2), reply: Duration::from_mins(15), bytes: 64 * 1024 * 1024 }
    }
}

/// A failure below the wire format.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TransportFault {
    #[error("{0}")]
    Unreachable(String),
    #[error("nothing came for {} s", .0.as_secs())]
    Silent(Duration),
    #[error("the connection broke: {0}")]
    Cut(String),
    #[error("the reply took longer than {} s", .0.as_secs())]
    TooLong(Duration),
    #[error("the reply is longer than {} MiB", .0 / 1024 / 1024)]
    TooMuch(usize),
    #[error("a line of the reply is longer than {} MiB", .0 / 1024 / 1024)]
    LineTooLong(usize),
    /// The reply's JSON exceeds a limit.
    #[error("{0}")]
    Unreadable(&'static str),
}

#[derive(Clone, Debug)]
pub struct Transport {
    client: reqwest::Client,
    timeouts: Timeouts,
    /// Records the start of a reply.
    reply_start: Option<ReplyStart>,
}

impl Transport {
    /// `ca_file` has certificates to trust in addition to the system's.
    ///
    /// # Errors
    /// What is wrong with the certificates, or the system.
    pub fn new(base_url: &str, ca_file: Option<&Path>, timeouts: Timeouts) -> Result<Self, String> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("planwright/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeouts.connect)
            // A key must not follow a redirect to another host.
            .redirect(redirect::Policy::none());
        if is_loopback(base_url) {
            builder = builder.no_proxy();
        }
        if let Some(file) = ca_file {
            builder = builder.tls_certs_merge(certificates(file)?);
        }
        if base_url.starts_with("http://") && ca_file.is_none() {
            // Plain HTTP verifies nothing, so it needs no certificates.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| {
            format!(
                "{}. Install the system's certificates (the package ca-certificates), or name a file of them as `ca_file`",
                chain(&error)
            )
        })?;
        Ok(Self { client, timeouts, reply_start: None })
    }

    /// The same connections, for one reply whose start is recorded.
    pub(crate) fn recording(&self, reply_start: ReplyStart) -> Self {
        Self { reply_start: Some(reply_start), ..self.clone() }
    }

    async fn open(self, request: Request<Bytes>) -> Result<reqwest::Response, http_client::Error> {
        let request = reqwest::Request::try_from(without_key(request)?).map_err(http_client::Error::instance)?;
        let sent = timeout(self.timeouts.silence, self.client.execute(request)).await;
        let response =
            sent.map_err(|_| broken(TransportFault::Silent(self.timeouts.silence)))?.map_err(|error| broken(unreachable(error)))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = timeout(self.timeouts.silence, reply_start(response)).await.unwrap_or_default();
        Err(http_client::Error::non_success_with_details(status, headers, body))
    }
}

impl HttpClientExt for Transport {
    fn send<T, U>(&self, request: Request<T>) -> impl Future<Output = http_client::Result<Response<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        let (transport, request) = (self.clone(), request.map(Into::into));
        async move {
            let timeouts = transport.timeouts;
            let response = transport.open(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = Box::pin(async move {
                let mut whole = BytesMut::new();
                let mut pieces = pieces(response, timeouts, None);
                while let Some(piece) = pieces.next().await {
                    whole.extend_from_slice(&piece?);
                }
                check_document(&whole).map_err(broken)?;
                Ok(U::from(whole.freeze()))
            });
            Ok(respond(status, headers, body as LazyBody<U>))
        }
    }

    fn send_multipart<U>(
        &self,
        _request: Request<MultipartForm>,
    ) -> impl Future<Output = http_client::Result<Response<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        // None of our wire formats sends forms.
        std::future::ready(Err(http_client::Error::NoHeaders))
    }

    fn send_streaming<T>(&self, request: Request<T>) -> impl Future<Output = http_client::Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        let (transport, request) = (self.clone(), request.map(Into::into));
        async move {
            let (timeouts, reply_start) = (transport.timeouts, transport.reply_start.clone());
            let response = transport.open(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let heard = move |piece: &http_client::Result<Bytes>| {
                if let (Some(reply_start), Ok(piece)) = (&reply_start, piece) {
                    reply_start.add(piece);
                }
            };
            let guard = ReplyGuard::new(framing(&headers), LONGEST_LINE);
            let body: BoxedStream = Box::pin(pieces(response, timeouts, Some(guard)).inspect(heard));
            Ok(respond(status, headers, body))
        }
    }
}

fn respond<B>(status: StatusCode, headers: HeaderMap, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The library splits everything into lines that is not declared as an event stream.
fn framing(headers: &HeaderMap) -> Framing {
    let named = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_stream = named.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
    if is_stream { Framing::EventStream } else { Framing::Lines }
}

struct Reading {
    response: reqwest::Response,
    timeouts: Timeouts,
    guard: Option<ReplyGuard>,
    deadline: Instant,
    received: usize,
    /// The length of the current line.
    line: usize,
    /// The beginning of an incomplete character.
    rest: Vec<u8>,
    over: bool,
}

/// A body as a stream of whole characters. Invalid bytes are replaced, so that one bad byte doesn't cost a reply.
fn pieces(response: reqwest::Response, timeouts: Timeouts, guard: Option<ReplyGuard>) -> BoxStream<'static, http_client::Result<Bytes>> {
    let deadline = Instant::now() + timeouts.reply;
    let reading = Reading { response, timeouts, guard, deadline, received: 0, line: 0, rest: Vec::new(), over: false };
    stream::unfold(reading, |mut reading| async move {
        while !reading.over {
            let piece = reading.next().await;
            reading.over = !matches!(piece, Some(Ok(_)));
            match reading.guarded(piece) {
                Some(Ok(piece)) if piece.is_empty() => {}
                piece => return piece.map(|piece| (piece, reading)),
            }
        }
        None
    })
    .boxed()
}

impl Reading {
    /// The part of a chunk, or of the end, that passes the guard.
    fn guarded(&mut self, piece: Option<http_client::Result<Bytes>>) -> Option<http_client::Result<Bytes>> {
        let Some(guard) = &mut self.guard else { return piece };
        let passed = match piece {
            Some(Ok(piece)) => guard.pass(&piece),
            None => guard.end(),
            Some(Err(error)) => return Some(Err(error)),
        };
        self.over |= passed.is_err();
        match passed {
            Ok(passed) if passed.is_empty() && self.over => None,
            passed => Some(passed.map(Bytes::from).map_err(broken)),
        }
    }

    async fn next(&mut self) -> Option<http_client::Result<Bytes>> {
        let until = self.deadline.min(Instant::now() + self.timeouts.silence);
        let chunk = match timeout_at(until, self.response.chunk()).await {
            Err(_) if until == self.deadline => return Some(Err(broken(TransportFault::TooLong(self.timeouts.reply)))),
            Err(_) => return Some(Err(broken(TransportFault::Silent(self.timeouts.silence)))),
            Ok(Err(error)) => return Some(Err(broken(TransportFault::Cut(chain(&error.without_url()))))),
            Ok(Ok(None)) if self.rest.is_empty() => return None,
            Ok(Ok(None)) => return Some(Ok(whole_characters(&mut self.rest, &[], true))),
            Ok(Ok(Some(chunk))) => chunk,
        };
        self.received += chunk.len();
        if self.received > self.timeouts.bytes {
            return Some(Err(broken(TransportFault::TooMuch(self.timeouts.bytes))));
        }
        self.line = chunk.iter().rev().position(|byte| *byte == b'\n').unwrap_or(self.line + chunk.len());
        if self.line > LONGEST_LINE {
            return Some(Err(broken(TransportFault::LineTooLong(LONGEST_LINE))));
        }
        Some(Ok(whole_characters(&mut self.rest, &chunk, false)))
    }
}

/// The whole characters of `rest` and `more`; the beginning of an incomplete one stays in `rest`.
fn whole_characters(rest: &mut Vec<u8>, more: &[u8], last: bool) -> Bytes {
    let mut bytes = std::mem::take(rest);
    bytes.extend_from_slice(more);
    let end = match bytes.utf8_chunks().last() {
        Some(chunk) if !last && !chunk.invalid().is_empty() && could_go_on(chunk.invalid()) => bytes.len() - chunk.invalid().len(),
        Some(_) | None => bytes.len(),
    };
    *rest = bytes.split_off(end);
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => Bytes::from(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

fn could_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Moves the key from the address, where logs and errors would show it, to a header.
#[expect(clippy::result_large_err, reason = "the error of the trait that is implemented here")]
fn without_key(mut request: Request<Bytes>) -> http_client::Result<Request<Bytes>> {
    let uri = request.uri().to_string();
    if let Some((path, query)) = uri.split_once('?') {
        let (keys, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|pair| pair.starts_with("key="));
        if let Some(key) = keys.first().and_then(|pair| pair.strip_prefix("key=")) {
            request.headers_mut().insert("x-goog-api-key", HeaderValue::from_str(key)?);
            let uri = if others.is_empty() { path.to_owned() } else { format!("{path}?{}", others.join("&")) };
            *request.uri_mut() = uri.parse::<Uri>().map_err(http_client::Error::instance)?;
        }
    }
    for name in KEY_HEADERS {
        if let Some(value) = request.headers_mut().get_mut(name) {
            value.set_sensitive(true);
        }
    }
    Ok(request)
}

async fn reply_start(mut response: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() >= LONGEST_ERROR {
            bytes.truncate(LONGEST_ERROR);
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn broken(fault: TransportFault) -> http_client::Error {
    http_client::Error::instance(fault)
}

fn unreachable(error: reqwest::Error) -> TransportFault {
    TransportFault::Unreachable(chain(&error.without_url()))
}

/// An error with its causes, which contain the details.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// Addresses of this machine never use a proxy.
pub(crate) fn is_loopback(base_url: &str) -> bool {
    reqwest::Url::parse(base_url).is_ok_and(|url| url.host_str().is_some_and(is_loopback_host))
}

#[expect(clippy::disallowed_methods, reason = "a file that the user's own configuration names")]
fn certificates(file: &Path) -> Result<Vec<reqwest::Certificate>, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("`ca_file` {} can't be read: {error}", file.display()))?;
    let found = reqwest::Certificate::from_pem_bundle(&bytes).map_err(|error| error.to_string());
    match found {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(format!("`ca_file` {} has no certificates in it; it must be in PEM form", file.display())),
        Err(error) => Err(format!("`ca_file` {} can't be used: {error}", file.display())),
    }
}

#[cfg(test)]
mod tests;
