use crate::App;
use crate::answer::ApiResult;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::WorkspaceId;
use planwright_protocol::api::requests::Accept;
use planwright_workspaces::Trust;

pub async fn show(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<Trust> {
    Ok(Json(app.sessions.workspaces().trust_of(id).await?))
}

pub async fn accept(State(app): State<App>, Ids(id): Ids<WorkspaceId>, Body(body): Body<Accept>) -> ApiResult<Trust> {
    Ok(Json(app.sessions.workspaces().trust(id, &body.sha256).await?))
}
