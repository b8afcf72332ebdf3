use super::chats::{handle, submit};
use crate::App;
use crate::answer::ApiResult;
use crate::guard::Caller;
use crate::request::{Body, IdempotencyKey, Ids, Params};
use axum::Json;
use axum::extract::State;
use planwright_chat::{Changes, ChangesQuery, Revert, RevertSummary, shorten_revert};
use planwright_protocol::op::OnConflict;
use planwright_protocol::{ChatId, Message, MessageId, Op, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
pub struct ListQuery {
    /// Only what this message changed.
    message: Option<MessageId>,
    /// Only the list of files, without their diffs: each with the lines added and removed, and the messages that changed it.
    #[serde(default)]
    summary: bool,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// What the chat changed in files: by message, and in all. The files are listed in pages.
pub async fn list(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<ListQuery>,
) -> ApiResult<Changes> {
    let query = ChangesQuery { message: query.message, after: query.cursor, summary: query.summary };
    Ok(Json(handle(&app, workspace, chat).await?.chat().changes(query).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevertBody {
    /// Everything is taken back from this message on.
    message_id: MessageId,
    /// Only tell what would happen.
    #[serde(default)]
    preview: bool,
    /// Take back the rest where something was changed by somebody else.
    #[serde(default)]
    skip_conflicts: bool,
}

#[derive(JsonSchema, Serialize)]
pub struct RevertAnswer {
    preview: bool,
    #[serde(flatten)]
    done: RevertSummary,
    /// The message that tells of it; null where nothing was done.
    message: Option<Message>,
}

pub async fn revert(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
    Body(body): Body<RevertBody>,
) -> ApiResult<RevertAnswer> {
    if body.preview {
        let done = handle(&app, ids.0, ids.1).await?.chat().revert(body.message_id).await?.into();
        return Ok(Json(RevertAnswer { preview: true, done, message: None }));
    }
    let conflicts = if body.skip_conflicts { OnConflict::Skip } else { OnConflict::Refuse };
    let mut message = submit(&app, ids, &caller, key, Op::Revert { message_id: body.message_id, conflicts }).await?.message;
    let done = message.as_ref().map(Revert::told).unwrap_or_default().into();
    message.iter_mut().for_each(shorten_revert);
    Ok(Json(RevertAnswer { preview: false, done, message }))
}
