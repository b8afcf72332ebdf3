use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::request::{Ids, Params, page_size};
use axum::Json;
use axum::extract::State;
use planwright_protocol::WorkspaceId;
use planwright_protocol::api::workspace::{FileContent, FileNode, PlanView};
use planwright_workspaces::DEEPEST;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct TreeQuery {
    /// The folder (default: the root).
    #[schemars(example = "/")]
    path: Option<String>,
    /// Number of levels (default 1).
    #[schemars(range(min = 1, max = 16))]
    depth: Option<u32>,
}

/// A folder and its entries.
pub async fn tree(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>, Params(query): Params<TreeQuery>) -> ApiResult<FileNode> {
    let depth = query.depth.unwrap_or(1);
    if !(1..=DEEPEST).contains(&depth) {
        return Err(ApiError::invalid_field("depth", format!("must be from 1 to {DEEPEST}")));
    }
    Ok(Json(app.sessions.workspaces().files(workspace, query.path.as_deref().unwrap_or("/"), depth).await?))
}

#[derive(Deserialize, JsonSchema)]
pub struct ContentQuery {
    #[schemars(example = "/README.md")]
    path: String,
}

/// A file.
pub async fn content(
    State(app): State<App>,
    Ids(workspace): Ids<WorkspaceId>,
    Params(query): Params<ContentQuery>,
) -> ApiResult<FileContent> {
    Ok(Json(app.sessions.workspaces().content(workspace, &query.path).await?))
}

#[derive(Deserialize, JsonSchema)]
pub struct FindQuery {
    /// Letters of the path, in order (default: all files).
    #[schemars(length(max = 200), example = "lib.rs")]
    q: Option<String>,
    /// Maximum number of files.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

const MOST_FOUND: u32 = 200;

/// The paths of matching files, the best first.
pub async fn find(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>, Params(query): Params<FindQuery>) -> ApiResult<Vec<String>> {
    let typed = query.q.unwrap_or_default();
    if typed.chars().count() > 200 {
        return Err(ApiError::invalid_field("q", "must have at most 200 characters"));
    }
    let limit = page_size(query.limit, MOST_FOUND)?;
    Ok(Json(app.sessions.workspaces().find_files(workspace, &typed, limit as usize).await?))
}

/// The plans of a workspace.
pub async fn plans(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>) -> ApiResult<Vec<PlanView>> {
    Ok(Json(app.sessions.workspaces().plans(workspace).await?))
}
