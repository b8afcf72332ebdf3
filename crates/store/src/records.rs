use crate::arg::{Arg, args};
use crate::bounds::bounded;
use crate::db::Row;
use crate::error::StoreError;
use crate::rows::{ColumnType, RowStatement, RowWrite};
use crate::store::{Store, from_word, micros, timestamp, word};
use planwright_protocol::config::stored_role;
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ChatId, Role, SwitchedBy, Timestamp, UserId, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The user's yes to a plan: to exactly this content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRow {
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    pub content: String,
    pub approver: String,
    pub given_by: SwitchedBy,
    /// The commit that the workspace was at, where it is known.
    pub base_commit: Option<String>,
    /// The steps that the user approved.
    pub choice: StepChoice,
    pub at: Timestamp,
}

/// What is logged about how models and users behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    ModeEntered,
    ExecutionIntentDetected,
    ModeSwitchedByIntent,
    DisallowedToolAttemptInPlanning,
    ToolBlocked,
    ApprovalRequested,
    QuestionAsked,
    ApprovalGiven,
    ApprovalDenied,
    PlanWritten,
    PlanApproved,
    ChangesTakenBack,
    GrantRevoked,
    LoginFailed,
    AccountChanged,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditRow {
    pub kind: AuditKind,
    pub model: String,
    /// None where no agent had a part in it.
    #[serde(rename = "agent_role")]
    pub role: Option<Role>,
    /// Who did it, where that was somebody with an account.
    #[schemars(example = &"ann")]
    pub user: Option<String>,
    /// At most 4 KiB of it are kept; `cut` says how many bytes it was where something is left out.
    pub details: Value,
    pub at: Timestamp,
}

/// Where something happened that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditPlace {
    pub workspace: Option<WorkspaceId>,
    pub chat: Option<ChatId>,
}

/// A row of the log, and what it is of, which may be gone by now; what is of accounts is of nothing.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditEntry {
    pub id: i64,
    pub workspace_id: Option<WorkspaceId>,
    pub chat_id: Option<ChatId>,
    #[serde(flatten)]
    pub row: AuditRow,
}

/// Which rows of the log; what is not said is not asked for.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// The first moment.
    pub from: Option<Timestamp>,
    /// The first moment that is too late.
    pub to: Option<Timestamp>,
    pub kind: Option<AuditKind>,
    pub model: Option<String>,
    pub role: Option<Role>,
    pub chat: Option<ChatId>,
    pub workspace: Option<WorkspaceId>,
    /// Only what this user may know of.
    pub seen_by: Option<UserId>,
    /// Only what comes after this place; newest come first.
    pub after: Option<AuditCursor>,
}

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditCursor {
    pub at: Timestamp,
    pub id: i64,
}

impl AuditEntry {
    /// Where it stands.
    #[must_use]
    pub fn cursor(&self) -> AuditCursor {
        AuditCursor { at: self.row.at, id: self.id }
    }
}

/// How well a model kept to what its role may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Adherence {
    pub model: String,
    #[serde(rename = "agent_role")]
    pub role: Role,
    /// The tool calls it made.
    pub calls: u64,
    /// Those that policy refused, in any mode.
    pub blocked: u64,
    /// Those that it should not have tried in plan mode.
    pub disallowed_in_planning: u64,
    /// How often it asked the user something of its own.
    pub questions: u64,
    /// Calls that left the plan or lost something, and had to be put to the user.
    pub deviations: u64,
}

const NEWEST_APPROVAL: &str = "select * from approvals where chat_id = $1 order by id desc limit 1";
pub(crate) const INSERT_APPROVALS: RowStatement = RowStatement {
    columns: &[
        ("chat_id", ColumnType::Id),
        ("plan_file", ColumnType::Text),
        ("revision", ColumnType::Number),
        ("sha256", ColumnType::Text),
        ("content", ColumnType::Text),
        ("approver", ColumnType::Text),
        ("given_by", ColumnType::Text),
        ("base_commit", ColumnType::Text),
        ("steps", ColumnType::Text),
        ("stop_after", ColumnType::Number),
        ("created_at", ColumnType::Number),
    ],
    sql: "insert into approvals
            (chat_id, plan_file, revision, sha256, content, approver, given_by, base_commit, steps, stop_after, created_at)
        select * from given where true",
};
pub(crate) const INSERT_AUDIT: RowStatement = RowStatement {
    columns: &[
        ("workspace_id", ColumnType::Id),
        ("chat_id", ColumnType::Id),
        ("kind", ColumnType::Text),
        ("model", ColumnType::Text),
        ("agent_role", ColumnType::Text),
        ("user_name", ColumnType::Text),
        ("details", ColumnType::Text),
        ("created_at", ColumnType::Number),
    ],
    sql: "insert into audit (workspace_id, chat_id, kind, model, agent_role, user_name, details, created_at)
        select * from given where true",
};
/// What is of no workspace any more, or never was, is nobody's to see; but for what is of accounts, which admins see.
const AUDIT: &str = "select * from audit
    where ($1 is null or audit.created_at >= $1) and ($2 is null or audit.created_at < $2)
        and ($3 is null or audit.model = $3) and ($4 is null or audit.agent_role = $4)
        and ($5 is null or audit.chat_id = $5) and ($6 is null or audit.workspace_id = $6)
        and ($7 is null or exists (select 1 from rights where rights.user_id = $7 and rights.workspace_id = audit.workspace_id)
            or audit.kind in ('login_failed', 'account_changed') and exists (select 1 from users where users.id = $7 and users.is_admin = 1))
        and ($8 is null or audit.kind = $8)
        and ($9 is null or audit.created_at < $9 or audit.created_at = $9 and audit.id < $10)
    order by audit.created_at desc, audit.id desc limit $11";
/// Every refusal is of a call, and every call is a message, or was one of a chat that is gone; so the log is counted against the history.
const ADHERENCE: &str = "select model, attempts.agent_role, cast(sum(calls) as bigint) as calls, cast(sum(blocked) as bigint) as blocked,
        cast(sum(disallowed) as bigint) as disallowed, cast(sum(questions) as bigint) as questions,
        cast(sum(deviations) as bigint) as deviations
    from (
        select messages.chat_id, chats.workspace_id, messages.created_at, model, coalesce(messages.agent_role, 'actor') as agent_role,
            1 as calls, 0 as blocked, 0 as disallowed, 0 as questions, 0 as deviations
        from messages join chats on chats.id = messages.chat_id where model is not null and message_type = 'tool_call'
        union all
        select chat_id, workspace_id, created_at, model, agent_role, 1, 0, 0, 0, 0 from past_calls
        union all
        select chat_id, workspace_id, created_at, model, agent_role, 0, case when kind = 'tool_blocked' then 1 else 0 end,
            case when kind = 'disallowed_tool_attempt_in_planning' then 1 else 0 end,
            case when kind = 'question_asked' then 1 else 0 end,
            case when kind = 'approval_requested' and details like '%\"tool\"%' then 1 else 0 end
        from audit where model <> ''
            and kind in ('tool_blocked', 'disallowed_tool_attempt_in_planning', 'question_asked', 'approval_requested')
    ) as attempts
    where ($1 is null or attempts.created_at >= $1) and ($2 is null or attempts.created_at < $2)
        and ($3 is null or attempts.model = $3) and ($4 is null or attempts.agent_role = $4)
        and ($5 is null or attempts.chat_id = $5) and ($6 is null or attempts.workspace_id = $6)
        and ($7 is null or exists (select 1 from rights where rights.user_id = $7 and rights.workspace_id = attempts.workspace_id))
    group by model, attempts.agent_role";

impl Store {
    /// The newest approval of a chat's plan.
    ///
    /// # Errors
    /// The database failed.
    pub async fn approval(&self, chat: ChatId) -> Result<Option<ApprovalRow>, StoreError> {
        self.db.row(NEWEST_APPROVAL, args![chat.0]).await?.as_ref().map(read_approval).transpose()
    }

    /// The log, newest first, at most `limit` rows.
    ///
    /// # Errors
    /// The database failed.
    pub async fn audit(&self, filter: AuditFilter, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let kind = filter.kind.map(word).transpose()?;
        let (at, id) = filter.after.map(|place| (micros(place.at), place.id)).unzip();
        let mut args = filter.args()?;
        args.extend(args![kind, at, id, limit]);
        self.db.rows(AUDIT, args).await?.iter().map(read_audit).collect()
    }

    /// Logs what happened in no chat.
    ///
    /// # Errors
    /// The database failed.
    pub async fn log(&self, workspace: Option<WorkspaceId>, rows: &[AuditRow]) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        let rows = rows.iter().map(|row| audit_row(AuditPlace { workspace, chat: None }, row));
        transaction.write(&RowWrite::new(&INSERT_AUDIT, rows.collect::<Result<_, _>>()?)).await?;
        transaction.commit().await
    }

    /// How well models kept to their roles, by model and role in that order. The filter's `kind` does not matter here.
    ///
    /// # Errors
    /// The database failed.
    pub async fn adherence(&self, filter: AuditFilter) -> Result<Vec<Adherence>, StoreError> {
        let rows = self.db.rows(ADHERENCE, filter.args()?).await?;
        let mut found = rows.iter().map(read_adherence).collect::<Result<Vec<_>, _>>()?;
        // Here and not in SQL: each database sorts texts in its own way.
        found.sort_by(|a, b| (&a.model, a.role).cmp(&(&b.model, b.role)));
        Ok(found)
    }
}

impl AuditFilter {
    /// `$1` to `$7`: all but the kind and the place.
    fn args(self) -> Result<Vec<Arg>, StoreError> {
        Ok(args![
            self.from.map(micros),
            self.to.map(micros),
            self.model,
            self.role.map(word).transpose()?,
            self.chat.map(|chat| chat.0),
            self.workspace.map(|workspace| workspace.0),
            self.seen_by.map(|user| user.0),
        ])
    }
}

/// A row of [`INSERT_APPROVALS`].
pub(crate) fn approval_row(chat: ChatId, approval: &ApprovalRow) -> Result<Vec<Arg>, StoreError> {
    Ok(args![
        chat.0,
        approval.plan_file.as_str(),
        approval.revision,
        approval.sha256.as_str(),
        approval.content.as_str(),
        approval.approver.as_str(),
        word(approval.given_by)?,
        approval.base_commit.clone(),
        approval.choice.steps.as_ref().map(serde_json::to_string).transpose()?,
        approval.choice.stop_after.map(i64::from),
        micros(approval.at),
    ])
}

/// A row of [`INSERT_AUDIT`].
pub(crate) fn audit_row(place: AuditPlace, row: &AuditRow) -> Result<Vec<Arg>, StoreError> {
    Ok(args![
        place.workspace.map(|workspace| workspace.0),
        place.chat.map(|chat| chat.0),
        word(row.kind)?,
        row.model.as_str(),
        row.role.map(word).transpose()?,
        row.user.clone(),
        bounded(&row.details),
        micros(row.at),
    ])
}

fn read_approval(row: &Row) -> Result<ApprovalRow, StoreError> {
    Ok(ApprovalRow {
        plan_file: row.text("plan_file")?,
        revision: u32::try_from(row.number("revision")?).unwrap_or(u32::MAX),
        sha256: row.text("sha256")?,
        content: row.text("content")?,
        approver: row.text("approver")?,
        given_by: from_word(row.text("given_by")?)?,
        base_commit: row.optional_text("base_commit")?,
        choice: StepChoice {
            steps: row.optional_text("steps")?.map(|steps| serde_json::from_str(&steps)).transpose()?,
            stop_after: row.get::<Option<i64>>("stop_after")?.and_then(|stop| u32::try_from(stop).ok()),
        },
        at: timestamp(row.get("created_at")?)?,
    })
}

fn read_audit(row: &Row) -> Result<AuditEntry, StoreError> {
    Ok(AuditEntry {
        id: row.get("id")?,
        workspace_id: row.get::<Option<_>>("workspace_id")?.map(WorkspaceId),
        chat_id: row.get::<Option<_>>("chat_id")?.map(ChatId),
        row: AuditRow {
            kind: from_word(row.text("kind")?)?,
            model: row.text("model")?,
            role: row.optional_text("agent_role")?.map(|role| stored_role(Some(&role))),
            user: row.optional_text("user_name")?,
            details: serde_json::from_str(&row.text("details")?)?,
            at: timestamp(row.get("created_at")?)?,
        },
    })
}

fn read_adherence(row: &Row) -> Result<Adherence, StoreError> {
    Ok(Adherence {
        model: row.text("model")?,
        role: stored_role(Some(&row.text("agent_role")?)),
        calls: row.number("calls")?,
        blocked: row.number("blocked")?,
        disallowed_in_planning: row.number("disallowed")?,
        questions: row.number("questions")?,
        deviations: row.number("deviations")?,
    })
}
