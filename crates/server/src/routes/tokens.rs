use crate::App;
use crate::answer::{ApiError, ApiResult, Created, NoContent};
use crate::guard::{Caller, new_token};
use crate::request::{Ids, OptionalBody, Params};
use axum::Json;
use axum::extract::State;
use planwright_protocol::api::server::AuthMode;
use planwright_protocol::{ErrorCode, Problem, TokenId};
use planwright_store::TokenRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

/// Maximum number of tokens per user.
const MAX_TOKENS: usize = 100;
const LONGEST_NAME: usize = 100;
/// Held from counting a user's tokens until a new one is stored, so that requests at the same time don't exceed the maximum.
static CREATING: Mutex<()> = Mutex::const_new(());

/// The caller's own tokens.
pub async fn list(State(app): State<App>, caller: Caller) -> ApiResult<Vec<TokenRow>> {
    Ok(Json(app.sessions.store().tokens(caller.user()).await?))
}

/// A new token.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBody {
    /// Its purpose.
    #[schemars(example = &"ci")]
    name: Option<String>,
}

/// A created token.
#[derive(JsonSchema, Serialize)]
pub struct NewToken {
    #[serde(flatten)]
    row: TokenRow,
    /// Shown here, and never again.
    #[schemars(example = &"pwt_5fc1…")]
    token: String,
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    OptionalBody(body): OptionalBody<TokenBody>,
) -> Result<Created<NewToken>, ApiError> {
    if app.access.mode() == AuthMode::Off {
        let text = "This server has no sign-in, so tokens have no use. Start it with `--auth token` or `--auth users` to create tokens.";
        return Err(Problem::new(ErrorCode::Conflict, text).into());
    }
    let name = checked_name(body.name)?;
    let store = app.sessions.store();
    let _creating = CREATING.lock().await;
    if store.tokens(caller.user()).await?.len() >= MAX_TOKENS {
        return Err(
            Problem::new(ErrorCode::Conflict, format!("You already have {MAX_TOKENS} tokens. Delete one that you don't use.")).into()
        );
    }
    let broken = |_| {
        Problem::new(ErrorCode::Internal, "The kernel provides no random numbers, so no token can be created. Check the server's system.")
    };
    let (token, digest) = new_token().map_err(broken)?;
    let row = store.add_token(digest, caller.user(), &name).await?;
    Ok(Created(NewToken { row, token }))
}

fn checked_name(name: Option<String>) -> Result<String, ApiError> {
    let name = name.unwrap_or_else(|| "token".to_owned());
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(ApiError::invalid_field("name", format!("must be one line of 1 to {LONGEST_NAME} characters")));
    }
    Ok(name)
}

pub async fn delete(State(app): State<App>, caller: Caller, Ids(id): Ids<TokenId>) -> Result<NoContent, ApiError> {
    remove(&app, &caller, id).await
}

#[derive(Deserialize, JsonSchema)]
pub struct DeleteQuery {
    /// The token's id, from GET.
    id: TokenId,
}

pub async fn delete_named(State(app): State<App>, caller: Caller, Params(query): Params<DeleteQuery>) -> Result<NoContent, ApiError> {
    remove(&app, &caller, query.id).await
}

async fn remove(app: &App, caller: &Caller, id: TokenId) -> Result<NoContent, ApiError> {
    if app.sessions.store().remove_token(id, caller.user()).await? {
        return Ok(NoContent);
    }
    Err(Problem::new(ErrorCode::NotFound, format!("You have no token {id}.")).into())
}
