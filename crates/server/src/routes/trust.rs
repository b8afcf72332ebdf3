use crate::App;
use crate::answer::ApiResult;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::WorkspaceId;
use planwright_workspaces::Trust;
use schemars::JsonSchema;
use serde::Deserialize;

pub async fn show(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<Trust> {
    Ok(Json(app.sessions.workspaces().trust_of(id).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The hash of the reviewed content, from GET: of the file, or of an item with its own hash.
    #[schemars(example = &"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    sha256: String,
}

pub async fn accept(State(app): State<App>, Ids(id): Ids<WorkspaceId>, Body(body): Body<Accept>) -> ApiResult<Trust> {
    Ok(Json(app.sessions.workspaces().trust(id, &body.sha256).await?))
}
