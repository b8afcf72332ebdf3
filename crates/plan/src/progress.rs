//! The initial progress of an approved plan.

use planwright_protocol::plan::{StepChoice, StepProgress};
use planwright_protocol::{Plan, PlanStep, Progress, StepStatus};

/// The progress at the approval: steps that are already ticked count. A finished plan starts again. A tick is no proof: a step
/// with a check is done only according to `earlier`, which the server saw.
#[must_use]
pub fn begin_progress(plan_file: &str, plan: &Plan, earlier: Option<&Progress>) -> Progress {
    let is_over = plan.steps.iter().all(|step| step.status.is_finished());
    let was_seen = |step: &PlanStep| {
        let earlier = earlier.filter(|earlier| earlier.plan_file == plan_file).map(|earlier| earlier.steps.as_slice());
        let same = |known: &&StepProgress| known.step_number == step.step_number && known.action == step.action;
        earlier.unwrap_or_default().iter().find(same).is_some_and(|known| known.status == StepStatus::Done)
    };
    let is_claimed = |step: &PlanStep| step.status == StepStatus::Done && step.verify.is_some() && !was_seen(step);
    let status = |step: &PlanStep| if is_over || is_claimed(step) { StepStatus::Pending } else { step.status };
    let steps = plan.steps.iter();
    let steps =
        steps.map(|step| StepProgress { step_number: step.step_number, action: step.action.clone(), status: status(step), note: None });
    Progress { plan_file: plan_file.to_owned(), steps: steps.collect(), reported_file: None, choice: StepChoice::default() }
}
