//! What the user accepted of a server.

use async_trait::async_trait;
use planwright_protocol::{Problem, WorkspaceId};
use planwright_tools::servers::Origin;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A server as it was accepted: what is run for it, and what it offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// The hash of what is run.
    pub launch: String,
    /// The same for people.
    pub shown: Value,
    /// By the tools' own names; `None` before the server has said what it offers.
    pub tools: Option<BTreeMap<String, PinnedTool>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedTool {
    /// Of its whole definition.
    pub sha256: String,
    pub description: String,
    pub read_only: bool,
    /// Of the schema of its arguments; none of what was accepted before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_sha256: Option<String>,
}

/// Where pins are kept.
#[async_trait]
pub trait Pins: Send + Sync {
    /// Whether what a server offers first waits for the user's word too, and is not noted as it is.
    fn shows_first(&self) -> bool {
        false
    }

    /// # Errors
    /// The database failed.
    async fn pinned(&self, workspace: WorkspaceId, server: &str) -> Result<Option<Pin>, Problem>;

    /// The newest pin of a server of the user's own file, in any workspace.
    ///
    /// # Errors
    /// The database failed.
    async fn newest_of_user(&self, server: &str) -> Result<Option<Pin>, Problem>;

    /// # Errors
    /// The database failed.
    async fn pin(&self, workspace: WorkspaceId, server: &str, origin: Origin, pin: &Pin) -> Result<(), Problem>;
}
