//! User accounts and their passwords.

use super::caller::Credential;
use super::password::LONGEST_PASSWORD;
use super::sign_in::{Secret, Tries, begin, failed, given};
use super::{Arrival, Caller};
use crate::App;
use crate::answer::ApiError;
use axum::http::HeaderValue;
use planwright_protocol::api::server::AuthMode;
use planwright_protocol::{ErrorCode, Problem, Timestamp, UserId};
use planwright_store::{Account, AuditKind, AuditRow, Rank, Removal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// A new account.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    #[schemars(example = &"bob")]
    name: String,
    #[schemars(with = "String", example = &"correct horse battery staple")]
    password: Secret,
    /// Whether the account is an admin.
    #[serde(default)]
    admin: bool,
}

/// The caller's present password and the new one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    #[schemars(with = "String", example = &"correct horse battery staple")]
    password: Secret,
    #[schemars(with = "String", example = &"nine lives of a paper cat")]
    new_password: Secret,
}

/// # Errors
/// The name is taken or invalid, the password is empty or too long, or the server has no accounts.
pub async fn add_account(app: &App, caller: &Caller, new: NewAccount) -> Result<Account, ApiError> {
    check_mode(app)?;
    if !Account::is_name(&new.name) {
        return Err(ApiError::invalid_field("name", format!("is not a valid name: a name {}", Account::NAME_RULE)));
    }
    let taken = || Problem::new(ErrorCode::Conflict, format!("The account {} already exists. Choose another name.", new.name));
    let store = app.sessions.store();
    if store.user(&new.name).await?.is_some() {
        return Err(taken().into());
    }
    let hash = app.access.hashed(fresh("password", new.password)?).await?;
    let rank = if new.admin { Rank::Admin } else { Rank::Ordinary };
    let account = store.add_user(&new.name, &hash, rank).await?.ok_or_else(taken)?;
    log(app, caller, &account, "made").await?;
    Ok(account)
}

/// An admin sets another user's password. The user is signed out everywhere.
///
/// # Errors
/// There is no such account, the password is empty or too long, or the server has no accounts.
pub async fn set_password(app: &App, caller: &Caller, user: UserId, password: Secret) -> Result<(), ApiError> {
    let account = other(app, caller, user, "This is your own account. Change its password with POST /api/v1/auth/password.").await?;
    let hash = app.access.hashed(fresh("password", password)?).await?;
    if !app.sessions.store().set_password(user, &hash).await? {
        return Err(nobody().into());
    }
    log(app, caller, &account, "password").await
}

/// Removes an account with its sessions, tokens and memberships. Nobody can remove their own.
///
/// # Errors
/// There is no such account, it is the caller's own or the last admin's, or the server has no accounts.
pub async fn remove_account(app: &App, caller: &Caller, user: UserId) -> Result<(), ApiError> {
    let account = other(app, caller, user, "This is your own account. Ask another admin to remove it.").await?;
    match app.sessions.store().remove_user(user).await? {
        Removal::Done => log(app, caller, &account, "removed").await,
        Removal::Nobody => Err(nobody().into()),
        Removal::LastAdmin => Err(Problem::new(ErrorCode::Conflict, "This is the last admin. Make another account an admin first.").into()),
    }
}

/// Changes the caller's own password. Their other sessions end; this one is replaced by a new one.
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
    let known = store.user(&account.name).await?.map(|user| user.password);
    let wrong = || ApiError::invalid_field("password", "is not your present password");
    let (true, Some(known)) = (app.access.fits(old, known.clone()).await?, known) else {
        return Err(failed(app, arrival, Some(account), wrong()).await);
    };
    tries.give_back(&app.access);
    let hash = app.access.hashed(new).await?;
    if !store.change_password(account.id, &known, &hash).await? {
        return Err(wrong());
    }
    log(app, caller, account, "password").await?;
    match caller.credential {
        Credential::Session(_) => begin(app, arrival, Some((account.id, &hash)), None).await.map(Some),
        Credential::Open | Credential::OwnToken | Credential::ApiToken(_) | Credential::Node => Ok(None),
    }
}

/// The account of another user that an admin wants to change.
async fn other(app: &App, caller: &Caller, user: UserId, own: &str) -> Result<Account, ApiError> {
    check_mode(app)?;
    if caller.user() == Some(user) {
        return Err(Problem::new(ErrorCode::Conflict, own).into());
    }
    let users = app.sessions.store().users().await?.into_iter();
    let found = users.map(|known| known.account).find(|account| account.id == user);
    found.ok_or_else(|| nobody().into())
}

/// Logs who changed whose account, for the admins.
async fn log(app: &App, caller: &Caller, account: &Account, change: &str) -> Result<(), ApiError> {
    let row = AuditRow {
        kind: AuditKind::AccountChanged,
        model: String::new(),
        role: None,
        user: caller.account.as_ref().map(|by| by.name.clone()),
        details: json!({ "name": account.name, "change": change }),
        at: Timestamp::now(),
    };
    Ok(app.sessions.store().log(None, &[row]).await?)
}

fn fresh(field: &str, secret: Secret) -> Result<String, ApiError> {
    let password = given(field, secret)?;
    if password.is_empty() {
        return Err(ApiError::invalid_field(field, format!("must have 1 to {LONGEST_PASSWORD} bytes")));
    }
    Ok(password)
}

/// A server without sign-in must not create accounts: nobody could use them.
fn check_mode(app: &App) -> Result<(), Problem> {
    if app.access.mode() == AuthMode::Users { Ok(()) } else { Err(no_accounts()) }
}

fn no_accounts() -> Problem {
    Problem::new(ErrorCode::Conflict, "This server has no user accounts. Start it with `--auth users` to use them.")
}

fn nobody() -> Problem {
    Problem::new(ErrorCode::NotFound, "There is no such account. It may have been removed.")
}
