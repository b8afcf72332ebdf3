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
pub struct ChangeListQuery {
    /// Only the changes of this message.
    message: Option<MessageId>,
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
    let query = ChangesQuery { message: query.message, after: query.cursor, summary: query.summary };
    Ok(Json(handle(&app, workspace, chat).await?.chat().changes(query).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevertBody {
    /// Revert everything from this message on.
    message_id: MessageId,
    /// Only report what would happen.
    #[serde(default)]
    preview: bool,
    /// Skip files that somebody else changed, and revert the others.
    #[serde(default)]
    skip_conflicts: bool,
}

#[derive(JsonSchema, Serialize)]
pub struct RevertAnswer {
    preview: bool,
    #[serde(flatten)]
    done: RevertSummary,
    /// The message that records the revert; null if nothing was reverted.
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
    let done = message.as_ref().map(Revert::from_notice).unwrap_or_default().into();
    message.iter_mut().for_each(shorten_revert);
    Ok(Json(RevertAnswer { preview: false, done, message }))
}
