use super::workspaces;
use crate::App;
use crate::answer::{ApiError, ApiResult, Page};
use crate::guard::Caller;
use crate::request::{Ids, Params, page_size};
use axum::Json;
use axum::extract::State;
use planwright_protocol::{ChatId, ErrorCode, Problem, Role, Timestamp, WorkspaceId};
use planwright_store::{Adherence, AuditCount, AuditCursor, AuditEntry, AuditFilter, AuditKind, UtcOffset};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LARGEST_PAGE: u32 = 1000;
/// In minutes.
const A_DAY: i16 = 1440;

#[derive(Deserialize, JsonSchema)]
pub struct AuditListQuery {
    #[serde(flatten)]
    rows: AuditQuery,
    /// Maximum number of entries (at most 1000).
    #[schemars(with = "Option<u32>", range(min = 1))]
    limit: Option<String>,
    /// The start of the page: `x-next-cursor` of the previous page.
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct CountsQuery {
    #[serde(flatten)]
    rows: AuditQuery,
    /// Minutes by which the caller's clock is ahead of UTC; decides when a day begins.
    #[schemars(with = "Option<i16>", range(min = -1440, max = 1440), example = &60)]
    offset: Option<String>,
}

/// Filters. All fields are strings at first, so that errors can name each invalid one.
#[derive(Deserialize, JsonSchema)]
pub struct AuditQuery {
    /// Start of the period (inclusive).
    #[schemars(with = "Option<Timestamp>")]
    from: Option<String>,
    /// End of the period (exclusive).
    #[schemars(with = "Option<Timestamp>", example = &"2027-01-01T00:00:00Z")]
    to: Option<String>,
    #[schemars(with = "Option<AuditKind>")]
    kind: Option<String>,
    /// As PROVIDER/MODEL.
    model: Option<String>,
    #[schemars(with = "Option<Role>")]
    role: Option<String>,
    #[schemars(with = "Option<ChatId>")]
    chat: Option<String>,
}

/// The log, newest first.
pub async fn list(State(app): State<App>, caller: Caller, Params(query): Params<AuditListQuery>) -> Result<Page<AuditEntry>, ApiError> {
    entries(&app, &caller, None, query).await
}

pub async fn list_of(
    State(app): State<App>,
    caller: Caller,
    Ids(id): Ids<WorkspaceId>,
    Params(query): Params<AuditListQuery>,
) -> Result<Page<AuditEntry>, ApiError> {
    workspaces::row(&app, id).await?;
    entries(&app, &caller, Some(id), query).await
}

/// The log counted by day, oldest first.
pub async fn counts(State(app): State<App>, caller: Caller, Params(query): Params<CountsQuery>) -> ApiResult<Vec<AuditCount>> {
    by_day(&app, &caller, None, query).await
}

pub async fn counts_of(
    State(app): State<App>,
    caller: Caller,
    Ids(id): Ids<WorkspaceId>,
    Params(query): Params<CountsQuery>,
) -> ApiResult<Vec<AuditCount>> {
    workspaces::row(&app, id).await?;
    by_day(&app, &caller, Some(id), query).await
}

/// How well a model kept to its role's permissions.
#[derive(JsonSchema, Serialize)]
pub struct AdherenceView {
    #[serde(flatten)]
    counted: Adherence,
    /// The share of its calls that policy did not refuse.
    adherence: f64,
}

pub async fn adherence(State(app): State<App>, caller: Caller, Params(query): Params<AuditQuery>) -> ApiResult<Vec<AdherenceView>> {
    counted(&app, &caller, None, query).await
}

pub async fn adherence_of(
    State(app): State<App>,
    caller: Caller,
    Ids(id): Ids<WorkspaceId>,
    Params(query): Params<AuditQuery>,
) -> ApiResult<Vec<AdherenceView>> {
    workspaces::row(&app, id).await?;
    counted(&app, &caller, Some(id), query).await
}

async fn entries(app: &App, caller: &Caller, workspace: Option<WorkspaceId>, query: AuditListQuery) -> Result<Page<AuditEntry>, ApiError> {
    let limit = page_size(read("limit", query.limit.as_ref(), "a whole number")?, LARGEST_PAGE)?;
    let after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let filter = AuditFilter { after, ..query.rows.filter(caller, workspace)? };
    let items = app.sessions.store().audit(filter, limit).await?;
    let last = items.last().filter(|_| items.len() == limit as usize);
    let next = last.map(|entry| format!("{}.{}", entry.row.at.as_microsecond(), entry.id));
    Ok(Page { items, next })
}

fn read_cursor(text: &str) -> Result<AuditCursor, ApiError> {
    let read = || {
        let (at, id) = text.split_once('.')?;
        Some(AuditCursor { at: Timestamp::from_microsecond(at.parse().ok()?).ok()?, id: id.parse().ok()? })
    };
    read().ok_or_else(|| ApiError::invalid_field("cursor", "must be the `x-next-cursor` of a page"))
}

async fn by_day(app: &App, caller: &Caller, workspace: Option<WorkspaceId>, query: CountsQuery) -> ApiResult<Vec<AuditCount>> {
    let wanted = "a whole number from -1440 to 1440";
    let minutes: i16 = read("offset", query.offset.as_ref(), wanted)?.unwrap_or_default();
    if !(-A_DAY..=A_DAY).contains(&minutes) {
        return Err(invalid_filter("offset", wanted).into());
    }
    let filter = query.rows.filter(caller, workspace)?;
    Ok(Json(app.sessions.store().audit_counts(filter, UtcOffset { minutes }).await?))
}

async fn counted(app: &App, caller: &Caller, workspace: Option<WorkspaceId>, query: AuditQuery) -> ApiResult<Vec<AdherenceView>> {
    let rows = app.sessions.store().adherence(query.filter(caller, workspace)?).await?;
    Ok(Json(rows.into_iter().map(AdherenceView::from).collect()))
}

impl From<Adherence> for AdherenceView {
    #[expect(clippy::cast_precision_loss, reason = "a share of fewer calls than that")]
    fn from(counted: Adherence) -> Self {
        let refused = if counted.calls == 0 { 0.0 } else { counted.blocked as f64 / counted.calls as f64 };
        Self { counted, adherence: (1.0 - refused).max(0.0) }
    }
}

impl AuditQuery {
    fn filter(self, caller: &Caller, workspace: Option<WorkspaceId>) -> Result<AuditFilter, ApiError> {
        let moment = "a moment such as 2026-01-31T12:00:00Z";
        let from: Option<Timestamp> = read("from", self.from.as_ref(), moment)?;
        let to: Option<Timestamp> = read("to", self.to.as_ref(), moment)?;
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(invalid_filter("to", "a moment that is not before `from`").into());
        }
        let known = |word: &String| {
            Role::named(&word.to_lowercase()).ok_or_else(|| invalid_filter("role", "the name of a role; GET /roles lists them"))
        };
        Ok(AuditFilter {
            from,
            to,
            kind: read("kind", self.kind.as_ref(), "the name of a logged kind, such as tool_blocked")?,
            model: self.model,
            role: self.role.as_ref().map(known).transpose()?,
            chat: read("chat", self.chat.as_ref(), "the id of a chat")?,
            workspace,
            seen_by: caller.user(),
            after: None,
        })
    }
}

/// Parses a value of the query: as a word, or else as a number.
fn read<T: DeserializeOwned>(field: &str, text: Option<&String>, wanted: &str) -> Result<Option<T>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let word = serde_json::from_value(Value::String(text.clone()));
    word.or_else(|_| serde_json::from_str(text)).map(Some).map_err(|_| invalid_filter(field, wanted))
}

fn invalid_filter(field: &str, wanted: &str) -> Problem {
    let text = format!("`{field}` must be {wanted}.");
    Problem::new(ErrorCode::ValidationFailed, text).with_details(json!({ "fields": { field: format!("must be {wanted}") } }))
}
