//! The plan of a chat: read, edited and executed.

use super::chats::{handle, submit};
use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::guard::Caller;
use crate::request::{Body, IdempotencyKey, Ids, OptionalBody};
use axum::Json;
use axum::extract::State;
use planwright_chat::{ChatView, PlanFileView};
use planwright_protocol::op::{ExpectedPlan, PlanContent};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ChatId, Message, Op, Plan, WorkspaceId};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// The chat's plan as its file is now, with the linter's findings at their steps.
pub async fn show(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<PlanFileView> {
    Ok(Json(handle(&app, workspace, chat).await?.chat().plan_view().await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanEditBody {
    /// The next version: the text of the `.plan` file, or the plan as data. As data, other sections of the file stay.
    content: PlanContentBody,
    /// The `sha256` of the version that was edited, from `GET …/plan` or a Plan message.
    #[schemars(example = &"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    base_sha256: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum PlanContentBody {
    #[schemars(example = &"# Say goodbye\n\n## Steps\n\n- [ ] 1. Write the farewell\n")]
    Text(String),
    Data(#[schemars(schema_with = "plan_to_write")] Plan),
}

/// A plan as a body may have it: inline, because in answers more fields are always there.
fn plan_to_write(_: &mut SchemaGenerator) -> Schema {
    let inline = |settings: &mut SchemaSettings| (settings.inline_subschemas, settings.meta_schema) = (true, None);
    SchemaSettings::default().with(inline).into_generator().into_root_schema_for::<Plan>()
}

#[derive(JsonSchema, Serialize)]
pub struct PlanEditAnswer {
    /// The Plan message that records the version: `metadata` has `plan`, `revision` and `sha256`.
    message: Option<Message>,
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

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteBody {
    /// The plan to execute (default: the chat's own).
    #[schemars(example = "/plans/add-a-farewell.plan")]
    plan_file: Option<String>,
    /// The hash of the plan that the user looked at. Required with `steps` and `stop_after`.
    plan_sha256: Option<String>,
    /// Execute only these steps (default: all).
    #[schemars(example = vec![1, 2])]
    steps: Option<Vec<u32>>,
    /// Stop after this step and ask the user.
    #[schemars(range(min = 1))]
    stop_after: Option<u32>,
    /// A comment for the Actor.
    #[schemars(length(max = 20_000))]
    comment: Option<String>,
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
