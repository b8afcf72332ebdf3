//! What is known of a call before it is made. Calls of the model and of the user come through here alike.

use super::{context, entitled, still_acting};
use crate::agent::Agent;
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::delegation;
use crate::tally;
use planwright_protocol::message::ToolCall;
use planwright_protocol::settings::Inspect;
use planwright_protocol::{CallMessage, ErrorCode, Event, Message, Mode, Problem, Role};
use planwright_store::AuditKind;
use planwright_tools::servers::find;
use planwright_tools::tool::{tool_named, tools_of};
use planwright_tools::{Approval, Effect, Permit, Prepared, Servers, Site, Situation, ToolContext, Verdict, decide};
use serde_json::json;
use std::sync::Arc;

pub enum Judged {
    Refused(Problem, Box<Change>),
    Asks(Vec<Effect>, Approval, Agent),
    Allowed(Prepared, Permit),
}

impl Judged {
    /// Counts what the gate said.
    pub fn count(&self) {
        match self {
            Judged::Refused(..) => tally::judged("denied"),
            Judged::Allowed(..) => tally::judged("allowed"),
            Judged::Asks(..) => {}
        }
    }
}

/// Judges a call of the model. It is counted where it is answered: one that waits for the user's word is judged again after it.
pub async fn judge(chat: &Arc<Chat>, call: &CallMessage, history: &[Message]) -> Result<Judged, Problem> {
    let entitled = match still_acting(chat, call).await {
        Ok(agent) => entitled(call, history).map(|consent| (agent, consent)),
        Err(problem) => Err(problem),
    };
    let (agent, consent) = match entitled {
        Ok(entitled) => entitled,
        Err(problem) => return Ok(Judged::Refused(problem, Box::default())),
    };
    let changes_nothing = tool_named(&call.body.tool).is_ok_and(|tool| tool.spec().read_only);
    if agent.role.mode() == Mode::Act
        && !changes_nothing
        && let Err(problem) = chat.note_baseline().await
    {
        return Ok(Judged::Refused(problem, Box::default()));
    }
    let cx = context(chat, agent, call).await?;
    let situation = chat.situation_among(cx.config.foreign_plans.clone(), agent, &call.body.tool, consent);
    let desk = Desk { inspect: chat.settings().inspect(), servers: chat.rules().servers, site: chat.site().await? };
    match examine(&call.body, agent, &desk, cx, situation).await? {
        Judged::Allowed(prepared, permit) => Ok(match delegation::beyond_limits(call, &prepared.effects, history) {
            Some(problem) => Judged::Refused(problem, Box::default()),
            None => Judged::Allowed(prepared, permit),
        }),
        other @ (Judged::Refused(..) | Judged::Asks(..)) => Ok(other),
    }
}

/// Where tools are looked up.
pub struct Desk {
    pub inspect: Inspect,
    pub servers: Arc<dyn Servers>,
    pub site: Site,
}

/// Turns the arguments into effects, and has the gate decide on them. `situation` is asked for after that.
pub async fn examine(
    call: &ToolCall,
    agent: Agent,
    desk: &Desk,
    cx: ToolContext,
    situation: impl Future<Output = Result<Situation, Problem>>,
) -> Result<Judged, Problem> {
    let role = agent.role;
    let prepared = match prepare(call, desk, cx).await {
        Ok(prepared) => prepared,
        Err(problem) => {
            // A tool that the role does not have is an attempt, however it fails.
            let listed = tools_of(role, desk.inspect).any(|tool| tool.spec().name == call.tool);
            // Of a server's tool it is not known what it would be.
            let by_server = matches!(problem.code, ErrorCode::TrustRequired | ErrorCode::McpFailed | ErrorCode::Conflict);
            let change = if listed || by_server || role.mode() == Mode::Act { Change::default() } else { violation(call, &problem, role) };
            return Ok(Judged::Refused(problem, Box::new(change)));
        }
    };
    crash::point("call_prepared");
    let situation = match situation.await {
        Ok(situation) => situation,
        Err(problem) => return Ok(Judged::Refused(problem, Box::default())),
    };
    let verdict = decide(&situation, &prepared.effects);
    crash::point("call_decided");
    Ok(match verdict {
        Verdict::Deny(problem) => {
            let change = violation(call, &problem, role);
            Judged::Refused(problem, Box::new(change))
        }
        Verdict::Ask(approval) => Judged::Asks(prepared.effects, approval, agent),
        Verdict::Allow(permit) => Judged::Allowed(prepared, permit),
    })
}

async fn prepare(call: &ToolCall, desk: &Desk, cx: ToolContext) -> Result<Prepared, Problem> {
    let (tool, args) = (find(&call.tool, &*desk.servers, &desk.site).await?, call.args_text());
    tokio::task::spawn_blocking(move || tool.prepare(&args, &cx)).await.map_err(broken)?
}

/// A refusal by policy is shown and logged; a mistake in the arguments is not.
fn violation(call: &ToolCall, problem: &Problem, role: Role) -> Change {
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
