//! The chat's reaction to the output of a model's call: most outputs are the result, some have a signal.

use super::agent_call::CallOutcome;
use super::{landing, plan_progress, result, step};
use crate::chat::{Change, Chat, Draft, broken};
use crate::crash;
use crate::plan::{self, StoredPlan};
use planwright_protocol::Agent;
use planwright_protocol::message::{AnsweredComment, AssistantText, CommentReport, PlanVersion, ReplyPart, Review, ReviewComment};
use planwright_protocol::{CallMessage, ErrorCode, Event, Message, MessageBody, Mode, Problem, Severity};
use planwright_tools::{Output, Signal, WorkspacePath};
use serde_json::json;
use std::sync::Arc;

/// Records the outcome of a committed call.
pub async fn follow(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Output, Problem>,
    history: &[Message],
) -> Result<CallOutcome, Problem> {
    crash::point("effect_done");
    let signal = outcome.as_ref().ok().and_then(|output| output.signal.clone());
    match signal {
        None => record_output(chat, call, outcome).await,
        Some(Signal::PlanFileChanged(path)) => plan_changed(chat, call, outcome, &path).await,
        Some(Signal::Reviewed { review, text }) => {
            let review: Review = serde_json::from_value(review).map_err(broken)?;
            let (reply, call_id) = (ReplyPart::accompanying(call.body.reply.id), Some(call.body.call_id));
            let body = AssistantText { review: Some(review), call_id, reply, ..AssistantText::default() };
            record_with_message(chat, call, outcome, beside(call, body, &text), Change::default(), |_| {}).await
        }
        Some(Signal::Ask(questions)) => {
            let pending = plan::question_card(chat, Agent::of(call)?, questions, Severity::Major).await;
            result::record_question(chat, call, pending).await
        }
        Some(Signal::ExitPlanMode(path)) => exit_plan_mode(chat, call, &path).await,
        Some(Signal::Staged) => Box::pin(landing::settle(chat, call, history)).await,
        Some(Signal::Delegate { .. } | Signal::Explore { .. }) => Ok(CallOutcome::HandedOn(Box::new(call.clone()))),
    }
}

/// Records an output without a signal. For a report on a step, the result depends on the step's check.
pub async fn record_output(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Output, Problem>) -> Result<CallOutcome, Problem> {
    if step::is_report(call) {
        return step::conclude(chat, call, outcome).await;
    }
    result::record(chat, call, outcome.map(Output::into_result), Change::default()).await
}

async fn plan_changed(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Output, Problem>,
    path: &WorkspacePath,
) -> Result<CallOutcome, Problem> {
    let Some(stored) = StoredPlan::read(chat, path).await else {
        // In plan mode an invalid plan file still becomes the chat's own plan: the model may fix it, and can't start another one.
        let file = Some(path.to_string()).filter(|_| Agent::of(call).is_ok_and(|agent| agent.role.mode() == Mode::Plan));
        let edit = move |row: &mut Draft| row.config.plan_file = row.config.plan_file.take().or(file);
        let messages = result::record_with(chat, call, outcome.map(Output::into_result), Change::default(), edit).await?;
        return Ok(CallOutcome::Done(messages));
    };
    let reply = ReplyPart::accompanying(call.body.reply.id);
    let comments = answered_comments(chat, call, &stored).await?;
    let version = PlanVersion { call_id: Some(call.body.call_id), reply, comments, ..stored.version(chat).await? };
    let message = beside(call, version, stored.goal());
    let change = stored.change(Agent::of(call)?.role, call.body.model());
    // The approved plan stays in force, whatever else is planned meanwhile.
    let is_bound = chat.is_bound();
    let edit = move |row: &mut Draft| row.config.plan_file = row.config.plan_file.take().filter(|_| is_bound).or(Some(stored.path));
    let recorded = record_with_message(chat, call, outcome, message, change, edit).await;
    crash::point("plan_recorded");
    if is_bound {
        plan_progress::mark(chat).await;
    }
    recorded
}

/// The comments that the user sent since the version before, with what the model reports about them.
async fn answered_comments(chat: &Arc<Chat>, call: &CallMessage, stored: &StoredPlan) -> Result<Vec<AnsweredComment>, Problem> {
    let newest = stored.newest_of_model(chat).await?.map(|message| message.id);
    let sent = chat.store.comments_since(chat.id, newest).await?;
    let reports: Vec<CommentReport> = serde_json::from_value(call.body.args["comments"].clone()).unwrap_or_default();
    let answered = |comment: ReviewComment| {
        let report = reports.iter().find(|report| report.id == comment.id);
        let (outcome, note) = report.map(|report| (report.outcome, report.note.clone())).unzip();
        AnsweredComment { comment, outcome, note: note.unwrap_or_default() }
    };
    // Comments on code are for the code, unless the model reports on them here.
    let is_meant =
        |answered: &AnsweredComment| answered.comment.path.is_none() || answered.comment.step.is_some() || answered.outcome.is_some();
    Ok(sent.into_iter().map(answered).filter(is_meant).collect())
}

/// A message beside the result. The model knows its content from the call.
fn beside(call: &CallMessage, body: impl Into<MessageBody>, text: &str) -> Message {
    Message { agent_role: call.agent_role, ..Message::new(call.chat_id, body, text) }.in_thread(call.delegation)
}

async fn record_with_message(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Output, Problem>,
    message: Message,
    mut change: Change,
    edit: impl FnOnce(&mut Draft) + Send + 'static,
) -> Result<CallOutcome, Problem> {
    change.events.insert(0, Event::MessageCreated { message: message.clone() });
    let mut messages = result::record_with(chat, call, outcome.map(Output::into_result), change, edit).await?;
    messages.push(message);
    Ok(CallOutcome::Done(messages))
}

/// A model's request to leave plan mode only asks: the server shows its own card.
async fn exit_plan_mode(chat: &Arc<Chat>, call: &CallMessage, path: &WorkspacePath) -> Result<CallOutcome, Problem> {
    let refuse = |code, text: &str| Err(Problem::new(code, text));
    let chat_mode = chat.record().config.role.mode();
    let (agent, stored) = (Agent::of(call)?, StoredPlan::read(chat, path).await);
    let carried_out = chat.approval().filter(|_| chat_mode == Mode::Act);
    let outcome = if let (Some(approval), Some(plan)) = (carried_out, &stored)
        && plan.is(&approval)
    {
        Ok(json!({"status": "approved", "output": "The user has already approved this plan; execute it."}))
    } else if agent.role.mode() == Mode::Act && chat.missing_plan().await?.is_none() {
        refuse(ErrorCode::NotInPlanMode, "The chat is not in plan mode, so there is nothing to leave. Continue with your work.")
    } else if let Some(objection) = stored.as_ref().and_then(|stored| chat.settings().policy.objection(stored.plan())) {
        refuse(ErrorCode::PlanInvalid, objection)
    } else if let Some(stored) = stored {
        return result::record_question(chat, call, stored.card(agent, planwright_question::card::plan_approval())).await;
    } else {
        refuse(ErrorCode::PlanInvalid, "The plan file is no longer a valid plan. Write it again with `write_plan`.")
    };
    result::record(chat, call, outcome, Change::default()).await
}
