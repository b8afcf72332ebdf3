//! What a user may do in which workspace.

use super::Caller;
use super::streams::{StreamAccess, close_when_access_ends};
use crate::App;
use crate::answer::ApiError;
use crate::change_rule::{ChangeRule, ChangedBy};
use crate::idempotency::deleted_before;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use planwright_store::{Rank, Right};
use serde_json::{Map, Value};

/// The workspace of a path, and the chat if it names one.
#[derive(Clone, Copy)]
pub(super) struct ResourcePath {
    pub workspace: WorkspaceId,
    pub chat: Option<ChatId>,
}

/// Accepts a call if the caller has the required right. Resources that the caller may not know of are "not found".
pub async fn check_rights(State(app): State<App>, caller: Caller, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    // A part that is not text names nothing.
    let Ok(params) = RawPathParams::from_request_parts(&mut parts, &()).await else { return not_found().into_response() };
    let rule = ChangeRule::of(&parts.extensions);
    match allowed(&app, &caller, &parts.method, rule, &params).await {
        Ok(place) => {
            let response = next.run(Request::from_parts(parts, body)).await;
            close_when_access_ends(response, StreamAccess { app, caller, place }).await
        }
        Err(refused) => {
            let store = app.sessions.store();
            let before = if refused.is_not_found() { deleted_before(store, &caller, &mut parts, body).await } else { None };
            before.unwrap_or_else(|| refused.into_response())
        }
    }
}

async fn allowed(
    app: &App,
    caller: &Caller,
    method: &Method,
    rule: Option<ChangeRule>,
    params: &RawPathParams,
) -> Result<Option<ResourcePath>, ApiError> {
    let named = |name: &str| params.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let (Some(account), Some(workspace)) = (&caller.account, named("wid")) else { return Ok(None) };
    let workspace = workspace.parse().map_err(|_| not_found())?;
    let chat = named("cid").map(str::parse).transpose().map_err(|_| not_found())?;
    let right = app.sessions.store().right(account.id, workspace, chat).await?.ok_or_else(not_found)?;
    let (needed, is_for_admins) = needed(method, rule);
    let needs_admin = is_for_admins && account.rank != Rank::Admin;
    if right >= needed && !needs_admin {
        return Ok(Some(ResourcePath { workspace, chat }));
    }
    let text = match needed {
        _ if needs_admin => {
            "Only an admin of the server may trust a workspace's file, because it could send any key of the server anywhere. Make an admin a member of the workspace and ask them."
        }
        Right::Viewer | Right::Member => "You may read this workspace, but not change it. Ask its owner to make you a member.",
        Right::Owner => "Only owners of the workspace may change this. Ask an owner.",
    };
    Err(Problem::new(ErrorCode::Forbidden, text).into())
}

/// Accepts only the people who run the server: with accounts, the admins.
pub async fn check_admin(caller: Caller, request: Request, next: Next) -> Response {
    match caller.account {
        Some(account) if account.rank != Rank::Admin => {
            ApiError::from(Problem::new(ErrorCode::Forbidden, "Only admins of the server may do this. Ask an admin.")).into_response()
        }
        Some(_) | None => next.run(request).await,
    }
}

/// The caller's right in a workspace that they may know of.
///
/// # Errors
/// The database failed.
pub async fn right(app: &App, caller: &Caller, workspace: WorkspaceId) -> Result<Right, ApiError> {
    let Some(user) = caller.user() else { return Ok(Right::Owner) };
    app.sessions.store().right(user, workspace, None).await?.ok_or_else(not_found)
}

/// Only admins may choose models: models spend the money of whoever runs the server.
///
/// # Errors
/// The settings name a model and the caller is not an admin.
pub fn check_settings(caller: &Caller, settings: &Map<String, Value>) -> Result<(), ApiError> {
    let is_admin = caller.account.as_ref().is_none_or(|account| account.rank == Rank::Admin);
    if is_admin || !settings.contains_key("model") {
        return Ok(());
    }
    Err(Problem::new(ErrorCode::Forbidden, "Only admins of the server choose models. Ask an admin.").into())
}

/// The right that a route needs, and whether only admins of the server may call it.
fn needed(method: &Method, rule: Option<ChangeRule>) -> (Right, bool) {
    if method.is_safe() {
        return (Right::Viewer, false);
    }
    match rule.map(|rule| rule.by) {
        Some(ChangedBy::Members) => (Right::Member, false),
        Some(ChangedBy::AdminMembers) => (Right::Member, true),
        // A route of a workspace has one of the others; a test checks that.
        Some(ChangedBy::Owners | ChangedBy::Everyone | ChangedBy::SignedIn | ChangedBy::Admins) | None => (Right::Owner, false),
    }
}

/// One message for missing resources and for those of other users.
fn not_found() -> ApiError {
    Problem::new(ErrorCode::NotFound, "There is nothing at this address that you have access to.").into()
}
