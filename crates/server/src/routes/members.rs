use super::workspaces;
use crate::App;
use crate::answer::{ApiError, ApiResult, Created, NoContent};
use crate::guard::Caller;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::{ErrorCode, Problem, UserId, WorkspaceId};
use planwright_store::{MemberChange, MemberRow, Rank, Right};
use schemars::JsonSchema;
use serde::Deserialize;

pub async fn list(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>) -> ApiResult<Vec<MemberRow>> {
    workspaces::row(&app, workspace).await?;
    Ok(Json(app.sessions.store().members(workspace).await?))
}

/// A member to be.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberBody {
    /// The name of somebody with an account.
    #[schemars(example = &"bob")]
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
    Body(body): Body<MemberBody>,
) -> Result<Created<MemberRow>, ApiError> {
    workspaces::row(&app, workspace).await?;
    let store = app.sessions.store();
    // An owner has to know whether it worked. Who has an account is not to be found out by trying names.
    let tries = &app.access.unknown_members;
    let tried_by = caller.account.as_ref().filter(|account| account.rank != Rank::Admin).map(|account| account.id);
    if let Some(user) = tried_by {
        tries.take(user).map_err(|wait| ApiError::too_many("You named too many people who have no account.", wait))?;
    }
    let Some(user) = store.user(&body.name).await? else {
        tracing::warn!(user = caller.name(), %workspace, "a name without an account was to become a member");
        return Err(ApiError::misfit("name", "is nobody's here; `planwright user add NAME` makes an account"));
    };
    if let Some(tried_by) = tried_by {
        tries.give_back(&tried_by);
    }
    let user = user.account.id;
    done(store.put_member(workspace, user, body.role, caller.user()).await?)?;
    let members = store.members(workspace).await?;
    Ok(Created(members.into_iter().find(|member| member.user_id == user).ok_or_else(nobody)?))
}

/// Takes somebody, by name or id, out of the workspace.
pub async fn delete(State(app): State<App>, Ids((workspace, member)): Ids<(WorkspaceId, String)>) -> Result<NoContent, ApiError> {
    workspaces::row(&app, workspace).await?;
    let store = app.sessions.store();
    let user = match member.parse::<UserId>() {
        Ok(id) => Some(id),
        Err(_) => store.user(&member).await?.map(|user| user.account.id),
    };
    done(store.remove_member(workspace, user.ok_or_else(nobody)?).await?)?;
    Ok(NoContent)
}

fn done(change: MemberChange) -> Result<(), Problem> {
    match change {
        MemberChange::Done => Ok(()),
        MemberChange::NotAMember => Err(nobody()),
        MemberChange::NoOwnerLeft => {
            Err(Problem::new(ErrorCode::Conflict, "The workspace would have members and no owner. Make somebody its owner first."))
        }
    }
}

fn nobody() -> Problem {
    Problem::new(ErrorCode::NotFound, "There is no such member in this workspace.")
}
