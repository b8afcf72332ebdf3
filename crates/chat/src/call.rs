//! One tool call, from its arguments to its result.
//!
//! Three records: the call as the model made it, the intent with the images of the files it will
//! change, the result. After a crash the images tell what happened.

pub mod command;
pub mod judge;
mod recovery;
mod repetition;
mod side_by_side;
mod standing;
mod step;

pub use recovery::cancelled;
pub use side_by_side::{carry_out_together, take_together};

use crate::agent::Agent;
use crate::card::{Pending, answers_to};
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::delegation;
use crate::plan::{self, StoredPlan};
use crate::progress;
use crate::tally;
use crate::versions;
use judge::{Judged, judge};
use planwright_protocol::event::ToolResponse;
use planwright_protocol::message::{
    ApprovalMoment, AssistantText, CallStatus, CallToApprove, Category, EffectShown, PlanVersion, QuestionCard, ReplyPart, Review,
    ToolOutcome, ToolResult,
};
use planwright_protocol::question::Decision;
use planwright_protocol::{CallMessage, ErrorCode, Event, Message, MessageBody, Mode, Problem, Question, QuestionKind, Severity};
use planwright_store::{ChatRow, Versions};
use planwright_tools::{Approval, Consent, Effect, Output, Signal, ToolContext, WorkspacePath};
use serde_json::{Value, json};
use standing::{folder_of, grant_of};
use std::sync::Arc;

/// How many effects a card carries; the words on it count all of them.
const MOST_SHOWN: usize = 200;

pub enum Carried {
    /// The result, and what else came of it.
    Done(Vec<Message>),
    /// The user must answer first.
    Asked(Vec<Message>),
    /// Another role has to do the call's task.
    HandedOn(Box<CallMessage>),
}

pub async fn carry_out(chat: &Arc<Chat>, call: CallMessage, history: &[Message]) -> Result<Carried, Problem> {
    if call.body.status == CallStatus::Running {
        return Box::pin(recovery::recover(chat, call, history)).await;
    }
    match judge(chat, &call, history).await? {
        Judged::Refused(problem, change) => {
            tally::judged("denied");
            finish(chat, &call, Err(problem), *change).await
        }
        Judged::Asks(effects, approval, agent) => {
            let question = planwright_question::card::tool_approval(&call.body.tool, &approval.reason);
            let question = match effects.iter().find_map(Effect::command) {
                Some(command) => planwright_question::card::about_command(question, command),
                None => question,
            };
            ask(chat, &call, &effects, approval, agent, (ApprovalMoment::Before, question)).await
        }
        Judged::Allowed(prepared, permit) => {
            tally::judged("allowed");
            let call = command::noted(call, &prepared.effects).with_status(CallStatus::Running);
            if prepared.effects.iter().all(|effect| matches!(effect, Effect::Read(_) | Effect::Consult { .. })) {
                // Made again after a crash, so that it need not be on disk first.
                chat.tell([updated(&call)]);
            } else {
                let begins = delegation::task_of(&call, &prepared.effects);
                intend(chat, &call, versions::of(call.id, &prepared.changes), begins).await?;
            }
            let outcome = match chat.carry(move || prepared.commit(&permit)).await? {
                // The permit has ended, and not by a switch.
                Err(problem) if problem.code == ErrorCode::ModeChanged && still_acting(chat, &call).await.is_ok() => {
                    Err(recovery::stopped_before())
                }
                outcome => outcome,
            };
            Box::pin(conclude(chat, &call, outcome, history)).await
        }
    }
}

/// Who made the call, if the chat's role still stands behind them.
async fn still_acting(chat: &Arc<Chat>, call: &CallMessage) -> Result<Agent, Problem> {
    let agent = Agent::of(call)?;
    agent.check(chat.settled_record().await.config.role)?;
    Ok(agent)
}

async fn context(chat: &Arc<Chat>, agent: Agent, call: &CallMessage) -> Result<ToolContext, Problem> {
    let mut cx = chat.tool_context(agent, Some(call.body.call_id)).await?;
    // A step's check is a command too.
    if let Some(Category::Execute | Category::Other) = call.body.category {
        cx.command.live = chat.ear(call.body.call_id);
    }
    Ok(cx)
}

/// What the user said to the call's approval card, if there was one.
fn entitled(call: &CallMessage, history: &[Message]) -> Result<Consent, Problem> {
    for (card, asked) in cards(history).filter(|(_, asked)| asked.moment == ApprovalMoment::Before) {
        let about_this = asked.call_id == call.body.call_id;
        match answers_to(history, card.question_id).map(planwright_question::read_decision) {
            Some(Decision::Approve | Decision::ApproveAlways) if about_this => return Ok(Consent::Given),
            // A card that the user passed over counts as a no.
            Some(Decision::Deny) | None if about_this => {
                let text = "The user did not approve this call. Don't try it again; find another way, or ask what they would rather have.";
                return Err(Problem::new(ErrorCode::ApprovalDenied, text));
            }
            None if card.reply.id == call.body.reply.id => {
                let text = "The user wrote something instead of answering, so the rest of this reply was not carried out. Read it first.";
                return Err(Problem::new(ErrorCode::Cancelled, text));
            }
            Some(_) | None => {}
        }
    }
    Ok(Consent::Needed)
}

/// The approval cards of the history, with the calls that they are about.
fn cards(history: &[Message]) -> impl Iterator<Item = (&QuestionCard, &CallToApprove)> {
    history.iter().filter_map(|message| message.body.question()).filter_map(|card| Some((card, card.call.as_ref()?)))
}

/// The event that tells of a call that has moved on.
fn updated(call: &CallMessage) -> Event {
    Event::MessageUpdated { message: call.clone().into() }
}

/// Stores that a call is about to be made, what the files will be before and after, and the task that begins with it.
async fn intend(chat: &Arc<Chat>, call: &CallMessage, versions: Versions, begins: Option<Message>) -> Result<(), Problem> {
    let mut change = Change::default().event(updated(call));
    change.versions = Box::new(versions);
    change.events.extend(begins.map(|message| Event::MessageCreated { message }));
    chat.publish(change, |_| {}).await?;
    crash::point("intent_stored");
    Ok(())
}

async fn conclude(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Output, Problem>, history: &[Message]) -> Result<Carried, Problem> {
    crash::point("effect_done");
    let signal = outcome.as_ref().ok().and_then(|output| output.signal.clone());
    match signal {
        None => told(chat, call, outcome).await,
        Some(Signal::PlanFileChanged(path)) => {
            let Some(stored) = StoredPlan::read(chat, &path).await else {
                return began_plan(chat, call, outcome, &path).await.map(Carried::Done);
            };
            let reply = ReplyPart::accompanying(call.body.reply.id);
            let version = PlanVersion { call_id: Some(call.body.call_id), reply, ..stored.version(chat).await? };
            let message = come_of(call, version, stored.goal());
            let change = stored.change(Agent::of(call)?.role, call.body.model());
            // What is being carried out stays what the user approved, whatever else is planned meanwhile.
            let is_bound = chat.is_bound();
            let edit =
                move |row: &mut ChatRow| row.config.plan_file = row.config.plan_file.take().filter(|_| is_bound).or(Some(stored.path));
            let carried = finish_saying(chat, call, outcome, message, change, edit).await;
            crash::point("plan_recorded");
            if is_bound {
                progress::mark(chat).await;
            }
            carried
        }
        Some(Signal::Reviewed { review, text }) => {
            let review: Review = serde_json::from_value(review).map_err(broken)?;
            let (reply, call_id) = (ReplyPart::accompanying(call.body.reply.id), Some(call.body.call_id));
            let message = come_of(call, AssistantText { review: Some(review), call_id, reply, ..AssistantText::default() }, &text);
            finish_saying(chat, call, outcome, message, Change::default(), |_| {}).await
        }
        Some(Signal::Ask(questions)) => {
            let pending = plan::question_card(chat, Agent::of(call)?, questions, Severity::Major).await;
            park(chat, call, pending).await
        }
        Some(Signal::ExitPlanMode(path)) => exit_plan_mode(chat, call, &path).await,
        Some(Signal::Staged) => Box::pin(command::settle(chat, call, history)).await,
        Some(Signal::Delegate { .. }) => Ok(Carried::HandedOn(Box::new(call.clone()))),
    }
}

/// A file that can't be read as a plan yet. In plan mode it is the chat's own all the same: the model may mend it, and begins
/// no other one beside it.
async fn began_plan(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Output, Problem>,
    path: &WorkspacePath,
) -> Result<Vec<Message>, Problem> {
    let file = Some(path.to_string()).filter(|_| Agent::of(call).is_ok_and(|agent| agent.role.mode() == Mode::Plan));
    let edit = move |row: &mut ChatRow| row.config.plan_file = row.config.plan_file.take().or(file);
    finish_with(chat, call, outcome.map(Output::into_result), Change::default(), edit).await
}

/// What came of the call itself. Of a report on a step, that depends on what its check said.
async fn told(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Output, Problem>) -> Result<Carried, Problem> {
    if step::is_report(call) {
        return step::conclude(chat, call, outcome).await;
    }
    finish(chat, call, outcome.map(Output::into_result), Change::default()).await
}

/// What a call brought into the history besides its result; the model knows it from the call.
fn come_of(call: &CallMessage, body: impl Into<MessageBody>, text: &str) -> Message {
    Message { agent_role: call.agent_role, ..Message::new(call.chat_id, body, text) }.in_thread(call.delegation)
}

/// The model's wish to leave plan mode only ever asks: the card is the server's own.
async fn exit_plan_mode(chat: &Arc<Chat>, call: &CallMessage, path: &WorkspacePath) -> Result<Carried, Problem> {
    let refuse = |code, text: &str| Err(Problem::new(code, text));
    let chat_mode = chat.record().config.role.mode();
    let (agent, stored) = (Agent::of(call)?, StoredPlan::read(chat, path).await);
    let carried_out = chat.approval().filter(|_| chat_mode == Mode::Act);
    let outcome = if let (Some(approval), Some(plan)) = (carried_out, &stored)
        && plan.is(&approval)
    {
        Ok(json!({"status": "approved", "output": "The user has approved this plan already; carry it out."}))
    } else if agent.role.mode() == Mode::Act && chat.missing_plan().await?.is_none() {
        refuse(ErrorCode::NotInPlanMode, "The chat is not in plan mode, so there is nothing to leave. Go on with your work.")
    } else if let Some(objection) = stored.as_ref().and_then(|stored| chat.settings().policy.objection(stored.plan())) {
        refuse(ErrorCode::PlanInvalid, objection)
    } else if let Some(stored) = stored {
        return park(chat, call, stored.card(agent, planwright_question::card::plan_approval())).await;
    } else {
        refuse(ErrorCode::PlanInvalid, "The plan file can't be read as a plan any more. Write it again with `write_plan`.")
    };
    finish(chat, call, outcome, Change::default()).await
}

/// The result says that a question is pending; the answer takes its place in the model's context.
async fn park(chat: &Arc<Chat>, call: &CallMessage, pending: Pending) -> Result<Carried, Problem> {
    let response = Ok(json!({"status": "question_pending", "question_id": pending.question_id})).into();
    let (text, result) = result_of(call, response);
    let result = result_message(chat, call, text, ToolResult { question_id: Some(pending.question_id), ..result });
    let question = pending.message(chat.id);
    let call = call.clone().with_status(CallStatus::Done);
    let mut change = Change::messages([result.clone(), question.clone()]).event(pending.event());
    change.events.insert(0, updated(&call));
    let change = change.log_question(&pending, call.body.model());
    chat.publish(change, move |row| row.pending = serde_json::to_value(&pending).ok()).await?;
    crash::point("question_stored");
    Ok(Carried::Asked(vec![call.into(), result, question]))
}

/// The call waits, without a result, for the user's word.
async fn ask(
    chat: &Arc<Chat>,
    call: &CallMessage,
    effects: &[Effect],
    approval: Approval,
    agent: Agent,
    (moment, question): (ApprovalMoment, Question),
) -> Result<Carried, Problem> {
    tally::judged("asked");
    let mut pending = Pending::new(agent, QuestionKind::ToolApproval, approval.severity, vec![question]);
    pending.call = Some(CallToApprove {
        call_id: call.body.call_id,
        tool: call.body.tool.clone(),
        args: Some(call.body.args.clone()),
        effects: effects.iter().take(MOST_SHOWN).map(shown).collect::<Result<_, _>>().map_err(broken)?,
        reason: approval.reason,
        folder: folder_of(effects).map(|folder| folder.to_string()),
        moment,
        grant: grant_of(&call.body.tool, effects, moment),
    });
    let question = pending.message_beside(chat.id, call.body.reply.id);
    let change = Change::messages([question.clone()]).event(pending.event()).log_question(&pending, call.body.model());
    chat.publish(change, move |row| row.pending = serde_json::to_value(&pending).ok()).await?;
    crash::point("card_stored");
    Ok(Carried::Asked(vec![question]))
}

pub(crate) async fn finish(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Value, Problem>,
    change: Change,
) -> Result<Carried, Problem> {
    finish_with(chat, call, outcome, change, |_| {}).await.map(Carried::Done)
}

/// Like [`finish`], with a message of what came of the call.
async fn finish_saying(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Output, Problem>,
    message: Message,
    mut change: Change,
    edit: impl FnOnce(&mut ChatRow) + Send + 'static,
) -> Result<Carried, Problem> {
    change.events.insert(0, Event::MessageCreated { message: message.clone() });
    let mut carried = finish_with(chat, call, outcome.map(Output::into_result), change, edit).await?;
    carried.push(message);
    Ok(Carried::Done(carried))
}

pub(crate) async fn finish_with(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Value, Problem>,
    mut change: Change,
    edit: impl FnOnce(&mut ChatRow) + Send + 'static,
) -> Result<Vec<Message>, Problem> {
    let outcome = match outcome {
        Err(problem) => {
            versions::settle(chat, call.id).await?;
            Err(repetition::judged(chat, call, problem).await?)
        }
        Ok(result) => Ok(result),
    };
    let response = ToolResponse::from(outcome);
    let call = call.clone().with_status(if response.success { CallStatus::Done } else { CallStatus::Failed });
    let (result, mut events) = concluded(chat, &call, response);
    events.append(&mut change.events);
    change.events = events;
    chat.publish(change, edit).await?;
    crash::point("result_stored");
    Ok(vec![call.into(), result])
}

/// The result of a call as a message, and the events that tell of it.
fn concluded(chat: &Chat, call: &CallMessage, response: ToolResponse) -> (Message, Vec<Event>) {
    let (text, result) = result_of(call, response.clone());
    let message = result_message(chat, call, text, result);
    let told = Event::ToolResult { call_id: call.body.call_id, result: response };
    (message.clone(), vec![updated(call), Event::MessageCreated { message }, told])
}

fn result_message(chat: &Chat, call: &CallMessage, text: String, result: ToolResult) -> Message {
    Message::new(chat.id, result, text).in_thread(call.delegation)
}

/// The text of a result, and the rest of it.
fn result_of(call: &CallMessage, response: ToolResponse) -> (String, ToolResult) {
    let (text, outcome) = match (response.error, response.result) {
        (Some(problem), _) => (format!("{}: {}", problem.code, problem.message), ToolOutcome::Failed(problem)),
        (None, Some(mut result)) => {
            let text = result.get("output").and_then(Value::as_str).map_or_else(|| result.to_string(), str::to_owned);
            let facts = result.as_object_mut().map(std::mem::take).map(|mut facts| {
                facts.remove("output");
                facts
            });
            (text, ToolOutcome::Succeeded(facts))
        }
        (None, None) => (String::new(), ToolOutcome::Succeeded(None)),
    };
    (text, ToolResult { call_id: call.body.call_id, tool: call.body.tool.clone(), outcome, question_id: None, body_size: None })
}

/// An effect as a card shows it.
fn shown(effect: &Effect) -> serde_json::Result<EffectShown> {
    serde_json::from_value(serde_json::to_value(effect)?)
}
