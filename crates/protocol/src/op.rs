//! What goes into a chat.

use crate::config::RoleRequest;
use crate::ids::QuestionId;
use serde_json::{Map, Value};

/// Everything that can be asked of a chat. Each is admitted by the chat's own actor, one at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The user wrote something.
    UserMessage { content: String, metadata: Map<String, Value> },
    /// The user answered the pending question; `answers` is keyed by the questions' names, `comment` is what they wrote with it.
    Answer { question_id: QuestionId, answers: Map<String, Value>, comment: String },
    /// The user approved the newest plan: switch to act mode and carry it out. `content` is what they said with it.
    Execute { plan_file: Option<String>, content: Option<String> },
    /// The user changed the chat itself.
    Update { title: Option<String>, role: RoleRequest, plan_file: Option<String>, confirm: Confirm },
    /// Sum the conversation up, so that the next request is shorter.
    Compact,
    /// End the run; answered when nothing of it can happen any more.
    Stop,
}

/// Whether the user has said yes to ending work in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    Given,
    NotGiven,
}
