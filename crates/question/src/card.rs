//! The server's own questions, and how to read their answers.

use planwright_protocol::Question;
use planwright_protocol::question::{Button, Decision, StopDecision, Variant};
use serde_json::{Map, Value, json};

const APPROVE: &str = "approve";
const DECISION: &str = "decision";

/// Asked before a plan is executed.
#[must_use]
pub fn plan_approval() -> Question {
    Question {
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

/// Asked before a single tool call. The reason says why the call requires approval.
#[must_use]
pub fn tool_approval(tool: &str, reason: &str) -> Question {
    // The name may come from an MCP server; it must not end its own code span.
    let tool: String = tool.chars().filter(|character| *character != '`' && !character.is_control()).take(100).collect();
    let decisions: Vec<Value> = Decision::ALL.iter().map(|decision| json!(decision.as_str())).collect();
    Question {
        name: DECISION.into(),
        question: format!("Allow `{tool}` to run?"),
        schema: json!({"type": "string", "enum": decisions}),
        buttons: Decision::ALL.iter().map(|decision| decision_button(*decision)).collect(),
        context: (!reason.is_empty()).then(|| reason.into()),
        default: None,
    }
}

/// Asked after a command whose changes require approval. `changes` counts them; the reason describes one of them.
#[must_use]
pub fn keep_changes(changes: &str, reason: &str) -> Question {
    let mut card = tool_approval("run", reason);
    card.question = format!("The command changed files that need your approval ({changes}). Keep the changes, or take them back?");
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

/// Asked at the stop that the user wanted. `next` are the approved steps that are still open.
#[must_use]
pub fn step_stop(step_number: u32, next: &[u32]) -> Question {
    let decisions: Vec<Value> = StopDecision::ALL.iter().map(|decision| json!(decision.as_str())).collect();
    let rest = match next {
        [] => "No approved step is open.".to_owned(),
        [one] => format!("Step {one} comes next."),
        [first, .., last] => format!("Steps {first} to {last} come next."),
    };
    Question {
        name: DECISION.into(),
        question: format!("Step {step_number} is finished, and you wanted a stop here. Continue?"),
        schema: json!({"type": "string", "enum": decisions}),
        buttons: StopDecision::ALL.iter().map(|decision| stop_button(*decision)).collect(),
        context: Some(rest),
        default: None,
    }
}

fn stop_button(decision: StopDecision) -> Button {
    let value = json!(decision.as_str());
    match decision {
        StopDecision::Continue => button("Continue", value, Variant::Primary, Some("Execute the other approved steps")),
        StopDecision::Revise => button("Revise", value, Variant::Secondary, Some("Go back to plan mode and change the plan")),
        StopDecision::End => button("End", value, Variant::Secondary, Some("Stop here and keep what is done")),
    }
}

/// Anything that is not a decision ends the run.
#[must_use]
pub fn read_stop_decision(answers: &Map<String, Value>) -> StopDecision {
    let given = answers.get(DECISION).and_then(Value::as_str);
    StopDecision::ALL.iter().copied().find(|decision| given == Some(decision.as_str())).unwrap_or(StopDecision::End)
}

/// The same card, showing its command.
#[must_use]
pub fn about_command(mut card: Question, command: &str) -> Question {
    let shown: String = command.chars().take(2000).map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
    // Indented, so that no mark in it can end the block.
    card.question = format!("Run this command?\n\n    {}", shown.replace('\n', "\n    "));
    card
}

/// Whether the model asks what only the plan approval card may ask.
#[must_use]
pub fn asks_for_plan_approval(question: &Question) -> bool {
    question.name == APPROVE && question.schema.get("type").is_some_and(|kind| kind == "boolean")
}

/// Whether the answer to [`plan_approval`] accepts the plan. Anything but a plain yes is a no.
#[must_use]
pub fn plan_is_approved(answers: &Map<String, Value>) -> bool {
    answers.get(APPROVE) == Some(&Value::Bool(true))
}

/// Anything that is not a decision denies.
#[must_use]
pub fn read_decision(answers: &Map<String, Value>) -> Decision {
    let given = answers.get(DECISION).and_then(Value::as_str);
    Decision::ALL.iter().copied().find(|decision| given == Some(decision.as_str())).unwrap_or(Decision::Deny)
}

fn decision_button(decision: Decision) -> Button {
    let value = json!(decision.as_str());
    match decision {
        Decision::Approve => button("Approve", value, Variant::Primary, Some("Only this call")),
        Decision::ApproveAlways => {
            button("Always approve", value, Variant::Secondary, Some("This tool, in this directory, for the rest of this chat"))
        }
        Decision::Deny => button("Deny", value, Variant::Danger, Some("The call is not made, and the agent learns that you denied it")),
    }
}

fn button(label: &str, value: Value, variant: Variant, description: Option<&str>) -> Button {
    Button { label: label.into(), value, variant: Some(variant), description: description.map(Into::into) }
}
