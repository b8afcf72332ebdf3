use crate::effect::RecordEffect;
use crate::tool::{Category, Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use planwright_protocol::{ErrorCode, Permission, Problem, Role};
use schemars::JsonSchema;
use serde::Deserialize;

/// Delegate one task to another role; the result is its report. It knows only the task: give goal, step, files, what to report.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delegate {
    /// `planner` or `actor`.
    role: String,
    /// Markdown.
    task: String,
}

const LONGEST_TASK: usize = 20_000;

impl Input for Delegate {
    const SPEC: Spec<'static> = Spec {
        name: "delegate",
        category: Category::Other,
        risk: Risk::Medium,
        read_only: false,
        needs: &[&[Permission::Delegate]],
        examples: &[r#"{"role": "actor", "task": "Do step 1 in /a.rs. Report what the tests said."}"#],
    };

    fn prepare(self, _: &ToolContext) -> Result<Prepared, Problem> {
        let invalid = |text: String| Problem::new(ErrorCode::InvalidArguments, text);
        let role = Role::named(&self.role.to_lowercase()).ok_or_else(|| {
            let names = Role::all().map(|role| role.row().name).collect::<Vec<_>>().join(", ");
            invalid(format!("There is no role {:?}. The roles are: {names}.", self.role))
        })?;
        if self.task.trim().is_empty() || self.task.len() > LONGEST_TASK {
            return Err(invalid(format!("`task` must have 1 to {LONGEST_TASK} bytes, because the delegate knows nothing else.")));
        }
        let signal = Signal::Delegate { role, task: self.task };
        Ok(Prepared::new(vec![RecordEffect::Delegate(role)], move |_| Ok(Output::default().signalling(signal))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::tool::Signal;
    use planwright_protocol::Role;

    #[test]
    fn a_commander_hands_tasks_to_planners_and_actors_and_nobody_else_does() {
        let delegate = |from: Role, to: &str| Trial::new(&[]).call(from, "delegate", &format!(r#"{{"role": "{to}", "task": "Look"}}"#));
        for (to, role) in [("planner", Role::Planner), ("Actor", Role::Actor)] {
            let signal = delegate(Role::Commander, to).unwrap().signal;
            assert_eq!(signal, Some(Signal::Delegate { role, task: "Look".to_owned() }));
        }
        for to in ["commander", "tester", "reviewer", "designer"] {
            assert_eq!(delegate(Role::Commander, to).unwrap_err().code.as_str(), "TOOL_NOT_PERMITTED", "{to}");
        }
        for from in Role::all().filter(|role| *role != Role::Commander) {
            let code = delegate(from, "actor").unwrap_err().code;
            assert!(["TOOL_NOT_PERMITTED", "TOOL_BLOCKED_BY_MODE"].contains(&code.as_str()), "{from}: {code}");
        }
    }

    #[test]
    fn a_role_that_is_none_and_a_task_that_says_nothing_are_refused() {
        for args in [r#"{"role": "boss", "task": "Look"}"#, r#"{"role": "actor", "task": " "}"#, r#"{"role": "actor"}"#] {
            assert_eq!(Trial::new(&[]).call(Role::Commander, "delegate", args).unwrap_err().code.as_str(), "INVALID_ARGUMENTS", "{args}");
        }
    }
}
