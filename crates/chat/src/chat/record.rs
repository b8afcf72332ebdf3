//! Everything stored about a chat besides its history.

use super::activity::Activity;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::event::Usage;
use planwright_protocol::{ChatConfig, Mode, Progress};
use planwright_store::{ApprovalRow, ChatRow, GrantRow, Marks, TurnStart};
use std::ops::Deref;
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
    pub(crate) fn followed_by(&self, row: ChatRow, activity: Activity, approval: Option<ApprovalRow>) -> Self {
        Self { row, activity, newest_approval: approval.map(Arc::new).or_else(|| self.newest_approval.clone()) }
    }

    pub(crate) fn draft(&self) -> Draft {
        let row = self.row.clone();
        Draft {
            title: row.title.clone(),
            config: row.config.clone(),
            progress: row.progress.clone(),
            epoch: row.epoch,
            usage: row.usage,
            turn_start: row.turn_start,
            marks: row.marks.clone(),
            grants: row.grants.clone(),
            activity: self.activity.clone(),
            before: row,
        }
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

/// A chat while a change edits it: the parts that a change may set. The activity decides on `state`, `run` and `pending` of the
/// row, and the owner on the rest.
pub struct Draft {
    before: ChatRow,
    pub title: String,
    pub config: ChatConfig,
    pub progress: Option<Progress>,
    pub epoch: u64,
    pub usage: Usage,
    pub turn_start: Option<TurnStart>,
    pub marks: Marks,
    pub grants: Vec<GrantRow>,
    pub activity: Activity,
}

impl Draft {
    /// The row after the change, with the columns of the activity.
    pub(crate) fn finished(self) -> (ChatRow, Activity) {
        let Draft { before, title, config, progress, epoch, usage, turn_start, marks, grants, activity } = self;
        let mut row = ChatRow { title, config, progress, epoch, usage, turn_start, marks, grants, ..before };
        activity.store(&mut row);
        (row, activity)
    }
}
