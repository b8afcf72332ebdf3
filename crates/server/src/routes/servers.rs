use crate::App;
use crate::answer::ApiResult;
use crate::request::Ids;
use axum::Json;
use axum::extract::State;
use planwright_protocol::WorkspaceId;
use planwright_workspaces::ServerReport;

/// Starts none of them: what is told is what is known.
pub async fn list(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<Vec<ServerReport>> {
    Ok(Json(app.sessions.workspaces().servers(id).await?))
}

/// Starts those that may be, and asks what they offer.
pub async fn check(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<Vec<ServerReport>> {
    Ok(Json(app.sessions.workspaces().try_servers(id).await?))
}
