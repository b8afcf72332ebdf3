use super::meta::{UserView, user_view};
use crate::App;
use crate::answer::{ApiError, Body};
use crate::guard::{Arrival, Caller, Offer, sign_in, sign_out};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use axum::{Extension, Json};
use serde::Serialize;

#[derive(Serialize)]
pub struct LoginAnswer {
    user: UserView,
}

/// Exchanges the token, or a name and a password, for a session.
pub async fn login(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    headers: HeaderMap,
    Body(offer): Body<Offer>,
) -> Result<impl IntoResponse, ApiError> {
    let signed_in = sign_in(&app, arrival, &headers, offer).await?;
    let cookie = signed_in.cookie.map(|cookie| (header::SET_COOKIE, cookie));
    Ok((AppendHeaders(cookie), Json(LoginAnswer { user: user_view(signed_in.account.as_ref()) })))
}

/// Ends the session that the request came by.
pub async fn logout(State(app): State<App>, Extension(arrival): Extension<Arrival>, caller: Caller) -> Result<impl IntoResponse, ApiError> {
    let cookie = sign_out(&app, arrival, &caller).await?;
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, cookie)])))
}
