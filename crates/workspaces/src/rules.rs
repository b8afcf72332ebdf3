//! The API's settings for one workspace, merged over the files; and the rules in force, for people.

use crate::settings::{Configuration, Settings, WorkspaceRules};
use planwright_config::WorkspaceSettings;
use planwright_protocol::api::workspace::{RulesView, SandboxView};
use planwright_protocol::settings::{Inspect, ModelChoice, ModelSettings, RunLimits, SandboxMode};
use planwright_protocol::{ErrorCode, Mode, Problem};
use serde_json::json;
use std::sync::Arc;

/// The rules with the user's settings for the workspace applied. A setting that the configuration no longer allows is ignored.
pub(crate) fn lay_over(own: &WorkspaceSettings, rules: WorkspaceRules, configuration: &dyn Configuration) -> WorkspaceRules {
    let WorkspaceRules { settings, servers } = rules;
    let model = own.model.as_ref().filter(|model| configuration.check_model(&settings.models, model).is_ok());
    let models = model.map_or_else(
        || settings.models.clone(),
        |model| Arc::new(ModelSettings { choice: ModelChoice::both(model.clone()), ..(*settings.models).clone() }),
    );
    let approvals = own.approvals.map_or_else(|| settings.approvals.clone(), |own| Arc::new(own.over(&settings.approvals)));
    let settings = Arc::new(Settings {
        models,
        approvals,
        default_mode: own.default_mode.unwrap_or(settings.default_mode),
        intent_switch: own.intent_switch.unwrap_or(settings.intent_switch),
        intent_classifier: own.intent_classifier.unwrap_or(settings.intent_classifier),
        ..(*settings).clone()
    });
    WorkspaceRules { settings, servers }
}

/// # Errors
/// The first setting that can't override the files' settings, and why.
pub(crate) fn check(own: &WorkspaceSettings, configured: &Settings, configuration: &dyn Configuration) -> Result<(), Problem> {
    if let Some(model) = &own.model {
        configuration.check_model(&configured.models, model).map_err(|problem| unfit("model", &problem.message))?;
    }
    match own.approvals.and_then(|own| own.laxer(&configured.approvals)) {
        Some(name) => Err(unfit(
            &format!("approvals.{name}"),
            "would allow more than the configuration does; rules can only be made stricter here. Change [approvals] in config.toml to allow more",
        )),
        None => Ok(()),
    }
}

fn unfit(setting: &str, why: &str) -> Problem {
    let details = json!({ "fields": { "settings": format!("`{setting}` {why}") } });
    Problem::new(ErrorCode::ValidationFailed, format!("`settings` doesn't fit: `{setting}` {why}.")).with_details(details)
}

/// The settings in force, as clients see them.
pub(crate) fn rules_view(settings: &Settings, configured: &Settings) -> RulesView {
    let RunLimits { turns, cost } = settings.limits;
    let sandbox = settings.commands.as_ref().map(|commands| &commands.sandbox);
    RulesView {
        default_mode: settings.default_mode,
        intent_switch: settings.intent_switch,
        intent_classifier: settings.intent_classifier,
        policy: settings.policy,
        approvals: (*settings.approvals).clone(),
        configured_approvals: (*configured.approvals).clone(),
        sandbox: SandboxView {
            enforced: sandbox.is_none_or(|sandbox| sandbox.mode == SandboxMode::Enforce),
            network: sandbox.is_some_and(|sandbox| sandbox.network),
            inspect: settings.inspect() == Inspect::On,
        },
        secrets: settings.secrets.patterns(),
        turns,
        cost: Some(cost).filter(|cost| cost.is_finite()),
        plan_model: settings.models.choice.name(Mode::Plan).map(str::to_owned),
        act_model: settings.models.choice.name(Mode::Act).map(str::to_owned),
    }
}
