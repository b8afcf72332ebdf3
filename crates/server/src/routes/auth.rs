use super::meta::user_view;
use crate::App;
use crate::answer::{ApiError, NoContent, WithCookie};
use crate::guard::{Arrival, Caller, PasswordChange, SignInCredentials, change_password, sign_in, sign_out};
use crate::request::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use planwright_protocol::api::server::User;
use schemars::JsonSchema;
use serde::Serialize;

/// The signed-in user. The session is in the cookie.
#[derive(JsonSchema, Serialize)]
pub struct LoginAnswer {
    user: User,
}

/// Exchanges the token, or a name and a password, for a session.
pub async fn login(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    headers: HeaderMap,
    Body(credentials): Body<SignInCredentials>,
) -> Result<WithCookie<Json<LoginAnswer>>, ApiError> {
    let signed_in = sign_in(&app, arrival, &headers, credentials).await?;
    let answer = Json(LoginAnswer { user: user_view(&app, signed_in.account.as_ref()) });
    Ok(WithCookie { cookie: signed_in.cookie, answer })
}

/// Ends the session of the request.
pub async fn logout(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    caller: Caller,
) -> Result<WithCookie<NoContent>, ApiError> {
    let cookie = sign_out(&app, arrival, &caller).await?;
    Ok(WithCookie { cookie: Some(cookie), answer: NoContent })
}

/// Other sessions, signed in with the old password, end.
pub async fn password(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    caller: Caller,
    Body(change): Body<PasswordChange>,
) -> Result<WithCookie<NoContent>, ApiError> {
    let cookie = change_password(&app, arrival, &caller, change).await?;
    Ok(WithCookie { cookie, answer: NoContent })
}
