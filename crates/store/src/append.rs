//! The only write that changes a chat: its row, its events and their records, in one transaction.

use crate::append_write::AppendWrite;
use crate::arg::{Arg, args};
use crate::chats::ChatRow;
use crate::db::Db;
use crate::error::StoreError;
use crate::events::{INSERT_EVENTS, MessageSources, event_row};
use crate::leases::Tenure;
use crate::messages::{DELETE_MESSAGES, PUT_MESSAGES, message_row};
use crate::ops::OpRecord;
use crate::records::{ApprovalRow, AuditPlace, AuditRow, INSERT_APPROVALS, INSERT_AUDIT, approval_row, audit_row};
use crate::rows::{ColumnType, RowStatement, RowWrite};
use crate::store::{Store, enum_name, micros};
use crate::versions::{Versions, version_writes};
use planwright_protocol::{Envelope, Event, Message, MessageId};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Everything that a chat writes in one transaction.
#[derive(Debug, Default)]
pub struct Append<'a> {
    pub events: &'a [Envelope],
    pub approval: Option<&'a ApprovalRow>,
    pub audit: &'a [AuditRow],
    pub versions: Option<&'a Versions>,
    /// The op that produced this append.
    pub op: Option<&'a OpRecord>,
}

const INSERT_OPS: RowStatement = RowStatement {
    columns: &[
        ("chat_id", ColumnType::Id),
        ("op_id", ColumnType::Text),
        ("sha256", ColumnType::Text),
        ("message_id", ColumnType::Id),
        ("result", ColumnType::Text),
        ("created_at", ColumnType::Number),
    ],
    sql: "insert into ops (chat_id, op_id, sha256, message_id, result, created_at) select * from given where true",
};

impl Store {
    /// Stores events and their messages, with the chat's state after them. Durable when it returns. Returns the chat's new
    /// version, which the next append must name in its row.
    ///
    /// A chat has one writer at a time. While the database is unreachable, this waits and retries. It looks up the outcome after
    /// a lost answer, so nothing is stored twice.
    ///
    /// # Errors
    /// With [`StoreError::OutcomeUnknown`] and, after a lost answer, [`StoreError::TakenOver`], the outcome is unknown. Otherwise
    /// nothing was stored: the row does not follow the newest append ([`StoreError::Stale`]), another process has taken over the
    /// database or the workspace ([`StoreError::NotHere`]), or the database refused.
    pub async fn append(&self, chat: &ChatRow, append: Append<'_>) -> Result<u64, StoreError> {
        let tenure = self.tenure_of(chat.workspace_id)?;
        let write = append_write(chat, append, tenure)?;
        match &self.db {
            Db::Sqlite { appends, .. } => appends.store(write).await,
            Db::Postgres { appends, .. } => appends.as_ref().ok_or(StoreError::TakenOver)?.store(&write).await,
        }
    }
}

fn append_write(chat: &ChatRow, append: Append<'_>, tenure: Tenure) -> Result<AppendWrite, StoreError> {
    let place = AuditPlace { workspace: Some(chat.workspace_id), chat: Some(chat.id) };
    let (messages, deleted) = net_messages(append.events);
    let sources = MessageSources::new(messages.iter().map(|(message, _)| *message));
    let rows = messages.into_iter().map(|(message, seq)| message_row(message, seq));
    let mut writes = vec![RowWrite::new(&PUT_MESSAGES, rows.collect::<Result<_, _>>()?)];
    writes.push(RowWrite::new(&DELETE_MESSAGES, deleted.into_iter().map(|id| args![id.0, chat.id.0]).collect()));
    let events = append.events.iter().map(|envelope| event_row(chat.id, envelope, &sources));
    writes.push(RowWrite::new(&INSERT_EVENTS, events.collect::<Result<_, _>>()?));
    let approvals = append.approval.map(|approval| approval_row(chat.id, approval));
    writes.push(RowWrite::new(&INSERT_APPROVALS, approvals.into_iter().collect::<Result<_, _>>()?));
    let audit = append.audit.iter().map(|row| audit_row(place, row));
    writes.push(RowWrite::new(&INSERT_AUDIT, audit.collect::<Result<_, _>>()?));
    if let Some(versions) = append.versions {
        writes.extend(version_writes(chat.id, versions)?);
    }
    let op = |op: &OpRecord| {
        let result = op.result.as_ref().map(Value::to_string);
        args![chat.id.0, op.id.as_str(), op.sha256.as_str(), op.message_id.map(|id| id.0), result, micros(chat.updated_at)]
    };
    writes.push(RowWrite::new(&INSERT_OPS, append.op.into_iter().map(op).collect()));
    writes.retain(|write| !write.rows.is_empty());
    Ok(AppendWrite { tenure, chat: chat.id.0, version: chat.version, columns: chat_columns(chat)?, writes })
}

/// The columns that change with an append, in the order of `UPDATE_CHAT` and `CREATE_CHAT` in `append_write.rs`.
pub(crate) fn chat_columns(chat: &ChatRow) -> Result<Vec<Arg>, StoreError> {
    let marks = &chat.marks;
    Ok(args![
        chat.title.as_str(),
        enum_name(chat.config.role)?,
        enum_name(chat.config.role.mode())?,
        chat.config.plan_file.clone(),
        enum_name(chat.state)?,
        chat.pending.as_ref().map(Value::to_string),
        serde_json::to_string(&chat.grants)?,
        chat.epoch,
        chat.seq_ceiling,
        serde_json::to_string(&chat.usage)?,
        chat.run.map(|run| run.0),
        micros(chat.updated_at),
        chat.progress.as_ref().map(serde_json::to_string).transpose()?,
        chat.turn_start.as_ref().map(serde_json::to_string).transpose()?,
        i64::from(marks.pinned),
        i64::from(marks.archived),
        marks.model.clone(),
        marks.effort.map(enum_name).transpose()?,
    ])
}

/// The net result of the events: each message once, with its newest content and the sequence number of its first event, and the
/// ids of deleted messages. A single statement can't write a row twice.
fn net_messages(events: &[Envelope]) -> (Vec<(&Message, u64)>, BTreeSet<MessageId>) {
    let mut messages: Vec<(&Message, u64)> = Vec::new();
    let mut places: HashMap<MessageId, usize> = HashMap::new();
    let mut deleted = BTreeSet::new();
    for envelope in events {
        if let Event::MessageCreated { message } | Event::MessageUpdated { message } = &envelope.event {
            deleted.remove(&message.id);
            if let Some(known) = places.get(&message.id).and_then(|place| messages.get_mut(*place)) {
                known.0 = message;
            } else {
                places.insert(message.id, messages.len());
                messages.push((message, envelope.seq));
            }
        }
        if let Event::MessageDeleted { message_id } = &envelope.event {
            deleted.insert(*message_id);
        }
    }
    messages.retain(|(message, _)| !deleted.contains(&message.id));
    (messages, deleted)
}
