//! The plan of a chat: read, edited and executed.

use super::chats::{handle, submit};
use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::guard::Caller;
use crate::request::{Body, IdempotencyKey, Ids, OptionalBody};
use axum::Json;
use axum::extract::State;
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::api::plan::{PlanEditAnswer, PlanFileView};
use planwright_protocol::api::requests::{ExecuteBody, PlanContentBody, PlanEditBody};
use planwright_protocol::op::{ExpectedPlan, PlanContent};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ChatId, Op, WorkspaceId};

/// The chat's plan as its file is now, with the linter's findings at their steps.
pub async fn show(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<PlanFileView> {
    Ok(Json(handle(&app, workspace, chat).await?.chat().plan_view().await?))
}

/// Writes the user's version of the plan, as its next revision. An approval of the version before does not cover it.
pub async fn edit(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
    Body(body): Body<PlanEditBody>,
) -> ApiResult<PlanEditAnswer> {
    let content = match body.content {
        PlanContentBody::Text(text) => PlanContent::Text(text),
        PlanContentBody::Data(plan) => PlanContent::Plan(Box::new(plan)),
    };
    let op = Op::EditPlan { content, base_sha256: body.base_sha256 };
    let message = submit(&app, ids, &caller, key, op).await?.message;
    Ok(Json(PlanEditAnswer { message }))
}

/// Approves the plan, or some of its steps. The files that only other steps name are outside the approved scope.
pub async fn execute(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
    OptionalBody(body): OptionalBody<ExecuteBody>,
) -> ApiResult<ChatView> {
    let ExecuteBody { plan_file, plan_sha256, steps, stop_after, comment } = body;
    if comment.as_ref().is_some_and(|comment| comment.chars().count() > 20_000) {
        return Err(ApiError::invalid_field("comment", "must have at most 20,000 characters"));
    }
    let expected = ExpectedPlan { sha256: plan_sha256, choice: StepChoice { steps, stop_after } };
    let op = Op::Execute { plan_file, content: comment, expected };
    Ok(Json(submit(&app, ids, &caller, key, op).await?.chat))
}
