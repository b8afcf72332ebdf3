//! Ops: every request to a chat.

use crate::config::RoleRequest;
use crate::ids::{MessageId, QuestionId};
use crate::message::ReviewComment;
use crate::plan::{Plan, StepChoice};
use crate::question::Question;
use crate::settings::ReasoningEffort;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A request to a chat. The chat's actor admits one at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The user sent a message. `metadata` comes from their client, here and in an answer.
    UserMessage { content: String, metadata: Map<String, Value>, images: Vec<SentImage>, comments: Vec<ReviewComment> },
    /// The user answered the pending question. The questions' names are the keys of `answers`; `comment` is free text.
    Answer { question_id: QuestionId, answers: Map<String, Value>, comment: String, metadata: Map<String, Value> },
    /// The user approved the newest plan, or some of its steps: switch to act mode and execute it. `content` is the user's
    /// accompanying text.
    Execute { plan_file: Option<String>, content: Option<String>, expected: ExpectedPlan },
    /// The user wrote the next version of the chat's plan. `base_sha256` is the hash of the version that they edited.
    EditPlan { content: PlanContent, base_sha256: String },
    /// The user changed the chat's own properties.
    Update { title: Option<String>, role: RoleRequest, plan_file: PlanChange, confirm: Confirm, marks: MarkChange },
    /// Revert changes of the chat.
    Revert { target: RevertTarget, conflicts: OnConflict },
    /// Revoke an "always allow".
    RevokeGrant { grant_id: String },
    /// Ask the user a question, for a tool that the user called directly.
    Ask { inquiry: Inquiry },
    /// Withdraw a queued message.
    Withdraw { message_id: MessageId },
    /// Continue after a failed run.
    Retry,
    /// Replace the conversation by a summary, so that the next request is shorter.
    Compact,
    /// End the run. The answer comes when nothing of the run can take effect any more.
    Stop,
}

/// The plan that the user means to execute, and the steps of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedPlan {
    /// Required if only some steps are chosen.
    pub sha256: Option<String>,
    pub choice: StepChoice,
}

/// The next version of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanContent {
    /// The text of the `.plan` file.
    Text(String),
    /// The plan as data; other parts of the file stay.
    Plan(Box<Plan>),
}

/// The changes to revert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevertTarget {
    /// All changes from this message on.
    Message(MessageId),
    /// The changes of these files.
    Files(Vec<FileToRevert>),
}

/// A changed file, as the client showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToRevert {
    pub path: String,
    /// The content that the client showed; `None` for a deleted file.
    pub after_sha256: Option<String>,
    /// The numbers of the changes to revert; `None` for all of them.
    pub hunks: Option<Vec<usize>>,
}

/// Properties that the user sets on a chat: pinned, archived, model and effort. `None` leaves one unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkChange {
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    pub model: FieldChange<String>,
    pub effort: FieldChange<ReasoningEffort>,
}

/// An image sent with a message: the bytes of its file, not yet validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentImage(pub Arc<[u8]>);

/// A change to an optional value. In JSON an absent field means no change, and `null` clears the value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<T>")]
pub enum FieldChange<T> {
    #[default]
    Keep,
    Clear,
    Take(T),
}

/// A change to the chat's plan file.
pub type PlanChange = FieldChange<String>;

impl<T> From<Option<T>> for FieldChange<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(FieldChange::Clear, FieldChange::Take)
    }
}

/// A field without a change must be left out: `null` would clear the value.
impl<T: Serialize> Serialize for FieldChange<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FieldChange::Keep | FieldChange::Clear => serializer.serialize_none(),
            FieldChange::Take(value) => serializer.serialize_some(value),
        }
    }
}

impl<T> FieldChange<T> {
    #[must_use]
    pub fn is_keep(&self) -> bool {
        matches!(self, FieldChange::Keep)
    }

    /// Applies the change to the present value.
    pub fn apply(self, value: &mut Option<T>) {
        match self {
            FieldChange::Keep => {}
            FieldChange::Clear => *value = None,
            FieldChange::Take(new) => *value = Some(new),
        }
    }
}

/// A question to raise.
#[derive(Clone, Debug, PartialEq)]
pub enum Inquiry {
    Questions(Vec<Question>),
    /// Whether the user approves the plan in this file.
    Plan(String),
}

/// Whether the user confirmed that work in progress may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    Given,
    NotGiven,
}

/// What a revert does about files that somebody else changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Revert nothing.
    Refuse,
    /// Revert the other files.
    Skip,
}
