//! One tool call, from its arguments to its result.
//!
//! Three records: the call as the model made it, the intent with the images of the files it will
//! change, the result. After a crash the images tell what happened.

mod command;
mod judge;
mod recovery;
mod repetition;
mod side_by_side;
mod standing;
mod step;
mod users;

pub use recovery::cancelled;
pub use side_by_side::{carry_out_together, take_together};
pub use users::{Place, UserCall};

use crate::agent::Agent;
use crate::card::{self, Pending, answers_to};
use crate::chat::{Change, Chat};
use crate::crash;
use crate::delegation;
use crate::plan::StoredPlan;
use crate::progress;
use crate::tally;
use crate::versions;
use judge::{Judged, judge};
use planwright_agent::thread::DELEGATION;
use planwright_protocol::event::ToolResponse;
use planwright_protocol::question::Decision;
use planwright_protocol::{Author, ErrorCode, Event, Message, MessageType, Mode, Problem, Question, QuestionKind, Severity};
use planwright_store::{ChatRow, Versions};
use planwright_tools::{Approval, Consent, Effect, Output, Signal, ToolContext, WorkspacePath};
use serde::Serialize;
use serde_json::{Value, json};
use standing::{folder_of, grant_of};
use std::sync::Arc;

/// How many effects a card carries; the words on it count all of them.
const MOST_SHOWN: usize = 200;

/// When a card is about a call: before it is made, or, of a command, when it is known what it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Moment {
    Before,
    After,
}

pub enum Carried {
    /// The result, and what else came of it.
    Done(Vec<Message>),
    /// The user must answer first.
    Asked(Vec<Message>),
    /// Another role has to do the call's task.
    HandedOn(Message),
}

pub async fn carry_out(chat: &Arc<Chat>, call: Message, history: &[Message]) -> Result<Carried, Problem> {
    if call.meta("status") == "running" {
        return Box::pin(recovery::recover(chat, call, history)).await;
    }
    match judge(chat, &call, history).await? {
        Judged::Refused(problem, change) => {
            tally::judged("denied");
            finish(chat, &call, Err(problem), *change).await
        }
        Judged::Asks(effects, approval, agent) => {
            let question = planwright_question::card::tool_approval(call.meta("tool"), &approval.reason);
            let question = match effects.iter().find_map(Effect::command) {
                Some(command) => planwright_question::card::about_command(question, command),
                None => question,
            };
            ask(chat, &call, &effects, approval, agent, (Moment::Before, question)).await
        }
        Judged::Allowed(prepared, permit) => {
            tally::judged("allowed");
            let call = command::noted(call, &prepared.effects).with("status", "running");
            if prepared.effects.iter().all(|effect| matches!(effect, Effect::Read(_) | Effect::Consult { .. })) {
                // Made again after a crash, so that it need not be on disk first.
                chat.tell([Event::MessageUpdated { message: call.clone() }]).await;
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
            conclude(chat, &call, outcome, history).await
        }
    }
}

/// Who made the call, if the chat's role still stands behind them.
async fn still_acting(chat: &Arc<Chat>, call: &Message) -> Result<Agent, Problem> {
    let agent = Agent::of(call)?;
    agent.check(chat.row().await.config.role)?;
    Ok(agent)
}

async fn context(chat: &Arc<Chat>, agent: Agent, call: &Message) -> Result<ToolContext, Problem> {
    let call_id = call.meta("call_id").parse().ok();
    let mut cx = chat.tool_context(agent, call_id).await?;
    // A step's check is a command too.
    if let ("execute" | "other", Some(call_id)) = (call.meta("category"), call_id) {
        cx.command.live = chat.ear(call_id);
    }
    Ok(cx)
}

/// What the user said to the call's approval card, if there was one.
fn entitled(call: &Message, history: &[Message]) -> Result<Consent, Problem> {
    for card in cards(history).filter(|card| moment_of(card) == Moment::Before) {
        let answers = answers_to(history, card.meta("question_id")).and_then(Value::as_object);
        let about_this = card.metadata["call"].get("call_id") == call.metadata.get("call_id");
        match answers.map(planwright_question::read_decision) {
            Some(Decision::Approve | Decision::ApproveAlways) if about_this => return Ok(Consent::Given),
            // A card that the user passed over counts as a no.
            Some(Decision::Deny) | None if about_this => {
                let text = "The user did not approve this call. Don't try it again; find another way, or ask what they would rather have.";
                return Err(Problem::new(ErrorCode::ApprovalDenied, text));
            }
            None if card.meta("reply") == call.meta("reply") => {
                let text = "The user wrote something instead of answering, so the rest of this reply was not carried out. Read it first.";
                return Err(Problem::new(ErrorCode::Cancelled, text));
            }
            Some(_) | None => {}
        }
    }
    Ok(Consent::Needed)
}

/// The approval cards of the history.
fn cards(history: &[Message]) -> impl Iterator<Item = &Message> {
    history.iter().filter(|message| message.message_type == MessageType::Question && message.metadata.contains_key("call"))
}

fn moment_of(card: &Message) -> Moment {
    let is_after = card.metadata["call"].get("moment").is_some_and(|moment| moment == "after");
    if is_after { Moment::After } else { Moment::Before }
}

/// Stores that a call is about to be made, what the files will be before and after, and the task that begins with it.
async fn intend(chat: &Arc<Chat>, call: &Message, versions: Versions, begins: Option<Message>) -> Result<(), Problem> {
    let mut change = Change::default().event(Event::MessageUpdated { message: call.clone() });
    change.versions = Box::new(versions);
    change.events.extend(begins.map(|message| Event::MessageCreated { message }));
    chat.publish(change, |_| {}).await?;
    crash::point("intent_stored");
    Ok(())
}

async fn conclude(chat: &Arc<Chat>, call: &Message, outcome: Result<Output, Problem>, history: &[Message]) -> Result<Carried, Problem> {
    crash::point("effect_done");
    let signal = outcome.as_ref().ok().and_then(|output| output.signal.clone());
    match signal {
        None => told(chat, call, outcome).await,
        Some(Signal::PlanFileChanged(path)) => {
            let Some(stored) = StoredPlan::read(chat, &path).await else {
                return began_plan(chat, call, outcome, &path).await.map(Carried::Done);
            };
            let message = stored.tell(chat, come_of(call, stored.goal())).await?;
            let change = stored.change(Agent::of(call)?.role, call.meta("model"));
            // What is being carried out stays what the user approved, whatever else is planned meanwhile.
            let is_bound = chat.is_bound().await;
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
            let message = come_of(call, &text).with("review", review);
            finish_saying(chat, call, outcome, message, Change::default(), |_| {}).await
        }
        Some(Signal::Ask(questions)) => {
            let pending = card::asked(chat, Agent::of(call)?, questions, Severity::Major).await;
            park(chat, call, pending).await
        }
        Some(Signal::ExitPlanMode(path)) => exit_plan_mode(chat, call, &path).await,
        Some(Signal::Staged) => Box::pin(command::settle(chat, call, history)).await,
        Some(Signal::Delegate { .. }) => Ok(Carried::HandedOn(call.clone())),
    }
}

/// A file that can't be read as a plan yet. In plan mode it is the chat's own all the same: the model may mend it, and begins
/// no other one beside it.
async fn began_plan(
    chat: &Arc<Chat>,
    call: &Message,
    outcome: Result<Output, Problem>,
    path: &WorkspacePath,
) -> Result<Vec<Message>, Problem> {
    let file = Some(path.to_string()).filter(|_| Agent::of(call).is_ok_and(|agent| agent.role.mode() == Mode::Plan));
    let edit = move |row: &mut ChatRow| row.config.plan_file = row.config.plan_file.take().or(file);
    finish_with(chat, call, outcome.map(Output::into_result), Change::default(), edit).await
}

/// What came of the call itself. Of a report on a step, that depends on what its check said.
async fn told(chat: &Arc<Chat>, call: &Message, outcome: Result<Output, Problem>) -> Result<Carried, Problem> {
    if step::is_report(call) {
        return step::conclude(chat, call, outcome).await;
    }
    finish(chat, call, outcome.map(Output::into_result), Change::default()).await
}

/// What a call brought into the history besides its result; the model knows it from the call.
fn come_of(call: &Message, text: &str) -> Message {
    let message = in_thread_of(call, Message::new(call.chat_id, Author::Assistant, MessageType::Text, text));
    Message { agent_role: call.agent_role, ..message }.with("call_id", call.meta("call_id")).with("reply", call.meta("reply"))
}

/// A message beside the call, in the same conversation.
fn in_thread_of(call: &Message, message: Message) -> Message {
    match call.metadata.get(DELEGATION) {
        Some(delegation) => message.with(DELEGATION, delegation.clone()),
        None => message,
    }
}

/// The model's wish to leave plan mode only ever asks: the card is the server's own.
async fn exit_plan_mode(chat: &Arc<Chat>, call: &Message, path: &WorkspacePath) -> Result<Carried, Problem> {
    let refuse = |code, text: &str| Err(Problem::new(code, text));
    let chat_mode = chat.row().await.config.role.mode();
    let (agent, stored) = (Agent::of(call)?, StoredPlan::read(chat, path).await);
    let carried_out = chat.approval().await.filter(|_| chat_mode == Mode::Act);
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
async fn park(chat: &Arc<Chat>, call: &Message, pending: Pending) -> Result<Carried, Problem> {
    let result = result_message(chat, call, Ok(json!({"status": "question_pending", "question_id": pending.question_id})).into())
        .with("question_id", pending.question_id.to_string());
    let question = pending.message(chat.id);
    let call = call.clone().with("status", "done");
    let mut change = Change::messages([result.clone(), question.clone()]).event(pending.event());
    change.events.insert(0, Event::MessageUpdated { message: call.clone() });
    let change = pending.log(change, call.meta("model"));
    chat.publish(change, move |row| row.pending = serde_json::to_value(&pending).ok()).await?;
    crash::point("question_stored");
    Ok(Carried::Asked(vec![call, result, question]))
}

/// The call waits, without a result, for the user's word.
async fn ask(
    chat: &Arc<Chat>,
    call: &Message,
    effects: &[Effect],
    approval: Approval,
    agent: Agent,
    (moment, question): (Moment, Question),
) -> Result<Carried, Problem> {
    tally::judged("asked");
    let tool = call.meta("tool");
    let mut pending = Pending::new(agent, QuestionKind::ToolApproval, approval.severity, vec![question]);
    pending.call = Some(json!({
        "call_id": call.meta("call_id"), "tool": tool, "args": call.metadata.get("args"), "effects": effects.iter().take(MOST_SHOWN).collect::<Vec<_>>(), "reason": approval.reason,
        "folder": folder_of(effects), "moment": moment, "grant": grant_of(tool, effects, moment),
    }));
    let question = pending.message(chat.id).with("reply", call.meta("reply"));
    let change = pending.log(Change::messages([question.clone()]).event(pending.event()), call.meta("model"));
    chat.publish(change, move |row| row.pending = serde_json::to_value(&pending).ok()).await?;
    crash::point("card_stored");
    Ok(Carried::Asked(vec![question]))
}

pub(crate) async fn finish(chat: &Arc<Chat>, call: &Message, outcome: Result<Value, Problem>, change: Change) -> Result<Carried, Problem> {
    finish_with(chat, call, outcome, change, |_| {}).await.map(Carried::Done)
}

/// Like [`finish`], with a message of what came of the call.
async fn finish_saying(
    chat: &Arc<Chat>,
    call: &Message,
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
    call: &Message,
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
    let result = result_message(chat, call, response.clone());
    let call = call.clone().with("status", if response.success { "done" } else { "failed" });
    let mut events = vec![Event::MessageUpdated { message: call.clone() }, Event::MessageCreated { message: result.clone() }];
    events.extend(call.meta("call_id").parse().ok().map(|call_id| Event::ToolResult { call_id, result: response }));
    events.append(&mut change.events);
    change.events = events;
    chat.publish(change, edit).await?;
    crash::point("result_stored");
    Ok(vec![call, result])
}

pub(crate) fn result_message(chat: &Chat, call: &Message, response: ToolResponse) -> Message {
    let text = match (&response.result, &response.error) {
        (_, Some(problem)) => format!("{}: {}", problem.code, problem.message),
        (Some(result), None) => result.get("output").and_then(Value::as_str).map_or_else(|| result.to_string(), str::to_owned),
        (None, None) => String::new(),
    };
    let mut message = in_thread_of(call, Message::new(chat.id, Author::Tool, MessageType::ToolResult, text))
        .with("call_id", call.meta("call_id"))
        .with("tool", call.meta("tool"))
        .with("success", response.success);
    if let Some(problem) = response.error {
        message = message.with("error", serde_json::to_value(problem).unwrap_or_default());
    }
    if let Some(Value::Object(mut facts)) = response.result {
        facts.remove("output");
        message = message.with("facts", facts);
    }
    message
}
