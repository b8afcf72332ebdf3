//! What needs the user's trust in a workspace: its own file, and changed MCP servers.

use crate::registry::Workspaces;
use planwright_config::{Trust, TrustItem};
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_tools::servers::ServerReport;

impl Workspaces {
    /// Everything that needs the user's trust.
    ///
    /// # Errors
    /// No such workspace, or its file is invalid.
    pub async fn trust_of(&self, workspace: WorkspaceId) -> Result<Trust, Problem> {
        let (rules, mut trust) = self.rules(workspace).await?;
        for report in rules.servers.reports(&self.site(workspace, &rules.settings).await?).await {
            let Some(changed) = report.changed else { continue };
            trust.trusted = false;
            trust.items.push(TrustItem {
                kind: "mcp_change".to_owned(),
                key: format!("mcp.servers.{}", report.name),
                value: serde_json::to_value(changed.items).unwrap_or_default(),
                line: None,
                sha256: Some(changed.sha256),
            });
        }
        Ok(trust)
    }

    /// Trusts a workspace's own file while it stays unchanged, or accepts a changed server.
    ///
    /// # Errors
    /// `CONFLICT` if nothing has this hash any more.
    pub async fn trust(&self, workspace: WorkspaceId, sha256: &str) -> Result<Trust, Problem> {
        let (rules, trust) = self.rules(workspace).await?;
        if trust.sha256.as_deref() == Some(sha256) {
            self.store().trust(workspace, sha256).await?;
        } else if !rules.servers.accept(&self.site(workspace, &rules.settings).await?, sha256).await? {
            let text = "The workspace's configuration no longer has this hash. Review its present content and accept that.";
            return Err(Problem::new(ErrorCode::Conflict, text));
        }
        self.trust_of(workspace).await
    }

    /// The MCP servers of a workspace in their last known state, without starting any.
    ///
    /// # Errors
    /// No such workspace, or its file is invalid.
    pub async fn servers(&self, workspace: WorkspaceId) -> Result<Vec<ServerReport>, Problem> {
        let (rules, _) = self.rules(workspace).await?;
        Ok(rules.servers.reports(&self.site(workspace, &rules.settings).await?).await)
    }

    /// The same, after starting all accepted servers.
    ///
    /// # Errors
    /// No such workspace, or its file is invalid.
    pub async fn try_servers(&self, workspace: WorkspaceId) -> Result<Vec<ServerReport>, Problem> {
        let (rules, _) = self.rules(workspace).await?;
        let site = self.site(workspace, &rules.settings).await?;
        rules.servers.forgive(&site).await;
        rules.servers.tools(&site).await;
        Ok(rules.servers.reports(&site).await)
    }
}
