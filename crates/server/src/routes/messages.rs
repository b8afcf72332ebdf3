use super::chats::handle;
use crate::App;
use crate::answer::{Accepted, ApiError, ApiResult};
use crate::guard::Caller;
use crate::request::{Body, Ids, Params, page_size};
use axum::Json;
use axum::extract::State;
use planwright_protocol::{ChatId, ErrorCode, Message, MessageId, Op, Problem, QuestionId, WorkspaceId};
use planwright_session::storage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Deserialize, JsonSchema)]
pub struct ListQuery {
    /// The id of a message: only those older than it.
    before: Option<MessageId>,
    /// How many at most; 500 are the most that are given.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

/// The newest messages first. The last one's id, as `before`, gives the next page.
pub async fn list(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<ListQuery>,
) -> ApiResult<Vec<Message>> {
    handle(&app, workspace, chat).await?;
    let limit = page_size(query.limit, LARGEST_PAGE)?;
    Ok(Json(app.sessions.store().messages_before(chat, query.before, limit).await.map_err(storage)?))
}

const LARGEST_PAGE: u32 = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateBody {
    /// What the user says; beside an answer, a comment on it.
    #[serde(default)]
    #[schemars(example = &"Add a farewell to the greeter.")]
    content: String,
    /// `question_answer {question_id, answers}` answers the pending question. Everything else is kept with the message.
    #[serde(default)]
    #[schemars(with = "Given")]
    metadata: Map<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(example = Map::new())]
struct Given {
    #[expect(dead_code, reason = "described, and read on its own so that its errors are 400")]
    question_answer: Option<QuestionAnswer>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AnswerToQuestion")]
struct QuestionAnswer {
    question_id: QuestionId,
    /// By the questions' names.
    answers: Map<String, Value>,
}

#[derive(JsonSchema, Serialize)]
pub struct MessageAnswer {
    message: Option<Message>,
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Body(mut body): Body<CreateBody>,
) -> Result<Accepted<MessageAnswer>, ApiError> {
    let handle = handle(&app, workspace, chat).await?;
    let op = match body.metadata.remove("question_answer").filter(|answer| !answer.is_null()) {
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
    Ok(Accepted(MessageAnswer { message: reply.message }))
}
