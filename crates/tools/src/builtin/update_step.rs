use crate::command::Request;
use crate::effect::{Effect, RecordEffect};
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Output, Prepared, Risk, Spec, ToolContext};
use planwright_plan::PlanDocument;
use planwright_protocol::plan::{self, StepChoice};
use planwright_protocol::{ErrorCode, Permission, PlanStep, Problem, StepStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Report progress on a step of the approved plan. `done` runs its `verify` command, which must succeed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateStep {
    pub step_number: u32,
    pub status: NewStatus,
    /// Why it was skipped, for the user.
    pub note: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum NewStatus {
    InProgress,
    Done,
    Skipped,
}

impl From<NewStatus> for StepStatus {
    fn from(status: NewStatus) -> Self {
        match status {
            NewStatus::InProgress => Self::InProgress,
            NewStatus::Done => Self::Done,
            NewStatus::Skipped => Self::Skipped,
        }
    }
}

const LONGEST_NOTE: usize = 2000;
/// Whole test suites are checks too.
const LONGEST_CHECK: Duration = Duration::from_mins(15);

impl Input for UpdateStep {
    const SPEC: Spec<'static> = Spec {
        name: "update_step",
        category: Category::Other,
        risk: Risk::Low,
        read_only: false,
        needs: &[&[Permission::Progress]],
        examples: &[
            r#"{"step_number": 1, "status": "done"}"#,
            r#"{"step_number": 2, "status": "skipped", "note": "The file is gone already"}"#,
        ],
    };

    /// The session keeps the progress; here is only what the call would do: run the step's check, if it has one.
    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        if self.note.as_ref().is_some_and(|note| note.chars().count() > LONGEST_NOTE) {
            let text = format!("`note` is longer than {LONGEST_NOTE} characters. Say it shorter; the rest belongs into your answer.");
            return Err(Problem::new(ErrorCode::InvalidArguments, text));
        }
        let step = match self.step_in(cx.config.approved_plan.as_deref(), &cx.config.approved_steps) {
            Ok(step) => step,
            // Said only to roles that may report progress at all.
            Err(problem) => return Ok(Prepared::new(vec![RecordEffect::Progress], move |_| Err(problem))),
        };
        let Some(command) = step.verify.filter(|_| self.status == NewStatus::Done) else {
            return Ok(Prepared::new(vec![RecordEffect::Progress], |permit| {
                permit.to_record(RecordEffect::Progress)?.enter()?;
                Ok(Output::default())
            }));
        };
        let request = Request { command, folder: WorkspacePath::root(), time: LONGEST_CHECK, network: false };
        let mut effects: Vec<Effect> = vec![RecordEffect::Progress.into()];
        effects.extend(cx.command.effects(&request).into_iter().map(Effect::from));
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |permit| cx.command.clone().run(&cx, &request, &permit.to_run())))
    }
}

impl UpdateStep {
    /// The step of the approved plan that is meant.
    ///
    /// # Errors
    /// No approved plan, no such step in it, or a step that the user did not approve.
    fn step_in(&self, approved_plan: Option<&str>, choice: &StepChoice) -> Result<PlanStep, Problem> {
        let Some(plan) = approved_plan.and_then(|content| PlanDocument::parse(content).ok()).map(|document| document.plan) else {
            let text = "This chat has no approved plan, so there are no steps to report. Go on with the task itself.";
            return Err(Problem::new(ErrorCode::PlanNotApproved, text));
        };
        let numbers = plan.steps.iter().map(|step| step.step_number.to_string()).collect::<Vec<_>>().join(", ");
        let allowed = choice.allowed(&plan);
        let step = plan.steps.into_iter().find(|step| step.step_number == self.step_number).ok_or_else(|| {
            let text = format!("The approved plan has no step {}. Its steps are: {numbers}.", self.step_number);
            Problem::new(ErrorCode::InvalidArguments, text)
        })?;
        match not_allowed(step.step_number, choice, &allowed) {
            Some(problem) => Err(problem),
            None => Ok(step),
        }
    }
}

/// Why the agent can't report a step of the approved plan now.
fn not_allowed(number: u32, choice: &StepChoice, allowed: &[u32]) -> Option<Problem> {
    if choice.allows(number) {
        return None;
    }
    let allowed = plan::numbers(allowed);
    let text = match choice.stop_after {
        Some(stop) if choice.includes(number) => format!(
            "The user wants a stop after step {stop}, and step {number} comes later. Don't work on it before they continue. Steps that you can report: {allowed}."
        ),
        Some(_) | None => {
            format!("The user did not approve step {number}. Don't work on it. Steps that you can report: {allowed}.")
        }
    };
    Some(Problem::new(ErrorCode::PlanNotApproved, text))
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::effect::RecordEffect;
    use planwright_protocol::Role;
    use planwright_protocol::plan::StepChoice;

    const PLAN: &str = "# Greet\n\n## Steps\n\n- [ ] 1. Say hello\n- [ ] 2. Test it\n  verify: cargo test\n";

    fn trial() -> Trial {
        let mut trial = Trial::new(&[]);
        trial.cx.config.approved_plan = Some(PLAN.into());
        trial
    }

    #[test]
    fn only_a_step_that_is_done_and_has_a_check_runs_something() {
        let runs = |args: &str| {
            let effects = trial().prepare("update_step", args).unwrap().effects;
            effects.iter().find_map(|effect| effect.command().map(str::to_owned))
        };
        assert_eq!(runs(r#"{"step_number": 2, "status": "done"}"#).as_deref(), Some("cargo test"));
        for args in [
            r#"{"step_number": 1, "status": "done"}"#,
            r#"{"step_number": 2, "status": "skipped", "note": "later"}"#,
            r#"{"step_number": 2, "status": "in_progress"}"#,
        ] {
            assert_eq!(runs(args), None, "{args}");
            assert_eq!(trial().prepare("update_step", args).unwrap().effects, [RecordEffect::Progress.into()]);
        }
    }

    #[test]
    fn a_step_that_is_not_there_is_refused_with_those_that_are() {
        let problem = trial().act("update_step", r#"{"step_number": 3, "status": "done"}"#).unwrap_err();
        assert_eq!(problem.code.as_str(), "INVALID_ARGUMENTS");
        assert!(problem.message.contains("1, 2"), "{problem}");
        for args in [r#"{"step_number": 1, "status": "pending"}"#, r#"{"step_number": 1}"#, r#"{"step_number": -1, "status": "done"}"#] {
            assert_eq!(trial().refusal("update_step", args), "INVALID_ARGUMENTS", "{args}");
        }
        assert_eq!(Trial::new(&[]).refusal("update_step", r#"{"step_number": 1, "status": "done"}"#), "PLAN_NOT_APPROVED");
    }

    #[test]
    fn a_step_that_the_user_excluded_or_that_is_behind_the_stop_is_refused_and_its_check_does_not_run() {
        for (choice, why) in [
            (StepChoice { steps: Some(vec![1]), stop_after: None }, "did not approve step 2"),
            (StepChoice { steps: None, stop_after: Some(1) }, "wants a stop after step 1"),
        ] {
            let mut trial = trial();
            trial.cx.config.approved_steps = choice;
            let prepared = trial.prepare("update_step", r#"{"step_number": 2, "status": "done"}"#).unwrap();
            assert_eq!(prepared.effects, [RecordEffect::Progress.into()], "no command");
            for status in ["done", "skipped", "in_progress"] {
                let problem = trial.act("update_step", &format!(r#"{{"step_number": 2, "status": "{status}"}}"#)).unwrap_err();
                assert_eq!(problem.code.as_str(), "PLAN_NOT_APPROVED");
                assert!(problem.message.contains(why) && problem.message.contains("can report: 1."), "{problem}");
            }
            assert!(trial.act("update_step", r#"{"step_number": 1, "status": "done"}"#).is_ok());
        }
    }

    #[test]
    fn in_plan_mode_there_is_no_progress_and_a_role_without_commands_has_no_step_checked() {
        let call = |role, number: u32| trial().call(role, "update_step", &format!(r#"{{"step_number": {number}, "status": "done"}}"#));
        for role in [Role::Planner, Role::Reviewer] {
            assert_eq!(call(role, 9).unwrap_err().code.as_str(), "TOOL_BLOCKED_BY_MODE", "{role}");
        }
        for role in [Role::Designer, Role::Commander] {
            assert!(call(role, 1).is_ok());
            assert_eq!(call(role, 2).unwrap_err().code.as_str(), "TOOL_NOT_PERMITTED", "{role}");
        }
    }
}
