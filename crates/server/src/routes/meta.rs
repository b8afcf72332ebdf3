use super::models::ModelNames;
use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::guard::{AuthMode, Caller, may_add_folders};
use crate::request::Params;
use axum::Json;
use axum::extract::State;
use planwright_chat::{ToolView, tool_views};
use planwright_protocol::role::RoleView;
use planwright_protocol::{Role, RoleRequest, RoleWord, UserId};
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

/// The signed-in user, and this server.
#[derive(JsonSchema, Serialize)]
pub struct Me {
    user: User,
    /// The server's version.
    #[schemars(example = &"0.1.0")]
    version: &'static str,
    auth: AuthMode,
    models: ModelNames,
}

/// A user with an account, or the person who runs a server without accounts.
#[derive(JsonSchema, Serialize)]
pub struct User {
    /// Null without an account.
    id: Option<UserId>,
    #[schemars(example = &"you")]
    name: String,
    /// Whether they administer the server: they own the workspaces without members, and see failed sign-ins.
    admin: bool,
    /// Whether they may add folders as workspaces.
    adds_folders: bool,
}

impl User {
    pub fn new(app: &App, account: Option<&Account>) -> Self {
        let adds_folders = may_add_folders(app, account);
        match account {
            Some(account) => Self { id: Some(account.id), name: account.name.clone(), admin: account.rank == Rank::Admin, adds_folders },
            None => Self { id: None, name: "you".to_owned(), admin: true, adds_folders },
        }
    }
}

pub async fn me(State(app): State<App>, caller: Caller) -> Json<Me> {
    let user = User::new(&app, caller.account.as_ref());
    Json(Me { user, version: env!("CARGO_PKG_VERSION"), auth: app.access.mode(), models: app.models.names() })
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
