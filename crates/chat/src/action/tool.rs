//! Finds tools by name, and prepares them with the arguments of a call. Calls of models and of users both use this.

use super::{Cause, Refusal};
use crate::chat::{Change, Chat, broken};
use crate::crash;
use planwright_protocol::message::ToolCall;
use planwright_protocol::{ErrorCode, Event, Mode, Problem, Role};
use planwright_store::AuditKind;
use planwright_tools::servers::find;
use planwright_tools::{AgentKind, Offer, Prepared, Servers, Site, ToolContext, tools_of};
use serde_json::json;
use std::sync::Arc;

/// The tools of a workspace: the built-in ones, and those of its MCP servers.
pub struct Toolbox {
    pub offer: Offer,
    pub servers: Arc<dyn Servers>,
    pub site: Site,
}

impl Toolbox {
    pub async fn of_chat(chat: &Chat, agent: AgentKind) -> Result<Self, Problem> {
        Ok(Self { offer: chat.settings().offer(agent), servers: chat.rules().servers, site: chat.site().await? })
    }
}

/// Converts the arguments into effects.
pub async fn prepare(call: &ToolCall, role: Role, toolbox: &Toolbox, cx: ToolContext) -> Result<Prepared, Refusal> {
    if toolbox.offer.agent == AgentKind::Helper && !is_listed(call, role, toolbox.offer) {
        let text = "A helper has only the tools that are listed to it. Report what you found; whoever gave you the task does the rest.";
        return Err(Refusal { problem: Problem::new(ErrorCode::ToolNotPermitted, text), cause: Cause::Policy });
    }
    let prepared = find_and_prepare(call, toolbox, cx).await.map_err(|problem| {
        // Calling a tool that the role does not have counts as an attempt, however it fails.
        let is_listed = is_listed(call, role, toolbox.offer);
        // We can't classify an MCP tool that failed to load.
        let is_unknown = matches!(problem.code, ErrorCode::TrustRequired | ErrorCode::McpFailed | ErrorCode::Conflict);
        let cause = if is_listed || is_unknown || role.mode() == Mode::Act { Cause::Mistake } else { Cause::Policy };
        Refusal { problem, cause }
    })?;
    crash::point("call_prepared");
    Ok(prepared)
}

fn is_listed(call: &ToolCall, role: Role, offer: Offer) -> bool {
    tools_of(role, offer).any(|tool| tool.spec().name == call.tool)
}

async fn find_and_prepare(call: &ToolCall, toolbox: &Toolbox, cx: ToolContext) -> Result<Prepared, Problem> {
    let (tool, args) = (find(&call.tool, &*toolbox.servers, &toolbox.site).await?, call.args_text());
    tokio::task::spawn_blocking(move || tool.prepare(&args, &cx)).await.map_err(broken)?
}

/// The records of a refusal by policy. A mistake in the arguments has none.
pub fn violation(call: &ToolCall, problem: &Problem, role: Role) -> Change {
    let (tool, model) = (call.tool.clone(), call.model());
    let details = json!({"tool": tool, "code": problem.code, "args": call.args});
    let mut change = Change::default().event(Event::Violation { code: problem.code, tool, agent_role: role }).log(
        AuditKind::ToolBlocked,
        model,
        role,
        details.clone(),
    );
    if role.mode() == Mode::Plan {
        change = change.log(AuditKind::DisallowedToolAttemptInPlanning, model, role, details);
    }
    change
}
