//! The credential of every call of the API, and who it stands for.

use super::secret::{same, session_digest, token_digest};
use super::{Access, AuthMode, SignIn};
use crate::App;
use crate::answer::ApiError;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_chat::OPERATOR;
use planwright_protocol::{ErrorCode, Problem, UserId};
use planwright_store::{Account, Bearer, Digest, Store, StoreError};
use serde_json::json;

/// What a page must send with everything that changes something. A form or a foreign page can't.
pub const CSRF_HEADER: &str = "x-planwright-csrf";

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// None: whoever runs the server.
    pub account: Option<Account>,
    pub(super) credential: Credential,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Credential {
    /// None was asked for.
    Open,
    /// The server's own token, which lasts as long as the server.
    OwnToken,
    ApiToken(Digest),
    Session(Digest),
}

impl Caller {
    pub fn user(&self) -> Option<UserId> {
        self.account.as_ref().map(|account| account.id)
    }

    /// The name that stands in records of what they did.
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

/// Lets a call on that has a credential, and says who it is.
pub async fn check_caller(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let (access, store) = (&app.access, app.sessions.store());
    match admitted(access, store, request.method(), request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

async fn admitted(access: &Access, store: &Store, method: &Method, headers: &HeaderMap) -> Result<Caller, ApiError> {
    let caller = match credential(access, headers) {
        Some(credential) => known(access, store, credential).await?,
        None => None,
    };
    let caller = caller.ok_or_else(|| unauthenticated(Some(access)))?;
    if matches!(caller.credential, Credential::Session(_)) && !method.is_safe() && !headers.contains_key(CSRF_HEADER) {
        let text = format!("A change by a browser's session needs the header `{CSRF_HEADER}: 1`. Scripts use a token.");
        return Err(Problem::new(ErrorCode::Forbidden, text).into());
    }
    if let Some(user) = caller.user() {
        let too_fast = |wait| ApiError::too_many("You are asking faster than the server allows one user.", wait);
        access.requests_of_user.take(user).map_err(too_fast)?;
    }
    Ok(caller)
}

/// What a request shows. A token that is sent counts, whatever cookie comes with it.
pub(super) fn credential(access: &Access, headers: &HeaderMap) -> Option<Credential> {
    let token = headers.get(header::AUTHORIZATION).map(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match (&access.sign_in, token) {
        (SignIn::Off, _) => Some(Credential::Open),
        (SignIn::Token(own), Some(Some(token))) if same(token, own) => Some(Credential::OwnToken),
        (SignIn::Token(_) | SignIn::Users, Some(token)) => token.map(|token| Credential::ApiToken(token_digest(token))),
        (SignIn::Token(_) | SignIn::Users, None) => {
            cookie(headers, &access.cookie).map(|id| Credential::Session(session_digest(access.key(), id)))
        }
    }
}

/// Who a credential stands for. In each way of signing in only the credentials of that way count.
pub(super) async fn known(access: &Access, store: &Store, credential: Credential) -> Result<Option<Caller>, StoreError> {
    let bearer = match &credential {
        Credential::Open | Credential::OwnToken => Some(Bearer { account: None }),
        Credential::ApiToken(digest) => store.bearer(*digest).await?,
        Credential::Session(digest) => store.session(*digest).await?,
    };
    let counts = |bearer: &Bearer| match access.sign_in {
        SignIn::Off | SignIn::Token(_) => bearer.account.is_none(),
        SignIn::Users => bearer.account.is_some(),
    };
    Ok(bearer.filter(counts).map(|Bearer { account }| Caller { account, credential }))
}

impl Access {
    /// What ids of sessions are hashed with.
    pub(super) fn key(&self) -> &str {
        match &self.sign_in {
            SignIn::Off | SignIn::Users => "",
            SignIn::Token(token) => token,
        }
    }
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(of, _)| *of == name).map(|(_, value)| value)
}

/// Tells how one signs in here, also to the page that asks for it.
fn unauthenticated(access: Option<&Access>) -> ApiError {
    let (auth, text) = match access.map(|access| &access.sign_in) {
        Some(SignIn::Users) => (
            AuthMode::Users,
            "Sign in: POST your `name` and `password` to /api/v1/auth/login, or send a token as `Authorization: Bearer TOKEN`. `planwright token new` makes one.",
        ),
        Some(SignIn::Off | SignIn::Token(_)) | None => {
            (AuthMode::Token, "Send the token as `Authorization: Bearer TOKEN`. `planwright serve` prints it when it starts.")
        }
    };
    Problem::new(ErrorCode::Unauthenticated, text).with_details(json!({ "auth": auth })).into()
}
