use crate::App;
use crate::answer::{ApiError, ApiResult, NoContent};
use crate::request::Ids;
use axum::Json;
use axum::extract::State;
use planwright_protocol::{Timestamp, WorkspaceId};
use planwright_store::MemberRow;
use schemars::JsonSchema;
use serde::Serialize;

/// What admins see of a workspace that is not theirs: that it is there, and whose.
#[derive(JsonSchema, Serialize)]
pub struct Registration {
    id: WorkspaceId,
    name: String,
    path: String,
    /// None: it belongs to the admins.
    members: Vec<MemberRow>,
    created_at: Timestamp,
}

/// Every workspace there is, by name; nothing of what is in it.
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

/// Forgets a workspace and its chats, whosever it is. No file is touched.
pub async fn forget(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> Result<NoContent, ApiError> {
    app.sessions.delete_workspace(id).await?;
    Ok(NoContent)
}
