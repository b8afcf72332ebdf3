//! The context of a call: what the gate and the tools know about the chat.

use super::Chat;
use planwright_plan::PlanDocument;
use planwright_protocol::Agent;
use planwright_protocol::{CallId, Mode, Problem, WorkspaceId};
use planwright_store::GrantRow;
use planwright_tools::command::{Live, Reach};
use planwright_tools::{
    AgentKind, AllowedHosts, CommandContext, Consent, Epoch, Grant, Scope, Site, Situation, ToolConfig, ToolContext, WorkspacePath,
};
use planwright_workspaces::neighbours;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Chat {
    /// The chat's own agent in its current role.
    pub fn agent(&self) -> Agent {
        Agent::own(self.record().config.role)
    }

    /// The gate's input, consistent at one moment.
    ///
    /// # Errors
    /// `MODE_CHANGED` if the chat's role no longer permits this agent.
    pub async fn situation(&self, agent: Agent, tool: &str, consent: Consent) -> Result<Situation, Problem> {
        let foreign_plans = self.foreign_plans(self.record().workspace_id).await?;
        self.situation_among(foreign_plans, agent, tool, consent).await
    }

    /// The same, with the plans of other chats already read for this call.
    pub async fn situation_among(
        &self,
        foreign_plans: Arc<BTreeSet<WorkspacePath>>,
        agent: Agent,
        tool: &str,
        consent: Consent,
    ) -> Result<Situation, Problem> {
        let scope = match self.approval() {
            Some(approval) => {
                let document = PlanDocument::parse(&approval.content).ok();
                document.and_then(|document| Scope::of(&document.plan, &approval.choice)).map(Arc::new)
            }
            None => None,
        };
        let missing_plan = self.missing_plan().await?;
        let settings = self.settings();
        // Role and epoch are from one moment, so that a permit for an ended role is invalid.
        let record = self.settled_record().await;
        agent.check(record.config.role)?;
        Ok(Situation {
            role: agent.role,
            tool: tool.to_owned(),
            epoch: Epoch(record.epoch),
            fence: self.fence.clone(),
            own_plan: record.config.plan_file.as_deref().and_then(|path| WorkspacePath::parse(path).ok()),
            foreign_plans,
            scope,
            missing_plan,
            approvals: settings.approvals.clone(),
            secrets: settings.secrets.clone(),
            grants: Arc::new(record.grants.iter().filter_map(grant).collect()),
            hosts: allowed_hosts(&settings.web.hosts, &record.grants),
            agent: AgentKind::from(agent),
            consent,
        })
    }

    /// The workspace in which the chat's MCP servers run.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn site(&self) -> Result<Site, Problem> {
        self.workspaces.site(self.feed.source.workspace, &self.settings()).await
    }

    async fn foreign_plans(&self, workspace: WorkspaceId) -> Result<Arc<BTreeSet<WorkspacePath>>, Problem> {
        let paths = self.store.foreign_plans(workspace, self.id).await?;
        Ok(Arc::new(paths.iter().filter_map(|path| WorkspacePath::parse(path).ok()).collect()))
    }

    /// The context of a tool besides its arguments; `call` is for tools that run commands.
    pub async fn tool_context(&self, agent: Agent, call: Option<CallId>) -> Result<ToolContext, Problem> {
        let (row, settings) = (self.record(), self.settings());
        let approval = self.approval();
        let config = ToolConfig {
            plan_mode: agent.role.mode() == Mode::Plan,
            active_plan_path: row.config.plan_file.as_deref().and_then(|path| WorkspacePath::parse(path).ok()),
            approved_plan: approval.as_ref().map(|approval| approval.content.as_str().into()),
            approved_steps: approval.map(|approval| approval.choice.clone()).unwrap_or_default(),
            chat: Some(self.id),
            foreign_plans: self.foreign_plans(row.workspace_id).await?,
            secrets: settings.secrets.clone(),
            web: settings.web.clone(),
        };
        let command = CommandContext {
            call,
            commands: settings.commands.clone(),
            reach: Reach::of(agent.role),
            neighbours: if call.is_some() { neighbours(&self.store, row.workspace_id).await? } else { Arc::default() },
            stop: self.command_stop(),
            live: Live::default(),
            baseline: self.baseline(),
        };
        Ok(ToolContext { workspace: self.workspace.clone(), seen: self.seen.clone(), config, command })
    }
}

/// The configured hosts, and those that the user allowed in this chat.
fn allowed_hosts(configured: &Arc<AllowedHosts>, grants: &[GrantRow]) -> Arc<AllowedHosts> {
    let mut granted = grants.iter().filter(|row| !row.folder.starts_with('/')).peekable();
    if granted.peek().is_none() {
        return configured.clone();
    }
    Arc::new(granted.fold((**configured).clone(), |hosts, row| hosts.with(&row.folder)))
}

/// A row names a folder, or a host, which does not begin with a slash.
fn grant(row: &GrantRow) -> Option<Grant> {
    if !row.folder.starts_with('/') {
        return None;
    }
    let folder = WorkspacePath::parse(&row.folder).ok()?;
    Some(Grant { tool: row.tool.clone(), folder })
}
