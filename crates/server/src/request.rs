//! What comes in: bodies, queries, ids and headers, read strictly and told in JSON where they don't fit.

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

/// A JSON object as the body, or none, which counts as an empty one.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let object = object_of(request).await?.ok_or_else(|| unreadable("it is empty"))?;
        fitted(object).map(Self)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        fitted(object_of(request).await?.unwrap_or_default()).map(Self)
    }
}

/// The bytes of an image as the body. Whether they are one is for the chat to say.
pub struct ImageBody(pub Vec<u8>);

/// As large as an image may be.
pub const LARGEST_IMAGE: usize = 5 << 20;

impl<S: Send + Sync> FromRequest<S> for ImageBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let named = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !named.to_ascii_lowercase().starts_with("image/") {
            let text = "The body must be an image, and say so: `Content-Type: image/png`.";
            return Err(Problem::new(ErrorCode::UnsupportedMediaType, text).into());
        }
        let text = format!("The image is larger than {} MiB. Make it smaller, and send it again.", LARGEST_IMAGE >> 20);
        bytes_of(&parts.headers, body, LARGEST_IMAGE, &text).await.map(Self)
    }
}

/// The whole body; `too_large` says what to do if it is more than `largest`.
async fn bytes_of(headers: &HeaderMap, body: axum::body::Body, largest: usize, too_large: &str) -> Result<Vec<u8>, ApiError> {
    let too_large = || Problem::new(ErrorCode::TooLarge, too_large);
    if length(headers).is_some_and(|length| length > HEARD_OUT) {
        return Err(too_large().into());
    }
    let read = tokio::time::timeout(BODY_TIME, read(body, largest)).await.map_err(|_| unreadable("it took too long to come"))??;
    Ok(read.ok_or_else(too_large)?)
}

/// The object that a body holds; `None` if there is no body.
async fn object_of(request: Request) -> Result<Option<Map<String, Value>>, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = bytes_of(&parts.headers, body, LARGEST_BODY, "The body is larger than the server takes. Send less at a time.").await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if parts.headers.get(header::CONTENT_ENCODING).is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let text = "The body must be sent as it is, not compressed.";
        return Err(Problem::new(ErrorCode::UnsupportedMediaType, text).into());
    }
    if !is_json(&parts.headers) {
        let text = "The body must be JSON, and say so: `Content-Type: application/json`.";
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

/// How many wrong fields are named at once.
const MOST_NAMED: usize = 20;

/// The object as its type. Serde stops at the first field that doesn't fit; the others are found by trying without it.
fn fitted<T: DeserializeOwned>(mut object: Map<String, Value>) -> Result<T, ApiError> {
    let mut wrong = BTreeMap::new();
    while wrong.len() < MOST_NAMED {
        let (path, error) = match serde_path_to_error::deserialize(Value::Object(object.clone())) {
            Ok(body) if wrong.is_empty() => return Ok(body),
            Ok(_) => break,
            Err(error) => (error.path().to_string(), error.into_inner().to_string()),
        };
        let name = field_of(&path, &error);
        let field = name.split(['.', '[']).next().unwrap_or_default().to_owned();
        let is_new = !wrong.keys().any(|known: &String| known.split(['.', '[']).next() == Some(&field));
        if is_new {
            wrong.insert(name, complaint(&error));
        }
        if object.shift_remove(&field).is_none() {
            break;
        }
    }
    Err(ApiError::misfits("The body", wrong))
}

/// The field that an error is about: its path, or the name in its words where it stands above it.
fn field_of(path: &str, error: &str) -> String {
    let names_field = ["missing field", "unknown field", "duplicate field"].iter().any(|words| error.starts_with(words));
    let Some(named) = error.split('`').nth(1).filter(|_| names_field) else { return path.to_owned() };
    if path == "." || path == named || path.ends_with(&format!(".{named}")) { named.to_owned() } else { format!("{path}.{named}") }
}

/// What Serde complains of, as the end of a sentence that begins with the field's name.
fn complaint(error: &str) -> String {
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

/// What the server takes at once: no message is larger.
pub const LARGEST_BODY: usize = 2 << 20;
/// Of a body that is too large as much is read on: a client that is still sending does not hear an answer.
const HEARD_OUT: usize = 64 << 20;
/// How long a body may take to come.
const BODY_TIME: Duration = Duration::from_mins(1);
/// A body that is no larger needs no room.
const SMALL_BODY: usize = 64 << 10;
/// The room for larger bodies that are still coming: so many of them, each as large as can be.
static LARGE_BODIES: Semaphore = Semaphore::const_new(64);

/// The body; `None` if it is too large.
async fn read(body: axum::body::Body, largest: usize) -> Result<Option<Vec<u8>>, ApiError> {
    let (mut bytes, mut length, mut room) = (Vec::new(), 0, None);
    let mut pieces = body.into_data_stream();
    let next = |piece: Result<_, axum::Error>| piece.map_err(|error| unreadable(&error.to_string()));
    while let Some(piece) = pieces.next().await.map(next).transpose()?.filter(|_| length <= HEARD_OUT) {
        length += piece.len();
        if length > SMALL_BODY && room.is_none() {
            let full = |_| ApiError::too_many("Too many large bodies are on their way.", ROOM_AGAIN);
            let shares = u32::try_from(largest.div_ceil(LARGEST_BODY)).unwrap_or(1);
            room = Some(LARGE_BODIES.try_acquire_many(shares).map_err(full)?);
        }
        if length <= largest {
            bytes.extend_from_slice(&piece);
        }
    }
    Ok((length <= largest).then_some(bytes))
}

/// When there may be room again.
const ROOM_AGAIN: Duration = Duration::from_secs(5);

/// The query of an address. Names that are not asked for are ignored.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(pairs)).map(Self).map_err(|error| {
            let path = error.path().to_string();
            let error = error.into_inner().to_string();
            ApiError::misfits("The query", BTreeMap::from([(field_of(&path, &error), complaint(&error))]))
        })
    }
}

/// How many things a page has at most, as the query asks for it.
pub fn page_size(limit: Option<u32>, largest: u32) -> Result<u32, ApiError> {
    match limit {
        None => Ok(largest),
        Some(0) => Err(ApiError::misfit("limit", "must be at least 1")),
        Some(limit) => Ok(limit.min(largest)),
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

/// Where a client that comes back has stopped reading, as a browser sends it by itself.
pub struct LastEventId(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for LastEventId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let value = parts.headers.get("last-event-id").and_then(|value| value.to_str().ok());
        Ok(Self(value.map(str::to_owned)))
    }
}

/// What makes it safe to send a message again.
pub struct IdempotencyKey(pub Option<String>);

/// How long such a key may be.
pub const LONGEST_KEY: usize = 200;

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        let fits = |key: &&str| (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        let key = value.to_str().ok().filter(fits);
        let key =
            key.ok_or_else(|| ApiError::misfit("Idempotency-Key", format!("must have 1 to {LONGEST_KEY} visible ASCII characters")))?;
        Ok(Self(Some(key.to_owned())))
    }
}
