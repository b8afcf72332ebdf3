//! Who may come in.

use crate::App;
use crate::answer::ApiError;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_protocol::{ErrorCode, Problem};

/// What a request must show.
pub struct Access {
    /// `None` lets everyone in: on loopback only.
    pub token: Option<String>,
    /// The names this server goes by, with port, as they stand in `Host`.
    pub hosts: Vec<String>,
}

/// Checks Host and Origin of every request, against pages that point a foreign name or form at us.
pub async fn check_origin(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let known = |name: &str| app.access.hosts.iter().any(|host| host == name);
    let host_known = text(headers, header::HOST).is_some_and(known);
    let origin_known = text(headers, header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://").is_some_and(known));
    if host_known && origin_known {
        return next.run(request).await;
    }
    ApiError::from(Problem::new(
        ErrorCode::Forbidden,
        "The request comes by a foreign Host or Origin. Use the address that `planwright serve` printed.",
    ))
    .into_response()
}

/// Checks the token of every call of the API.
pub async fn check_token(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(token) = &app.access.token else { return next.run(request).await };
    let given = text(request.headers(), header::AUTHORIZATION)
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token);
    if given.is_some_and(|given| same(given.as_bytes(), token.as_bytes())) {
        return next.run(request).await;
    }
    ApiError::from(Problem::new(
        ErrorCode::Unauthenticated,
        "Send the token as `Authorization: Bearer TOKEN`. `planwright serve` prints it when it starts.",
    ))
    .into_response()
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Takes as long for a wrong token as for a right one.
fn same(given: &[u8], token: &[u8]) -> bool {
    given.len() == token.len() && given.iter().zip(token).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn only_the_very_token_is_the_same() {
        assert!(same(b"abc", b"abc"));
        for other in [&b"abd"[..], b"ab", b"abcd", b""] {
            assert!(!same(other, b"abc"));
        }
    }
}
