//! Tools that other programs offer: what the rest needs to know of MCP servers. The crate `mcp` has the servers themselves.

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

/// What stands between the name of a server and that of its tool.
pub const BETWEEN: &str = "__";

/// The servers of a workspace.
#[async_trait]
pub trait Servers: Send + Sync {
    /// The tools of all servers that can be used now, which are started if need be. The others are left out and reported.
    async fn tools(&self, site: &Site) -> Vec<Arc<dyn Tool>>;

    /// The same as far as they are known, without starting any.
    async fn known(&self, site: &Site) -> Vec<Arc<dyn Tool>>;

    /// The tool of this name; `None` if no server here could have it.
    async fn named(&self, name: &str, site: &Site) -> Option<Result<Arc<dyn Tool>, Problem>>;

    /// What is known of the servers, without starting any.
    async fn reports(&self, site: &Site) -> Vec<ServerReport>;

    /// Holds all servers against what the user accepted, without starting any.
    async fn look(&self, site: &Site);

    /// Starts one server, if the user accepted it, and asks what it offers.
    async fn ask(&self, server: &str, site: &Site);

    /// Tries servers that failed at once when they are next needed.
    async fn forgive(&self, site: &Site);

    /// Takes what a server has come to offer for what the user looked at; whether there is anything with this hash.
    ///
    /// # Errors
    /// It can't be stored.
    async fn accept(&self, site: &Site, sha256: &str) -> Result<bool, Problem>;
}

/// Where servers work.
#[derive(Clone)]
pub struct Site {
    pub id: WorkspaceId,
    pub workspace: Arc<Workspace>,
    pub commands: Option<Arc<Commands>>,
    pub secrets: Arc<Secrets>,
    /// The folders of the other workspaces.
    pub neighbours: Arc<[PathBuf]>,
}

/// For where none are configured.
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

/// An MCP server, as people read of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ServerReport {
    #[schemars(example = &"notes")]
    pub name: String,
    pub origin: Origin,
    /// What is run, word by word; null of a server that is reached by its address.
    pub command: Option<Vec<String>>,
    /// Its address; null of a program.
    pub url: Option<String>,
    pub status: ServerStatus,
    /// Why it can't be used, and what to do.
    pub error: Option<String>,
    /// Whether its word that a tool only reads is taken.
    pub trust_read_only: bool,
    /// The tools that it offers, as far as they may be used.
    pub tools: Vec<OfferedTool>,
    /// What has changed since the user accepted it.
    pub changed: Option<Changed>,
}

/// Whose configuration a server stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    User,
    Workspace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerStatus {
    /// Not started yet, or not needed at the moment.
    Idle,
    Ready,
    Failed,
    /// The user has to accept it first.
    Untrusted,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OfferedTool {
    /// As the model calls it.
    #[schemars(example = &"notes__list")]
    pub name: String,
    pub description: String,
    /// Whether it counts as one that only reads.
    pub read_only: bool,
}

/// What of a server is not what the user accepted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// To accept it by.
    pub sha256: String,
    /// What was and what is.
    pub items: Vec<ChangedItem>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedItem {
    /// `command`, or `tool NAME`.
    pub what: String,
    /// Null of what is new.
    pub before: Value,
    pub after: Value,
}

/// A tool of either kind.
pub enum Found {
    Builtin(&'static dyn Tool),
    Offered(Arc<dyn Tool>),
}

impl Deref for Found {
    type Target = dyn Tool;

    fn deref(&self) -> &(dyn Tool + 'static) {
        match self {
            Found::Builtin(tool) => *tool,
            Found::Offered(tool) => &**tool,
        }
    }
}

/// The tool of exactly this name, built in or of a server.
///
/// # Errors
/// `TOOL_UNKNOWN`, or why the server can't be used.
pub async fn find(name: &str, servers: &dyn Servers, site: &Site) -> Result<Found, Problem> {
    match tool_named(name) {
        Ok(tool) => Ok(Found::Builtin(tool)),
        Err(unknown) => match servers.named(name, site).await {
            Some(offered) => offered.map(Found::Offered),
            None => Err(unknown),
        },
    }
}
