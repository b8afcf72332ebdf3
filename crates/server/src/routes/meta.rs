use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::guard::{Caller, may_add_folders};
use crate::request::Params;
use axum::Json;
use axum::extract::State;
use planwright_chat::{ToolView, tool_views};
use planwright_protocol::api::server::{Me, User};
use planwright_protocol::role::RoleView;
use planwright_protocol::{Role, RoleRequest, RoleWord};
use planwright_store::{Account, Rank};
use planwright_workspaces::AgentKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(JsonSchema, Serialize)]
pub struct Health {
    #[schemars(example = &"ok")]
    status: &'static str,
}

pub async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// The user of a request, as clients see them.
pub fn user_view(app: &App, account: Option<&Account>) -> User {
    let adds_folders = may_add_folders(app, account);
    match account {
        Some(account) => User { id: Some(account.id), name: account.name.clone(), admin: account.rank == Rank::Admin, adds_folders },
        None => User { id: None, name: "you".to_owned(), admin: true, adds_folders },
    }
}

pub async fn me(State(app): State<App>, caller: Caller) -> Json<Me> {
    let user = user_view(&app, caller.account.as_ref());
    Json(Me {
        user,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        auth: app.access.mode(),
        models: app.models.names(),
        takes_images: app.sessions.takes_images().await,
    })
}

pub async fn roles() -> Json<Vec<RoleView>> {
    Json(Role::all().map(RoleView::from).collect())
}

#[derive(Deserialize, JsonSchema)]
pub struct ToolsQuery {
    /// Only the tools of this role; any word for a role or mode.
    #[schemars(with = "Option<RoleWord>")]
    role: Option<String>,
}

pub async fn tools(State(app): State<App>, Params(query): Params<ToolsQuery>) -> ApiResult<Vec<ToolView>> {
    let role = query.role.map(|role| RoleRequest::role(&role).resolve(None)).transpose().map_err(ApiError::from)?.flatten();
    Ok(Json(tool_views(role, app.sessions.workspaces().everywhere().settings.offer(AgentKind::Main))))
}
