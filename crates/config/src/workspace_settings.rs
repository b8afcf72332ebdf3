//! Settings of one workspace from the API; they override the files.

use planwright_protocol::settings::{Approvals, DefaultMode, IntentClassifier, IntentSwitch, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The user's settings for one workspace; they override the files.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceSettings {
    /// The mode of new chats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<DefaultMode>,
    /// The effect of a message that orders the plan to be executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_switch: Option<IntentSwitch>,
    /// Who reads a message that the rules can't classify; `model` costs a little with each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_classifier: Option<IntentClassifier>,
    /// The model for both modes, as PROVIDER/MODEL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ollama/qwen3-coder")]
    pub model: Option<String>,
    /// Stricter rules than the configured ones; others are rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<StricterApprovals>,
}

/// Rules for calls that require approval; absent ones stay as configured.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StricterApprovals {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_plan: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execute: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Rule>,
}

impl StricterApprovals {
    /// The configured rules, made stricter by these.
    #[must_use]
    pub fn over(self, configured: &Approvals) -> Approvals {
        let stricter = |own: Option<Rule>, configured: Rule| own.map_or(configured, |own| own.max(configured));
        Approvals {
            delete: stricter(self.delete, configured.delete),
            outside_plan: stricter(self.outside_plan, configured.outside_plan),
            execute: stricter(self.execute, configured.execute),
            mcp: stricter(self.mcp, configured.mcp),
            tools: configured.tools.clone(),
        }
    }

    /// The first rule that would allow more than the configured one.
    #[must_use]
    pub fn laxer(self, configured: &Approvals) -> Option<&'static str> {
        let rules = [
            ("delete", self.delete, configured.delete),
            ("outside_plan", self.outside_plan, configured.outside_plan),
            ("execute", self.execute, configured.execute),
            ("mcp", self.mcp, configured.mcp),
        ];
        rules.into_iter().find(|(_, own, configured)| own.is_some_and(|own| own < *configured)).map(|(name, ..)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_a_workspace_makes_rules_stricter_and_never_laxer() {
        let configured = Approvals { delete: Rule::Ask, execute: Rule::Allow, ..Approvals::default() };
        let own = StricterApprovals { delete: Some(Rule::Allow), execute: Some(Rule::Deny), ..StricterApprovals::default() };
        let held = own.over(&configured);
        assert_eq!((held.delete, held.execute, held.outside_plan), (Rule::Ask, Rule::Deny, Rule::Ask));
        assert!(held.are_as_strict_as(&configured));
        assert_eq!(own.laxer(&configured), Some("delete"));
        assert_eq!(StricterApprovals { delete: None, ..own }.laxer(&configured), None);
    }
}
