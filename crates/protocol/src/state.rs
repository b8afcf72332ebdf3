//! What a chat is doing, and what it may do next. The mode decides which states there are.

use crate::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChatState {
    #[default]
    Idle,
    /// The model is being asked.
    Thinking,
    /// Calls that only read, in plan mode.
    Exploring,
    /// A plan is being stored, in plan mode.
    Planning,
    /// Calls that may change something, in act mode.
    Executing,
    AwaitingAnswer,
    Stopping,
    Failed,
}

/// A step that the machine does not have.
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
    /// Whether a chat in this mode can be in this state at all: nothing is executed in plan mode.
    #[must_use]
    pub fn is_of(self, mode: Mode) -> bool {
        match self {
            ChatState::Executing => mode == Mode::Act,
            ChatState::Exploring | ChatState::Planning => mode == Mode::Plan,
            ChatState::Idle | ChatState::Thinking | ChatState::AwaitingAnswer | ChatState::Stopping | ChatState::Failed => true,
        }
    }

    /// The next state, if this mode has it and it can follow. Calls are made only after the model was asked, and a
    /// question is never passed over.
    ///
    /// # Errors
    /// It can't.
    pub fn enter(self, to: ChatState, mode: Mode) -> Result<ChatState, InvalidTransition> {
        use ChatState::{AwaitingAnswer, Executing, Exploring, Failed, Idle, Planning, Stopping, Thinking};
        let follows = match self {
            // An answer, or another message, is put to the model; calls that waited for it are taken up again after that.
            Idle | Failed => matches!(to, Thinking | AwaitingAnswer),
            AwaitingAnswer | Stopping => matches!(to, Thinking | Idle | Failed | Stopping),
            Thinking | Exploring | Planning | Executing => true,
        };
        if self == to && to.is_of(mode) || follows && to.is_of(mode) {
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
