use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::request::Ids;
use axum::Json;
use axum::extract::State;
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_session::storage;
use planwright_store::WorkspaceRow;

pub async fn list(State(app): State<App>) -> ApiResult<Vec<WorkspaceRow>> {
    Ok(Json(app.sessions.store().workspaces().await.map_err(storage)?))
}

pub async fn show(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<WorkspaceRow> {
    Ok(Json(row(&app, id).await?))
}

/// The workspace of a path.
pub async fn row(app: &App, id: WorkspaceId) -> Result<WorkspaceRow, ApiError> {
    let row = app.sessions.store().workspace(id).await.map_err(storage)?;
    Ok(row.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no workspace {id}.")))?)
}
