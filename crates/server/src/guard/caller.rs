//! The credential of every API call, and whom it identifies.

use super::secret::{same, session_digest, token_digest};
use super::{AccessControl, Arrival, SignInMethod, Way};
use crate::App;
use crate::answer::ApiError;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_chat::OPERATOR;
use planwright_protocol::api::server::AuthMode;
use planwright_protocol::{ErrorCode, Problem, UserId};
use planwright_store::{Account, Bearer, Digest, Store, StoreError};
use serde_json::json;

/// A browser must send this header with every change. A form or a foreign page can't.
pub const CSRF_HEADER: &str = "x-planwright-csrf";

/// The authenticated user of a request.
#[derive(Clone, Debug)]
pub struct Caller {
    /// `None`: the person who runs the server.
    pub account: Option<Account>,
    pub(super) credential: Credential,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Credential {
    /// The server requires none.
    Open,
    /// The server's own token, which is valid until the server ends.
    OwnToken,
    ApiToken(Digest),
    Session(Digest),
    /// Another node checked it.
    Node,
}

impl Caller {
    /// The caller of a request that another node admitted.
    pub fn of_node(account: Option<Account>) -> Self {
        Self { account, credential: Credential::Node }
    }

    pub fn user(&self) -> Option<UserId> {
        self.account.as_ref().map(|account| account.id)
    }

    /// The name for records of what they did.
    pub fn name(&self) -> &str {
        self.account.as_ref().map_or(OPERATOR, |account| &account.name)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(|| unauthenticated(None))
    }
}

/// Requires a credential and attaches the caller to the request.
pub async fn check_caller(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let (access, store) = (&app.access, app.sessions.store());
    let way = request.extensions().get::<Arrival>().map_or(Way::Network, |arrival| arrival.way);
    match admitted((access, way), store, request.method(), request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

async fn admitted((access, way): (&AccessControl, Way), store: &Store, method: &Method, headers: &HeaderMap) -> Result<Caller, ApiError> {
    let caller = match credential_by(access, way, headers) {
        Some(credential) => known(access, store, credential).await?,
        None => None,
    };
    let caller = caller.ok_or_else(|| unauthenticated(Some(access)))?;
    if matches!(caller.credential, Credential::Session(_)) && !method.is_safe() && !headers.contains_key(CSRF_HEADER) {
        let text = format!("A change in a browser session needs the header `{CSRF_HEADER}: 1`. Scripts use a token instead.");
        return Err(Problem::new(ErrorCode::Forbidden, text).into());
    }
    if let Some(user) = caller.user() {
        let too_fast = |wait| ApiError::too_many("You sent more requests than the server allows one user.", wait);
        access.requests_of_user.take(user).map_err(too_fast)?;
    }
    Ok(caller)
}

/// The data folder is the user's own, so whoever reaches the socket in it needs no token. With accounts the socket must say who asks.
fn credential_by(access: &AccessControl, way: Way, headers: &HeaderMap) -> Option<Credential> {
    match (way, &access.sign_in) {
        (Way::Local, SignInMethod::Off | SignInMethod::Token(_)) => Some(Credential::Open),
        (Way::Local, SignInMethod::Users) | (Way::Network, _) => credential(access, headers),
    }
}

/// The credential of a request. A token takes precedence over a cookie.
pub(super) fn credential(access: &AccessControl, headers: &HeaderMap) -> Option<Credential> {
    let token = headers.get(header::AUTHORIZATION).map(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match (&access.sign_in, token) {
        (SignInMethod::Off, _) => Some(Credential::Open),
        (SignInMethod::Token(own), Some(Some(token))) if same(token, own) => Some(Credential::OwnToken),
        (SignInMethod::Token(_) | SignInMethod::Users, Some(token)) => token.map(|token| Credential::ApiToken(token_digest(token))),
        (SignInMethod::Token(_) | SignInMethod::Users, None) => {
            cookie(headers, &access.cookie).map(|id| Credential::Session(session_digest(access.key(), id)))
        }
    }
}

/// The user that a credential identifies. Each way of signing in accepts only its own credentials.
pub(super) async fn known(access: &AccessControl, store: &Store, credential: Credential) -> Result<Option<Caller>, StoreError> {
    let bearer = match &credential {
        Credential::Open | Credential::OwnToken => Some(Bearer { account: None }),
        // Streams are no forwarded requests, and nothing else asks again.
        Credential::Node => None,
        Credential::ApiToken(digest) => store.bearer(*digest).await?,
        Credential::Session(digest) => store.session(*digest).await?,
    };
    let counts = |bearer: &Bearer| match access.sign_in {
        SignInMethod::Off | SignInMethod::Token(_) => bearer.account.is_none(),
        SignInMethod::Users => bearer.account.is_some(),
    };
    Ok(bearer.filter(counts).map(|Bearer { account }| Caller { account, credential }))
}

impl AccessControl {
    /// The key for hashing session ids.
    pub(super) fn key(&self) -> &str {
        match &self.sign_in {
            SignInMethod::Off | SignInMethod::Users => "",
            SignInMethod::Token(token) => token,
        }
    }
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(of, _)| *of == name).map(|(_, value)| value)
}

/// Says how to sign in, also to the sign-in page.
fn unauthenticated(access: Option<&AccessControl>) -> ApiError {
    let (auth, text) = match access.map(|access| &access.sign_in) {
        Some(SignInMethod::Users) => (
            AuthMode::Users,
            "Sign in: POST your `name` and `password` to /api/v1/auth/login, or send a token as `Authorization: Bearer TOKEN`. `planwright token new` makes one.",
        ),
        Some(SignInMethod::Off | SignInMethod::Token(_)) | None => {
            (AuthMode::Token, "Send the token as `Authorization: Bearer TOKEN`. `planwright serve` prints it when it starts.")
        }
    };
    Problem::new(ErrorCode::Unauthenticated, text).with_details(json!({ "auth": auth })).into()
}
