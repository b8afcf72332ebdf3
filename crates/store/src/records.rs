use crate::store::{Store, StoreError, micros, timestamp, word};
use planwright_protocol::{ChatId, Role, SwitchedBy, Timestamp};
use serde::Serialize;
use serde_json::Value;
use sqlx::{Row, Sqlite, Transaction};

/// The user's yes to a plan: to exactly this content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRow {
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    pub content: String,
    pub approver: String,
    pub given_by: SwitchedBy,
    pub at: Timestamp,
}

/// What is logged about how models and users behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    ModeEntered,
    ExecutionIntentDetected,
    ModeSwitchedByIntent,
    DisallowedToolAttemptInPlanning,
    ToolBlocked,
    ApprovalRequested,
    ApprovalGiven,
    ApprovalDenied,
    PlanWritten,
    PlanApproved,
    LoginFailed,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    pub kind: AuditKind,
    pub model: String,
    pub role: Role,
    pub details: Value,
    pub at: Timestamp,
}

impl Store {
    /// The newest approval of a chat's plan.
    ///
    /// # Errors
    /// The database failed.
    pub async fn approval(&self, chat: ChatId) -> Result<Option<ApprovalRow>, StoreError> {
        let row = sqlx::query("select * from approvals where chat_id = $1 order by id desc limit 1")
            .bind(chat.0)
            .fetch_optional(&self.reader)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(ApprovalRow {
            plan_file: row.try_get("plan_file")?,
            revision: row.try_get("revision")?,
            sha256: row.try_get("sha256")?,
            content: row.try_get("content")?,
            approver: row.try_get("approver")?,
            given_by: crate::store::from_word(row.try_get("given_by")?)?,
            at: timestamp(row.try_get("created_at")?)?,
        }))
    }
}

pub(crate) async fn insert_approval(
    transaction: &mut Transaction<'_, Sqlite>,
    chat: ChatId,
    approval: &ApprovalRow,
) -> Result<(), StoreError> {
    sqlx::query("insert into approvals (chat_id, plan_file, revision, sha256, content, approver, given_by, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)")
        .bind(chat.0)
        .bind(&approval.plan_file)
        .bind(approval.revision)
        .bind(&approval.sha256)
        .bind(&approval.content)
        .bind(&approval.approver)
        .bind(word(approval.given_by)?)
        .bind(micros(approval.at))
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

pub(crate) async fn insert_audit(transaction: &mut Transaction<'_, Sqlite>, chat: ChatId, row: &AuditRow) -> Result<(), StoreError> {
    sqlx::query("insert into audit (chat_id, kind, model, agent_role, details, created_at) values ($1, $2, $3, $4, $5, $6)")
        .bind(chat.0)
        .bind(word(row.kind)?)
        .bind(&row.model)
        .bind(word(row.role)?)
        .bind(row.details.to_string())
        .bind(micros(row.at))
        .execute(&mut **transaction)
        .await?;
    Ok(())
}
