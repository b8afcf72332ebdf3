//! What holds for the chats of a workspace: what the user configured, and what the workspace's own file adds to it.

use crate::chat::{broken, storage};
use crate::models::Models;
use crate::rules::WorkspaceSettings;
use crate::sessions::Settings;
use planwright_protocol::{Problem, WorkspaceId};
use planwright_store::Store;
use planwright_tools::{Servers, Workspace};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// What chats go by.
#[derive(Clone)]
pub struct Rules {
    pub settings: Arc<Settings>,
    pub models: Arc<dyn Models>,
    /// The MCP servers.
    pub servers: Arc<dyn Servers>,
}

/// What the file of a workspace wants that would run or widen something. It is obeyed when the user has accepted the
/// file as it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trust {
    /// Whether nothing waits for the user's word: the file, and no MCP server that has changed.
    pub trusted: bool,
    /// Whether all that the file wants is obeyed.
    pub file_trusted: bool,
    /// The hash of the file; null where there is none.
    pub sha256: Option<String>,
    pub items: Vec<TrustItem>,
    /// What is ignored, and why.
    pub warnings: Vec<String>,
}

/// One thing that needs the user's trust.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrustItem {
    /// `model`, `provider`, `mcp_server` or `setting` of the file; `mcp_change` of a server that is not what was accepted.
    pub kind: &'static str,
    /// As in `models.plan`.
    pub key: String,
    pub value: serde_json::Value,
    /// Of the file; null for what does not stand there.
    pub line: Option<usize>,
    /// To accept this alone by; the file's items are accepted by the hash of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Trust {
    /// Where there is nothing to trust.
    #[must_use]
    pub fn nothing() -> Self {
        Self { trusted: true, file_trusted: true, sha256: None, items: Vec::new(), warnings: Vec::new() }
    }
}

pub trait Configuration: Send + Sync {
    /// The user's own, for what belongs to no workspace.
    fn everywhere(&self) -> &Rules;

    /// What holds in a workspace. `accepted` is the hash of the file that the user trusts.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    fn within(&self, workspace: &Workspace, accepted: Option<&str>) -> Result<(Rules, Trust), Problem>;
}

/// The same everywhere, whatever lies in a workspace.
impl Configuration for Rules {
    fn everywhere(&self) -> &Rules {
        self
    }

    fn within(&self, _: &Workspace, _: Option<&str>) -> Result<(Rules, Trust), Problem> {
        Ok((self.clone(), Trust::nothing()))
    }
}

/// What holds in a workspace at this moment.
pub async fn now(
    configuration: &Arc<dyn Configuration>,
    store: &Store,
    id: WorkspaceId,
    workspace: &Arc<Workspace>,
) -> Result<(Rules, Trust), Problem> {
    let own = store.workspace(id).await.map_err(storage)?.map(|row| Value::Object(row.settings));
    let own: WorkspaceSettings = own.and_then(|own| serde_json::from_value(own).ok()).unwrap_or_default();
    let (rules, trust) = of_files(configuration, store, id, workspace).await?;
    Ok((own.over(rules), trust))
}

/// The same without what the user set for the workspace.
pub async fn of_files(
    configuration: &Arc<dyn Configuration>,
    store: &Store,
    id: WorkspaceId,
    workspace: &Arc<Workspace>,
) -> Result<(Rules, Trust), Problem> {
    let accepted = store.trusted(id).await.map_err(storage)?;
    let (configuration, workspace) = (configuration.clone(), workspace.clone());
    let within = move || configuration.within(&workspace, accepted.as_deref());
    tokio::task::spawn_blocking(within).await.map_err(broken)?
}
