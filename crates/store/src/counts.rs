//! The log, counted by day: what charts are drawn of.

use crate::error::StoreError;
use crate::records::{AuditEntry, AuditFilter, AuditKind};
use crate::store::Store;
use planwright_protocol::{Role, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// So many rows are read at a time.
const PAGE: u32 = 5_000;
/// More than this is not looked at: the newest are counted.
const MOST: usize = 500_000;

/// How often something of one kind happened on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditCount {
    #[serde(flatten)]
    pub what: Counted,
    pub count: u64,
}

/// What is counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Counted {
    /// Such as 2026-01-31, where the caller is.
    pub day: String,
    pub kind: AuditKind,
    pub model: String,
    /// None where no agent had a part in it.
    #[serde(rename = "agent_role")]
    pub role: Option<Role>,
    /// The tool that was called.
    pub tool: Option<String>,
    /// How severe a question was.
    pub severity: Option<String>,
    /// The mode that was entered.
    pub mode: Option<String>,
    /// What a switch came by; none at the beginning of a chat.
    pub by: Option<String>,
}

/// How far the clock of the caller is ahead of UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    pub minutes: i16,
}

impl Store {
    /// The log counted by day, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn audit_counts(&self, filter: AuditFilter, ahead: Ahead) -> Result<Vec<AuditCount>, StoreError> {
        let mut counts: BTreeMap<Counted, u64> = BTreeMap::new();
        let (mut after, mut seen) = (filter.after, 0);
        while seen < MOST {
            let page = self.audit(AuditFilter { after, ..filter.clone() }, PAGE).await?;
            for entry in &page {
                *counts.entry(Counted::of(entry, ahead)).or_default() += 1;
            }
            seen += page.len();
            after = page.last().map(AuditEntry::cursor);
            if page.len() < PAGE as usize {
                break;
            }
        }
        Ok(counts.into_iter().map(|(what, count)| AuditCount { what, count }).collect())
    }
}

impl Counted {
    fn of(entry: &AuditEntry, ahead: Ahead) -> Self {
        let row = &entry.row;
        let word = |key: &str| row.details.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            day: day(row.at, ahead),
            kind: row.kind,
            model: row.model.clone(),
            role: row.role,
            tool: word("tool"),
            severity: word("severity"),
            mode: word("mode"),
            by: word("by"),
        }
    }
}

fn day(at: Timestamp, ahead: Ahead) -> String {
    let seconds = i64::from(ahead.minutes) * 60;
    Timestamp::from_second(at.as_second() + seconds).unwrap_or(at).strftime("%Y-%m-%d").to_string()
}
