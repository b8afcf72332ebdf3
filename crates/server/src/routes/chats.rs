use super::workspaces;
use crate::App;
use crate::answer::{ApiError, ApiResult, Body, Ids, Params};
use crate::guard::Caller;
use crate::sse;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use planwright_protocol::op::Confirm;
use planwright_protocol::{ChatId, ErrorCode, Op, Problem, Role, RoleRequest, WorkspaceId};
use planwright_session::{ChatView, Handle, Snapshot, storage};
use planwright_store::ChatFilter;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The chat of a path, if it is in the workspace of that path.
pub async fn handle(app: &App, workspace: WorkspaceId, chat: ChatId) -> Result<Handle, ApiError> {
    let handle = app.sessions.chat(chat).await?;
    if handle.chat().row().await.workspace_id != workspace {
        return Err(Problem::new(ErrorCode::NotFound, format!("There is no chat {chat}.")).into());
    }
    Ok(handle)
}

#[derive(Deserialize)]
pub struct ListQuery {
    mode: Option<String>,
    role: Option<String>,
    plan_file: Option<String>,
}

pub async fn list(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>, Params(query): Params<ListQuery>) -> ApiResult<Vec<ChatView>> {
    workspaces::row(&app, workspace).await?;
    let mode = RoleRequest { mode: query.mode, ..RoleRequest::default() }.resolve(None)?.map(Role::mode);
    let role =
        query.role.map(|word| RoleRequest::role(&word).resolve(None).map_err(|problem| named(problem, "role"))).transpose()?.flatten();
    let filter = ChatFilter { mode, role, plan_file: query.plan_file };
    let rows = app.sessions.store().chats(workspace, filter).await.map_err(storage)?;
    Ok(Json(rows.into_iter().map(ChatView::from).collect()))
}

/// What is wrong with a field of the query that has another name than in a body.
fn named(problem: Problem, field: &str) -> Problem {
    let wrong = problem.details.as_ref().and_then(|details| details["fields"]["agent_role"].as_str()).unwrap_or_default().to_owned();
    Problem::new(problem.code, problem.message.replace("`agent_role`", &format!("`{field}`")))
        .with_details(json!({ "fields": { field: wrong } }))
}

#[derive(Deserialize)]
pub struct CreateBody {
    title: Option<String>,
    #[serde(flatten)]
    role: RoleRequest,
}

pub async fn create(
    State(app): State<App>,
    Ids(workspace): Ids<WorkspaceId>,
    Body(body): Body<CreateBody>,
) -> Result<impl IntoResponse, ApiError> {
    let role = body.role.resolve(None)?;
    let handle = app.sessions.create(workspace, body.title, role).await?;
    Ok((StatusCode::CREATED, Json(ChatView::from(handle.chat().row().await))))
}

pub async fn show(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<ChatView> {
    Ok(Json(handle(&app, workspace, chat).await?.chat().row().await.into()))
}

#[derive(Deserialize)]
pub struct UpdateBody {
    title: Option<String>,
    #[serde(flatten)]
    role: RoleRequest,
    plan_file: Option<String>,
    #[serde(default)]
    confirm: bool,
}

pub async fn update(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Body(body): Body<UpdateBody>,
) -> ApiResult<ChatView> {
    let confirm = if body.confirm { Confirm::Given } else { Confirm::NotGiven };
    let op = Op::Update { title: body.title, role: body.role, plan_file: body.plan_file, confirm };
    Ok(Json(handle(&app, workspace, chat).await?.submit(op).await?.chat))
}

pub async fn delete(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> Result<StatusCode, ApiError> {
    handle(&app, workspace, chat).await?;
    app.sessions.delete(chat).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn frontmatter(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<Map<String, Value>> {
    Ok(Json(handle(&app, workspace, chat).await?.chat().frontmatter().await?))
}

pub async fn snapshot(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<Snapshot> {
    Ok(Json(handle(&app, workspace, chat).await?.chat().snapshot().await?))
}

#[derive(Deserialize)]
pub struct EventsQuery {
    after: Option<u64>,
}

pub async fn events(
    State(app): State<App>,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<EventsQuery>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(|value| value.parse().ok());
    let handle = handle(&app, workspace, chat).await?;
    Ok(sse::stream(handle.chat().clone(), last.or(query.after).unwrap_or_default(), app.closing.clone()).await?)
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ExecuteBody {
    plan_file: Option<String>,
}

pub async fn execute(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Body(body): Body<ExecuteBody>,
) -> ApiResult<ChatView> {
    let op = Op::Execute { plan_file: body.plan_file, content: None };
    Ok(Json(handle(&app, workspace, chat).await?.submit_by(op, caller.name()).await?.chat))
}

pub async fn stop(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<ChatView> {
    Ok(Json(handle(&app, workspace, chat).await?.submit(Op::Stop).await?.chat))
}

pub async fn compact(State(app): State<App>, Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>) -> ApiResult<ChatView> {
    Ok(Json(handle(&app, workspace, chat).await?.submit(Op::Compact).await?.chat))
}
