//! What somebody with an account may do in which workspace.

use super::Caller;
use super::streams::{Hold, end_when_lost};
use crate::App;
use crate::answer::ApiError;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_feed::Sight;
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use planwright_store::{Rank, Right};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// What only owners may change; everything else below a workspace is for all members.
const OWNERS: &[&str] = &["/workspaces/{wid}", "/workspaces/{wid}/members", "/workspaces/{wid}/members/{member}"];
/// What only admins may change, and only as members: a file that is trusted can send any variable of the server anywhere.
const ADMINS: &[&str] = &["/workspaces/{wid}/trust"];

/// A workspace of a path, and the chat if one is named.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub workspace: WorkspaceId,
    pub chat: Option<ChatId>,
}

/// Lets a call on if the caller has the right to what its path names. What they may not know of is not found.
pub async fn check_rights(State(app): State<App>, caller: Caller, route: MatchedPath, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    // A part that is no text names nothing.
    let Ok(params) = RawPathParams::from_request_parts(&mut parts, &()).await else { return not_found().into_response() };
    match allowed(&app, &caller, &parts.method, route.as_str(), &params).await {
        Ok(place) => {
            let response = next.run(Request::from_parts(parts, body)).await;
            end_when_lost(response, Hold { app, caller, place }).await
        }
        Err(refused) => refused.into_response(),
    }
}

async fn allowed(app: &App, caller: &Caller, method: &Method, route: &str, params: &RawPathParams) -> Result<Option<Place>, ApiError> {
    let named = |name: &str| params.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let (Some(account), Some(workspace)) = (&caller.account, named("wid")) else { return Ok(None) };
    let workspace = workspace.parse().map_err(|_| not_found())?;
    let chat = named("cid").map(str::parse).transpose().map_err(|_| not_found())?;
    let right = app.sessions.store().right(account.id, workspace, chat).await?.ok_or_else(not_found)?;
    let needed = needed(method, route);
    let needs_admin = !method.is_safe() && ADMINS.iter().any(|ending| route.ends_with(ending)) && account.rank != Rank::Admin;
    if right >= needed && !needs_admin {
        return Ok(Some(Place { workspace, chat }));
    }
    let text = match needed {
        _ if needs_admin => {
            "Only an admin of the server may trust a workspace's file: it could have any key of the server sent anywhere. Make an admin a member of the workspace, and ask them."
        }
        Right::Viewer | Right::Member => "You may look at this workspace and change nothing in it. Ask its owner to make you a member.",
        Right::Owner => "Only owners of the workspace may change this. Ask one of them.",
    };
    Err(Problem::new(ErrorCode::Forbidden, text).into())
}

/// Lets those on who run the server: in a team, the admins.
pub async fn check_admin(caller: Caller, request: Request, next: Next) -> Response {
    match caller.account {
        Some(account) if account.rank != Rank::Admin => {
            ApiError::from(Problem::new(ErrorCode::Forbidden, "This is for the admins of the server.")).into_response()
        }
        Some(_) | None => next.run(request).await,
    }
}

/// What the caller may do in a workspace that they may know of.
///
/// # Errors
/// The database failed.
pub async fn right(app: &App, caller: &Caller, workspace: WorkspaceId) -> Result<Right, ApiError> {
    let Some(user) = caller.user() else { return Ok(Right::Owner) };
    app.sessions.store().right(user, workspace, None).await?.ok_or_else(not_found)
}

/// Which settings of a workspace are for admins alone: a model spends the money of whoever runs the server.
///
/// # Errors
/// The caller is none, and names one.
pub fn check_settings(caller: &Caller, settings: &Map<String, Value>) -> Result<(), ApiError> {
    let is_admin = caller.account.as_ref().is_none_or(|account| account.rank == Rank::Admin);
    if is_admin || !settings.contains_key("model") {
        return Ok(());
    }
    Err(Problem::new(ErrorCode::Forbidden, "Only admins of the server choose models. Ask one of them.").into())
}

/// The workspaces whose events somebody sees. A stream ends when they become others.
///
/// # Errors
/// The database failed.
pub async fn sight(app: &App, caller: &Caller) -> Result<Sight, ApiError> {
    let Some(user) = caller.user() else { return Ok(Arc::new(|_| true)) };
    let seen: HashSet<WorkspaceId> =
        app.sessions.store().workspaces_of(user).await?.into_iter().map(|(workspace, _)| workspace.id).collect();
    Ok(Arc::new(move |workspace| seen.contains(&workspace)))
}

fn needed(method: &Method, route: &str) -> Right {
    if method.is_safe() {
        return Right::Viewer;
    }
    if OWNERS.iter().any(|ending| route.ends_with(ending)) { Right::Owner } else { Right::Member }
}

/// The same words for what is not there and for what is not theirs.
fn not_found() -> ApiError {
    Problem::new(ErrorCode::NotFound, "There is nothing at this address that you have access to.").into()
}
