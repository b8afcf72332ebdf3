//! Recovers calls whose intent is stored and whose result is not.
//!
//! The intent has the state of each path before the call and its intended state after it. The current state shows what happened;
//! nothing is done twice.

use super::agent_call::{CallOutcome, perform_together};
use super::{landing, result, signal, step};
use crate::chat::{Change, Chat};
use crate::crash;
use crate::delegation;
use crate::versions::{self, Present};
use planwright_protocol::event::ToolResponse;
use planwright_protocol::message::CallStatus;
use planwright_protocol::{CallMessage, ErrorCode, Event, Message, Problem};
use planwright_tools::{Output, Signal, WorkspacePath};
use serde_json::json;
use std::sync::Arc;

/// Continues such a call after a restart.
pub async fn recover(chat: &Arc<Chat>, call: CallMessage, history: &[Message]) -> Result<Vec<CallOutcome>, Problem> {
    crash::point("recovery_begun");
    let outcome = if let Some(output) = step::verified(&call) {
        step::conclude(chat, &call, Ok(output)).await?
    } else if delegation::is_one(&call.body) {
        // The delegate's own conversation shows how far it got.
        CallOutcome::HandedOn(Box::new(call))
    } else if landing::runs_command(&call) {
        Box::pin(landing::settle(chat, &call, history)).await?
    } else if step::is_report(&call) {
        // Ticking a ticked box changes nothing, and the step itself may not be recorded yet.
        return Box::pin(perform_together(chat, vec![call.with_status(CallStatus::Pending)], history)).await;
    } else {
        match versions::present(chat, call.id).await? {
            Present::Before => {
                versions::settle(chat, call.id).await?;
                return Box::pin(perform_together(chat, vec![call.with_status(CallStatus::Pending)], history)).await;
            }
            Present::After => Box::pin(signal::follow(chat, &call, Ok(done(chat, &call).await?), history)).await?,
            Present::Neither => {
                let text = "The server was restarted during this call, and the files are neither as before nor as intended. Check them before you continue.";
                result::record(chat, &call, Err(Problem::new(ErrorCode::OutcomeUnknown, text)), Change::default()).await?
            }
        }
    };
    Ok(vec![outcome])
}

/// The output of a call that was committed before the restart.
async fn done(chat: &Arc<Chat>, call: &CallMessage) -> Result<Output, Problem> {
    let output = Output::text("Done: the server was restarted during this call, and the files are as intended.");
    let plan = versions::paths(chat, call.id).await?.into_iter().find(WorkspacePath::is_plan);
    Ok(match plan {
        Some(path) => output.signalling(Signal::PlanFileChanged(path)),
        None => output,
    })
}

pub fn stopped_before() -> Problem {
    Problem::new(ErrorCode::Cancelled, "The user stopped the run before this call was made.")
}

/// The result of a call that was stopped.
pub async fn cancelled(chat: &Arc<Chat>, call: &CallMessage) -> Vec<Event> {
    let running = call.body.status == CallStatus::Running;
    let present = if running { versions::present(chat, call.id).await.unwrap_or(Present::Neither) } else { Present::Before };
    let outcome = match present {
        Present::Before | Present::After | Present::Neither if landing::runs_command(call) => landing::stopped(chat, call).await,
        Present::Before | Present::After | Present::Neither if delegation::is_one(&call.body) && running => Err(delegation::stopped()),
        Present::After => Ok(json!({ "output": "Done, right before the user stopped the run." })),
        Present::Before => Err(stopped_before()),
        Present::Neither => {
            Err(Problem::new(ErrorCode::OutcomeUnknown, "The user stopped the run during this call. Check the files before you continue."))
        }
    };
    if let Err(problem) = versions::settle(chat, call.id).await {
        // A revert examines the files again, so nothing is lost by this.
        tracing::warn!(chat = %chat.id, %problem, "can't determine the changes of a stopped call");
    }
    let response = ToolResponse::from(outcome);
    let call = call.clone().with_status(if response.success { CallStatus::Done } else { CallStatus::Cancelled });
    result::message_and_events(chat, &call, response).1
}
