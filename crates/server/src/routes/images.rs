//! Images: those of a chat, and those of a workspace.

use super::chats::handle;
use crate::App;
use crate::answer::{ApiError, Created, Picture};
use crate::request::{Ids, ImageBody, Params};
use axum::extract::State;
use planwright_chat::image_type;
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stored image.
#[derive(JsonSchema, Serialize)]
pub struct ImageId {
    /// The id for `images` of a message.
    id: String,
}

/// Stores a PNG, JPEG, GIF or WebP image of at most 5 MiB with the chat. The type follows from the bytes.
pub async fn create(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    ImageBody(bytes): ImageBody,
) -> Result<Created<ImageId>, ApiError> {
    let id = handle(&app, workspace, chat).await?.chat().put_image(bytes.into()).await?;
    Ok(Created(ImageId { id }))
}

/// An image of the chat.
pub async fn show(State(app): State<App>, Ids((workspace, chat, id)): Ids<(WorkspaceId, ChatId, String)>) -> Result<Picture, ApiError> {
    handle(&app, workspace, chat).await?;
    let bytes = app.sessions.store().image(chat, &id).await?;
    let bytes = bytes.ok_or_else(|| Problem::new(ErrorCode::NotFound, "There is no such image in this chat."))?;
    // The id is the hash of the bytes, so they never change.
    picture(bytes.to_vec(), "private, max-age=31536000, immutable")
}

#[derive(Deserialize, JsonSchema)]
pub struct FileQuery {
    #[schemars(example = "/docs/screen.png")]
    path: String,
}

/// A PNG, JPEG, GIF or WebP file of the workspace.
pub async fn of_workspace(
    State(app): State<App>,
    Ids(workspace): Ids<WorkspaceId>,
    Params(query): Params<FileQuery>,
) -> Result<Picture, ApiError> {
    picture(app.sessions.workspaces().bytes(workspace, &query.path).await?, "private, no-cache")
}

fn picture(bytes: Vec<u8>, cache: &'static str) -> Result<Picture, ApiError> {
    let media_type = image_type(&bytes).ok_or_else(|| {
        let text = "This file is neither PNG, JPEG, GIF nor WebP, so it can't be shown as an image.";
        Problem::new(ErrorCode::UnsupportedMediaType, text)
    })?;
    Ok(Picture { media_type, bytes, cache })
}
