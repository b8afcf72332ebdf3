//! Requests that can be sent again after a lost answer.
//!
//! An op of a chat is stored with its key in the chat's own transaction: their handlers pass the key on. Every other
//! request that changes something is noted before it is made and kept with its answer: found answered, it is answered alike;
//! found begun by a process that ended, its outcome is unknown, and nobody guesses.

use crate::App;
use crate::answer::ApiError;
use crate::change_rule::{ChangeRule, KeyUse};
use crate::guard::Caller;
use crate::request::{IdempotencyKey, any_body};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_protocol::{ErrorCode, Problem, sha256_hex};
use planwright_store::{RequestKey, RequestState, Store};
use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The requests that this process is making.
static UNDER_WAY: LazyLock<Mutex<HashSet<RequestKey>>> = LazyLock::new(Mutex::default);

/// Makes a request with a key once.
pub async fn answer_once(State(app): State<App>, caller: Caller, request: Request, next: Next) -> Response {
    match ChangeRule::of(request.extensions()).map(|rule| rule.key) {
        Some(KeyUse::WithRequest) => {}
        Some(KeyUse::WithOp | KeyUse::Ignored) | None => return next.run(request).await,
    }
    let (mut parts, body) = request.into_parts();
    let key = match IdempotencyKey::from_request_parts(&mut parts, &()).await {
        Ok(IdempotencyKey(Some(key))) => key,
        Ok(IdempotencyKey(None)) => return next.run(Request::from_parts(parts, body)).await,
        Err(refused) => return refused.into_response(),
    };
    let bytes = match any_body(&parts.headers, body).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused.into_response(),
    };
    let key = request_key(&caller, &parts, key);
    let sha256 = sha256_hex(&bytes);
    let request = Request::from_parts(parts, Body::from(bytes));
    let store = app.sessions.store().clone();
    // Not cancellable: the outcome must be recorded even if the client is gone.
    let made = tokio::spawn(async move { made_once(&store, key, &sha256, request, next).await });
    match made.await {
        Ok(Ok(response)) => response,
        Ok(Err(refused)) => refused.into_response(),
        Err(_) => ApiError::from(Problem::new(ErrorCode::Internal, "Planwright failed internally. Please report it.")).into_response(),
    }
}

/// The answer to a deletion that this caller made before, under the same key: they have no right any more to what they deleted.
/// Nobody else has their keys, so this reveals nothing to others.
pub async fn deleted_before(store: &Store, caller: &Caller, parts: &mut Parts, body: Body) -> Option<Response> {
    if parts.method != Method::DELETE {
        return None;
    }
    let IdempotencyKey(key) = IdempotencyKey::from_request_parts(parts, &()).await.ok()?;
    let key = request_key(caller, parts, key?);
    let sha256 = sha256_hex(&any_body(&parts.headers, body).await.ok()?);
    let is_under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
    let known = store.earlier_request(&key, &sha256).await.ok()??;
    let known = if is_under_way { Err(under_way()) } else { answer_of(known) };
    known.unwrap_or_else(|refused| Some(refused.into_response()))
}

/// The key in the scope of its caller and its address.
fn request_key(caller: &Caller, parts: &Parts, key: String) -> RequestKey {
    let account = caller.user().map(|user| user.to_string()).unwrap_or_default();
    RequestKey { scope: format!("{account} {} {}", parts.method, parts.uri), key }
}

async fn made_once(store: &Store, key: RequestKey, sha256: &str, request: Request, next: Next) -> Result<Response, ApiError> {
    let Some(_under_way) = UnderWay::begin(&key) else { return Err(under_way()) };
    if let Some(answered) = answer_of(store.begin_request(&key, sha256).await?)? {
        return Ok(answered);
    }
    let response = next.run(request).await;
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    match std::str::from_utf8(&bytes) {
        Ok(text) if parts.status.is_success() => store.end_request(&key, parts.status.as_u16(), text).await?,
        // It was refused: it changed nothing.
        Ok(_) | Err(_) => store.forget_request(&key).await?,
    }
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

/// The stored answer; `None` for a new request.
fn answer_of(state: RequestState) -> Result<Option<Response>, ApiError> {
    match state {
        RequestState::New => Ok(None),
        RequestState::Other => Err(conflict("This `Idempotency-Key` was used for another request. Use a new key for each request.")),
        RequestState::Begun => Err(conflict(
            "The server ended during this request, and its outcome is unknown. Check the current state; to repeat the request, use a new key.",
        )),
        RequestState::Answered(status, body) => Ok(Some(answer(status, body.into()))),
    }
}

fn conflict(text: &str) -> ApiError {
    Problem::new(ErrorCode::Conflict, text).into()
}

fn under_way() -> ApiError {
    let text = "This request is being made. Send it again in a moment to get its answer.";
    Problem { retryable: true, ..Problem::new(ErrorCode::Conflict, text) }.into()
}

fn answer(status: u16, body: Bytes) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    if body.is_empty() {
        return status.into_response();
    }
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A request that is being made, as long as this lives.
struct UnderWay(RequestKey);

impl UnderWay {
    /// `None` if it is being made already.
    fn begin(key: &RequestKey) -> Option<Self> {
        let is_new = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        is_new.then(|| Self(key.clone()))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::DOCUMENT;
    use crate::routes;

    #[test]
    fn every_route_that_changes_something_takes_a_key_unless_secrets_pass_through_it() {
        for route in routes::all().filter(|route| !route.method.is_safe()) {
            let operation = &DOCUMENT["paths"][&route.path][route.method.as_str().to_lowercase()];
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let keys = parameters.iter().filter(|parameter| parameter["name"] == "Idempotency-Key").count();
            assert_eq!(keys, usize::from(route.change.is_some_and(ChangeRule::takes_key)), "{} {}", route.method, route.path);
        }
    }
}
