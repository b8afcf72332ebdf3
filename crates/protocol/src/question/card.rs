//! The server's own questions, and what their answers mean.

use super::{Button, Question, Variant};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const APPROVE: &str = "approve";
const DECISION: &str = "decision";

impl Question {
    /// Asked before a plan is carried out.
    #[must_use]
    pub fn plan_approval() -> Self {
        Self {
            name: APPROVE.into(),
            question: "The plan is ready. Accept it and start building?".into(),
            schema: json!({"type": "boolean"}),
            buttons: vec![
                button("Accept & Build", json!(true), Variant::Primary, None),
                button("Keep Planning", json!(false), Variant::Secondary, None),
            ],
            context: None,
            default: None,
        }
    }

    /// Asked before a single tool call. The reason says what makes the call need a decision.
    #[must_use]
    pub fn tool_approval(tool: &str, reason: &str) -> Self {
        // The name may come from an MCP server; it must not end its own code span.
        let tool: String = tool.chars().filter(|character| *character != '`' && !character.is_control()).take(100).collect();
        let decisions: Vec<Value> = Decision::ALL.iter().map(|decision| json!(decision.as_str())).collect();
        Self {
            name: DECISION.into(),
            question: format!("Allow `{tool}` to run?"),
            schema: json!({"type": "string", "enum": decisions}),
            buttons: Decision::ALL.iter().map(|decision| decision.button()).collect(),
            context: (!reason.is_empty()).then(|| reason.into()),
            default: None,
        }
    }

    /// Asked when a command has ended and changed what needs a word. `changes` counts them, the reason says what is about one of them.
    #[must_use]
    pub fn keep_changes(changes: &str, reason: &str) -> Self {
        let mut card = Self::tool_approval("run", reason);
        card.question = format!("The command changed files that need your word ({changes}). Keep the changes, or take them back?");
        card.buttons = vec![
            button("Keep", json!(Decision::Approve.as_str()), Variant::Primary, Some("Everything this command changed")),
            button(
                "Keep, also from now on",
                json!(Decision::ApproveAlways.as_str()),
                Variant::Secondary,
                Some("What commands change below the folder of the first file, for the rest of this chat; deletions still ask"),
            ),
            button("Take back", json!(Decision::Deny.as_str()), Variant::Danger, Some("The workspace stays as it was before the command")),
        ];
        card
    }

    /// The same card, showing the command that it is about.
    #[must_use]
    pub fn about_command(mut self, command: &str) -> Self {
        let shown: String = command.chars().take(2000).map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
        // Indented, so that no mark in it can end the block.
        self.question = format!("Run this command?\n\n    {}", shown.replace('\n', "\n    "));
        self
    }

    /// The same card with a remark under the question, such as the model's own words.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.context = Some(context.into());
        self
    }

    /// Whether the model asks by itself what only the plan approval card may ask.
    #[must_use]
    pub fn asks_for_plan_approval(&self) -> bool {
        self.name == APPROVE && self.schema.get("type").is_some_and(|kind| kind == "boolean")
    }
}

/// Whether the answer to [`Question::plan_approval`] accepts the plan. Anything but a plain yes is a no.
#[must_use]
pub fn plan_is_approved(answers: &Map<String, Value>) -> bool {
    answers.get(APPROVE) == Some(&Value::Bool(true))
}

/// The answer to [`Question::tool_approval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Approve,
    /// In this chat, for this tool, in this directory.
    ApproveAlways,
    Deny,
}

impl Decision {
    pub const ALL: &[Self] = &[Self::Approve, Self::ApproveAlways, Self::Deny];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::ApproveAlways => "approve_always",
            Self::Deny => "deny",
        }
    }

    /// Anything that is no decision denies.
    #[must_use]
    pub fn from_answers(answers: &Map<String, Value>) -> Self {
        let given = answers.get(DECISION).and_then(Value::as_str);
        Self::ALL.iter().copied().find(|decision| given == Some(decision.as_str())).unwrap_or(Self::Deny)
    }

    fn button(self) -> Button {
        let value = json!(self.as_str());
        match self {
            Self::Approve => button("Approve", value, Variant::Primary, Some("Only this call")),
            Self::ApproveAlways => {
                button("Always approve", value, Variant::Secondary, Some("This tool, in this directory, for the rest of this chat"))
            }
            Self::Deny => button("Deny", value, Variant::Danger, Some("The call is not made, and the agent is told so")),
        }
    }
}

fn button(label: &str, value: Value, variant: Variant, description: Option<&str>) -> Button {
    Button { label: label.into(), value, variant: Some(variant), description: description.map(Into::into) }
}
