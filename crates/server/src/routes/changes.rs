use super::chats::{handle, submit};
use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::guard::Caller;
use crate::request::{Body, IdempotencyKey, Ids, Params};
use axum::Json;
use axum::extract::State;
use planwright_chat::{ChangesQuery, Revert, revert_summary, shorten_revert};
use planwright_protocol::api::changes::{Changes, FileDiff, RevertAnswer};
use planwright_protocol::api::requests::{RevertBody, RevertedFile};
use planwright_protocol::op::{FileToRevert, OnConflict, RevertTarget};
use planwright_protocol::{ChatId, MessageId, Op, WorkspaceId};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct ChangeListQuery {
    /// Only the changes of this message.
    message: Option<MessageId>,
    /// Only the changes made while this step of the plan was in progress.
    step: Option<u32>,
    /// Only the list of files, without diffs: each with its added and removed lines, and the messages that changed it.
    #[serde(default)]
    summary: bool,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// The files that the chat changed: by message, and in total. The files are listed in pages.
pub async fn list(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<ChangeListQuery>,
) -> ApiResult<Changes> {
    let query = ChangesQuery { message: query.message, step: query.step, after: query.cursor, summary: query.summary };
    Ok(Json(handle(&app, workspace, chat).await?.chat().changes(query).await?))
}

#[derive(Deserialize, JsonSchema)]
pub struct FileDiffQuery {
    #[schemars(example = "/src/farewell.rs")]
    path: String,
    /// Lines around each change (default 3).
    context: Option<usize>,
    /// Only the changes of this message.
    message: Option<MessageId>,
    /// Only the changes made while this step of the plan was in progress.
    step: Option<u32>,
}

/// The diff of one changed file, at most 4 MiB, with numbered hunks.
pub async fn file(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<FileDiffQuery>,
) -> ApiResult<FileDiff> {
    let FileDiffQuery { path, context, message, step } = query;
    let filter = ChangesQuery { message, step, ..ChangesQuery::default() };
    Ok(Json(handle(&app, workspace, chat).await?.chat().changed_file(&path, context, filter).await?))
}

fn target(body: &mut RevertBody) -> Result<RevertTarget, ApiError> {
    let file = |RevertedFile { path, after_sha256, hunks }| FileToRevert { path, after_sha256, hunks };
    match (body.message_id, body.files.take()) {
        (Some(message_id), None) => Ok(RevertTarget::Message(message_id)),
        (None, Some(files)) => Ok(RevertTarget::Files(files.into_iter().map(file).collect())),
        (Some(_), Some(_)) => Err(ApiError::invalid_field("files", "must be absent if there is a `message_id`")),
        (None, None) => Err(ApiError::invalid_field("message_id", "is missing; name a message, or `files`")),
    }
}

pub async fn revert(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
    Body(mut body): Body<RevertBody>,
) -> ApiResult<RevertAnswer> {
    let target = target(&mut body)?;
    if body.preview {
        let handle = handle(&app, ids.0, ids.1).await?;
        let revert = handle.chat().revert_of(&target).await?;
        let diffs = if body.message_id.is_none() { handle.chat().revert_diffs(&revert).await? } else { Vec::new() };
        return Ok(Json(RevertAnswer { preview: true, done: revert_summary(revert), message: None, diffs }));
    }
    let conflicts = if body.skip_conflicts { OnConflict::Skip } else { OnConflict::Refuse };
    let mut message = submit(&app, ids, &caller, key, Op::Revert { target, conflicts }).await?.message;
    let done = revert_summary(message.as_ref().map(Revert::from_notice).unwrap_or_default());
    message.iter_mut().for_each(shorten_revert);
    Ok(Json(RevertAnswer { preview: false, done, message, diffs: Vec::new() }))
}
