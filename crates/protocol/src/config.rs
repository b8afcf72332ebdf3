//! A chat's role in every form that clients use for it.
//!
//! The role decides; the mode follows from it. The wire carries the role three times, as `agent_role`, `agent_mode` and
//! `mode`, so that a client written for any of the three works. The store keeps the mode beside the role to filter chats by it.

use crate::error::{ErrorCode, Problem};
use crate::role::{Mode, ROLES, Role};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;

/// The role and the plan file: a chat's `config`, its `app_data`, the `mode_changed` event and the `.chat` frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatConfig {
    pub role: Role,
    /// Workspace path of the chat's plan, once it has one.
    pub plan_file: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ConfigOut<'a> {
    agent_role: Role,
    agent_mode: Mode,
    mode: &'static str,
    plan_file: Option<&'a str>,
}

#[derive(Deserialize)]
struct ConfigIn {
    agent_role: Option<String>,
    agent_mode: Option<String>,
    mode: Option<String>,
    plan_file: Option<String>,
}

/// The schema describes the output form.
impl JsonSchema for ChatConfig {
    fn schema_name() -> Cow<'static, str> {
        "ChatConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ConfigOut::json_schema(generator)
    }
}

impl Serialize for ChatConfig {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ConfigOut {
            agent_role: self.role,
            agent_mode: self.role.mode(),
            mode: mode_word(self.role.mode()),
            plan_file: self.plan_file.as_deref(),
        }
        .serialize(serializer)
    }
}

/// Never fails on a missing or unknown role: chats stored before there were roles load as Actor, and an unknown
/// word gets the fewest rights.
impl<'de> Deserialize<'de> for ChatConfig {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = ConfigIn::deserialize(deserializer)?;
        let words = [stored.agent_role, stored.agent_mode, stored.mode];
        Ok(ChatConfig { role: stored_role(words.iter().flatten().next().map(String::as_str)), plan_file: stored.plan_file })
    }
}

/// The role for a stored word: Actor if there is none, Planner if the word is unknown.
#[must_use]
pub fn stored_role(word: Option<&str>) -> Role {
    match word {
        None => Mode::Act.default_role(),
        Some(word) => Wish::parse(word).map_or(Mode::Plan.default_role(), |wish| wish.role(None)),
    }
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan",
        Mode::Act => "build",
    }
}

/// A role or mode that a client requests, in any of the three fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct RoleRequest {
    pub agent_role: Option<String>,
    pub agent_mode: Option<String>,
    pub mode: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wish {
    Mode(Mode),
    Role(Role),
}

impl Wish {
    fn parse(word: &str) -> Option<Wish> {
        match word.to_lowercase().as_str() {
            "plan" | "planning" | "planner" => Some(Wish::Mode(Mode::Plan)),
            "act" | "build" | "executing" | "builder" | "actor" => Some(Wish::Mode(Mode::Act)),
            other => Role::named(other).map(Wish::Role),
        }
    }

    /// Requesting the mode of the present role keeps that role.
    fn role(self, present: Option<Role>) -> Role {
        match (self, present) {
            (Wish::Role(role), _) => role,
            (Wish::Mode(mode), Some(present)) if present.mode() == mode => present,
            (Wish::Mode(mode), _) => mode.default_role(),
        }
    }
}

impl RoleRequest {
    #[must_use]
    pub fn role(word: &str) -> Self {
        Self { agent_role: Some(word.to_owned()), ..Self::default() }
    }

    /// The requested role; `None` if no field is set. `present` decides when only a mode is requested.
    ///
    /// # Errors
    /// An unknown word, or fields that name different roles.
    pub fn resolve(&self, present: Option<Role>) -> Result<Option<Role>, Problem> {
        let fields = [("agent_role", &self.agent_role), ("agent_mode", &self.agent_mode), ("mode", &self.mode)];
        let mut wishes = Vec::new();
        for (field, word) in fields {
            let Some(word) = word else { continue };
            // In `agent_role`, "actor" names the role; in the other fields it requests act mode.
            let named = (field == "agent_role").then(|| Role::named(&word.to_lowercase())).flatten();
            let wish = named.map(Wish::Role).or_else(|| Wish::parse(word)).ok_or_else(|| unknown_word(field, word))?;
            wishes.push((field, wish));
        }
        let Some(&(_, first)) = wishes.first() else { return Ok(None) };
        // `agent_role: tester` with `agent_mode: act` is not a conflict: both fields agree.
        let specific = wishes.iter().map(|(_, wish)| *wish).find(|wish| matches!(wish, Wish::Role(_))).unwrap_or(first);
        let role = specific.role(present);
        for (field, wish) in wishes {
            let agrees = match wish {
                Wish::Mode(mode) => role.mode() == mode,
                Wish::Role(other) => role == other,
            };
            if !agrees {
                return Err(Problem::new(
                    ErrorCode::ValidationFailed,
                    format!("`{field}` requests a different role than the other fields. Send one field, or make them agree."),
                )
                .with_details(json!({ "fields": { field: "conflicts with the other fields" } })));
            }
        }
        Ok(Some(role))
    }
}

/// Every word that a client may use for a role or a mode.
#[must_use]
pub fn allowed_words() -> Vec<&'static str> {
    let mut words = vec!["plan", "planning", "act", "build", "builder", "executing"];
    words.extend(ROLES.iter().map(|row| row.name));
    words
}

/// The schema of such a word. Case does not matter.
pub struct RoleWord;

impl JsonSchema for RoleWord {
    fn schema_name() -> Cow<'static, str> {
        "RoleWord".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A word for a role or a mode. Case does not matter.", "enum": allowed_words() })
    }
}

fn unknown_word(field: &str, word: &str) -> Problem {
    let allowed = allowed_words().join(", ");
    Problem::new(ErrorCode::ValidationFailed, format!("`{field}` is {word:?}; allowed are: {allowed}"))
        .with_details(json!({ "fields": { field: format!("one of: {allowed}") } }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, to_value};

    fn ask(agent_role: Option<&str>, agent_mode: Option<&str>, mode: Option<&str>) -> RoleRequest {
        let own = |word: Option<&str>| word.map(str::to_owned);
        RoleRequest { agent_role: own(agent_role), agent_mode: own(agent_mode), mode: own(mode) }
    }

    #[test]
    fn one_struct_carries_the_role_in_every_vocabulary() {
        let config = ChatConfig { role: Role::Tester, plan_file: Some("/plans/x.plan".into()) };
        assert_eq!(
            to_value(&config).unwrap(),
            json!({"agent_role": "tester", "agent_mode": "act", "mode": "build", "plan_file": "/plans/x.plan"})
        );
        assert_eq!(from_value::<ChatConfig>(to_value(&config).unwrap()).unwrap(), config);
    }

    #[test]
    fn input_takes_every_word_in_any_case() {
        for (word, role) in [
            ("act", Role::Actor),
            ("BUILD", Role::Actor),
            ("executing", Role::Actor),
            ("Builder", Role::Actor),
            ("Actor", Role::Actor),
            ("plan", Role::Planner),
            ("Planning", Role::Planner),
            ("PLANNER", Role::Planner),
            ("Reviewer", Role::Reviewer),
            ("tester", Role::Tester),
        ] {
            for request in [ask(Some(word), None, None), ask(None, Some(word), None), ask(None, None, Some(word))] {
                assert_eq!(request.resolve(None).unwrap(), Some(role), "{word}");
            }
        }
    }

    #[test]
    fn an_unknown_word_is_refused_and_the_allowed_ones_are_named() {
        let problem = ask(None, None, Some("yolo")).resolve(None).unwrap_err();
        assert_eq!(problem.code, ErrorCode::ValidationFailed);
        for word in allowed_words() {
            assert!(problem.message.contains(word), "{}", problem.message);
        }
    }

    #[test]
    fn a_mode_the_role_already_has_changes_nothing() {
        assert_eq!(ask(None, None, Some("build")).resolve(Some(Role::Tester)).unwrap(), Some(Role::Tester));
        assert_eq!(ask(None, Some("plan"), None).resolve(Some(Role::Tester)).unwrap(), Some(Role::Planner));
        assert_eq!(ask(None, None, None).resolve(Some(Role::Tester)).unwrap(), None);
    }

    #[test]
    fn a_role_named_in_agent_role_is_taken_even_within_the_same_mode() {
        assert_eq!(ask(Some("Actor"), None, None).resolve(Some(Role::Tester)).unwrap(), Some(Role::Actor));
        assert_eq!(ask(Some("planner"), None, None).resolve(Some(Role::Reviewer)).unwrap(), Some(Role::Planner));
        assert_eq!(ask(Some("build"), None, None).resolve(Some(Role::Tester)).unwrap(), Some(Role::Tester));
    }

    #[test]
    fn fields_that_conflict_are_refused() {
        assert!(ask(Some("planner"), Some("act"), None).resolve(None).is_err());
        assert_eq!(ask(Some("tester"), Some("act"), Some("build")).resolve(None).unwrap(), Some(Role::Tester));
    }

    #[test]
    fn chat_stored_without_a_role_loads_as_actor() {
        let load = |value: Value| from_value::<ChatConfig>(value).unwrap().role;
        assert_eq!(load(json!({})), Role::Actor);
        assert_eq!(load(json!({"mode": "plan"})), Role::Planner);
        assert_eq!(load(json!({"agent_mode": "Act"})), Role::Actor);
    }

    #[test]
    fn an_unknown_stored_role_gets_the_least_rights() {
        assert_eq!(from_value::<ChatConfig>(json!({"agent_role": "superuser"})).unwrap().role, Role::Planner);
    }
}
