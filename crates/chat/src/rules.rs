//! What the user sets for one workspace, and what holds there in the end.

use crate::configuration::Rules;
use crate::sessions::{DefaultMode, IntentClassifier, IntentSwitch, Limits, Settings};
use planwright_protocol::{ErrorCode, Mode, Problem};
use planwright_tools::{Approvals, Inspect, Policy, Rule, SandboxMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// What the user sets for one workspace; it goes over the files.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceSettings {
    /// The mode of new chats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<DefaultMode>,
    /// What a message does that is an order to carry out the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_switch: Option<IntentSwitch>,
    /// Who reads a message that the rules can't; `model` costs a little with each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_classifier: Option<IntentClassifier>,
    /// The model for both modes, as PROVIDER/MODEL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ollama/qwen3-coder")]
    pub model: Option<String>,
    /// Rules that are stricter than the configured ones; others are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<StricterApprovals>,
}

/// Rules for calls that need a word from the user; what is left out stays as it is configured.
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
    /// The configured rules with these over them, where these are stricter.
    fn over(self, configured: &Approvals) -> Approvals {
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
    fn laxer(self, configured: &Approvals) -> Option<&'static str> {
        let rules = [
            ("delete", self.delete, configured.delete),
            ("outside_plan", self.outside_plan, configured.outside_plan),
            ("execute", self.execute, configured.execute),
            ("mcp", self.mcp, configured.mcp),
        ];
        rules.into_iter().find(|(_, own, configured)| own.is_some_and(|own| own < *configured)).map(|(name, ..)| name)
    }
}

impl WorkspaceSettings {
    /// The rules with these over them. What can't be obeyed any more, because the configuration changed, is not.
    pub(crate) fn over(&self, rules: Rules) -> Rules {
        let Rules { settings, models, servers } = rules;
        let models = self.model.as_ref().and_then(|model| models.named(model).ok()).unwrap_or(models);
        let approvals = self.approvals.map_or_else(|| settings.approvals.clone(), |own| Arc::new(own.over(&settings.approvals)));
        let settings = Arc::new(Settings {
            default_mode: self.default_mode.unwrap_or(settings.default_mode),
            intent_switch: self.intent_switch.unwrap_or(settings.intent_switch),
            intent_classifier: self.intent_classifier.unwrap_or(settings.intent_classifier),
            approvals,
            ..(*settings).clone()
        });
        Rules { settings, models, servers }
    }

    /// # Errors
    /// What can't be set over these rules, and why.
    pub(crate) fn check(&self, configured: &Rules) -> Result<(), Problem> {
        if let Some(model) = &self.model {
            configured.models.named(model).map_err(|problem| unfit("model", &problem.message))?;
        }
        match self.approvals.and_then(|own| own.laxer(&configured.settings.approvals)) {
            Some(name) => Err(unfit(
                &format!("approvals.{name}"),
                "would allow more than the configuration does; here rules can only be made stricter. Change [approvals] in config.toml to allow more",
            )),
            None => Ok(()),
        }
    }
}

fn unfit(setting: &str, why: &str) -> Problem {
    let details = json!({ "fields": { "settings": format!("`{setting}` {why}") } });
    Problem::new(ErrorCode::ValidationFailed, format!("`settings` doesn't fit: `{setting}` {why}.")).with_details(details)
}

/// What holds in a workspace: the user's configuration, what of the folder's own file is obeyed, and what was set for it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RulesView {
    pub default_mode: DefaultMode,
    pub intent_switch: IntentSwitch,
    pub intent_classifier: IntentClassifier,
    /// What has to be there before anything changes.
    pub policy: Policy,
    pub approvals: Approvals,
    /// Those of the files alone: what is set for the workspace can only be stricter.
    pub configured_approvals: Approvals,
    pub sandbox: SandboxView,
    /// Names of files that are asked about before they are read.
    pub secrets: Vec<String>,
    /// Requests to the model per run.
    pub turns: u32,
    /// What a chat may cost, in US dollars; null for no limit.
    pub cost: Option<f64>,
    /// The model of each mode, as PROVIDER/MODEL; null where there is none.
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub plan_model: Option<String>,
    #[schemars(example = &"local/qwen3-coder")]
    pub act_model: Option<String>,
}

/// What holds commands in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SandboxView {
    /// Whether commands run in a sandbox at all.
    pub enforced: bool,
    /// Whether commands have the network without asking.
    pub network: bool,
    /// Whether planners may run commands that can change nothing.
    pub inspect: bool,
}

impl RulesView {
    pub(crate) fn new(rules: &Rules, configured: &Rules) -> Self {
        let settings = &rules.settings;
        let Limits { turns, cost } = settings.limits;
        let sandbox = settings.commands.as_ref().map(|commands| &commands.sandbox);
        Self {
            default_mode: settings.default_mode,
            intent_switch: settings.intent_switch,
            intent_classifier: settings.intent_classifier,
            policy: settings.policy,
            approvals: (*settings.approvals).clone(),
            configured_approvals: (*configured.settings.approvals).clone(),
            sandbox: SandboxView {
                enforced: sandbox.is_none_or(|sandbox| sandbox.mode == SandboxMode::Enforce),
                network: sandbox.is_some_and(|sandbox| sandbox.network),
                inspect: settings.inspect() == Inspect::On,
            },
            secrets: settings.secrets.patterns(),
            turns,
            cost: Some(cost).filter(|cost| cost.is_finite()),
            plan_model: rules.models.name(Mode::Plan),
            act_model: rules.models.name(Mode::Act),
        }
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
