//! The card that asks the user to approve a call, and the answer to it.

use super::agent_call::CallOutcome;
use super::effect_preview::{self, EffectPreview};
use super::grants::{grant_of, place_of};
use crate::card::answers_to;
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::metrics;
use planwright_protocol::Agent;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::{ApprovalMoment, CallToApprove, EffectShown, QuestionCard};
use planwright_protocol::question::{Decision, StopDecision};
use planwright_protocol::{CallMessage, ErrorCode, Message, Problem, Question, QuestionId, QuestionKind};
use planwright_tools::{Approval, Consent, Effect, FileChange};
use std::sync::Arc;

/// Maximum number of effects on a card; its text counts all of them.
const MOST_SHOWN: usize = 200;

/// The user's answer to the card about a call, if any.
///
/// # Errors
/// The user denied it, or sent a message instead.
pub fn consent(call: &CallMessage, history: &[Message]) -> Result<Consent, Problem> {
    check_stop(call, history)?;
    for (card, asked) in cards(history).filter(|(_, asked)| asked.moment == ApprovalMoment::Before) {
        let about_this = asked.call_id == call.body.call_id;
        match answers_to(history, card.question_id).map(planwright_question::read_decision) {
            Some(Decision::Approve | Decision::ApproveAlways) if about_this => return Ok(Consent::Given),
            // A card that the user skipped counts as denied.
            Some(Decision::Deny) | None if about_this => return Err(denied(reason_for(history, card.question_id))),
            None if card.reply.id == call.body.reply.id => {
                let text =
                    "The user sent a message instead of an answer, so the rest of this reply was not executed. Read the message first.";
                return Err(Problem::new(ErrorCode::Cancelled, text));
            }
            Some(_) | None => {}
        }
    }
    Ok(Consent::Needed)
}

/// The error that the model gets for a denied call.
fn denied(reason: Option<&str>) -> Problem {
    let advice = "Don't repeat it; find another way, or ask what they prefer.";
    let text = match reason {
        Some(reason) => format!("The user did not approve this call, with this reason: {reason}\n{advice}"),
        None => format!("The user did not approve this call. {advice}"),
    };
    Problem::new(ErrorCode::ApprovalDenied, text)
}

/// The user's text beside an answer.
fn reason_for(history: &[Message], question: QuestionId) -> Option<&str> {
    let answers = history.iter().rev().filter_map(|message| message.body.answer());
    let answer = answers.into_iter().find(|answer| answer.question_answer.question_id == question)?;
    answer.comment.as_deref().map(str::trim).filter(|comment| !comment.is_empty())
}

/// Refuses the calls after a stop in the same reply, unless the user continued.
fn check_stop(call: &CallMessage, history: &[Message]) -> Result<(), Problem> {
    let is_stop = |card: &&QuestionCard| card.kind == QuestionKind::StepStop && card.reply.is_same(&call.body.reply);
    let Some(card) = history.iter().rev().filter_map(|message| message.body.question()).find(is_stop) else { return Ok(()) };
    match answers_to(history, card.question_id).map(planwright_question::read_stop_decision) {
        Some(StopDecision::Continue) => Ok(()),
        Some(StopDecision::Revise | StopDecision::End) | None => {
            let text = "The user wanted a stop before this call and did not continue, so it was not made. Read what they say first.";
            Err(Problem::new(ErrorCode::Cancelled, text))
        }
    }
}

/// The user's answer to the card about a command's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangesDecision {
    NotAsked,
    Keep,
    /// With the user's reason, if they gave one.
    TakeBack(Option<String>),
}

pub fn changes_decision(call: &CallMessage, history: &[Message]) -> ChangesDecision {
    let about_this = |asked: &CallToApprove| asked.call_id == call.body.call_id && asked.moment == ApprovalMoment::After;
    let Some((card, _)) = cards(history).find(|(_, asked)| about_this(asked)) else { return ChangesDecision::NotAsked };
    match answers_to(history, card.question_id).map(planwright_question::read_decision) {
        Some(Decision::Approve | Decision::ApproveAlways) => ChangesDecision::Keep,
        // A card that the user skipped counts as denied.
        Some(Decision::Deny) | None => ChangesDecision::TakeBack(reason_for(history, card.question_id).map(str::to_owned)),
    }
}

/// The approval cards of the history, with their calls.
fn cards(history: &[Message]) -> impl Iterator<Item = (&QuestionCard, &CallToApprove)> {
    history.iter().filter_map(|message| message.body.question()).filter_map(|card| Some((card, card.call.as_ref()?)))
}

/// Shows the card. The call stays open until the user has answered.
pub async fn ask(
    chat: &Arc<Chat>,
    call: &CallMessage,
    (effects, changes): (Vec<Effect>, Vec<FileChange>),
    approval: Approval,
    agent: Agent,
    (moment, question): (ApprovalMoment, Question),
) -> Result<CallOutcome, Problem> {
    metrics::count_verdict("asked");
    let folder = place_of(&effects);
    let grant = grant_of(&call.body.tool, &effects, moment);
    let shown = effects.iter().take(MOST_SHOWN).map(shown).collect::<Result<_, _>>().map_err(broken)?;
    let EffectPreview { step_number, diff, deleted, deleted_count, reversible } = effect_preview::of(chat, effects, changes).await?;
    let mut pending = Pending::new(agent, QuestionKind::ToolApproval, approval.severity, vec![question]);
    pending.call = Some(CallToApprove {
        call_id: call.body.call_id,
        tool: call.body.tool.clone(),
        args: Some(call.body.args.clone()),
        effects: shown,
        reason: approval.reason,
        folder,
        moment,
        grant,
        step_number,
        diff,
        deleted,
        deleted_count,
        reversible: Some(reversible),
    });
    let question = pending.message_beside(chat.id, call.body.reply.id);
    let change = Change::messages([question.clone()]).event(pending.event()).log_question(&pending, call.body.model());
    chat.publish(change, move |chat| chat.activity.ask(pending)).await?;
    crash::point("card_stored");
    Ok(CallOutcome::Asked(vec![question]))
}

/// An effect in the form that a card shows.
fn shown(effect: &Effect) -> serde_json::Result<EffectShown> {
    serde_json::from_value(serde_json::to_value(effect)?)
}
