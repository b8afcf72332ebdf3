//! What goes out: errors as JSON everywhere the same, and answers that know their status.

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

/// A problem on its way to the client.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    problem: Problem,
    /// The seconds after which trying again can help, where that is known.
    retry_after: Option<u32>,
}

pub type ApiResult<T> = Result<Json<T>, ApiError>;

/// An error, as every address answers it.
#[derive(JsonSchema, Serialize)]
pub struct ErrorAnswer {
    pub error: Problem,
}

/// The status that a code has over HTTP.
pub fn status_of(code: ErrorCode) -> StatusCode {
    if code == ErrorCode::StorageFull {
        return StatusCode::INSUFFICIENT_STORAGE;
    }
    match code.reader() {
        Reader::Client(status) => StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        // What a model gets as a result is, in a client's request, a value that doesn't fit.
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
    /// The request itself can't be read, or an answer doesn't fit its question.
    pub fn bad_request(problem: Problem) -> Self {
        Self { status: StatusCode::BAD_REQUEST, ..problem.into() }
    }

    /// `why` is a sentence; when to try again is said after it.
    pub fn too_many(why: &str, wait: Duration) -> Self {
        // Rounded up: whoever comes back at that second is let in.
        let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        let problem = Problem::new(ErrorCode::RateLimited, format!("{why} Try again in {seconds} s."));
        Self { retry_after: Some(seconds), ..problem.with_details(json!({ "retry_after_s": seconds })).into() }
    }

    /// Values that don't fit, each by its name and with what it must be.
    pub fn misfits(what: &str, fields: BTreeMap<String, String>) -> Self {
        let listed = fields.iter().map(|(name, wanted)| format!("`{name}` {wanted}")).collect::<Vec<_>>().join("; ");
        let problem = Problem::new(ErrorCode::ValidationFailed, format!("{what} doesn't fit: {listed}."));
        problem.with_details(json!({ "fields": fields })).into()
    }

    /// One value that doesn't fit.
    pub fn misfit(field: &str, wanted: impl Into<String>) -> Self {
        Self::misfits("The request", BTreeMap::from([(field.to_owned(), wanted.into())]))
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

/// Something new was made.
pub struct Created<T>(pub T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

/// It is stored, and what follows from it comes as events.
pub struct Accepted<T>(pub T);

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        (StatusCode::ACCEPTED, Json(self.0)).into_response()
    }
}

/// Done, and nothing to tell.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// A page of a list, and where the next one begins.
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// The header that says so.
pub const NEXT: &str = "x-next-cursor";

impl<T: Serialize> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        let next = self.next.and_then(|next| HeaderValue::from_str(&next).ok());
        let headers: HeaderMap = next.into_iter().map(|next| (HeaderName::from_static(NEXT), next)).collect();
        (headers, Json(self.items)).into_response()
    }
}

/// An answer that the browser is to remember something with.
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

/// Counted while it is open.
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

/// An image, which a browser shows and never runs. Its type follows from its bytes.
pub struct Picture {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
    pub cache: &'static str,
}

/// Nothing in an image can run, load or send anything, also when it is opened in a tab of its own.
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

/// Plain text, of the type that is named.
pub struct Text(pub &'static str, pub String);

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.0)], self.1).into_response()
    }
}
