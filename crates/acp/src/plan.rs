//! A plan in the client's form: entries with a status, and a text to approve.

use agent_client_protocol::v1::schema::{Plan as Entries, PlanEntry, PlanEntryPriority, PlanEntryStatus};
use planwright_protocol::{Plan, PlanStep, StepStatus};

pub fn entries(plan: &Plan) -> Entries {
    let entry = |step: &PlanStep| {
        let (note, status) = match step.status {
            StepStatus::Pending => ("", PlanEntryStatus::Pending),
            StepStatus::InProgress => ("", PlanEntryStatus::InProgress),
            StepStatus::Done => ("", PlanEntryStatus::Completed),
            StepStatus::Skipped => (" (skipped)", PlanEntryStatus::Completed),
        };
        PlanEntry::new(format!("{}. {}{note}", step.step_number, step.action), PlanEntryPriority::Medium, status)
    };
    Entries::new(plan.steps.iter().map(entry).collect())
}

/// The text to approve: the goal, and each step with its files and its check.
pub fn text(goal: &str, steps: &[PlanStep], plan_file: &str, revision: u32) -> String {
    let mut text = format!("**{goal}**\n");
    for step in steps {
        text.push_str(&format!("\n{}. {}", step.step_number, step.action));
        if !step.reason.is_empty() {
            text.push_str(&format!("\n   {}", step.reason));
        }
        if !step.files.is_empty() {
            let files = step.files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
            text.push_str(&format!("\n   files: {files}"));
        }
        if let Some(command) = &step.verify {
            text.push_str(&format!("\n   check: `{command}`"));
        }
    }
    text.push_str(&format!("\n\n{plan_file}, revision {revision}"));
    text
}
