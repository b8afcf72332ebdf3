use crate::App;
use crate::answer::ApiResult;
use crate::request::Ids;
use axum::Json;
use axum::extract::State;
use planwright_protocol::WorkspaceId;
use planwright_workspaces::ServerReport;

/// Starts none of them: returns the last known state.
pub async fn list(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<Vec<ServerReport>> {
    Ok(Json(app.sessions.workspaces().servers(id).await?))
}

/// Starts the accepted ones and lists their tools.
pub async fn check(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<Vec<ServerReport>> {
    Ok(Json(app.sessions.workspaces().try_servers(id).await?))
}
