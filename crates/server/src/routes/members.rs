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

/// A new member.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberBody {
    /// The name of an account.
    #[schemars(example = &"bob")]
    name: String,
    #[serde(default = "member")]
    role: Right,
}

fn member() -> Right {
    Right::Member
}

/// Adds a member, or changes a member's right.
pub async fn put(
    State(app): State<App>,
    caller: Caller,
    Ids(workspace): Ids<WorkspaceId>,
    Body(body): Body<MemberBody>,
) -> Result<Created<MemberRow>, ApiError> {
    workspaces::row(&app, workspace).await?;
    let store = app.sessions.store();
    // An owner must learn whether it worked. But nobody may find out by trying names who has an account.
    let tries = &app.access.unknown_members;
    let tried_by = caller.account.as_ref().filter(|account| account.rank != Rank::Admin).map(|account| account.id);
    if let Some(user) = tried_by {
        tries.take(user).map_err(|wait| ApiError::too_many("Too many of the names you entered have no account.", wait))?;
    }
    let Some(user) = store.user(&body.name).await? else {
        tracing::warn!(user = caller.name(), %workspace, "attempt to add a member without an account");
        return Err(ApiError::invalid_field("name", "has no account; `planwright user add NAME` creates one"));
    };
    if let Some(tried_by) = tried_by {
        tries.give_back(&tried_by);
    }
    let user = user.account.id;
    done(store.put_member(workspace, user, body.role, caller.user()).await?)?;
    let members = store.members(workspace).await?;
    Ok(Created(members.into_iter().find(|member| member.user_id == user).ok_or_else(nobody)?))
}

/// Removes a member, by name or id.
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
            Err(Problem::new(ErrorCode::Conflict, "The workspace would have members but no owner. Make somebody its owner first."))
        }
    }
}

fn nobody() -> Problem {
    Problem::new(ErrorCode::NotFound, "There is no such member in this workspace.")
}
