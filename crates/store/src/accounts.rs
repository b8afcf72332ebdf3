//! Accounts, sessions and API tokens. Secrets are stored only as hashes.

use crate::arg::{Arg, args};
use crate::db::Row;
use crate::error::StoreError;
use crate::members;
use crate::store::{Store, micros, timestamp};
use planwright_protocol::{Timestamp, TokenId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The SHA-256 of a secret that is too long to guess: a session id or a token.
pub type Digest = [u8; 32];

/// A user with an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: UserId,
    pub name: String,
    pub rank: Rank,
}

impl Account {
    /// The rule for names, as shown to a user who chose an invalid one.
    pub const NAME_RULE: &str = "has 1 to 64 letters and digits, with . _ - @ after the first, and is not the id of something";

    /// Whether a name is allowed. Names appear in URLs and logs, and must not look like an id.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
        let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        begins_well && text.len() <= 64 && text.chars().all(fits) && text.parse::<UserId>().is_err()
    }
}

/// Admins own the workspaces without members, and can read failed sign-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    Admin,
    Ordinary,
}

/// The result of removing an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    Done,
    Nobody,
    /// Refused: the other users would be left without an admin.
    LastAdmin,
}

/// An account with its password hash.
pub struct UserRow {
    pub account: Account,
    pub password: String,
    pub created_at: Timestamp,
}

/// The identity behind a credential. Without an account, it is the person who runs the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    pub account: Option<Account>,
}

/// A token without its secret, which is shown once and then stored only as a hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TokenRow {
    pub id: TokenId,
    /// The purpose of the token, as named by the user.
    #[schemars(example = &"ci")]
    pub name: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

/// The last use of a token is recorded once a minute, because a script may use it a thousand times a minute.
const RECORD_INTERVAL: i64 = 60_000_000;

const ADD_USER: &str = "insert into users (id, name, password, is_admin, created_at)
    select $1, $2, $3, case when exists (select 1 from users) then $4 else 1 end, $5 where true on conflict do nothing";
const USER: &str = "select * from users where lower(name) = lower($1)";
const USERS: &str = "select * from users order by lower(name)";
const SET_PASSWORD: &str = "update users set password = $2 where id = $1 returning id";
const CHANGE_PASSWORD: &str = "update users set password = $3 where id = $1 and password = $2 returning id";
/// Locks the account's row until the transaction ends, if the password is still the same.
const HOLD: &str = "update users set password = password where id = $1 and password = $2 returning id";
/// Serialises removals, so that two of them can't remove the last two admins.
const HOLD_ADMINS: &str = "update users set is_admin = 1 where is_admin = 1";
const REMOVE_USER: &str = "delete from users where id = $1 and (is_admin = 0
    or exists (select 1 from users as others where others.is_admin = 1 and others.id <> $1)
    or not exists (select 1 from users as others where others.id <> $1)) returning id";
const IS_USER: &str = "select id from users where id = $1";
const ADD_SESSION: &str = "insert into sessions (sha256, user_id, created_at, expires_at) values ($1, $2, $3, $4)";
const SESSION: &str = "select users.* from sessions left join users on users.id = sessions.user_id
    where sessions.sha256 = $1 and sessions.expires_at > $2";
const END_SESSION: &str = "delete from sessions where sha256 = $1";
const END_OLD_SESSIONS: &str = "delete from sessions where expires_at <= $1";
const END_SESSIONS_OF: &str = "delete from sessions where user_id = $1";
const ADD_TOKEN: &str = "insert into api_tokens (id, sha256, user_id, name, created_at) values ($1, $2, $3, $4, $5)";
const TOKENS: &str = "select * from api_tokens where user_id is not distinct from $1 order by created_at, id";
const BEARER: &str = "select users.*, api_tokens.id as token_id, api_tokens.last_used_at from api_tokens
    left join users on users.id = api_tokens.user_id where api_tokens.sha256 = $1";
const TOKEN_USED: &str = "update api_tokens set last_used_at = $2 where id = $1";
const REMOVE_TOKEN: &str = "delete from api_tokens where id = $1 and user_id is not distinct from $2 returning id";

impl Store {
    /// Creates an account; the first one is always an admin. Returns `None` if the name is taken.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_user(&self, name: &str, password: &str, rank: Rank) -> Result<Option<Account>, StoreError> {
        let id = UserId::generate();
        let admin = i64::from(rank == Rank::Admin);
        let mut transaction = self.db.begin().await?;
        transaction.run(ADD_USER, args![id.0, name, password, admin, micros(Timestamp::now())]).await?;
        let user = read_user(&transaction.row(USER, args![name]).await?)?;
        transaction.commit().await?;
        Ok((user.account.id == id).then_some(user.account))
    }

    /// # Errors
    /// The database failed.
    pub async fn user(&self, name: &str) -> Result<Option<UserRow>, StoreError> {
        self.db.row(USER, args![name]).await?.as_ref().map(read_user).transpose()
    }

    /// All accounts, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn users(&self) -> Result<Vec<UserRow>, StoreError> {
        self.db.rows(USERS, args![]).await?.iter().map(read_user).collect()
    }

    /// Sets a password and ends all sessions of the account. Returns whether the account exists.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_password(&self, user: UserId, password: &str) -> Result<bool, StoreError> {
        self.replace_password(user, SET_PASSWORD, args![user.0, password]).await
    }

    /// Sets a password and ends all sessions, if the stored hash is still `old`. Returns whether it was.
    ///
    /// # Errors
    /// The database failed.
    pub async fn change_password(&self, user: UserId, old: &str, password: &str) -> Result<bool, StoreError> {
        self.replace_password(user, CHANGE_PASSWORD, args![user.0, old, password]).await
    }

    async fn replace_password(&self, user: UserId, how: &'static str, args: Vec<Arg>) -> Result<bool, StoreError> {
        let mut transaction = self.db.begin().await?;
        let is_changed = !transaction.rows(how, args).await?.is_empty();
        if is_changed {
            transaction.run(END_SESSIONS_OF, args![user.0]).await?;
        }
        transaction.commit().await?;
        Ok(is_changed)
    }

    /// Removes an account with its sessions, tokens and memberships. A workspace that has members but no other owner passes to an
    /// admin.
    ///
    /// # Errors
    /// The database failed.
    pub async fn remove_user(&self, user: UserId) -> Result<Removal, StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(HOLD_ADMINS, args![]).await?;
        if transaction.rows(REMOVE_USER, args![user.0]).await?.is_empty() {
            let is_there = !transaction.rows(IS_USER, args![user.0]).await?.is_empty();
            return Ok(if is_there { Removal::LastAdmin } else { Removal::Nobody });
        }
        members::hand_over(&mut transaction).await?;
        transaction.commit().await?;
        Ok(Removal::Done)
    }

    /// Starts a session for an account, or for the person who runs the server. `by` has the hash that the password was checked
    /// against; if the account has another one by now, this returns `false` and starts no session.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_session(&self, session: Digest, by: Option<(UserId, &str)>, until: Timestamp) -> Result<bool, StoreError> {
        let now = micros(Timestamp::now());
        let mut transaction = self.db.begin().await?;
        if let Some((user, password)) = by
            && transaction.rows(HOLD, args![user.0, password]).await?.is_empty()
        {
            return Ok(false);
        }
        transaction.run(END_OLD_SESSIONS, args![now]).await?;
        transaction.run(ADD_SESSION, args![bytes(session), by.map(|(user, _)| user.0), now, micros(until)]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The identity behind a session that has not expired.
    ///
    /// # Errors
    /// The database failed.
    pub async fn session(&self, session: Digest) -> Result<Option<Bearer>, StoreError> {
        let row = self.db.row(SESSION, args![bytes(session), micros(Timestamp::now())]).await?;
        row.as_ref().map(read_bearer).transpose()
    }

    /// # Errors
    /// The database failed.
    pub async fn end_session(&self, session: Digest) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(END_SESSION, args![bytes(session)]).await?;
        transaction.commit().await
    }

    /// # Errors
    /// The database failed.
    pub async fn add_token(&self, token: Digest, user: Option<UserId>, name: &str) -> Result<TokenRow, StoreError> {
        // With the precision of the database.
        let created_at = timestamp(micros(Timestamp::now()))?;
        let row = TokenRow { id: TokenId::generate(), name: name.to_owned(), created_at, last_used_at: None };
        let mut transaction = self.db.begin().await?;
        transaction.run(ADD_TOKEN, args![row.id.0, bytes(token), user.map(|user| user.0), name, micros(created_at)]).await?;
        transaction.commit().await?;
        Ok(row)
    }

    /// The tokens of a user, or those without a user, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn tokens(&self, user: Option<UserId>) -> Result<Vec<TokenRow>, StoreError> {
        self.db.rows(TOKENS, args![user.map(|user| user.0)]).await?.iter().map(read_token).collect()
    }

    /// The identity behind a token. Records that the token was used.
    ///
    /// # Errors
    /// The database failed.
    pub async fn bearer(&self, token: Digest) -> Result<Option<Bearer>, StoreError> {
        let Some(row) = self.db.row(BEARER, args![bytes(token)]).await? else { return Ok(None) };
        let now = micros(Timestamp::now());
        if row.get::<Option<i64>>("last_used_at")?.is_none_or(|last| last < now - RECORD_INTERVAL) {
            let mut transaction = self.db.begin().await?;
            transaction.run(TOKEN_USED, args![row.get::<sqlx::types::Uuid>("token_id")?, now]).await?;
            transaction.commit().await?;
        }
        Ok(Some(read_bearer(&row)?))
    }

    /// Returns whether this user had such a token.
    ///
    /// # Errors
    /// The database failed.
    pub async fn remove_token(&self, token: TokenId, user: Option<UserId>) -> Result<bool, StoreError> {
        let mut transaction = self.db.begin().await?;
        let removed = transaction.rows(REMOVE_TOKEN, args![token.0, user.map(|user| user.0)]).await?;
        transaction.commit().await?;
        Ok(!removed.is_empty())
    }
}

fn bytes(digest: Digest) -> Arc<[u8]> {
    Arc::new(digest)
}

fn read_user(row: &Row) -> Result<UserRow, StoreError> {
    let account = read_bearer(row)?.account.ok_or_else(|| StoreError::Garbled("an account without an id".to_owned()))?;
    Ok(UserRow { account, password: row.text("password")?, created_at: timestamp(row.get("created_at")?)? })
}

fn read_bearer(row: &Row) -> Result<Bearer, StoreError> {
    let Some(id) = row.get::<Option<_>>("id")?.map(UserId) else { return Ok(Bearer { account: None }) };
    let rank = if row.get::<i64>("is_admin")? == 1 { Rank::Admin } else { Rank::Ordinary };
    Ok(Bearer { account: Some(Account { id, name: row.text("name")?, rank }) })
}

fn read_token(row: &Row) -> Result<TokenRow, StoreError> {
    Ok(TokenRow {
        id: TokenId(row.get("id")?),
        name: row.text("name")?,
        created_at: timestamp(row.get("created_at")?)?,
        last_used_at: row.get::<Option<i64>>("last_used_at")?.map(timestamp).transpose()?,
    })
}
