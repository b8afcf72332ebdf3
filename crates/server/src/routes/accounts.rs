use crate::App;
use crate::answer::{ApiError, ApiResult, Created, NoContent};
use crate::guard::{Caller, NewAccount, Secret, add_account, remove_account, set_password};
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::UserId;
use planwright_store::{Account, Rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A user account.
#[derive(JsonSchema, Serialize)]
pub struct AccountView {
    id: UserId,
    #[schemars(example = &"bob")]
    name: String,
    /// Whether they administer the server, and own the workspaces that have no members.
    admin: bool,
}

impl From<Account> for AccountView {
    fn from(account: Account) -> Self {
        Self { id: account.id, name: account.name, admin: account.rank == Rank::Admin }
    }
}

/// Sorted by name.
pub async fn list(State(app): State<App>) -> ApiResult<Vec<AccountView>> {
    let users = app.sessions.store().users().await?;
    Ok(Json(users.into_iter().map(|user| user.account.into()).collect()))
}

pub async fn create(State(app): State<App>, caller: Caller, Body(new): Body<NewAccount>) -> Result<Created<AccountView>, ApiError> {
    Ok(Created(add_account(&app, &caller, new).await?.into()))
}

/// A new password for another user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPassword {
    #[schemars(with = "String", example = &"nine lives of a paper cat")]
    password: Secret,
}

/// Ends the user's sessions.
pub async fn update(
    State(app): State<App>,
    caller: Caller,
    Ids(user): Ids<UserId>,
    Body(new): Body<NewPassword>,
) -> Result<NoContent, ApiError> {
    set_password(&app, &caller, user, new.password).await?;
    Ok(NoContent)
}

pub async fn delete(State(app): State<App>, caller: Caller, Ids(user): Ids<UserId>) -> Result<NoContent, ApiError> {
    remove_account(&app, &caller, user).await?;
    Ok(NoContent)
}
