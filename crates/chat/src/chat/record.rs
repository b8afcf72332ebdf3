//! Everything stored about a chat besides its history.

use crate::card::Pending;
use planwright_protocol::Mode;
use planwright_store::{ApprovalRow, ChatRow};
use std::ops::Deref;
use std::sync::Arc;

/// A chat at one moment. Readers share it; only the owner replaces it.
#[derive(Clone, Debug)]
pub struct ChatRecord {
    pub row: ChatRow,
    /// The newest approval, whichever plan it is for.
    newest_approval: Option<Arc<ApprovalRow>>,
}

impl ChatRecord {
    pub fn new(row: ChatRow, newest_approval: Option<Arc<ApprovalRow>>) -> Self {
        Self { row, newest_approval }
    }

    /// The same chat with another row, and with another approval if there is one.
    pub(crate) fn followed_by(&self, row: ChatRow, approval: Option<ApprovalRow>) -> Self {
        Self { row, newest_approval: approval.map(Arc::new).or_else(|| self.newest_approval.clone()) }
    }

    /// The approval of the chat's present plan.
    #[must_use]
    pub fn approval(&self) -> Option<Arc<ApprovalRow>> {
        self.newest_approval.clone().filter(|approval| self.row.config.plan_file.as_ref() == Some(&approval.plan_file))
    }

    /// Whether the chat executes an approved plan.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.approval().is_some() && self.row.config.role.mode() == Mode::Act
    }

    /// The question that waits for an answer.
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        self.row.pending.clone().and_then(|value| serde_json::from_value(value).ok())
    }
}

impl Deref for ChatRecord {
    type Target = ChatRow;

    fn deref(&self) -> &ChatRow {
        &self.row
    }
}
