use super::workspaces;
use crate::App;
use crate::answer::{ApiError, ApiResult, Created, NoContent, Page};
use crate::guard::Caller;
use crate::request::{Body, IdempotencyKey, Ids, OptionalBody, Params, page_size};
use axum::Json;
use axum::extract::State;
use planwright_chat::{ContextView, Handle, Reply, SentKey};
use planwright_protocol::api::chat::{ChatView, Snapshot};
use planwright_protocol::api::requests::{ChatUpdate, ForkBody, NewChat};
use planwright_protocol::event::ChatState;
use planwright_protocol::message::DriftedFile;
use planwright_protocol::op::{Confirm, MarkChange};
use planwright_protocol::{ChatId, Op, Problem, Role, RoleRequest, RoleWord, Timestamp, WorkspaceId};
use planwright_store::{ChatCursor, ChatFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The chat of a path, if it belongs to the workspace of that path.
pub async fn handle(app: &App, workspace: WorkspaceId, chat: ChatId) -> Result<Handle, ApiError> {
    Ok(app.sessions.chat_in(workspace, chat).await?)
}

/// Puts an op to the chat of a path. Under the same key it is done once.
pub async fn submit(
    app: &App,
    (workspace, chat): (WorkspaceId, ChatId),
    caller: &Caller,
    key: Option<String>,
    op: Op,
) -> Result<Reply, ApiError> {
    let key = key.map(|key| SentKey::of_op(key, &op));
    Ok(handle(app, workspace, chat).await?.submit_once(op, caller.name(), key).await?)
}

#[derive(Deserialize, JsonSchema)]
pub struct ChatListQuery {
    /// Any word for a mode.
    #[schemars(with = "Option<RoleWord>", example = &"plan")]
    mode: Option<String>,
    /// Any word for a role.
    #[schemars(with = "Option<RoleWord>")]
    role: Option<String>,
    #[schemars(example = "/plans/add-a-farewell.plan")]
    plan_file: Option<String>,
    state: Option<ChatState>,
    /// Only archived chats, or only others; both if absent.
    archived: Option<bool>,
    /// Part of the title.
    #[schemars(example = &"farewell")]
    title: Option<String>,
    /// The start of the page: `x-next-cursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of chats.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u32>,
}

const LARGEST_PAGE: u32 = 500;

/// Most recently used first.
pub async fn list(
    State(app): State<App>,
    Ids(workspace): Ids<WorkspaceId>,
    Params(query): Params<ChatListQuery>,
) -> Result<Page<ChatView>, ApiError> {
    workspaces::row(&app, workspace).await?;
    let mode = RoleRequest { mode: query.mode, ..RoleRequest::default() }.resolve(None)?.map(Role::mode);
    let role =
        query.role.map(|word| RoleRequest::role(&word).resolve(None).map_err(|problem| named(problem, "role"))).transpose()?.flatten();
    let limit = page_size(query.limit, LARGEST_PAGE)?;
    let after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let ChatListQuery { plan_file, state, archived, title, .. } = query;
    let filter = ChatFilter { mode, role, plan_file, state, archived, title, after, limit: Some(limit) };
    let rows = app.sessions.store().chats(workspace, filter).await?;
    let last = rows.last().filter(|_| rows.len() == limit as usize);
    let next = last.map(|chat| format!("{}.{}", chat.updated_at.as_microsecond(), chat.id));
    Ok(Page { items: rows.iter().map(ChatView::from).collect(), next })
}

fn read_cursor(text: &str) -> Result<ChatCursor, ApiError> {
    let read = || {
        let (time, id) = text.split_once('.')?;
        Some(ChatCursor { updated_at: Timestamp::from_microsecond(time.parse().ok()?).ok()?, id: id.parse().ok()? })
    };
    read().ok_or_else(|| ApiError::invalid_field("cursor", "must be the `x-next-cursor` of a page"))
}

/// Renames the field of an error that a query calls differently than a body.
fn named(problem: Problem, field: &str) -> Problem {
    let wrong = problem.details.as_ref().and_then(|details| details["fields"]["agent_role"].as_str()).unwrap_or_default().to_owned();
    Problem::new(problem.code, problem.message.replace("`agent_role`", &format!("`{field}`")))
        .with_details(json!({ "fields": { field: wrong } }))
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Ids(workspace): Ids<WorkspaceId>,
    OptionalBody(NewChat { title, agent_role, agent_mode, mode }): OptionalBody<NewChat>,
) -> Result<Created<ChatView>, ApiError> {
    let role = RoleRequest { agent_role, agent_mode, mode }.resolve(None)?;
    let handle = app.sessions.create_for(workspace, title, role, caller.account.map(|account| account.name)).await?;
    Ok(Created(ChatView::from(&handle.chat().record().row)))
}

pub async fn show(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<ChatView> {
    Ok(Json(app.sessions.look_at(workspace, chat).await?))
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
    Body(body): Body<ChatUpdate>,
) -> ApiResult<ChatView> {
    let confirm = if body.confirm { Confirm::Given } else { Confirm::NotGiven };
    let role = RoleRequest { agent_role: body.agent_role, agent_mode: body.agent_mode, mode: body.mode };
    let marks = MarkChange { pinned: body.pinned, archived: body.archived, model: body.model, effort: body.effort };
    let op = Op::Update { title: body.title, role, plan_file: body.plan_file, confirm, marks };
    Ok(Json(submit(&app, ids, &caller, key, op).await?.chat))
}

pub async fn delete(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> Result<NoContent, ApiError> {
    app.sessions.look_at(workspace, chat).await?;
    app.sessions.delete(chat).await?;
    Ok(NoContent)
}

pub async fn frontmatter(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<Map<String, Value>> {
    Ok(Json(handle(&app, workspace, chat).await?.chat().frontmatter().await?))
}

pub async fn snapshot(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<Snapshot> {
    Ok(Json(app.sessions.snapshot(workspace, chat).await?))
}

#[derive(Serialize, JsonSchema)]
pub struct DriftView {
    /// By path; empty if nothing changed since planning, or there is no plan.
    files: Vec<DriftedFile>,
}

/// Files of the chat's plan that changed since planning: review them before you approve.
pub async fn drift(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<DriftView> {
    Ok(Json(DriftView { files: handle(&app, workspace, chat).await?.chat().drift().await? }))
}

/// The context that the model would get now.
pub async fn context(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<ContextView> {
    Ok(Json(handle(&app, workspace, chat).await?.chat().context().await?))
}

pub async fn stop(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
) -> ApiResult<ChatView> {
    Ok(Json(submit(&app, ids, &caller, key, Op::Stop).await?.chat))
}

pub async fn retry(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
) -> ApiResult<ChatView> {
    Ok(Json(submit(&app, ids, &caller, key, Op::Retry).await?.chat))
}

pub async fn compact(
    State(app): State<App>,
    caller: Caller,
    Ids(ids): Ids<(WorkspaceId, ChatId)>,
    IdempotencyKey(key): IdempotencyKey,
) -> ApiResult<ChatView> {
    Ok(Json(submit(&app, ids, &caller, key, Op::Compact).await?.chat))
}

/// Creates a chat with the same beginning, to continue differently.
pub async fn fork(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Body(body): Body<ForkBody>,
) -> Result<Created<ChatView>, ApiError> {
    app.sessions.look_at(workspace, chat).await?;
    let fork = app.sessions.fork(chat, body.message_id, caller.account.map(|account| account.name)).await?;
    Ok(Created((&fork.chat().record().row).into()))
}
