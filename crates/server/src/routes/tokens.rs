use crate::App;
use crate::answer::{ApiError, ApiResult, Body, Ids, Params};
use crate::guard::{Caller, new_token};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use planwright_protocol::{ErrorCode, Problem, TokenId};
use planwright_session::storage;
use planwright_store::TokenRow;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// More than this are not kept by one user.
const MOST: usize = 100;
const LONGEST_NAME: usize = 100;

/// The caller's own tokens.
pub async fn list(State(app): State<App>, caller: Caller) -> ApiResult<Vec<TokenRow>> {
    Ok(Json(app.sessions.store().tokens(caller.user()).await.map_err(storage)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateBody {
    /// What it is for.
    name: Option<String>,
}

#[derive(Serialize)]
pub struct NewToken {
    #[serde(flatten)]
    row: TokenRow,
    /// Shown here, and never again.
    token: String,
}

pub async fn create(State(app): State<App>, caller: Caller, Body(body): Body<CreateBody>) -> Result<impl IntoResponse, ApiError> {
    if app.access.mode() == "off" {
        return Err(Problem::new(ErrorCode::Conflict, "This server is open to everyone on the machine, who would all have the token. Start it with sign-in.").into());
    }
    let name = checked_name(body.name)?;
    let store = app.sessions.store();
    if store.tokens(caller.user()).await.map_err(storage)?.len() >= MOST {
        return Err(Problem::new(ErrorCode::Conflict, format!("You have {MOST} tokens already. Delete one that is not used.")).into());
    }
    let broken = |_| Problem::new(ErrorCode::Internal, "The kernel gives no random numbers; no token can be made.");
    let (token, digest) = new_token().map_err(broken)?;
    let row = store.add_token(digest, caller.user(), &name).await.map_err(storage)?;
    Ok((StatusCode::CREATED, Json(NewToken { row, token })))
}

fn checked_name(name: Option<String>) -> Result<String, Problem> {
    let name = name.unwrap_or_else(|| "token".to_owned());
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        let needs = format!("one line of 1 to {LONGEST_NAME} characters");
        let problem = Problem::new(ErrorCode::ValidationFailed, format!("`name` must be {needs}."));
        return Err(problem.with_details(json!({ "fields": { "name": needs } })));
    }
    Ok(name)
}

pub async fn delete(State(app): State<App>, caller: Caller, Ids(id): Ids<TokenId>) -> Result<StatusCode, ApiError> {
    remove(&app, &caller, id).await
}

#[derive(Deserialize)]
pub struct DeleteQuery {
    id: TokenId,
}

pub async fn delete_named(State(app): State<App>, caller: Caller, Params(query): Params<DeleteQuery>) -> Result<StatusCode, ApiError> {
    remove(&app, &caller, query.id).await
}

async fn remove(app: &App, caller: &Caller, id: TokenId) -> Result<StatusCode, ApiError> {
    if app.sessions.store().remove_token(id, caller.user()).await.map_err(storage)? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Problem::new(ErrorCode::NotFound, format!("You have no token {id}.")).into())
}
