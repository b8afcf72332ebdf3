//! What the user accepted of a server.

use async_trait::async_trait;
use planwright_protocol::{Problem, WorkspaceId};
use planwright_tools::servers::Origin;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// An accepted server: its launch configuration and its tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// The hash of the launch configuration.
    pub launch: String,
    /// The same for people.
    pub shown: Value,
    /// By the tools' own names; `None` before the server listed them.
    pub tools: Option<BTreeMap<String, PinnedTool>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedTool {
    /// The hash of its whole definition.
    pub sha256: String,
    pub description: String,
    pub read_only: bool,
    /// The hash of its schema; `None` in pins of early versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_sha256: Option<String>,
}

/// The storage of pins.
#[async_trait]
pub trait Pins: Send + Sync {
    /// Whether the first list of a server's tools needs acceptance too, instead of being recorded as it is.
    fn shows_first(&self) -> bool {
        false
    }

    /// # Errors
    /// The database failed.
    async fn pinned(&self, workspace: WorkspaceId, server: &str) -> Result<Option<Pin>, Problem>;

    /// The newest pin of a server in the user's own file, in any workspace.
    ///
    /// # Errors
    /// The database failed.
    async fn newest_of_user(&self, server: &str) -> Result<Option<Pin>, Problem>;

    /// # Errors
    /// The database failed.
    async fn pin(&self, workspace: WorkspaceId, server: &str, origin: Origin, pin: &Pin) -> Result<(), Problem>;
}
