//! Counts the audit log by day, for charts.

use crate::error::StoreError;
use crate::records::{AuditEntry, AuditFilter, AuditKind};
use crate::store::Store;
use planwright_protocol::{Role, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Rows read in one query.
const PAGE: u32 = 5_000;
/// Maximum number of rows; the newest are counted.
const MOST: usize = 500_000;

/// How often one kind of entry occurred on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditCount {
    #[serde(flatten)]
    pub what: CountKey,
    pub count: u64,
}

/// The fields by which entries are grouped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct CountKey {
    /// Such as 2026-01-31, in the caller's time zone.
    pub day: String,
    pub kind: AuditKind,
    pub model: String,
    /// `None` if no agent was involved.
    #[serde(rename = "agent_role")]
    pub role: Option<Role>,
    /// The tool that was called.
    pub tool: Option<String>,
    /// The severity of a question.
    pub severity: Option<String>,
    /// The new mode.
    pub mode: Option<String>,
    /// The cause of a mode change; `None` for a chat's first mode.
    pub by: Option<String>,
}

/// The caller's offset from UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UtcOffset {
    pub minutes: i16,
}

impl Store {
    /// The audit log counted by day, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn audit_counts(&self, filter: AuditFilter, utc_offset: UtcOffset) -> Result<Vec<AuditCount>, StoreError> {
        let mut counts: BTreeMap<CountKey, u64> = BTreeMap::new();
        let (mut after, mut seen) = (filter.after, 0);
        while seen < MOST {
            let page = self.audit(AuditFilter { after, ..filter.clone() }, PAGE).await?;
            for entry in &page {
                *counts.entry(CountKey::new(entry, utc_offset)).or_default() += 1;
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

impl CountKey {
    fn new(entry: &AuditEntry, utc_offset: UtcOffset) -> Self {
        let row = &entry.row;
        let word = |key: &str| row.details.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            day: day(row.at, utc_offset),
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

fn day(at: Timestamp, utc_offset: UtcOffset) -> String {
    let seconds = i64::from(utc_offset.minutes) * 60;
    Timestamp::from_second(at.as_second() + seconds).unwrap_or(at).strftime("%Y-%m-%d").to_string()
}
