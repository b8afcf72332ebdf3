//! What the user always allowed in a chat.

use super::chats::submit;
use crate::App;
use crate::answer::{ApiError, ApiResult, NoContent};
use crate::guard::Caller;
use crate::request::{IdempotencyKey, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::api::workspace::GrantView;
use planwright_protocol::{ChatId, Op, WorkspaceId};
use planwright_store::GrantRow;
use std::collections::HashSet;

/// Every "always allow" that is in force in this chat.
pub async fn list(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<Vec<GrantView>> {
    app.sessions.look_at(workspace, chat).await?;
    let row = app.sessions.store().chat(chat).await?;
    let mut known = HashSet::new();
    let grants = row.map(|row| row.grants).unwrap_or_default().into_iter().filter(|grant| known.insert(grant.id()));
    let view = |grant: GrantRow| GrantView { id: grant.id(), tool: grant.tool, folder: grant.folder, at: grant.at, by: grant.by };
    Ok(Json(grants.map(view).collect()))
}

/// Revokes one. Later calls ask again, also those of a run in progress.
pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat, id)): Ids<(WorkspaceId, ChatId, String)>,
    IdempotencyKey(key): IdempotencyKey,
) -> Result<NoContent, ApiError> {
    submit(&app, (workspace, chat), &caller, key, Op::RevokeGrant { grant_id: id }).await?;
    Ok(NoContent)
}
