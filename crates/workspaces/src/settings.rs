//! The rules in force in a workspace.

use planwright_config::Trust;
use planwright_protocol::settings::{
    Approvals, DefaultMode, GitSettings, Inspect, IntentClassifier, IntentSwitch, ModelSettings, PlanPolicy, RunLimits,
};
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::{AgentKind, Commands, Offer, SearchOffer, Secrets, Servers, WebAccess, Workspace};
use std::sync::Arc;

/// The settings in force in a workspace: the answer to "which setting applies here?"
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub models: Arc<ModelSettings>,
    pub approvals: Arc<Approvals>,
    pub secrets: Arc<Secrets>,
    pub policy: PlanPolicy,
    pub default_mode: DefaultMode,
    pub intent_switch: IntentSwitch,
    pub intent_classifier: IntentClassifier,
    pub limits: RunLimits,
    pub git: GitSettings,
    /// How the agent reaches the web.
    pub web: Arc<WebAccess>,
    /// How to run commands; `None` if there are none.
    pub commands: Option<Arc<Commands>>,
}

impl Settings {
    #[must_use]
    pub fn inspect(&self) -> Inspect {
        self.commands.as_ref().map_or(Inspect::Off, |commands| commands.sandbox.inspect)
    }

    /// What decides, besides the role, which tools an agent has here.
    #[must_use]
    pub fn offer(&self, agent: AgentKind) -> Offer {
        let search = if self.web.search.is_some() { SearchOffer::On } else { SearchOffer::Off };
        Offer { inspect: self.inspect(), search, agent }
    }
}

/// The rules in force: settings and MCP servers.
#[derive(Clone)]
pub struct WorkspaceRules {
    pub settings: Arc<Settings>,
    /// The MCP servers.
    pub servers: Arc<dyn Servers>,
}

/// The source of a workspace's rules.
pub trait Configuration: Send + Sync {
    /// The user's own rules, for work outside any workspace.
    fn everywhere(&self) -> &WorkspaceRules;

    /// The rules of a workspace from the files. `accepted` is the hash of the workspace's file that the user trusts.
    ///
    /// # Errors
    /// The mistake in the file, and where.
    fn within(&self, workspace: &Workspace, accepted: Option<&str>) -> Result<(WorkspaceRules, Trust), Problem>;

    /// Whether the API may choose this model for a workspace.
    ///
    /// # Errors
    /// Why not.
    fn check_model(&self, settings: &ModelSettings, model: &str) -> Result<(), Problem>;
}

/// The same rules for every workspace.
impl Configuration for WorkspaceRules {
    fn everywhere(&self) -> &WorkspaceRules {
        self
    }

    fn within(&self, _: &Workspace, _: Option<&str>) -> Result<(WorkspaceRules, Trust), Problem> {
        Ok((self.clone(), Trust::nothing()))
    }

    fn check_model(&self, _: &ModelSettings, model: &str) -> Result<(), Problem> {
        Err(Problem::new(ErrorCode::ProviderRejected, format!("The model {model} can't be chosen here.")))
    }
}
