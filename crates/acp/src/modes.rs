//! Roles as session modes: the default role of a mode has the mode's name, the others have their own.

use agent_client_protocol::v1::schema::{SessionMode, SessionModeId, SessionModeState};
use planwright_protocol::{ErrorCode, Mode, Problem, Role, RoleRequest};

pub fn id(role: Role) -> SessionModeId {
    let is_usual = role.mode().default_role() == role;
    SessionModeId::new(if is_usual { word(role.mode()) } else { role.row().name })
}

/// The role for a mode id; accepts every word that the API accepts.
///
/// # Errors
/// There is no such mode.
pub fn role(id: &str) -> Result<Role, Problem> {
    let asked = RoleRequest::role(id).resolve(None).ok().flatten();
    asked.ok_or_else(|| {
        let known = Role::all().map(|role| self::id(role).to_string()).collect::<Vec<_>>().join(", ");
        Problem::new(ErrorCode::ValidationFailed, format!("There is no mode {id:?}; there are: {known}."))
    })
}

pub fn state(current: Role) -> SessionModeState {
    let mode = |role: Role| {
        let row = role.row();
        let is_usual = row.mode.default_role() == role;
        let name = if is_usual { title(row.mode) } else { row.title };
        SessionMode::new(id(role), name).description(row.description.to_owned())
    };
    SessionModeState::new(id(current), Role::all().map(mode).collect())
}

fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan",
        Mode::Act => "build",
    }
}

fn title(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "Plan",
        Mode::Act => "Build",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_a_mode_that_can_be_asked_for_and_is_shown_under_the_same_id() {
        for role in Role::all() {
            assert_eq!(super::role(&id(role).to_string()).unwrap(), role);
        }
        assert_eq!((id(Role::Planner).to_string(), id(Role::Actor).to_string()), ("plan".to_owned(), "build".to_owned()));
        assert_eq!(super::role("act").unwrap(), Role::Actor);
        assert!(super::role("yolo").unwrap_err().message.contains("plan, build"));
    }
}
