use crate::App;
use crate::answer::{ApiResult, Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::WorkspaceId;
use planwright_session::Trust;
use serde::Deserialize;

pub async fn show(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<Trust> {
    Ok(Json(app.sessions.rules(id).await?.1))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    sha256: String,
}

pub async fn accept(State(app): State<App>, Ids(id): Ids<WorkspaceId>, Body(body): Body<Accept>) -> ApiResult<Trust> {
    Ok(Json(app.sessions.trust(id, &body.sha256).await?))
}
