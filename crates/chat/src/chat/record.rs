//! Everything stored about a chat besides its history.

use super::activity::Activity;
use crate::card::Pending;
use planwright_protocol::Mode;
use planwright_store::{ApprovalRow, ChatRow};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The state of a chat at one moment. Readers share it; only the owner replaces it.
#[derive(Clone, Debug)]
pub struct ChatRecord {
    /// Its `state`, `run` and `pending` are computed from the activity.
    pub row: ChatRow,
    pub activity: Activity,
    /// The newest approval, for whichever plan.
    newest_approval: Option<Arc<ApprovalRow>>,
}

impl ChatRecord {
    pub fn load(mut row: ChatRow, newest_approval: Option<Arc<ApprovalRow>>) -> Self {
        let activity = Activity::load(&row);
        activity.store(&mut row);
        Self { row, activity, newest_approval }
    }

    /// The same chat after a change, and with another approval if there is one.
    pub(crate) fn followed_by(&self, draft: Draft, approval: Option<ApprovalRow>) -> Self {
        let Draft { row, activity } = draft;
        Self { row, activity, newest_approval: approval.map(Arc::new).or_else(|| self.newest_approval.clone()) }
    }

    pub(crate) fn draft(&self) -> Draft {
        Draft { row: self.row.clone(), activity: self.activity.clone() }
    }

    /// The approval of the chat's current plan.
    #[must_use]
    pub fn approval(&self) -> Option<Arc<ApprovalRow>> {
        self.newest_approval.clone().filter(|approval| self.row.config.plan_file.as_ref() == Some(&approval.plan_file))
    }

    /// Whether the chat executes an approved plan.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.approval().is_some() && self.row.config.role.mode() == Mode::Act
    }

    /// The pending question.
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        self.activity.pending().cloned()
    }
}

impl Deref for ChatRecord {
    type Target = ChatRow;

    fn deref(&self) -> &ChatRow {
        &self.row
    }
}

/// A chat while a change edits it. The activity determines `state`, `run` and `pending` of the row: setting those has no effect.
pub struct Draft {
    row: ChatRow,
    pub activity: Activity,
}

impl Draft {
    /// The draft with the columns of its activity.
    pub(crate) fn finished(mut self) -> Self {
        self.activity.store(&mut self.row);
        self
    }
}

impl Deref for Draft {
    type Target = ChatRow;

    fn deref(&self) -> &ChatRow {
        &self.row
    }
}

impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut ChatRow {
        &mut self.row
    }
}
