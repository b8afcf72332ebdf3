use super::files;
use crate::effect::Effect;
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use planwright_plan::PlanDocument;
use planwright_protocol::{ErrorCode, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Ask the user to approve the plan that `write_plan` wrote.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitPlanMode {
    plan_file_path: String,
}

impl Input for ExitPlanMode {
    const SPEC: Spec<'static> = Spec {
        name: "exit_plan_mode",
        category: Category::Other,
        risk: Risk::Medium,
        read_only: false,
        needs: &[&[]],
        examples: &[r#"{"plan_file_path": "/plans/a.plan"}"#],
    };

    /// No effects: the chat asks the user, who decides whether the mode changes.
    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse_file(&self.plan_file_path)?;
        if !path.is_plan() {
            return Err(Problem::new(
                ErrorCode::NotAPlanFile,
                format!("{path} is not a plan file. Name the plan that you wrote with `write_plan`, such as /plans/add-login.plan."),
            ));
        }
        if cx.config.foreign_plans.contains(&path) {
            let text = format!("{path} is the plan of another chat. Write your own plan with `write_plan`.");
            return Err(Problem::new(ErrorCode::PlanNotOwned, text));
        }
        if files::regular(cx, &path)?.is_none() {
            return Err(Problem::new(ErrorCode::PathNotFound, format!("There is no {path}. Write the plan with `write_plan` first.")));
        }
        let snapshot = cx.workspace.read_plan(&path)?;
        if let Err(findings) = PlanDocument::parse(&String::from_utf8_lossy(&snapshot.bytes)) {
            let first = findings.first().map(ToString::to_string).unwrap_or_default();
            let more = if findings.len() > 1 { format!(" ({} more)", findings.len() - 1) } else { String::new() };
            return Err(Problem::new(
                ErrorCode::PlanInvalid,
                format!("{path} is not a valid plan: {first}{more}. Fix it, or write it again with `write_plan`."),
            ));
        }
        Ok(Prepared::new(Vec::<Effect>::new(), move |_| {
            Ok(Output::default()
                .with("status", "question_pending")
                .with("plan_file", path.to_string())
                .signalling(Signal::ExitPlanMode(path)))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::path::WorkspacePath;
    use crate::tool::Signal;

    const PLAN: &str = "---\ngoal: Greet\n---\n# Greet\n\n## Steps\n\n- [ ] 1. Say hello\n";

    #[test]
    fn a_plan_that_can_be_read_is_put_before_the_user() {
        let trial = Trial::new(&[("plans/greet.plan", PLAN)]);
        let output = trial.plan("exit_plan_mode", r#"{"plan_file_path": "plans/greet.plan"}"#).unwrap();
        assert_eq!(output.signal, Some(Signal::ExitPlanMode(WorkspacePath::parse("/plans/greet.plan").unwrap())));
    }

    #[test]
    fn what_is_no_plan_is_refused_with_the_place_to_mend() {
        let trial = Trial::new(&[("plans/bad.plan", "---\ngoal: Greet\n---\n# Greet\n"), ("src/a.rs", "x\n")]);
        let problem = trial.plan("exit_plan_mode", r#"{"plan_file_path": "/plans/bad.plan"}"#).unwrap_err();
        assert_eq!(problem.code.as_str(), "PLAN_INVALID");
        assert!(problem.message.contains("plan: ") && problem.message.split(':').count() > 2, "{}", problem.message);
        for (path, code) in
            [("/src/a.rs", "NOT_A_PLAN_FILE"), ("/plans/none.plan", "PATH_NOT_FOUND"), ("/plans/../src/a.rs", "PATH_INVALID")]
        {
            let refused = trial.plan("exit_plan_mode", &format!(r#"{{"plan_file_path": {path:?}}}"#)).unwrap_err();
            assert_eq!(refused.code.as_str(), code, "{path}");
        }
    }
}
