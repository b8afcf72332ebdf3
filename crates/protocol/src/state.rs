//! The states of a chat and their transitions. The mode decides which states exist.

use crate::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChatState {
    #[default]
    Idle,
    /// Waiting for the model.
    Thinking,
    /// Plan mode: running calls that only read.
    Exploring,
    /// Plan mode: storing a plan.
    Planning,
    /// Act mode: running calls that may change something.
    Executing,
    AwaitingAnswer,
    Stopping,
    Failed,
}

/// A transition that the state machine does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTransition {
    pub mode: Mode,
    pub from: ChatState,
    pub to: ChatState,
}

impl fmt::Display for InvalidTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a chat can't go from {:?} to {:?} in {:?} mode", self.from, self.to, self.mode)
    }
}

impl std::error::Error for InvalidTransition {}

impl ChatState {
    /// Whether this state exists in `mode`: plan mode executes nothing.
    #[must_use]
    pub fn exists_in(self, mode: Mode) -> bool {
        match self {
            ChatState::Executing => mode == Mode::Act,
            ChatState::Exploring | ChatState::Planning => mode == Mode::Plan,
            ChatState::Idle | ChatState::Thinking | ChatState::AwaitingAnswer | ChatState::Stopping | ChatState::Failed => true,
        }
    }

    /// The next state, if `mode` has it and the transition exists. Tool calls follow only a model call, and a pending
    /// question can't be skipped.
    ///
    /// # Errors
    /// There is no such transition.
    pub fn enter(self, to: ChatState, mode: Mode) -> Result<ChatState, InvalidTransition> {
        use ChatState::{AwaitingAnswer, Executing, Exploring, Failed, Idle, Planning, Stopping, Thinking};
        let follows = match self {
            // An answer or another message goes to the model; the calls that waited continue after that.
            Idle | Failed => matches!(to, Thinking | AwaitingAnswer),
            AwaitingAnswer | Stopping => matches!(to, Thinking | Idle | Failed | Stopping),
            Thinking | Exploring | Planning | Executing => true,
        };
        if self == to && to.exists_in(mode) || follows && to.exists_in(mode) {
            return Ok(to);
        }
        Err(InvalidTransition { mode, from: self, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChatState::{AwaitingAnswer, Executing, Exploring, Failed, Idle, Planning, Stopping, Thinking};

    const ALL: [ChatState; 8] = [Idle, Thinking, Exploring, Planning, Executing, AwaitingAnswer, Stopping, Failed];

    #[test]
    fn in_plan_mode_no_state_leads_to_executing_and_in_act_mode_none_to_planning() {
        for from in ALL {
            assert_eq!(from.enter(Executing, Mode::Plan), Err(InvalidTransition { mode: Mode::Plan, from, to: Executing }));
            for to in [Exploring, Planning] {
                assert_eq!(from.enter(to, Mode::Act), Err(InvalidTransition { mode: Mode::Act, from, to }));
            }
        }
        assert_eq!(Thinking.enter(Executing, Mode::Act), Ok(Executing));
        assert_eq!(Thinking.enter(Planning, Mode::Plan), Ok(Planning));
    }

    #[test]
    fn calls_are_made_only_after_the_model_was_asked_and_a_question_is_not_passed_over() {
        for from in [Idle, Failed, AwaitingAnswer] {
            assert!(from.enter(Executing, Mode::Act).is_err() && from.enter(Exploring, Mode::Plan).is_err(), "{from:?}");
            assert_eq!(from.enter(Thinking, Mode::Plan), Ok(Thinking));
        }
        let error = Idle.enter(Executing, Mode::Plan).unwrap_err();
        assert_eq!(error.to_string(), "a chat can't go from Idle to Executing in Plan mode");
    }
}
