use super::chats::{handle, submit};
use crate::App;
use crate::answer::{Accepted, ApiError, ApiResult, NoContent};
use crate::guard::Caller;
use crate::request::{Body, IdempotencyKey, Ids, Params, page_size};
use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use planwright_chat::{SentKey, shorten};
use planwright_protocol::api::requests::{CommentBody, NewMessageBody};
use planwright_protocol::api::server::{ImageContent, MessageAnswer};
use planwright_protocol::api::workspace::FoundExcerpt;
use planwright_protocol::message::{QuestionAnswer, ReviewComment, WireMessage};
use planwright_protocol::op::SentImage;
use planwright_protocol::{AttachedImage, ChatId, ErrorCode, Message, MessageId, Op, Problem, WorkspaceId};
use planwright_store::SearchMatch;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Deserialize, JsonSchema)]
pub struct MessageListQuery {
    /// The id of a message: returns only older ones.
    before: Option<MessageId>,
    /// Maximum number of messages (at most 500).
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

/// The newest messages first. The last one's id, as `before`, gives the next page.
pub async fn list(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<MessageListQuery>,
) -> ApiResult<Vec<Message>> {
    app.sessions.look_at(workspace, chat).await?;
    let limit = page_size(query.limit, LARGEST_PAGE)?;
    let mut messages = app.sessions.store().messages_before(chat, query.before, limit).await?;
    messages.iter_mut().for_each(shorten);
    Ok(Json(messages))
}

/// A message with its full content. Lists shorten long tool results.
pub async fn body(State(app): State<App>, Ids((workspace, chat, id)): Ids<(WorkspaceId, ChatId, MessageId)>) -> ApiResult<Message> {
    app.sessions.look_at(workspace, chat).await?;
    let message = app.sessions.store().message(chat, id).await?;
    Ok(Json(message.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no message {id} in this chat.")))?))
}

/// The images attached to a message, in order.
pub async fn images(
    State(app): State<App>,
    Ids((workspace, chat, id)): Ids<(WorkspaceId, ChatId, MessageId)>,
) -> ApiResult<Vec<ImageContent>> {
    let images = handle(&app, workspace, chat).await?.chat().images(id).await?;
    let content =
        |(image, bytes): (AttachedImage, Arc<[u8]>)| ImageContent { mime_type: image.mime_type, data: BASE64_STANDARD.encode(bytes) };
    Ok(Json(images.into_iter().map(content).collect()))
}

#[derive(Deserialize, JsonSchema)]
pub struct SearchQuery {
    /// The text to search for; case does not matter.
    #[schemars(length(min = 1, max = 1000))]
    q: String,
    /// The id of a message: returns only older ones.
    before: Option<MessageId>,
    /// Maximum number of messages.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

/// Messages that contain the text, newest first. Long messages are excerpts, with `body_size` in the metadata.
pub async fn search(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<SearchQuery>,
) -> ApiResult<Vec<WireMessage>> {
    app.sessions.look_at(workspace, chat).await?;
    check_sought(&query.q)?;
    let limit = page_size(query.limit, LARGEST_FIND)?;
    let found = app.sessions.store().search(chat, &query.q, query.before, limit).await?;
    Ok(Json(found.iter().map(|message| WireMessage::excerpt(message, &query.q)).collect()))
}

#[derive(Deserialize, JsonSchema)]
pub struct SearchAllQuery {
    /// The text to search for; case does not matter.
    #[schemars(length(min = 1, max = 1000))]
    q: String,
    /// Maximum number of messages.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

/// Matching messages of all chats that the caller can see, newest first.
pub async fn search_all(State(app): State<App>, caller: Caller, Params(query): Params<SearchAllQuery>) -> ApiResult<Vec<FoundExcerpt>> {
    check_sought(&query.q)?;
    let limit = page_size(query.limit, LARGEST_FIND)?;
    let found = app.sessions.store().search_all(caller.user(), &query.q, limit).await?;
    let excerpt = |found: SearchMatch| FoundExcerpt {
        workspace_id: found.workspace_id,
        title: found.title,
        message: WireMessage::excerpt(&found.message, &query.q),
    };
    Ok(Json(found.into_iter().map(excerpt).collect()))
}

fn check_sought(text: &str) -> Result<(), ApiError> {
    if text.is_empty() || text.chars().count() > 1000 {
        return Err(ApiError::invalid_field("q", "must have 1 to 1000 characters"));
    }
    Ok(())
}

/// Withdraws a queued message.
pub async fn withdraw(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat, id)): Ids<(WorkspaceId, ChatId, MessageId)>,
    IdempotencyKey(key): IdempotencyKey,
) -> Result<NoContent, ApiError> {
    submit(&app, (workspace, chat), &caller, key, Op::Withdraw { message_id: id }).await?;
    Ok(NoContent)
}

const LARGEST_FIND: u32 = 100;

const LARGEST_PAGE: u32 = 500;

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
    Body(body): Body<NewMessageBody>,
) -> Result<Accepted<MessageAnswer>, ApiError> {
    let handle = handle(&app, workspace, chat).await?;
    let key = key.map(|key| SentKey::new(key, &body));
    let images = handle.chat().uploaded_images(&body.images).await?;
    let op = op_of(body, images)?;
    let is_answer = matches!(op, Op::Answer { .. });
    let reply = handle.submit_once(op, caller.name(), key).await.map_err(|problem| {
        if is_answer && problem.code == ErrorCode::ValidationFailed { ApiError::bad_request(problem) } else { problem.into() }
    })?;
    Ok(Accepted(MessageAnswer { message: reply.message }))
}

fn op_of(mut body: NewMessageBody, images: Vec<SentImage>) -> Result<Op, ApiError> {
    let answer = QuestionAnswer::take_from(&mut body.metadata).map_err(|_| {
        let needs = "needs `question_id`, the id of the question, and `answers`, an object keyed by the questions' names";
        let details = json!({ "fields": { "metadata.question_answer": needs } });
        let problem = Problem::new(ErrorCode::ValidationFailed, format!("`metadata.question_answer` {needs}."));
        ApiError::bad_request(problem.with_details(details))
    })?;
    Ok(match answer {
        Some(_) if !body.comments.is_empty() => return Err(ApiError::invalid_field("comments", "must be empty in an answer")),
        Some(_) if !images.is_empty() => return Err(ApiError::invalid_field("images", "must be empty in an answer")),
        Some(QuestionAnswer { question_id, answers }) => {
            Op::Answer { question_id, answers, comment: body.content, metadata: body.metadata }
        }
        None => Op::UserMessage { content: body.content, metadata: body.metadata, images, comments: comments(body.comments)? },
    })
}

const MOST_COMMENTS: usize = 200;
const LONGEST_COMMENT: usize = 8000;

fn comments(sent: Vec<CommentBody>) -> Result<Vec<ReviewComment>, ApiError> {
    if sent.len() > MOST_COMMENTS {
        return Err(ApiError::invalid_field("comments", format!("must be at most {MOST_COMMENTS}")));
    }
    let mut ids = HashSet::new();
    let is_id = |id: &str| (1..=64).contains(&id.chars().count()) && !id.chars().any(char::is_control);
    for (index, comment) in sent.iter().enumerate() {
        let field = |name: &str| format!("comments[{index}].{name}");
        if !is_id(&comment.id) || !ids.insert(comment.id.as_str()) {
            return Err(ApiError::invalid_field(&field("id"), "must have 1 to 64 visible characters and be unique in the message"));
        }
        if comment.text.trim().is_empty() || comment.text.chars().count() > LONGEST_COMMENT {
            return Err(ApiError::invalid_field(&field("text"), format!("must have 1 to {LONGEST_COMMENT} characters")));
        }
        if comment.quote.chars().count() > LONGEST_COMMENT {
            return Err(ApiError::invalid_field(&field("quote"), format!("must have at most {LONGEST_COMMENT} characters")));
        }
        if comment.path.as_ref().is_some_and(|path| path.is_empty() || path.len() > 4096) {
            return Err(ApiError::invalid_field(&field("path"), "must have 1 to 4096 bytes"));
        }
    }
    let comment = |CommentBody { id, step, path, lines, quote, text }| ReviewComment { id, step, path, lines, quote, text };
    Ok(sent.into_iter().map(comment).collect())
}
