use crate::App;
use crate::answer::{ApiError, ApiResult, NoContent};
use crate::request::Ids;
use axum::Json;
use axum::extract::State;
use planwright_protocol::{Timestamp, WorkspaceId};
use planwright_store::MemberRow;
use schemars::JsonSchema;
use serde::Serialize;

/// What admins see of other users' workspaces: that they exist, and who owns them.
#[derive(JsonSchema, Serialize)]
pub struct Registration {
    id: WorkspaceId,
    name: String,
    path: String,
    /// If empty, it belongs to the admins.
    members: Vec<MemberRow>,
    created_at: Timestamp,
}

/// Every workspace, sorted by name, without its contents.
pub async fn workspaces(State(app): State<App>) -> ApiResult<Vec<Registration>> {
    let store = app.sessions.store();
    let mut members = store.all_members().await?;
    let rows = store.workspaces().await?.into_iter();
    let told = rows.map(|row| Registration {
        members: members.remove(&row.id).unwrap_or_default(),
        id: row.id,
        name: row.name,
        path: row.path,
        created_at: row.created_at,
    });
    Ok(Json(told.collect()))
}

/// Deletes a workspace and its chats, whoever owns it. The folder's files stay.
pub async fn forget(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> Result<NoContent, ApiError> {
    app.sessions.delete_workspace(id).await?;
    Ok(NoContent)
}
