//! The API's settings for one workspace, merged over the files; and the rules in force, for people.

use crate::settings::{Configuration, Settings, WorkspaceRules};
use planwright_config::WorkspaceSettings;
use planwright_protocol::settings::{
    Approvals, DefaultMode, Inspect, IntentClassifier, IntentSwitch, ModelChoice, ModelSettings, PlanPolicy, RunLimits, SandboxMode,
};
use planwright_protocol::{ErrorCode, Mode, Problem};
use schemars::JsonSchema;
use serde::Serialize;
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

/// The settings in force in a workspace: the user's configuration, the applied parts of the folder's own file, and the API's settings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RulesView {
    pub default_mode: DefaultMode,
    pub intent_switch: IntentSwitch,
    pub intent_classifier: IntentClassifier,
    /// Requirements for every change.
    pub policy: PlanPolicy,
    pub approvals: Approvals,
    /// The rules from the files alone: the workspace's own settings can only be stricter.
    pub configured_approvals: Approvals,
    pub sandbox: SandboxView,
    /// Patterns of files that ask before they are read.
    pub secrets: Vec<String>,
    /// Maximum requests to the model per run.
    pub turns: u32,
    /// Maximum cost of a chat, in US dollars; null for no limit.
    pub cost: Option<f64>,
    /// The model of each mode, as PROVIDER/MODEL; null if there is none.
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub plan_model: Option<String>,
    #[schemars(example = &"local/qwen3-coder")]
    pub act_model: Option<String>,
}

/// The sandbox of commands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SandboxView {
    /// Whether commands run in a sandbox at all.
    pub enforced: bool,
    /// Whether commands have network access without asking.
    pub network: bool,
    /// Whether planners may run commands, in a sandbox where nothing can change.
    pub inspect: bool,
}

impl RulesView {
    pub(crate) fn new(settings: &Settings, configured: &Settings) -> Self {
        let RunLimits { turns, cost } = settings.limits;
        let sandbox = settings.commands.as_ref().map(|commands| &commands.sandbox);
        Self {
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
}
