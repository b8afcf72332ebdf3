use crate::effect::RecordEffect;
use crate::tool::{Category, Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use planwright_protocol::{ErrorCode, Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Let up to 4 helpers read at once; you get their findings. Each knows only its task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explore {
    tasks: Vec<String>,
}

/// Helpers of one call.
pub const MOST_HELPERS: usize = 4;
const LONGEST_TASK: usize = 4_000;

impl Input for Explore {
    const SPEC: Spec<'static> = Spec {
        name: "explore",
        category: Category::Search,
        risk: Risk::Low,
        read_only: true,
        needs: &[&[Permission::Explore]],
        examples: &[r#"{"tasks": ["Who calls `parse`?"]}"#],
    };

    fn prepare(self, _: &ToolContext) -> Result<Prepared, Problem> {
        let invalid = |text: String| Err(Problem::new(ErrorCode::InvalidArguments, text));
        if self.tasks.is_empty() || self.tasks.len() > MOST_HELPERS {
            return invalid(format!("`tasks` must have 1 to {MOST_HELPERS} tasks."));
        }
        if self.tasks.iter().any(|task| task.trim().is_empty() || task.len() > LONGEST_TASK) {
            return invalid(format!("Each task must have 1 to {LONGEST_TASK} bytes; a helper knows nothing else."));
        }
        let signal = Signal::Explore { tasks: self.tasks };
        Ok(Prepared::new(vec![RecordEffect::Explore], move |_| Ok(Output::default().signalling(signal))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::gate::AgentKind;
    use crate::offer::{Offer, tools_of};
    use crate::tool::Signal;
    use planwright_protocol::Role;

    #[test]
    fn planners_reviewers_and_commanders_explore_and_nobody_else() {
        for role in Role::all() {
            let explored = Trial::new(&[]).call(role, "explore", r#"{"tasks": ["Look", "There"]}"#);
            if [Role::Planner, Role::Reviewer, Role::Commander].contains(&role) {
                let tasks = vec!["Look".to_owned(), "There".to_owned()];
                assert_eq!(explored.unwrap().signal, Some(Signal::Explore { tasks }), "{role}");
            } else {
                assert_eq!(explored.unwrap_err().code.as_str(), "TOOL_NOT_PERMITTED", "{role}");
            }
        }
    }

    #[test]
    fn no_task_five_tasks_and_empty_ones_are_refused() {
        for args in [r#"{"tasks": []}"#, r#"{"tasks": ["a", "b", "c", "d", "e"]}"#, r#"{"tasks": ["a", " "]}"#, "{}"] {
            assert_eq!(Trial::new(&[]).plan("explore", args).unwrap_err().code.as_str(), "INVALID_ARGUMENTS", "{args}");
        }
    }

    #[test]
    fn helpers_have_the_reading_tools_and_no_others() {
        let offer = Offer { agent: AgentKind::Helper, ..Offer::default() };
        for role in [Role::Planner, Role::Reviewer, Role::Commander] {
            let names: Vec<&str> = tools_of(role, offer).map(|tool| tool.spec().name).collect();
            assert_eq!(names, ["read", "ls", "history", "web_fetch", "glob", "grep", "outline", "symbols", "references"]);
        }
    }
}
