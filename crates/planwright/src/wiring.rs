//! Wires the parts together: configuration, MCP servers, workspaces, chats.

use crate::models::Remotes;
use crate::providers::model_from_env;
use planwright_chat::Sessions;
use planwright_config::Config;
use planwright_mcp::{MachineView, Pins, Pool, ServerSet, Trusting};
use planwright_protocol::settings::{McpSettings, SandboxSettings, ServerConfig};
use planwright_store::Store;
use planwright_tools::{Commands, Servers};
use planwright_workspaces::{Layers, Overrides, ReservedFolders, ServerFactory, Workspaces};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The options of a process.
pub struct ProcessOptions {
    pub config: Config,
    /// `--model`, or its variable.
    pub model: Option<String>,
    /// Whether `--trust` was given.
    pub trusts_all: bool,
    /// The folder for staged changes and caches of commands.
    pub commands: PathBuf,
    /// The server's own folders.
    pub reserved: ReservedFolders,
    /// Where users with accounts may add workspaces; `None` without accounts.
    pub team: Option<Vec<PathBuf>>,
    /// Folders that hold workspaces, with accounts or without.
    pub roots: Vec<PathBuf>,
    /// The user's acceptances of MCP servers.
    pub pins: Arc<dyn Pins>,
}

impl ProcessOptions {
    /// The rules of all workspaces, and the running MCP servers, which the caller must close.
    pub fn layers(self) -> anyhow::Result<(Layers, Arc<Pool>)> {
        let trusting = if self.trusts_all { Trusting::All } else { Trusting::Accepted };
        let view = if self.team.is_some() { MachineView::Nothing } else { MachineView::Named };
        let pool = Pool::new(self.pins);
        let overrides =
            Overrides { model: self.model, model_from_environment: model_from_env().map(|(model, _)| model), trusts_all: self.trusts_all };
        let commands = Commands {
            place: self.commands,
            sandbox: SandboxSettings::default(),
            own: self.reserved.private(),
            team: self.team,
            roots: self.roots,
        };
        let factory = McpServers { pool: pool.clone(), trusting, view };
        Ok((Layers::new(self.config, overrides, commands, Arc::new(factory))?, pool))
    }

    /// All chats of the process, and the running MCP servers.
    pub fn chats(self, store: Store, models: Remotes) -> anyhow::Result<(Sessions, Arc<Pool>)> {
        let reserved = self.reserved.clone();
        let (layers, pool) = self.layers()?;
        let workspaces = Workspaces::new(store, Arc::new(layers));
        workspaces.reserve(reserved);
        Ok((Sessions::new(workspaces, Arc::new(models)), pool))
    }
}

struct McpServers {
    pool: Arc<Pool>,
    trusting: Trusting,
    /// Which parts of the machine the servers of a workspace's own file can see.
    view: MachineView,
}

impl ServerFactory for McpServers {
    fn servers(&self, config: &McpSettings, user: &McpSettings, waiting: BTreeMap<String, ServerConfig>) -> Arc<dyn Servers> {
        Arc::new(ServerSet::new(self.pool.clone(), config, user, self.trusting, self.view).waiting_for(waiting))
    }
}
