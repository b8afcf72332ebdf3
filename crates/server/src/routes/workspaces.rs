use crate::App;
use crate::answer::{ApiError, ApiResult, Created, NoContent};
use crate::guard::{Caller, add_folder, add_sample, check_settings, right};
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::api::requests::NewWorkspaceBody;
use planwright_protocol::api::workspace::{RulesView, WorkspaceView};
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_store::{Right, WorkspaceRow};
use planwright_workspaces::WorkspaceSettings;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The workspaces that the caller can see.
pub async fn list(State(app): State<App>, caller: Caller) -> ApiResult<Vec<WorkspaceView>> {
    let store = app.sessions.store();
    let rows = match caller.user() {
        Some(user) => store.workspaces_of(user).await?,
        None => store.workspaces().await?.into_iter().map(|row| (row, Right::Owner)).collect(),
    };
    Ok(Json(rows.into_iter().map(|(row, right)| WorkspaceView { row, right }).collect()))
}

async fn seen(app: &App, caller: &Caller, row: WorkspaceRow) -> Result<WorkspaceView, ApiError> {
    Ok(WorkspaceView { right: right(app, caller, row.id).await?, row })
}

/// Adds a folder as a workspace, which the caller owns.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(body): Body<NewWorkspaceBody>,
) -> Result<Created<WorkspaceView>, ApiError> {
    let row = add_folder(&app, &caller, body.name, body.path.into()).await?;
    Ok(Created(seen(&app, &caller, row).await?))
}

/// Creates a small sample project as a workspace of the caller, with the demo model.
pub async fn sample(State(app): State<App>, caller: Caller) -> Result<Created<WorkspaceView>, ApiError> {
    let whose = caller.user().map_or_else(|| "own".to_owned(), |user| user.to_string());
    let storage = app.storage.clone();
    let made = tokio::task::spawn_blocking(move || storage.make_sample(&whose)).await;
    let folder = made.map_err(|error| error.to_string()).and_then(|made| made.map_err(|error| error.to_string()));
    let unmade = |error| Problem::new(ErrorCode::Internal, format!("Can't write the sample project: {error}."));
    let row = add_sample(&app, &caller, folder.map_err(unmade)?).await?;
    let settings = Map::from_iter([("model".to_owned(), "demo/demo".into())]);
    let row = app.sessions.workspaces().update(row.id, None, settings).await?;
    Ok(Created(seen(&app, &caller, row).await?))
}

pub async fn show(State(app): State<App>, caller: Caller, Ids(id): Ids<WorkspaceId>) -> ApiResult<WorkspaceView> {
    Ok(Json(seen(&app, &caller, row(&app, id).await?).await?))
}

/// The settings in force for the chats of a workspace.
pub async fn rules(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> ApiResult<RulesView> {
    Ok(Json(app.sessions.workspaces().rules_view(id).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateBody {
    name: Option<String>,
    /// Overrides for the files' settings; null removes one, absent settings stay.
    #[serde(default)]
    #[schemars(with = "WorkspaceSettings")]
    settings: Map<String, Value>,
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    Ids(id): Ids<WorkspaceId>,
    Body(body): Body<UpdateBody>,
) -> ApiResult<WorkspaceView> {
    check_settings(&caller, &body.settings)?;
    let row = app.sessions.workspaces().update(id, body.name, body.settings).await?;
    Ok(Json(seen(&app, &caller, row).await?))
}

/// Deletes a workspace and its chats. The folder's files stay.
pub async fn delete(State(app): State<App>, Ids(id): Ids<WorkspaceId>) -> Result<NoContent, ApiError> {
    app.sessions.delete_workspace(id).await?;
    Ok(NoContent)
}

/// The workspace of a path.
pub async fn row(app: &App, id: WorkspaceId) -> Result<WorkspaceRow, ApiError> {
    Ok(app.sessions.workspaces().row(id).await?)
}
