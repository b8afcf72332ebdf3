//! Who has an account, and their passwords.

use super::caller::Credential;
use super::password::LONGEST_PASSWORD;
use super::sign_in::{Secret, Tries, begin, failed, given};
use super::{Arrival, AuthMode, Caller};
use crate::App;
use crate::answer::ApiError;
use axum::http::HeaderValue;
use planwright_protocol::{ErrorCode, Problem, UserId};
use planwright_session::storage;
use planwright_store::{Account, Rank};
use schemars::JsonSchema;
use serde::Deserialize;

/// An account to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    #[schemars(example = &"bob")]
    name: String,
    #[schemars(with = "String", example = &"correct horse battery staple")]
    password: Secret,
    /// Whether they are to be an admin.
    #[serde(default)]
    admin: bool,
}

/// One's own password, and the one that is to take its place.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    #[schemars(with = "String", example = &"correct horse battery staple")]
    password: Secret,
    #[schemars(with = "String", example = &"nine lives of a paper cat")]
    new_password: Secret,
}

/// # Errors
/// The name is taken or none, the password is empty or too long, or the server has no accounts.
pub async fn add_account(app: &App, new: NewAccount) -> Result<Account, ApiError> {
    check_mode(app)?;
    if !Account::is_name(&new.name) {
        return Err(ApiError::misfit("name", format!("can't be one: a name {}", Account::NAME_RULE)));
    }
    let taken = || Problem::new(ErrorCode::Conflict, format!("There is an account {} already.", new.name));
    let store = app.sessions.store();
    if store.user(&new.name).await.map_err(storage)?.is_some() {
        return Err(taken().into());
    }
    let hash = app.access.hashed(fresh("password", new.password)?).await?;
    let rank = if new.admin { Rank::Admin } else { Rank::Ordinary };
    Ok(store.add_user(&new.name, &hash, rank).await.map_err(storage)?.ok_or_else(taken)?)
}

/// Somebody's password, by an admin. They are signed out everywhere. Whether there is such an account.
///
/// # Errors
/// The password is empty or too long, or the server has no accounts.
pub async fn set_password(app: &App, user: UserId, password: Secret) -> Result<bool, ApiError> {
    check_mode(app)?;
    let hash = app.access.hashed(fresh("password", password)?).await?;
    Ok(app.sessions.store().set_password(user, &hash).await.map_err(storage)?)
}

/// With their sessions, tokens and memberships. Nobody removes themselves, so an admin always stays.
///
/// # Errors
/// It is the caller's own account, or the server has none.
pub async fn remove_account(app: &App, caller: &Caller, user: UserId) -> Result<bool, ApiError> {
    check_mode(app)?;
    if caller.user() == Some(user) {
        return Err(Problem::new(ErrorCode::Conflict, "This is your own account. Ask another admin to remove it.").into());
    }
    Ok(app.sessions.store().remove_user(user).await.map_err(storage)?)
}

/// The caller's own. They are signed out everywhere but here, where a new session takes the place of the old one.
///
/// # Errors
/// The old password is wrong, the new one empty or too long, or the server has no accounts.
pub async fn change_password(
    app: &App,
    arrival: Arrival,
    caller: &Caller,
    change: PasswordChange,
) -> Result<Option<HeaderValue>, ApiError> {
    let account = caller.account.as_ref().ok_or_else(no_accounts)?;
    let (old, new) = (given("password", change.password)?, fresh("new_password", change.new_password)?);
    let tries = Tries::take(&app.access, arrival, Some(&account.name))?;
    let store = app.sessions.store();
    let known = store.user(&account.name).await.map_err(storage)?.map(|user| user.password);
    if !app.access.fits(old, known).await? {
        return Err(failed(app, arrival, Some(account), ApiError::misfit("password", "is not the one you have")).await);
    }
    tries.give_back(&app.access);
    let hash = app.access.hashed(new).await?;
    store.set_password(account.id, &hash).await.map_err(storage)?;
    match caller.credential {
        Credential::Session(_) => begin(app, arrival, Some(account), None).await.map(Some),
        Credential::Open | Credential::OwnToken | Credential::ApiToken(_) => Ok(None),
    }
}

fn fresh(field: &str, secret: Secret) -> Result<String, ApiError> {
    let password = given(field, secret)?;
    if password.is_empty() {
        return Err(ApiError::misfit(field, format!("has 1 to {LONGEST_PASSWORD} bytes")));
    }
    Ok(password)
}

/// Nobody signs in by an account that a server without sign-in let somebody make.
fn check_mode(app: &App) -> Result<(), Problem> {
    if app.access.mode() == AuthMode::Users { Ok(()) } else { Err(no_accounts()) }
}

fn no_accounts() -> Problem {
    Problem::new(ErrorCode::Conflict, "Nobody signs in here by an account. Start the server with `--auth users` for that.")
}
