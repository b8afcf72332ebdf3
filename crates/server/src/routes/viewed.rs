use crate::App;
use crate::answer::{ApiError, ApiResult, NoContent};
use crate::guard::Caller;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::time::now;
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use planwright_store::ViewedFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(JsonSchema, Serialize)]
pub struct ViewedView {
    path: String,
    /// The viewed content; null if the file was deleted.
    after_sha256: Option<String>,
}

/// The changed files that the caller has viewed. If a file changed since, its content differs from its mark.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
) -> ApiResult<Vec<ViewedView>> {
    app.sessions.look_at(workspace, chat).await?;
    let files = app.sessions.store().viewed_files(chat, caller.user()).await?;
    Ok(Json(files.into_iter().map(|ViewedFile { path, after_sha256 }| ViewedView { path, after_sha256 }).collect()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewedBody {
    #[schemars(example = "/src/farewell.rs")]
    path: String,
    /// The file's content after the change; null or absent for a deleted file.
    #[schemars(example = &"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    after_sha256: Option<String>,
    viewed: bool,
}

pub async fn put(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Body(ViewedBody { path, after_sha256, viewed }): Body<ViewedBody>,
) -> Result<NoContent, ApiError> {
    app.sessions.look_at(workspace, chat).await?;
    let (store, user) = (app.sessions.store(), caller.user());
    if !viewed {
        store.unview_file(chat, user, &path).await?;
        return Ok(NoContent);
    }
    if store.view_file(chat, user, &ViewedFile { path, after_sha256 }, now()).await? {
        return Ok(NoContent);
    }
    Err(Problem::new(ErrorCode::NotFound, "This chat did not produce that content of the file. Reload the changes.").into())
}
