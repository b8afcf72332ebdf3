use crate::App;
use crate::answer::{ApiError, ApiResult, Created, NoContent};
use crate::guard::{Caller, add_folder};
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::WorkspaceId;
use planwright_session::{WorkspaceSettings, storage};
use planwright_store::WorkspaceRow;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Those that the caller may know of.
pub async fn list(State(app): State<App>, caller: Caller) -> ApiResult<Vec<WorkspaceRow>> {
    let store = app.sessions.store();
    let rows = match caller.user() {
        Some(user) => store.workspaces_of(user).await,
        None => store.workspaces().await,
    };
    Ok(Json(rows.map_err(storage)?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateBody {
    /// What it is called; the name of the folder unless said.
    #[schemars(example = &"greeter")]
    name: Option<String>,
    /// The folder, as an absolute path on the server's machine.
    #[schemars(example = "/home/you/greeter")]
    path: String,
}

/// Makes a folder a workspace, of which the caller is the owner.
pub async fn create(State(app): State<App>, caller: Caller, Body(body): Body<CreateBody>) -> Result<Created<WorkspaceRow>, ApiError> {
    Ok(Created(add_folder(&app, &caller, body.name, body.path.into()).await?))
}

pub async fn show(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<WorkspaceRow> {
    Ok(Json(row(&app, id).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateBody {
    name: Option<String>,
    /// Over the files; null takes a setting away, what is not named stays.
    #[serde(default)]
    #[schemars(with = "WorkspaceSettings")]
    settings: Map<String, Value>,
}

pub async fn update(State(app): State<App>, Ids(id): Ids<WorkspaceId>, Body(body): Body<UpdateBody>) -> ApiResult<WorkspaceRow> {
    Ok(Json(app.sessions.update_workspace(id, body.name, body.settings).await?))
}

/// Forgets a workspace and its chats. No file is touched.
pub async fn delete(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> Result<NoContent, ApiError> {
    app.sessions.delete_workspace(id).await?;
    Ok(NoContent)
}

/// The workspace of a path.
pub async fn row(app: &App, id: WorkspaceId) -> Result<WorkspaceRow, ApiError> {
    Ok(app.sessions.workspace_row(id).await?)
}
