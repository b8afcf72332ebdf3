//! Errors and bodies as JSON, everywhere the same.

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::{StatusCode, header};
use axum::http::request::Parts;
use axum::response::{AppendHeaders, IntoResponse, Response};
use futures::StreamExt;
use planwright_protocol::error::Reader;
use planwright_protocol::json::parse_strict;
use planwright_protocol::{ErrorCode, Problem};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::time::Duration;

/// A problem on its way to the client.
pub struct ApiError {
    status: StatusCode,
    problem: Problem,
    /// The seconds after which trying again can help, where that is known.
    retry_after: Option<u32>,
}

pub type ApiResult<T> = Result<axum::Json<T>, ApiError>;

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        let status = match problem.code.reader() {
            Reader::Client(status) => StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            // What a model gets as a result is, in a client's request, a value that doesn't fit.
            Reader::Model => StatusCode::UNPROCESSABLE_ENTITY,
            Reader::User | Reader::Operator => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self { status, problem, retry_after: None }
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
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let wait = self.retry_after.map(|seconds| (header::RETRY_AFTER, seconds.to_string()));
        let challenge = (self.status == StatusCode::UNAUTHORIZED).then(|| (header::WWW_AUTHENTICATE, "Bearer".to_owned()));
        let headers = AppendHeaders(wait.into_iter().chain(challenge).collect::<Vec<_>>());
        (self.status, headers, axum::Json(json!({ "error": self.problem }))).into_response()
    }
}

/// A JSON object as the body; an empty body is an empty object. What can't be read is told in JSON as well.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let unreadable = |why: String| {
            ApiError::bad_request(Problem::new(ErrorCode::ValidationFailed, format!("The body can't be read: {why}. Send a JSON object.")))
        };
        let bytes = read(request.into_body()).await.map_err(|error| unreadable(error.to_string()))?;
        let bytes =
            bytes.ok_or_else(|| Problem::new(ErrorCode::TooLarge, "The body is larger than the server takes. Send less at a time."))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| unreadable(error.to_string()))?;
        let value = if text.trim().is_empty() { json!({}) } else { parse_strict(text).map_err(|error| unreadable(error.to_string()))? };
        if !value.is_object() {
            return Err(Problem::new(ErrorCode::ValidationFailed, "The body must be a JSON object.").into());
        }
        let body = serde_json::from_value(value);
        Ok(Self(body.map_err(|error| Problem::new(ErrorCode::ValidationFailed, format!("The body doesn't fit: {error}.")))?))
    }
}

/// What the server takes at once.
const LARGEST_BODY: usize = 2 << 20;
/// Of a body that is too large as much is read on: a client that is still sending does not hear an answer.
const HEARD_OUT: usize = 64 << 20;

/// The body; `None` if it is too large.
async fn read(body: axum::body::Body) -> Result<Option<Vec<u8>>, axum::Error> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await.transpose()?.filter(|_| length <= HEARD_OUT) {
        length += piece.len();
        if length <= LARGEST_BODY {
            bytes.extend_from_slice(&piece);
        }
    }
    Ok((length <= LARGEST_BODY).then_some(bytes))
}

/// The query of an address.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => Err(Problem::new(ErrorCode::ValidationFailed, format!("The query doesn't fit: {}", error.body_text())).into()),
        }
    }
}

/// Ids of a path. One that is malformed names nothing, so it is not found.
pub struct Ids<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Ids<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(ids)) => Ok(Self(ids)),
            Err(_) => Err(Problem::new(ErrorCode::NotFound, "There is nothing at this address; an id in it is malformed.").into()),
        }
    }
}
