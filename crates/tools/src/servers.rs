//! The interface to MCP servers' tools. The crate `mcp` implements the servers.

use crate::command::Commands;
use crate::gate::Secrets;
use crate::tool::{Tool, tool_named};
use crate::workspace::Workspace;
use async_trait::async_trait;
use planwright_protocol::{Problem, WorkspaceId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

/// Separates the name of a server from the name of its tool.
pub const BETWEEN: &str = "__";

/// The servers of a workspace.
#[async_trait]
pub trait Servers: Send + Sync {
    /// The tools of all usable servers, which are started if necessary. Unusable servers are left out and reported.
    async fn tools(&self, site: &Site) -> Vec<Arc<dyn Tool>>;

    /// The tools that are known without starting a server.
    async fn known(&self, site: &Site) -> Vec<Arc<dyn Tool>>;

    /// The tool with this name; `None` if no server here could have it.
    async fn named(&self, name: &str, site: &Site) -> Option<Result<Arc<dyn Tool>, Problem>>;

    /// The state of the servers, without starting any.
    async fn reports(&self, site: &Site) -> Vec<ServerReport>;

    /// Compares all servers with what the user accepted, without starting any.
    async fn look(&self, site: &Site);

    /// Starts one server, if the user accepted it, and lists its tools.
    async fn ask(&self, server: &str, site: &Site);

    /// Clears the retry delay of failed servers.
    async fn forgive(&self, site: &Site);

    /// Accepts a server's current tools, as identified by their hash. Returns whether there is anything with this hash.
    ///
    /// # Errors
    /// The acceptance can't be stored.
    async fn accept(&self, site: &Site, sha256: &str) -> Result<bool, Problem>;
}

/// The workspace in which servers run.
#[derive(Clone)]
pub struct Site {
    pub id: WorkspaceId,
    pub workspace: Arc<Workspace>,
    pub commands: Option<Arc<Commands>>,
    pub secrets: Arc<Secrets>,
    /// The folders of the other workspaces.
    pub neighbours: Arc<[PathBuf]>,
}

/// For workspaces without configured servers.
pub struct NoServers;

#[async_trait]
impl Servers for NoServers {
    async fn tools(&self, _: &Site) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    async fn known(&self, _: &Site) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    async fn named(&self, _: &str, _: &Site) -> Option<Result<Arc<dyn Tool>, Problem>> {
        None
    }

    async fn reports(&self, _: &Site) -> Vec<ServerReport> {
        Vec::new()
    }

    async fn look(&self, _: &Site) {}

    async fn ask(&self, _: &str, _: &Site) {}

    async fn forgive(&self, _: &Site) {}

    async fn accept(&self, _: &Site, _: &str) -> Result<bool, Problem> {
        Ok(false)
    }
}

/// The state of an MCP server, for display.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ServerReport {
    #[schemars(example = &"notes")]
    pub name: String,
    pub origin: Origin,
    /// The command and its arguments; null for a server with an address.
    pub command: Option<Vec<String>>,
    /// The server's address; null for a local program.
    pub url: Option<String>,
    pub status: ServerStatus,
    /// Why it can't be used, and what to do.
    pub error: Option<String>,
    /// Whether its statement that a tool only reads is trusted.
    pub trust_read_only: bool,
    /// Its usable tools.
    pub tools: Vec<OfferedTool>,
    /// Changes since the user accepted it.
    pub changed: Option<Changed>,
}

/// The configuration that defines a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    User,
    Workspace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerStatus {
    /// Not started yet, or not needed now.
    Idle,
    Ready,
    Failed,
    /// The user must accept it first.
    Untrusted,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OfferedTool {
    /// The name that the model uses.
    #[schemars(example = &"notes__list")]
    pub name: String,
    pub description: String,
    /// Whether it counts as read-only.
    pub read_only: bool,
}

/// Differences between a server and what the user accepted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// The hash with which to accept it.
    pub sha256: String,
    /// Before and after.
    pub items: Vec<ChangedItem>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedItem {
    /// `command`, or `tool NAME`.
    pub what: String,
    /// Null if it is new.
    pub before: Value,
    pub after: Value,
}

/// A built-in tool or a server's tool.
pub enum FoundTool {
    Builtin(&'static dyn Tool),
    Offered(Arc<dyn Tool>),
}

impl Deref for FoundTool {
    type Target = dyn Tool;

    fn deref(&self) -> &(dyn Tool + 'static) {
        match self {
            FoundTool::Builtin(tool) => *tool,
            FoundTool::Offered(tool) => &**tool,
        }
    }
}

/// The tool with exactly this name, built in or of a server.
///
/// # Errors
/// `TOOL_UNKNOWN`, or why the server can't be used.
pub async fn find(name: &str, servers: &dyn Servers, site: &Site) -> Result<FoundTool, Problem> {
    match tool_named(name) {
        Ok(tool) => Ok(FoundTool::Builtin(tool)),
        Err(unknown) => match servers.named(name, site).await {
            Some(offered) => offered.map(FoundTool::Offered),
            None => Err(unknown),
        },
    }
}
