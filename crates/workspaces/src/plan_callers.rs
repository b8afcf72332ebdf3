//! What a plan's text forgets, looked up in the workspace.

use crate::registry::{Workspaces, broken};
use planwright_protocol::{Problem, WorkspaceId};
use planwright_tools::plan_callers::{Finding, callers_outside};

impl Workspaces {
    /// Findings about code outside of the plan's files that uses what its steps are about.
    ///
    /// # Errors
    /// No such workspace.
    pub async fn callers_outside_plan(&self, workspace: WorkspaceId, text: String) -> Result<Vec<Finding>, Problem> {
        let secrets = self.rules(workspace).await?.0.settings.secrets.clone();
        let workspace = self.open(workspace).await?;
        tokio::task::spawn_blocking(move || callers_outside(&workspace, &secrets, &text)).await.map_err(broken)
    }
}
