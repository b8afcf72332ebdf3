//! `[approvals]` and `[policy]`.

use crate::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happens to a call that requires approval. Ordered by strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Allow,
    Ask,
    Deny,
}

/// The `[approvals]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    /// Deletions.
    pub delete: Rule,
    /// Changes to files that the approved plan does not name.
    pub outside_plan: Rule,
    /// Commands inside the sandbox; a command outside it always asks.
    pub execute: Rule,
    /// Tools of MCP servers; `deny` also covers read-only ones.
    pub mcp: Rule,
    /// A rule for one tool, by its name; it can only tighten.
    pub tools: BTreeMap<String, Rule>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { delete: Rule::Ask, outside_plan: Rule::Ask, execute: Rule::Allow, mcp: Rule::Ask, tools: BTreeMap::new() }
    }
}

impl Approvals {
    /// Whether everything allowed by these rules is also allowed by `other`.
    #[must_use]
    pub fn are_as_strict_as(&self, other: &Self) -> bool {
        let Self { delete, outside_plan, execute, mcp, tools } = self;
        let rule = |tools: &BTreeMap<String, Rule>, name: &String| tools.get(name).copied().unwrap_or(Rule::Allow);
        *delete >= other.delete
            && *outside_plan >= other.outside_plan
            && *execute >= other.execute
            && *mcp >= other.mcp
            && other.tools.iter().all(|(name, theirs)| rule(tools, name) >= *theirs)
    }
}

/// The `[policy]` of the configuration: requirements for every change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Policy")]
pub struct PlanPolicy {
    /// Whether act mode changes nothing and runs no command (except the Tester's) until the user has approved a plan,
    /// however the chat entered act mode.
    pub act_requires_plan: bool,
    /// Whether approval requires a plan whose steps name files.
    pub plan_requires_files: bool,
}

impl PlanPolicy {
    /// Whether everything allowed by this policy is also allowed by `other`.
    #[must_use]
    pub fn is_as_strict_as(self, other: Self) -> bool {
        self.act_requires_plan >= other.act_requires_plan && self.plan_requires_files >= other.plan_requires_files
    }

    /// Why this policy rejects the plan, if it does.
    #[must_use]
    pub fn objection(self, plan: &Plan) -> Option<&'static str> {
        (self.plan_requires_files && plan.files().iter().all(|file| file.trim().is_empty())).then_some(
            "This workspace requires plans that name their files, and no step of this plan does. Add `files` to the steps that change something.",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanStep;

    #[test]
    fn approvals_are_as_strict_as_others_when_no_rule_is_laxer() {
        let usual = Approvals::default();
        let tools = |rule| BTreeMap::from([("write".to_owned(), rule)]);
        let asks = Approvals { tools: tools(Rule::Ask), ..Approvals::default() };
        assert!(usual.are_as_strict_as(&usual) && asks.are_as_strict_as(&usual) && !usual.are_as_strict_as(&asks));
        for (rule, strict) in [(Rule::Allow, false), (Rule::Ask, true), (Rule::Deny, true)] {
            assert_eq!(Approvals { delete: rule, ..Approvals::default() }.are_as_strict_as(&usual), strict);
            assert_eq!(Approvals { outside_plan: rule, ..Approvals::default() }.are_as_strict_as(&usual), strict);
            assert_eq!(Approvals { mcp: rule, ..Approvals::default() }.are_as_strict_as(&usual), strict);
            assert!(Approvals { execute: rule, ..Approvals::default() }.are_as_strict_as(&usual));
            assert_eq!(Approvals { tools: tools(rule), ..Approvals::default() }.are_as_strict_as(&asks), strict);
        }
    }

    #[test]
    fn a_policy_is_as_strict_as_another_when_it_leaves_nothing_of_it_out() {
        let policy = |act_requires_plan, plan_requires_files| PlanPolicy { act_requires_plan, plan_requires_files };
        let all = [policy(false, false), policy(true, false), policy(false, true), policy(true, true)];
        for (one, other, strict) in [(0, 0, true), (0, 1, false), (0, 2, false), (1, 0, true), (1, 2, false), (2, 1, false), (3, 1, true)] {
            assert_eq!(all[one].is_as_strict_as(all[other]), strict, "{one} {other}");
        }
        assert!(all[3].is_as_strict_as(all[2]) && all[2].is_as_strict_as(all[2]));
    }

    #[test]
    fn a_policy_objects_to_a_plan_that_names_no_files() {
        let plan = |files: &[&str]| {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            Plan { steps: vec![PlanStep::default(), PlanStep { files, ..PlanStep::default() }], ..Plan::default() }
        };
        let policy = PlanPolicy { plan_requires_files: true, ..PlanPolicy::default() };
        assert!(policy.objection(&plan(&[])).is_some() && policy.objection(&plan(&[" "])).is_some());
        assert_eq!((policy.objection(&plan(&["a"])), policy.objection(&plan(&["", "src/*.rs"]))), (None, None));
        assert_eq!(PlanPolicy { act_requires_plan: true, ..PlanPolicy::default() }.objection(&plan(&[])), None);
    }
}
