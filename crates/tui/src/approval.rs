//! The words of an approval: its title, what it would do, and the possible decisions.

use planwright_protocol::QuestionKind;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::{ApprovalMoment, CallToApprove, DeletedEntry, EntryKind};
use planwright_protocol::question::Decision;
use serde_json::{Map, Value, json};

/// A decision that the user can take.
#[derive(Clone, Debug, PartialEq)]
pub struct CardAction {
    pub key: char,
    pub label: String,
    pub hint: String,
    pub answers: Map<String, Value>,
    /// Whether a text goes along: a reason, or what to change.
    pub text: Option<TextPrompt>,
    pub is_danger: bool,
}

/// The text that goes along with a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPrompt {
    Required(&'static str),
    Optional(&'static str),
}

const REASON: TextPrompt = TextPrompt::Required("What should the agent do instead?");

fn decision(decision: Decision) -> Map<String, Value> {
    Map::from_iter([("decision".to_owned(), json!(decision))])
}

fn action(key: char, label: impl Into<String>, hint: impl Into<String>, answers: Map<String, Value>) -> CardAction {
    CardAction { key, label: label.into(), hint: hint.into(), answers, text: None, is_danger: false }
}

/// The decisions about a card of the server; empty for a question of the model, which is a form.
#[must_use]
pub fn actions(pending: &Pending) -> Vec<CardAction> {
    match (pending.kind, &pending.call) {
        (QuestionKind::ToolApproval, Some(call)) => call_actions(call),
        (QuestionKind::PlanApproval, _) => plan_actions(),
        (QuestionKind::StepStop, _) => pending
            .questions
            .first()
            .map(|question| {
                let keys = ['a', 'r', 'e'].into_iter().chain('1'..='9');
                let button = |(key, button): (char, &planwright_protocol::question::Button)| {
                    let answers = Map::from_iter([(question.name.clone(), button.value.clone())]);
                    action(key, button.label.clone(), button.description.clone().unwrap_or_default(), answers)
                };
                keys.zip(&question.buttons).map(button).collect()
            })
            .unwrap_or_default(),
        (QuestionKind::ToolApproval | QuestionKind::User, _) => Vec::new(),
    }
}

fn plan_actions() -> Vec<CardAction> {
    let approve = |yes: bool| Map::from_iter([("approve".to_owned(), Value::from(yes))]);
    let mut keep = action('d', "Keep planning", "", approve(false));
    keep.text = Some(TextPrompt::Optional("What should change? (optional)"));
    vec![action('a', "Accept & build", "", approve(true)), keep]
}

fn call_actions(call: &CallToApprove) -> Vec<CardAction> {
    let is_after = call.moment == ApprovalMoment::After;
    let folder = call.folder.as_deref().unwrap_or("/");
    let words = if is_after {
        ["Keep", "Take back", "Take back with a reason", "Keep, also from now on"]
    } else {
        ["Allow once", "Deny", "Deny with a reason", "Always allow"]
    };
    let mut act = action('a', act_label(call).unwrap_or_else(|| words[0].to_owned()), "", decision(Decision::Approve));
    act.is_danger = deletes(call);
    let hint = if is_after { "the workspace returns to its state before the command" } else { "" };
    let deny = action('d', words[1], hint, decision(Decision::Deny));
    let mut reason = action('r', words[2], "", decision(Decision::Deny));
    reason.text = Some(REASON);
    let mut actions = vec![act, deny, reason];
    if call.grant.is_some() {
        let subject = if is_after { format!("what commands change in {folder}") } else { format!("{} in {folder}", call.tool) };
        let hint = format!("{subject}, for the rest of this chat");
        actions.push(action('w', words[3], hint, decision(Decision::ApproveAlways)));
    }
    actions
}

fn deletes(call: &CallToApprove) -> bool {
    !call.deleted.is_empty()
}

/// The act itself, where it can be said in few words.
fn act_label(call: &CallToApprove) -> Option<String> {
    if call.moment == ApprovalMoment::After || !deletes(call) {
        return None;
    }
    Some(match call.deleted.as_slice() {
        [DeletedEntry { kind: EntryKind::Folder, .. }] => "Delete the folder".to_owned(),
        _ => format!("Delete {}", files(call.deleted_count)),
    })
}

fn files(count: u64) -> String {
    format!("{count} {}", if count == 1 { "file" } else { "files" })
}

/// The title of a card.
#[must_use]
pub fn title(pending: &Pending) -> String {
    if let Some(plan) = &pending.plan {
        let count = plan.steps.len();
        return format!("Approve plan v{}, {count} {}?", plan.revision, if count == 1 { "step" } else { "steps" });
    }
    let Some(call) = pending.call.as_ref().filter(|_| pending.kind == QuestionKind::ToolApproval) else {
        let title = if pending.kind == QuestionKind::StepStop { "Stopped after a step" } else { "Question of the agent" };
        return title.to_owned();
    };
    if call.moment == ApprovalMoment::After {
        return "Keep the changes?".to_owned();
    }
    match call.deleted.as_slice() {
        [DeletedEntry { kind: EntryKind::Folder, path, .. }] => return format!("Delete the folder {path}?"),
        [] => {}
        _ => return format!("Delete {}?", files(call.deleted_count)),
    }
    let has = |effect: &str| call.effects.iter().any(|shown| shown.effect == effect);
    if has("network") {
        return "Run a command with network access?".to_owned();
    }
    if call.tool == "run" { "Run this command?".to_owned() } else { format!("Allow {}?", call.tool) }
}

/// An effect in words; `None` for one that says nothing to people.
#[must_use]
pub fn effect_line(effect: &str, target: Option<&Value>) -> Option<String> {
    let verb = match effect {
        "read" | "read_secret" => "Read",
        "create" => "Create",
        "create_folder" => "Create folder",
        "write" | "write_plan" => "Change",
        "delete" => "Delete",
        "move" => "Move",
        "replace" => "Replace",
        "execute" => "Run",
        "network" => "Use the network",
        "unconfined" => "Run without the sandbox",
        "inspect" => "Run read-only",
        "delegate" => "Hand over to",
        "call" => "Call on the MCP server",
        "consult" => "Read by the MCP server",
        "fetch" => "Fetch",
        "keep" => return None,
        other => return Some(format!("{other} {}", target_text(target))),
    };
    Some(format!("{verb} {}", target_text(target)).trim_end().to_owned())
}

fn target_text(target: Option<&Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match target {
        None | Some(Value::Null | Value::Bool(_)) => String::new(),
        Some(Value::Object(object)) => match (object.get("from"), object.get("to"), object.get("command")) {
            (Some(from), Some(to), _) => format!("{} → {}", text(from), text(to)),
            (_, _, Some(command)) => text(command),
            _ => object.values().map(text).collect::<Vec<_>>().join(" "),
        },
        Some(value) => text(value),
    }
}

/// The command of a call that runs one.
#[must_use]
pub fn command(call: &CallToApprove) -> Option<&str> {
    call.args.as_ref().and_then(|args| args.get("command")).and_then(Value::as_str)
}
