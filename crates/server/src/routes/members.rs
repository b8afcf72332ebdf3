use super::workspaces;
use crate::App;
use crate::answer::{ApiError, ApiResult, Body, Ids};
use crate::guard::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use planwright_protocol::{ErrorCode, Problem, UserId, WorkspaceId};
use planwright_session::storage;
use planwright_store::{MemberChange, MemberRow, Right};
use serde::Deserialize;
use serde_json::json;

pub async fn list(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>) -> ApiResult<Vec<MemberRow>> {
    workspaces::row(&app, workspace).await?;
    Ok(Json(app.sessions.store().members(workspace).await.map_err(storage)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutBody {
    /// The name of somebody with an account.
    name: String,
    #[serde(default = "member")]
    role: Right,
}

fn member() -> Right {
    Right::Member
}

/// Makes somebody a member, or gives a member another right.
pub async fn put(
    State(app): State<App>,
    caller: Caller,
    Ids(workspace): Ids<WorkspaceId>,
    Body(body): Body<PutBody>,
) -> Result<impl IntoResponse, ApiError> {
    workspaces::row(&app, workspace).await?;
    let store = app.sessions.store();
    let Some(user) = store.user(&body.name).await.map_err(storage)? else {
        let problem = Problem::new(ErrorCode::ValidationFailed, "Nobody here has that name. `planwright user add NAME` makes an account.");
        return Err(problem.with_details(json!({ "fields": { "name": "is nobody's" } })).into());
    };
    let user = user.account.id;
    done(store.put_member(workspace, user, body.role, caller.user()).await.map_err(storage)?)?;
    let members = store.members(workspace).await.map_err(storage)?;
    Ok((StatusCode::CREATED, Json(members.into_iter().find(|member| member.user_id == user))))
}

/// Takes somebody, by name or id, out of the workspace.
pub async fn delete(
    State(app): State<App>,
    Ids((workspace, member)): Ids<(WorkspaceId, String)>,
) -> Result<StatusCode, ApiError> {
    workspaces::row(&app, workspace).await?;
    let store = app.sessions.store();
    let user = match member.parse::<UserId>() {
        Ok(id) => Some(id),
        Err(_) => store.user(&member).await.map_err(storage)?.map(|user| user.account.id),
    };
    let nobody = || Problem::new(ErrorCode::NotFound, "There is no such member in this workspace.");
    done(store.remove_member(workspace, user.ok_or_else(nobody)?).await.map_err(storage)?)?;
    Ok(StatusCode::NO_CONTENT)
}

fn done(change: MemberChange) -> Result<(), Problem> {
    match change {
        MemberChange::Done => Ok(()),
        MemberChange::NotAMember => Err(Problem::new(ErrorCode::NotFound, "There is no such member in this workspace.")),
        MemberChange::NoOwnerLeft => {
            Err(Problem::new(ErrorCode::Conflict, "The workspace would have members and no owner. Make somebody its owner first."))
        }
    }
}
