use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::guard::Caller;
use crate::request::Ids;
use axum::Json;
use axum::extract::State;
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_session::storage;
use planwright_store::WorkspaceRow;

/// Those that the caller may know of.
pub async fn list(State(app): State<App>, caller: Caller) -> ApiResult<Vec<WorkspaceRow>> {
    let store = app.sessions.store();
    let rows = match caller.user() {
        Some(user) => store.workspaces_of(user).await,
        None => store.workspaces().await,
    };
    Ok(Json(rows.map_err(storage)?))
}

pub async fn show(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<WorkspaceRow> {
    Ok(Json(row(&app, id).await?))
}

/// The workspace of a path.
pub async fn row(app: &App, id: WorkspaceId) -> Result<WorkspaceRow, ApiError> {
    let row = app.sessions.store().workspace(id).await.map_err(storage)?;
    Ok(row.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no workspace {id}.")))?)
}
