use crate::App;
use crate::answer::{ApiError, ApiResult, Params};
use axum::Json;
use axum::extract::State;
use planwright_protocol::role::RoleView;
use planwright_protocol::{Role, RoleRequest};
use planwright_session::{ToolView, tool_views};
use serde::Deserialize;
use serde_json::{Value, json};

pub async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

pub async fn me(State(app): State<App>) -> Json<Value> {
    let auth = if app.access.token.is_some() { "token" } else { "off" };
    Json(json!({ "user": { "name": "you" }, "version": env!("CARGO_PKG_VERSION"), "auth": auth, "models": *app.models }))
}

pub async fn roles() -> Json<Vec<RoleView>> {
    Json(Role::all().map(RoleView::from).collect())
}

#[derive(Deserialize)]
pub struct ToolsQuery {
    role: Option<String>,
}

pub async fn tools(State(app): State<App>, Params(query): Params<ToolsQuery>) -> ApiResult<Vec<ToolView>> {
    let role = query.role.map(|role| RoleRequest::role(&role).resolve(None)).transpose().map_err(ApiError::from)?.flatten();
    Ok(Json(tool_views(role, app.sessions.settings().inspect())))
}
