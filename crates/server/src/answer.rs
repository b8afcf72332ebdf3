//! Responses: one JSON form for all errors, and response types that know their status.

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use futures::StreamExt;
use metrics::{counter, gauge};
use planwright_protocol::error::Reader;
use planwright_protocol::{ErrorCode, Problem};
use planwright_store::StoreError;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// An error response.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    problem: Problem,
    /// Seconds until a retry can help, if known.
    retry_after: Option<u32>,
}

pub type ApiResult<T> = Result<Json<T>, ApiError>;

/// The body of every error response.
#[derive(JsonSchema, Serialize)]
pub struct ErrorAnswer {
    pub error: Problem,
}

/// The HTTP status of a code.
pub fn status_of(code: ErrorCode) -> StatusCode {
    if code == ErrorCode::StorageFull {
        return StatusCode::INSUFFICIENT_STORAGE;
    }
    match code.reader() {
        Reader::Client(status) => StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        // Errors that a model gets as a tool result are invalid values in a client's request.
        Reader::Model => StatusCode::UNPROCESSABLE_ENTITY,
        Reader::User | Reader::Operator => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        Self { status: status_of(problem.code), problem, retry_after: None }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Problem::from(error).into()
    }
}

impl ApiError {
    /// The request is unreadable, or an answer does not match its question.
    pub fn bad_request(problem: Problem) -> Self {
        Self { status: StatusCode::BAD_REQUEST, ..problem.into() }
    }

    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    /// `why` is a sentence; the waiting time is appended to it.
    pub fn too_many(why: &str, wait: Duration) -> Self {
        // Rounded up, so that a client that waits exactly this long is let in.
        let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        let problem = Problem::new(ErrorCode::RateLimited, format!("{why} Try again in {seconds} s."));
        Self { retry_after: Some(seconds), ..problem.with_details(json!({ "retry_after_s": seconds })).into() }
    }

    /// Invalid values, by name, each with what it must be.
    pub fn invalid_fields(what: &str, fields: BTreeMap<String, String>) -> Self {
        let listed = fields.iter().map(|(name, wanted)| format!("`{name}` {wanted}")).collect::<Vec<_>>().join("; ");
        let problem = Problem::new(ErrorCode::ValidationFailed, format!("{what} doesn't fit: {listed}."));
        problem.with_details(json!({ "fields": fields })).into()
    }

    /// One invalid value.
    pub fn invalid_field(field: &str, wanted: impl Into<String>) -> Self {
        Self::invalid_fields("The request", BTreeMap::from([(field.to_owned(), wanted.into())]))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if self.status.is_server_error() {
            tracing::error!(problem = %self.problem, "failed");
        }
        let wait = self.retry_after.map(|seconds| (header::RETRY_AFTER, seconds.to_string()));
        let challenge = (self.status == StatusCode::UNAUTHORIZED).then(|| (header::WWW_AUTHENTICATE, "Bearer".to_owned()));
        let headers = AppendHeaders(wait.into_iter().chain(challenge).collect::<Vec<_>>());
        (self.status, headers, Json(ErrorAnswer { error: self.problem })).into_response()
    }
}

/// A resource was created.
pub struct Created<T>(pub T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

/// The op is stored; its consequences arrive as events.
pub struct Accepted<T>(pub T);

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        (StatusCode::ACCEPTED, Json(self.0)).into_response()
    }
}

/// Done, without a body.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// A page of a list, and the cursor of the next one.
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// The header with the next cursor.
pub const NEXT: &str = "x-next-cursor";

impl<T: Serialize> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        let next = self.next.and_then(|next| HeaderValue::from_str(&next).ok());
        let headers: HeaderMap = next.into_iter().map(|next| (HeaderName::from_static(NEXT), next)).collect();
        (headers, Json(self.items)).into_response()
    }
}

/// A response that sets a cookie.
pub struct WithCookie<T> {
    pub cookie: Option<HeaderValue>,
    pub answer: T,
}

impl<T: IntoResponse> IntoResponse for WithCookie<T> {
    fn into_response(self) -> Response {
        (AppendHeaders(self.cookie.map(|cookie| (header::SET_COOKIE, cookie))), self.answer).into_response()
    }
}

/// Server-sent events.
pub struct EventStream(pub Response);

/// Counts the stream while it is open.
struct OpenStream;

impl OpenStream {
    fn new() -> Self {
        gauge!("planwright_event_streams").increment(1);
        Self
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        gauge!("planwright_event_streams").decrement(1);
    }
}

impl IntoResponse for EventStream {
    fn into_response(self) -> Response {
        let (parts, body) = self.0.into_parts();
        let open = OpenStream::new();
        let counted = body.into_data_stream().inspect(move |_| {
            let _ = &open;
            counter!("planwright_event_deliveries_total").increment(1);
        });
        Response::from_parts(parts, Body::from_stream(counted))
    }
}

/// An image that a browser displays and never runs. Its type follows from its bytes.
pub struct Picture {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
    pub cache: &'static str,
}

/// Nothing in an image can run, load or send anything, even if the image is opened in its own tab.
const PICTURE_POLICY: &str = "default-src 'none'; sandbox";

impl IntoResponse for Picture {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, self.media_type),
            (header::CONTENT_SECURITY_POLICY, PICTURE_POLICY),
            (header::CONTENT_DISPOSITION, "inline"),
            (header::CACHE_CONTROL, self.cache),
        ];
        (headers, self.bytes).into_response()
    }
}

/// Plain text of the given content type.
pub struct PlainText(pub &'static str, pub String);

impl IntoResponse for PlainText {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.0)], self.1).into_response()
    }
}
