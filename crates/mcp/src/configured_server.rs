//! A configured server: its launch configuration and how to reach it.

use crate::connection::{ServerTransport, failed};
use crate::http::HttpClient;
use crate::launch;
use planwright_protocol::Problem;
use planwright_protocol::settings::ServerConfig;
use planwright_tools::Site;
use planwright_tools::command::Program;
use planwright_tools::servers::Origin;
use std::sync::Arc;

/// A configured server.
#[derive(Debug)]
pub struct McpServer {
    pub name: String,
    pub config: ServerConfig,
    pub origin: Origin,
    /// The hash of its launch configuration.
    pub launch: String,
    /// Which parts of the machine its program can see, besides what commands see.
    pub view: MachineView,
}

/// Which parts of the machine a program can see, besides what commands see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineView {
    /// What its configuration names.
    Named,
    /// Nothing: the user who accepted it is not the owner of the machine.
    Nothing,
}

impl McpServer {
    #[must_use]
    pub fn new(name: String, config: ServerConfig, origin: Origin, view: MachineView) -> Self {
        Self { launch: config.sha256(), name, config, origin, view }
    }

    /// # Errors
    /// A variable is not set, or the program is missing.
    pub fn program(&self, site: &Site) -> Result<Program, Problem> {
        let program = launch::program(&self.name, &self.config, &site.workspace.host_path()?)?;
        Ok(match self.view {
            MachineView::Named => program,
            MachineView::Nothing => Program { readable: Vec::new(), ..program },
        })
    }

    /// Whether a tool counts as read-only.
    pub fn counts_as_read_only(&self, says_read_only: bool) -> bool {
        says_read_only && self.config.trust_read_only
    }

    /// # Errors
    /// A variable is not set, or the program is missing.
    pub fn transport(&self, site: &Site) -> Result<ServerTransport, Problem> {
        if let Some(url) = &self.config.url {
            let key = self.config.api_key_env.as_deref().map(|variable| launch::value_of(&self.name, variable)).transpose()?;
            let caller = HttpClient::new(url, key.as_deref()).map_err(|why| failed(&self.name, &format!("{why}.")))?;
            return Ok(ServerTransport::Address { url: url.clone(), caller });
        }
        let commands = site.commands.as_ref().ok_or_else(|| failed(&self.name, "programs are not set up in this process."))?;
        Ok(ServerTransport::Program(Arc::new(commands.keep(&self.program(site)?, &site.workspace, &site.secrets, &site.neighbours)?)))
    }
}
