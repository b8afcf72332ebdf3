use super::meta::User;
use crate::App;
use crate::answer::{ApiError, NoContent, WithCookie};
use crate::guard::{Arrival, Caller, Offer, PasswordChange, change_password, sign_in, sign_out};
use crate::request::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Serialize;

/// Who was let in. The session comes as a cookie.
#[derive(JsonSchema, Serialize)]
pub struct LoginAnswer {
    user: User,
}

/// Exchanges the token, or a name and a password, for a session.
pub async fn login(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    headers: HeaderMap,
    Body(offer): Body<Offer>,
) -> Result<WithCookie<Json<LoginAnswer>>, ApiError> {
    let signed_in = sign_in(&app, arrival, &headers, offer).await?;
    let answer = Json(LoginAnswer { user: User::new(&app, signed_in.account.as_ref()) });
    Ok(WithCookie { cookie: signed_in.cookie, answer })
}

/// Ends the session that the request came by.
pub async fn logout(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    caller: Caller,
) -> Result<WithCookie<NoContent>, ApiError> {
    let cookie = sign_out(&app, arrival, &caller).await?;
    Ok(WithCookie { cookie: Some(cookie), answer: NoContent })
}

/// Whoever is signed in elsewhere by the old one is so no longer.
pub async fn password(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    caller: Caller,
    Body(change): Body<PasswordChange>,
) -> Result<WithCookie<NoContent>, ApiError> {
    let cookie = change_password(&app, arrival, &caller, change).await?;
    Ok(WithCookie { cookie, answer: NoContent })
}
