//! What goes into a chat.

use crate::config::RoleRequest;
use crate::ids::{MessageId, QuestionId};
use crate::question::Question;
use crate::settings::Depth;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Everything that can be asked of a chat. Each is admitted by the chat's own actor, one at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The user wrote something. `metadata` is what their client sent with it, here and in an answer.
    UserMessage { content: String, metadata: Map<String, Value>, images: Vec<SentImage> },
    /// The user answered the pending question; `answers` is keyed by the questions' names, `comment` is what they wrote with it.
    Answer { question_id: QuestionId, answers: Map<String, Value>, comment: String, metadata: Map<String, Value> },
    /// The user approved the newest plan: switch to act mode and carry it out. `content` is what they said with it.
    Execute { plan_file: Option<String>, content: Option<String> },
    /// The user changed the chat itself.
    Update { title: Option<String>, role: RoleRequest, plan_file: PlanChange, confirm: Confirm, marks: MarkChange },
    /// Take back everything that was changed from this message on.
    Revert { message_id: MessageId, conflicts: OnConflict },
    /// Put a question before the user, as a tool that they called themselves wants it.
    Ask { inquiry: Inquiry },
    /// Take back a message that waits to be read.
    Withdraw { message_id: MessageId },
    /// Go on where the last run failed.
    Retry,
    /// Sum the conversation up, so that the next request is shorter.
    Compact,
    /// End the run; answered when nothing of it can happen any more.
    Stop,
}

/// What the user sets on a chat: kept on top, put away, its model and effort; `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkChange {
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    pub model: Choice<String>,
    pub effort: Choice<Depth>,
}

/// An image that is sent with a message: the bytes of its file, not yet looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentImage(pub Arc<[u8]>);

/// What becomes of a value that a chat may have. In JSON, what is left out stays, and `null` clears.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<T>")]
pub enum Choice<T> {
    #[default]
    Keep,
    Clear,
    Take(T),
}

/// What becomes of the chat's plan.
pub type PlanChange = Choice<String>;

impl<T> From<Option<T>> for Choice<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Choice::Clear, Choice::Take)
    }
}

impl<T> Choice<T> {
    /// Applies it to the present value.
    pub fn apply(self, value: &mut Option<T>) {
        match self {
            Choice::Keep => {}
            Choice::Clear => *value = None,
            Choice::Take(new) => *value = Some(new),
        }
    }
}

/// What the user is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Inquiry {
    Questions(Vec<Question>),
    /// Whether the plan in this file is approved.
    Plan(String),
}

/// Whether the user has said yes to ending work in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    Given,
    NotGiven,
}

/// What becomes of a revert when something was changed by somebody else meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is taken back.
    Refuse,
    /// The rest is taken back.
    Skip,
}
