use super::chats::handle;
use crate::App;
use crate::answer::{ApiError, ApiResult, Body, Ids, Params};
use crate::guard::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use planwright_protocol::{ChatId, ErrorCode, Message, MessageId, Op, Problem, QuestionId, WorkspaceId};
use planwright_session::storage;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
pub struct ListQuery {
    /// The id of a message: only those older than it.
    before: Option<MessageId>,
    limit: Option<u32>,
}

/// The newest messages first. The last one's id, as `before`, gives the next page.
pub async fn list(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<ListQuery>,
) -> ApiResult<Vec<Message>> {
    handle(&app, workspace, chat).await?;
    let limit = query.limit.unwrap_or(LARGEST_PAGE).clamp(1, LARGEST_PAGE);
    Ok(Json(app.sessions.store().messages_before(chat, query.before, limit).await.map_err(storage)?))
}

const LARGEST_PAGE: u32 = 500;

#[derive(Deserialize)]
pub struct CreateBody {
    #[serde(default)]
    content: String,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Deserialize)]
struct QuestionAnswer {
    question_id: QuestionId,
    answers: Map<String, Value>,
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Body(mut body): Body<CreateBody>,
) -> Result<impl IntoResponse, ApiError> {
    let handle = handle(&app, workspace, chat).await?;
    let op = match body.metadata.remove("question_answer") {
        Some(answer) => {
            let QuestionAnswer { question_id, answers } = serde_json::from_value(answer).map_err(|_| {
                let needs = "needs `question_id`, the id of the question, and `answers`, an object keyed by the questions' names";
                let details = json!({ "fields": { "metadata.question_answer": needs } });
                let problem = Problem::new(ErrorCode::ValidationFailed, format!("`metadata.question_answer` {needs}."));
                ApiError::bad_request(problem.with_details(details))
            })?;
            Op::Answer { question_id, answers, comment: body.content }
        }
        None => Op::UserMessage { content: body.content, metadata: body.metadata },
    };
    let is_answer = matches!(op, Op::Answer { .. });
    let reply = handle.submit_by(op, caller.name()).await.map_err(|problem| {
        if is_answer && problem.code == ErrorCode::ValidationFailed { ApiError::bad_request(problem) } else { problem.into() }
    })?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "message": reply.message }))))
}
