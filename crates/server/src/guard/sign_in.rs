//! Exchanges a token, or a name and a password, for a session.

use super::address::Scheme;
use super::caller::{Credential, credential};
use super::limits::client_group;
use super::password::LONGEST_PASSWORD;
use super::secret::{new_session, same};
use super::{AccessControl, Arrival, Caller, SignInMethod};
use crate::App;
use crate::answer::ApiError;
use axum::http::{HeaderMap, HeaderValue};
use planwright_protocol::{ErrorCode, Problem, Timestamp, UserId};
use planwright_store::{Account, AuditKind, AuditRow};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::time::Duration;

/// How long a browser stays signed in.
const SESSION_LIFETIME: Duration = Duration::from_hours(30 * 24);

/// The credentials of a sign-in: `token`, or `name` and `password`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignInCredentials {
    /// With `--auth token`.
    #[serde(default)]
    #[schemars(with = "Option<String>", example = &"pwt_5fc1…")]
    token: Secret,
    /// With `--auth users`, like the password.
    #[serde(default)]
    #[schemars(with = "Option<String>", example = &"ann")]
    name: Secret,
    #[serde(default)]
    #[schemars(with = "Option<String>", example = &"correct horse battery staple")]
    password: Secret,
}

/// A text that no error message repeats.
#[derive(Default)]
pub struct Secret(Option<String>);

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(Some(text))),
            Value::Null => Ok(Self(None)),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Err(serde::de::Error::custom("tokens, names and passwords are texts"))
            }
        }
    }
}

/// A signed-in user, and the cookie of the session.
pub struct SignedIn {
    pub account: Option<Account>,
    pub cookie: Option<HeaderValue>,
}

/// # Errors
/// The token or password is wrong, or too many attempts failed.
pub async fn sign_in(app: &App, arrival: Arrival, headers: &HeaderMap, credentials: SignInCredentials) -> Result<SignedIn, ApiError> {
    let (account, hash) = match &app.access.sign_in {
        SignInMethod::Off => return Ok(SignedIn { account: None, cookie: None }),
        SignInMethod::Token(own) => {
            let token = given("token", credentials.token)?;
            let tries = Tries::take(&app.access, arrival, None)?;
            if !same(&token, own) {
                return Err(failed(
                    app,
                    arrival,
                    None,
                    unauthenticated("The token is wrong. `planwright serve` prints the right one when it starts."),
                )
                .await);
            }
            tries.give_back(&app.access);
            (None, None)
        }
        SignInMethod::Users => {
            let (name, password) = (given("name", credentials.name)?, given("password", credentials.password)?);
            let tries = Tries::take(&app.access, arrival, Some(&name))?;
            let user = app.sessions.store().user(&name).await?;
            let (account, hash) = user.map(|user| (user.account, user.password)).unzip();
            let fits = app.access.fits(password, hash.clone()).await?;
            if account.is_none() || !fits {
                return Err(failed(app, arrival, account.as_ref(), unauthenticated("The name or the password is wrong.")).await);
            }
            tries.give_back(&app.access);
            (account, hash)
        }
    };
    let before = credential(&app.access, headers);
    let cookie = begin(app, arrival, account.as_ref().map(|account| account.id).zip(hash.as_deref()), before).await?;
    Ok(SignedIn { account, cookie: Some(cookie) })
}

/// Ends the session; returns the cookie that replaces its cookie in the browser.
///
/// # Errors
/// The database failed; the session continues.
pub async fn sign_out(app: &App, arrival: Arrival, caller: &Caller) -> Result<HeaderValue, ApiError> {
    match caller.credential {
        Credential::Session(session) => app.sessions.store().end_session(session).await?,
        Credential::Open | Credential::OwnToken | Credential::ApiToken(_) | Credential::Node => {}
    }
    cookie(app, arrival, "", Duration::ZERO)
}

pub(super) fn given(field: &str, secret: Secret) -> Result<String, ApiError> {
    let wrong = |why: &str| {
        let text = format!("`{field}` {why}.");
        Problem::new(ErrorCode::ValidationFailed, text).with_details(json!({ "fields": { field: why } }))
    };
    let text = secret.0.ok_or_else(|| wrong("is missing"))?;
    if text.len() > LONGEST_PASSWORD { Err(wrong("is too long").into()) } else { Ok(text) }
}

/// One attempt of an address and, with accounts, of a name. Taken before anything is checked, so that attempts over the
/// limit cost nothing and reveal nothing.
pub(super) struct Tries {
    address: IpAddr,
    name: Option<String>,
}

impl Tries {
    pub(super) fn take(access: &AccessControl, arrival: Arrival, name: Option<&str>) -> Result<Self, ApiError> {
        let too_often = |wait| ApiError::too_many("Too many sign-ins failed.", wait);
        let tries = Self { address: client_group(arrival.client), name: name.map(str::to_lowercase) };
        access.tries_of_address.take(tries.address).map_err(too_often)?;
        if let Some(name) = &tries.name {
            access.tries_of_name.take(name.clone()).map_err(too_often)?;
        }
        Ok(tries)
    }

    /// Successful sign-ins are not limited.
    pub(super) fn give_back(self, access: &AccessControl) {
        access.tries_of_address.give_back(&self.address);
        if let Some(name) = &self.name {
            access.tries_of_name.give_back(name);
        }
    }
}

/// Logs a failed sign-in, without an unknown name: users sometimes type their password there.
pub(super) async fn failed(app: &App, arrival: Arrival, account: Option<&Account>, error: ApiError) -> ApiError {
    let details = json!({ "address": arrival.client, "name": account.map(|account| &account.name) });
    let row = AuditRow { kind: AuditKind::LoginFailed, model: String::new(), role: None, user: None, details, at: Timestamp::now() };
    app.sessions.store().log(None, &[row]).await.map_or_else(ApiError::from, |()| error)
}

fn unauthenticated(text: &str) -> ApiError {
    Problem::new(ErrorCode::Unauthenticated, text).into()
}

/// Starts a new session that replaces the previous one, so that nobody can know its id in advance.
pub(super) async fn begin(
    app: &App,
    arrival: Arrival,
    by: Option<(UserId, &str)>,
    before: Option<Credential>,
) -> Result<HeaderValue, ApiError> {
    let store = app.sessions.store();
    if let Some(Credential::Session(before)) = before {
        store.end_session(before).await?;
    }
    let broken =
        |_| Problem::new(ErrorCode::Internal, "The kernel provides no random numbers, so nobody can sign in. Check the server's system.");
    let (id, digest) = new_session(app.access.key()).map_err(broken)?;
    let until = Timestamp::now().checked_add(SESSION_LIFETIME).unwrap_or(Timestamp::MAX);
    if !store.begin_session(digest, by, until).await? {
        return Err(unauthenticated("The account changed during the sign-in. Sign in with the new password."));
    }
    cookie(app, arrival, &id, SESSION_LIFETIME)
}

/// Scripts of the page can't read the cookie, other sites can't send it, and with HTTPS it is never sent in the clear.
fn cookie(app: &App, arrival: Arrival, id: &str, lasts: Duration) -> Result<HeaderValue, ApiError> {
    let secure = match arrival.scheme {
        Scheme::Http => "",
        Scheme::Https => "; Secure",
    };
    let text = format!("{}={id}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", app.access.cookie, lasts.as_secs());
    let value = HeaderValue::from_str(&text).map(|mut value| {
        value.set_sensitive(true);
        value
    });
    value.map_err(|_| Problem::new(ErrorCode::Internal, "The cookie could not be written.").into())
}
