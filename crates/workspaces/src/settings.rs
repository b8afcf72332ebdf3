//! The rules in force in a workspace.

use planwright_config::Trust;
use planwright_protocol::settings::{
    Approvals, DefaultMode, GitSettings, Inspect, IntentClassifier, IntentSwitch, ModelSettings, Policy, RunLimits,
};
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::{Commands, Secrets, Servers, Workspace};
use std::sync::Arc;

/// The settings that hold in a workspace: the answer to "which setting holds here?"
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub models: Arc<ModelSettings>,
    pub approvals: Arc<Approvals>,
    pub secrets: Arc<Secrets>,
    pub policy: Policy,
    pub default_mode: DefaultMode,
    pub intent_switch: IntentSwitch,
    pub intent_classifier: IntentClassifier,
    pub limits: RunLimits,
    pub git: GitSettings,
    /// How commands are run; `None` where none are.
    pub commands: Option<Arc<Commands>>,
}

impl Settings {
    #[must_use]
    pub fn inspect(&self) -> Inspect {
        self.commands.as_ref().map_or(Inspect::Off, |commands| commands.sandbox.inspect)
    }
}

/// The rules in force: settings and MCP servers.
#[derive(Clone)]
pub struct Rules {
    pub settings: Arc<Settings>,
    /// The MCP servers.
    pub servers: Arc<dyn Servers>,
}

/// Where the rules of a workspace come from.
pub trait Configuration: Send + Sync {
    /// The user's own rules, for what belongs to no workspace.
    fn everywhere(&self) -> &Rules;

    /// The rules of a workspace by the files. `accepted` is the hash of the workspace's file that the user trusts.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    fn within(&self, workspace: &Workspace, accepted: Option<&str>) -> Result<(Rules, Trust), Problem>;

    /// Whether a model may be chosen for a workspace by the API.
    ///
    /// # Errors
    /// Why not.
    fn check_model(&self, settings: &ModelSettings, model: &str) -> Result<(), Problem>;
}

/// The same rules everywhere, whatever is in a workspace.
impl Configuration for Rules {
    fn everywhere(&self) -> &Rules {
        self
    }

    fn within(&self, _: &Workspace, _: Option<&str>) -> Result<(Rules, Trust), Problem> {
        Ok((self.clone(), Trust::nothing()))
    }

    fn check_model(&self, _: &ModelSettings, model: &str) -> Result<(), Problem> {
        Err(Problem::new(ErrorCode::ProviderRejected, format!("The model {model} can't be chosen here.")))
    }
}
