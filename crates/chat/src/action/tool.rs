//! Finds tools by name, and prepares them with the arguments of a call. Calls of models and of users both use this.

use super::{Cause, Refusal};
use crate::chat::{Change, Chat, broken};
use crate::crash;
use planwright_protocol::message::ToolCall;
use planwright_protocol::settings::Inspect;
use planwright_protocol::{ErrorCode, Event, Mode, Problem, Role};
use planwright_store::AuditKind;
use planwright_tools::servers::find;
use planwright_tools::tool::tools_of;
use planwright_tools::{Prepared, Servers, Site, ToolContext};
use serde_json::json;
use std::sync::Arc;

/// The tools of a workspace: the built-in ones, and those of its MCP servers.
pub struct Toolbox {
    pub inspect: Inspect,
    pub servers: Arc<dyn Servers>,
    pub site: Site,
}

impl Toolbox {
    pub async fn of_chat(chat: &Chat) -> Result<Self, Problem> {
        Ok(Self { inspect: chat.settings().inspect(), servers: chat.rules().servers, site: chat.site().await? })
    }
}

/// Converts the arguments into effects.
pub async fn prepare(call: &ToolCall, role: Role, toolbox: &Toolbox, cx: ToolContext) -> Result<Prepared, Refusal> {
    let prepared = find_and_prepare(call, toolbox, cx).await.map_err(|problem| {
        // Calling a tool that the role does not have counts as an attempt, however it fails.
        let is_listed = tools_of(role, toolbox.inspect).any(|tool| tool.spec().name == call.tool);
        // We can't classify an MCP tool that failed to load.
        let is_unknown = matches!(problem.code, ErrorCode::TrustRequired | ErrorCode::McpFailed | ErrorCode::Conflict);
        let cause = if is_listed || is_unknown || role.mode() == Mode::Act { Cause::Mistake } else { Cause::Policy };
        Refusal { problem, cause }
    })?;
    crash::point("call_prepared");
    Ok(prepared)
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
