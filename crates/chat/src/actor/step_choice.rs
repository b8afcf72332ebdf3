//! The steps of a plan that the user wants executed.

use planwright_plan::PlanDocument;
use planwright_protocol::op::ExpectedPlan;
use planwright_protocol::plan::{StepChoice, numbers};
use planwright_protocol::{ErrorCode, Plan, Problem, Progress};
use planwright_store::ApprovalRow;
use serde_json::json;

/// The progress at the start of an approval.
pub fn begin_progress(approval: &ApprovalRow, earlier: Option<&Progress>) -> Option<Progress> {
    let document = PlanDocument::parse(&approval.content).ok()?;
    let progress = planwright_plan::begin_progress(&approval.plan_file, &document.plan, earlier);
    Some(Progress { choice: approval.choice.clone(), ..progress })
}

/// The choice in its stored form: sorted, without duplicates, and `None` for all steps.
///
/// # Errors
/// `VALIDATION_FAILED`, with the field that does not fit the plan.
pub fn checked(expected: ExpectedPlan, approval: &ApprovalRow, earlier: Option<&Progress>) -> Result<StepChoice, Problem> {
    let ExpectedPlan { sha256, choice } = expected;
    if choice.is_everything() {
        return Ok(choice);
    }
    if sha256.is_none() {
        return Err(invalid("plan_sha256", "is required with `steps` or `stop_after`: the hash of the plan that you looked at"));
    }
    let Some((document, progress)) = PlanDocument::parse(&approval.content).ok().zip(begin_progress(approval, earlier)) else {
        return Ok(choice);
    };
    check_against(choice, &document.plan, &progress)
}

fn check_against(choice: StepChoice, plan: &Plan, progress: &Progress) -> Result<StepChoice, Problem> {
    let all: Vec<u32> = plan.steps.iter().map(|step| step.step_number).collect();
    let mut steps = choice.steps.unwrap_or_else(|| all.clone());
    steps.sort_unstable();
    steps.dedup();
    if steps.is_empty() {
        return Err(invalid("steps", "must name at least one step"));
    }
    if let Some(unknown) = steps.iter().find(|step| !all.contains(step)) {
        return Err(invalid("steps", &format!("names step {unknown}, which the plan does not have; its steps are {}", numbers(&all))));
    }
    let open = progress.open_steps();
    if !steps.iter().any(|step| open.contains(step)) {
        return Err(invalid("steps", "names only steps that are done or skipped already"));
    }
    let stop_after = match choice.stop_after {
        None => None,
        Some(stop) => Some(checked_stop(stop, &steps, &open)?),
    };
    Ok(StepChoice { steps: (steps != all).then_some(steps), stop_after })
}

/// The last chosen step up to the wanted stop.
fn checked_stop(stop: u32, steps: &[u32], open: &[u32]) -> Result<u32, Problem> {
    let Some(last) = steps.iter().copied().filter(|step| *step <= stop).max() else {
        return Err(invalid("stop_after", &format!("comes before every chosen step; these are {}", numbers(steps))));
    };
    if !open.contains(&last) {
        return Err(invalid("stop_after", &format!("names step {last}, which is done or skipped already; choose a later one")));
    }
    Ok(last)
}

fn invalid(field: &str, what: &str) -> Problem {
    Problem::new(ErrorCode::ValidationFailed, format!("`{field}` {what}.")).with_details(json!({ "fields": { field: what } }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::{PlanStep, StepStatus};

    fn choose(steps: Option<&[u32]>, stop_after: Option<u32>) -> Result<StepChoice, String> {
        let step = |step_number| PlanStep { step_number, action: "x".to_owned(), ..PlanStep::default() };
        let plan = Plan { goal: "x".to_owned(), steps: (1..=4).map(step).collect(), ..Plan::default() };
        let mut progress = planwright_plan::begin_progress("/plans/a.plan", &plan, None);
        progress.set(1, StepStatus::Done);
        let choice = StepChoice { steps: steps.map(<[u32]>::to_vec), stop_after };
        let field = |problem: Problem| problem.details.unwrap()["fields"].as_object().unwrap().keys().next().unwrap().clone();
        check_against(choice, &plan, &progress).map_err(field)
    }

    #[test]
    fn a_choice_is_sorted_and_fits_the_plan() {
        let stored = |steps: Option<&[u32]>, stop_after| StepChoice { steps: steps.map(<[u32]>::to_vec), stop_after };
        assert_eq!(choose(Some(&[3, 2, 3]), None).unwrap(), stored(Some(&[2, 3]), None));
        assert_eq!(choose(Some(&[4, 3, 2, 1]), None).unwrap(), stored(None, None), "all of them");
        assert_eq!(choose(Some(&[1, 2]), Some(3)).unwrap(), stored(Some(&[1, 2]), Some(2)), "the last chosen step before the stop");
        assert_eq!(choose(None, Some(9)).unwrap(), stored(None, Some(4)));
    }

    #[test]
    fn a_choice_that_does_not_fit_names_its_field() {
        for (steps, stop_after, field) in [
            (Some(&[][..]), None, "steps"),
            (Some(&[0, 2]), None, "steps"),
            (Some(&[5]), None, "steps"),
            (Some(&[1]), None, "steps"),
            (Some(&[3]), Some(2), "stop_after"),
            (None, Some(1), "stop_after"),
            (None, Some(0), "stop_after"),
        ] {
            assert_eq!(choose(steps, stop_after).unwrap_err(), field, "{steps:?} {stop_after:?}");
        }
    }
}
