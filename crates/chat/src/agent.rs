//! Who works in a chat: its own agent, or one that it handed a task to.

use planwright_protocol::{CallId, ErrorCode, Message, Mode, Permission, Problem, Role};
use planwright_tools::AgentKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its rights are those of its role, as long as the chat is in a role that stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    #[serde(rename = "agent_role", default = "unsaid")]
    pub role: Role,
    /// The call that handed on the task it works on; `None` for the chat's own agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation: Option<CallId>,
}

impl Agent {
    pub fn own(role: Role) -> Self {
        Self { role, delegation: None }
    }

    /// Whether it reads for an agent that explores.
    pub fn kind(self) -> AgentKind {
        if self.delegation.is_some_and(CallId::is_helper) { AgentKind::Helper } else { AgentKind::Main }
    }

    /// Who made a call.
    ///
    /// # Errors
    /// Nobody knows, because it was made before there were roles.
    pub fn of<B>(call: &Message<B>) -> Result<Self, Problem> {
        let role = call.agent_role.ok_or_else(role_switched)?;
        Ok(Self { role, delegation: call.delegation })
    }

    /// A chat has one role at a time. Its own agent is of that role; a delegate is of one that this role can delegate to; a helper
    /// reads for a role that may explore.
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

    /// Puts a message into its conversation, as its own word.
    pub fn sign<B>(self, message: Message<B>) -> Message<B> {
        self.place(message.with_role(self.role))
    }

    /// Puts a message into its conversation.
    pub fn place<B>(self, message: Message<B>) -> Message<B> {
        match self.delegation {
            Some(call) => message.in_thread(Some(call)),
            None => message,
        }
    }
}

/// Questions from before delegation don't say who asked; only the log would.
fn unsaid() -> Role {
    Mode::Act.default_role()
}

fn role_switched() -> Problem {
    let text = "The user switched the role after you made this call, so it was not carried out. Go on within the new role.";
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
            assert_eq!((helper.kind(), delegate(Role::Planner).kind()), (AgentKind::Helper, AgentKind::Main));
        }
        assert!(delegate(Role::Tester).check(Role::Commander).is_err());
        assert!(Agent::own(Role::Actor).check(Role::Actor).is_ok() && Agent::own(Role::Actor).check(Role::Commander).is_err());
    }
}
