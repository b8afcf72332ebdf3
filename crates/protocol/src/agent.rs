//! The agents of a chat: its own, or a delegate.

use crate::error::{ErrorCode, Problem};
use crate::ids::CallId;
use crate::message::Message;
use crate::role::{Mode, Permission, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An agent has the permissions of its role, while the chat's role permits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    #[serde(rename = "agent_role", default = "unsaid")]
    pub role: Role,
    /// The call that delegated its task; `None` for the chat's own agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation: Option<CallId>,
}

impl Agent {
    #[must_use]
    pub fn own(role: Role) -> Self {
        Self { role, delegation: None }
    }

    /// The agent that made a call.
    ///
    /// # Errors
    /// Unknown, because it was made before roles existed.
    pub fn of<B>(call: &Message<B>) -> Result<Self, Problem> {
        let role = call.agent_role.ok_or_else(role_switched)?;
        Ok(Self { role, delegation: call.delegation })
    }

    /// A chat has one role at a time. Its own agent has that role; a delegate has one that this role can delegate to; a helper reads
    /// for a role that may explore.
    ///
    /// # Errors
    /// `MODE_CHANGED`: the user has switched since.
    pub fn check(self, chat: Role) -> Result<(), Problem> {
        let stands = match self.delegation {
            None => self.role == chat,
            Some(thread) if thread.is_helper() => chat.has(Permission::Explore),
            Some(_) => chat.row().delegates_to.contains(&self.role),
        };
        if stands { Ok(()) } else { Err(role_switched()) }
    }

    /// Adds a message to its conversation, as the agent's own.
    #[must_use]
    pub fn sign<B>(self, message: Message<B>) -> Message<B> {
        self.place(message.with_role(self.role))
    }

    /// Adds a message to its conversation.
    #[must_use]
    pub fn place<B>(self, message: Message<B>) -> Message<B> {
        match self.delegation {
            Some(call) => message.in_thread(Some(call)),
            None => message,
        }
    }
}

/// Questions from before delegation existed don't say who asked.
fn unsaid() -> Role {
    Mode::Act.default_role()
}

fn role_switched() -> Problem {
    let text = "The user switched the role after you made this call, so it was not executed. Continue within the new role.";
    Problem::new(ErrorCode::ModeChanged, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delegate_may_go_on_only_in_a_chat_whose_role_can_delegate_to_it() {
        let delegate = |role| Agent { role, delegation: Some(CallId::generate()) };
        for role in [Role::Planner, Role::Actor] {
            assert!(delegate(role).check(Role::Commander).is_ok());
            for chat in Role::all().filter(|chat| *chat != Role::Commander) {
                assert_eq!(delegate(role).check(chat).unwrap_err().code, ErrorCode::ModeChanged, "{role} in a chat of {chat}");
            }
        }
        for chat in Role::all() {
            let helper = Agent { role: Role::Planner, delegation: Some(CallId::generate().helper(1)) };
            assert_eq!(helper.check(chat).is_ok(), chat.has(Permission::Explore), "a helper in a chat of {chat}");
        }
        assert!(delegate(Role::Tester).check(Role::Commander).is_err());
        assert!(Agent::own(Role::Actor).check(Role::Actor).is_ok() && Agent::own(Role::Actor).check(Role::Commander).is_err());
    }
}
