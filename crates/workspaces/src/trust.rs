//! What in a workspace waits for the user's trust: its own file, and MCP servers that are not what was accepted.

use crate::registry::Workspaces;
use planwright_config::{Trust, TrustItem};
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_tools::servers::ServerReport;

impl Workspaces {
    /// Everything that waits for the user's trust.
    ///
    /// # Errors
    /// No such workspace, or its file is wrong.
    pub async fn trust_of(&self, workspace: WorkspaceId) -> Result<Trust, Problem> {
        let (rules, mut trust) = self.rules(workspace).await?;
        for report in rules.servers.reports(&self.site(workspace, &rules.settings).await?).await {
            let Some(changed) = report.changed else { continue };
            trust.trusted = false;
            trust.items.push(TrustItem {
                kind: "mcp_change",
                key: format!("mcp.servers.{}", report.name),
                value: serde_json::to_value(changed.items).unwrap_or_default(),
                line: None,
                sha256: Some(changed.sha256),
            });
        }
        Ok(trust)
    }

    /// Obeys a workspace's own file from now on, as long as it stays as it is; or takes a server as it has become.
    ///
    /// # Errors
    /// `CONFLICT`, when nothing has this hash that was looked at.
    pub async fn trust(&self, workspace: WorkspaceId, sha256: &str) -> Result<Trust, Problem> {
        let (rules, trust) = self.rules(workspace).await?;
        if trust.sha256.as_deref() == Some(sha256) {
            self.store().trust(workspace, sha256).await?;
        } else if !rules.servers.accept(&self.site(workspace, &rules.settings).await?, sha256).await? {
            let text = "The workspace's configuration is not the one with this hash. Look at what it wants now, and accept that.";
            return Err(Problem::new(ErrorCode::Conflict, text));
        }
        self.trust_of(workspace).await
    }

    /// The MCP servers of a workspace, as far as they are known without starting any.
    ///
    /// # Errors
    /// No such workspace, or its file is wrong.
    pub async fn servers(&self, workspace: WorkspaceId) -> Result<Vec<ServerReport>, Problem> {
        let (rules, _) = self.rules(workspace).await?;
        Ok(rules.servers.reports(&self.site(workspace, &rules.settings).await?).await)
    }

    /// The same, when all of them have been started that may be.
    ///
    /// # Errors
    /// No such workspace, or its file is wrong.
    pub async fn try_servers(&self, workspace: WorkspaceId) -> Result<Vec<ServerReport>, Problem> {
        let (rules, _) = self.rules(workspace).await?;
        let site = self.site(workspace, &rules.settings).await?;
        rules.servers.forgive(&site).await;
        rules.servers.tools(&site).await;
        Ok(rules.servers.reports(&site).await)
    }
}
