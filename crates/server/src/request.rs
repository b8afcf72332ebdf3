//! Parses bodies, queries, ids and headers strictly, with JSON errors that name the invalid fields.

use crate::answer::ApiError;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use futures::StreamExt;
use planwright_protocol::json::parse_strict;
use planwright_protocol::{ErrorCode, Problem};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::Semaphore;

/// A JSON object as the body.
pub struct Body<T>(pub T);

/// An optional JSON object as the body; a missing body counts as an empty one.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let object = object_of(request).await?.ok_or_else(|| unreadable("it is empty"))?;
        deserialize_fields(object).map(Self)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        deserialize_fields(object_of(request).await?.unwrap_or_default()).map(Self)
    }
}

/// The bytes of an image as the body. The chat validates them.
pub struct ImageBody(pub Vec<u8>);

/// Maximum size of an image.
pub const LARGEST_IMAGE: usize = 5 << 20;

impl<S: Send + Sync> FromRequest<S> for ImageBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let named = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !named.to_ascii_lowercase().starts_with("image/") {
            let text = "The body must be an image with its content type, such as `Content-Type: image/png`.";
            return Err(Problem::new(ErrorCode::UnsupportedMediaType, text).into());
        }
        let text = format!("The image is larger than {} MiB. Make it smaller and send it again.", LARGEST_IMAGE >> 20);
        bytes_of(&parts.headers, body, LARGEST_IMAGE, &text).await.map(Self)
    }
}

/// The whole body of any request, within the limits for bodies.
pub async fn any_body(headers: &HeaderMap, body: axum::body::Body) -> Result<Vec<u8>, ApiError> {
    bytes_of(headers, body, LARGEST_IMAGE.max(LARGEST_BODY), TOO_LARGE).await
}

/// The whole body; `too_large` is the message if it exceeds `largest`.
async fn bytes_of(headers: &HeaderMap, body: axum::body::Body, largest: usize, too_large: &str) -> Result<Vec<u8>, ApiError> {
    let too_large = || Problem::new(ErrorCode::TooLarge, too_large);
    if length(headers).is_some_and(|length| length > READ_TO_DISCARD) {
        return Err(too_large().into());
    }
    let read = tokio::time::timeout(BODY_TIME, read(body, largest)).await.map_err(|_| unreadable("it took too long to arrive"))??;
    Ok(read.ok_or_else(too_large)?)
}

/// The object in a body; `None` without a body.
async fn object_of(request: Request) -> Result<Option<Map<String, Value>>, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = bytes_of(&parts.headers, body, LARGEST_BODY, TOO_LARGE).await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if parts.headers.get(header::CONTENT_ENCODING).is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let text = "The body must not be compressed.";
        return Err(Problem::new(ErrorCode::UnsupportedMediaType, text).into());
    }
    if !is_json(&parts.headers) {
        let text = "The body must be JSON, with `Content-Type: application/json`.";
        return Err(Problem::new(ErrorCode::UnsupportedMediaType, text).into());
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| unreadable(&error.to_string()))?;
    match parse_strict(text).map_err(|error| unreadable(&error.to_string()))? {
        Value::Object(object) => Ok(Some(object)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Problem::new(ErrorCode::ValidationFailed, "The body must be a JSON object.").into())
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let named = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    named.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn unreadable(why: &str) -> ApiError {
    ApiError::bad_request(Problem::new(ErrorCode::ValidationFailed, format!("The body can't be read: {why}. Send a JSON object.")))
}

/// Maximum number of invalid fields in one error.
const MAX_NAMED_FIELDS: usize = 20;

/// Deserializes the object. Serde stops at the first invalid field; retrying without it finds the others.
fn deserialize_fields<T: DeserializeOwned>(mut object: Map<String, Value>) -> Result<T, ApiError> {
    let mut wrong = BTreeMap::new();
    while wrong.len() < MAX_NAMED_FIELDS {
        let (path, error) = match serde_path_to_error::deserialize(Value::Object(object.clone())) {
            Ok(body) if wrong.is_empty() => return Ok(body),
            Ok(_) => break,
            Err(error) => (error.path().to_string(), error.into_inner().to_string()),
        };
        let name = field_of(&path, &error);
        let field = name.split(['.', '[']).next().unwrap_or_default().to_owned();
        let is_new = !wrong.keys().any(|known: &String| known.split(['.', '[']).next() == Some(&field));
        if is_new {
            wrong.insert(name, field_error(&error));
        }
        if object.shift_remove(&field).is_none() {
            break;
        }
    }
    Err(ApiError::invalid_fields("The body", wrong))
}

/// The field that an error is about: its path, or the name in its message if the error is about the parent.
fn field_of(path: &str, error: &str) -> String {
    let names_field = ["missing field", "unknown field", "duplicate field"].iter().any(|words| error.starts_with(words));
    let Some(named) = error.split('`').nth(1).filter(|_| names_field) else { return path.to_owned() };
    if path == "." || path == named || path.ends_with(&format!(".{named}")) { named.to_owned() } else { format!("{path}.{named}") }
}

/// Serde's message, as the end of a sentence that begins with the field's name.
fn field_error(error: &str) -> String {
    if error.starts_with("missing field") {
        return "is missing".to_owned();
    }
    if error.starts_with("duplicate field") {
        return "is given twice".to_owned();
    }
    if let Some(unknown) = error.strip_prefix("unknown field ") {
        let known = unknown.split_once(", expected ").map_or("none", |(_, known)| known.strip_prefix("one of ").unwrap_or(known));
        return format!("is unknown here; known are: {known}");
    }
    match error.split_once(", expected ") {
        Some((found, wanted)) => {
            let found = found.split_once(": ").map_or(found, |(_, found)| found);
            format!("must be {wanted}, and is {found}")
        }
        None if error.contains("invalid digit") || error.contains("number too") => "must be a whole number that is not negative".to_owned(),
        None => format!("does not fit: {error}"),
    }
}

const TOO_LARGE: &str = "The body is larger than the server accepts. Send less at a time.";
/// Maximum size of a body. No message is larger.
pub const LARGEST_BODY: usize = 2 << 20;
/// How much of an oversized body is still read: a client that is sending does not read the response.
const READ_TO_DISCARD: usize = 64 << 20;
/// Timeout for a whole body.
const BODY_TIME: Duration = Duration::from_mins(1);
/// Bodies up to this size need no permit.
const SMALL_BODY: usize = 64 << 10;
/// Permits for larger bodies in transit.
static LARGE_BODIES: Semaphore = Semaphore::const_new(64);

/// The body; `None` if it is too large.
async fn read(body: axum::body::Body, largest: usize) -> Result<Option<Vec<u8>>, ApiError> {
    let (mut bytes, mut length, mut room) = (Vec::new(), 0, None);
    let mut pieces = body.into_data_stream();
    let next = |piece: Result<_, axum::Error>| piece.map_err(|error| unreadable(&error.to_string()));
    while let Some(piece) = pieces.next().await.map(next).transpose()?.filter(|_| length <= READ_TO_DISCARD) {
        length += piece.len();
        if length > SMALL_BODY && room.is_none() {
            let full = |_| ApiError::too_many("Too many large requests are in progress.", RETRY_LARGE_BODY);
            let shares = u32::try_from(largest.div_ceil(LARGEST_BODY)).unwrap_or(1);
            room = Some(LARGE_BODIES.try_acquire_many(shares).map_err(full)?);
        }
        if length <= largest {
            bytes.extend_from_slice(&piece);
        }
    }
    Ok((length <= largest).then_some(bytes))
}

/// When there may be a free permit again.
const RETRY_LARGE_BODY: Duration = Duration::from_secs(5);

/// The query of an address. Unknown names are ignored.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(pairs)).map(Self).map_err(|error| {
            let path = error.path().to_string();
            let error = error.into_inner().to_string();
            ApiError::invalid_fields("The query", BTreeMap::from([(field_of(&path, &error), field_error(&error))]))
        })
    }
}

/// The page size that the query asks for, within the limit.
pub fn page_size(limit: Option<u32>, largest: u32) -> Result<u32, ApiError> {
    match limit {
        None => Ok(largest),
        Some(0) => Err(ApiError::invalid_field("limit", "must be at least 1")),
        Some(limit) => Ok(limit.min(largest)),
    }
}

/// The ids in a path. A malformed id names nothing, so it is "not found".
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

/// The position of a reconnecting client, as browsers send it automatically.
pub struct LastEventId(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for LastEventId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let value = parts.headers.get("last-event-id").and_then(|value| value.to_str().ok());
        Ok(Self(value.map(str::to_owned)))
    }
}

/// Makes it safe to send a message again.
pub struct IdempotencyKey(pub Option<String>);

/// Maximum length of a key.
pub const LONGEST_KEY: usize = 200;

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        let fits = |key: &&str| (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        let key = value.to_str().ok().filter(fits);
        let key = key
            .ok_or_else(|| ApiError::invalid_field("Idempotency-Key", format!("must have 1 to {LONGEST_KEY} visible ASCII characters")))?;
        Ok(Self(Some(key.to_owned())))
    }
}
