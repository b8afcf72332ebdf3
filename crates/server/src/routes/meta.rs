use crate::App;
use crate::answer::{ApiError, ApiResult, Params};
use crate::guard::Caller;
use axum::Json;
use axum::extract::State;
use planwright_protocol::role::RoleView;
use planwright_protocol::{Role, RoleRequest, UserId};
use planwright_session::{ToolView, tool_views};
use planwright_store::{Account, Rank};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// Who is asking.
#[derive(Serialize)]
pub struct UserView {
    /// Null for whoever runs the server, without an account.
    id: Option<UserId>,
    name: String,
    admin: bool,
}

/// Without an account: whoever runs the server, who may do everything.
pub fn user_view(account: Option<&Account>) -> UserView {
    match account {
        Some(account) => UserView { id: Some(account.id), name: account.name.clone(), admin: account.rank == Rank::Admin },
        None => UserView { id: None, name: "you".to_owned(), admin: true },
    }
}

pub async fn me(State(app): State<App>, caller: Caller) -> Json<Value> {
    let (user, auth) = (user_view(caller.account.as_ref()), app.access.mode());
    Json(json!({ "user": user, "version": env!("CARGO_PKG_VERSION"), "auth": auth, "models": *app.models }))
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
