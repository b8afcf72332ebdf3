//! The card that asks the user to approve a call, and the answer to it.

use super::agent_call::CallOutcome;
use super::grants::{grant_of, place_of};
use crate::agent::Agent;
use crate::card::{Pending, answers_to};
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::tally;
use planwright_protocol::message::{ApprovalMoment, CallToApprove, EffectShown, QuestionCard};
use planwright_protocol::question::Decision;
use planwright_protocol::{CallMessage, ErrorCode, Message, Problem, Question, QuestionKind};
use planwright_tools::{Approval, Consent, Effect};
use std::sync::Arc;

/// How many effects a card carries; its text counts all of them.
const MOST_SHOWN: usize = 200;

/// The user's answer to the card about a call, if there was one.
///
/// # Errors
/// The user denied it, or wrote something else instead.
pub fn consent(call: &CallMessage, history: &[Message]) -> Result<Consent, Problem> {
    for (card, asked) in cards(history).filter(|(_, asked)| asked.moment == ApprovalMoment::Before) {
        let about_this = asked.call_id == call.body.call_id;
        match answers_to(history, card.question_id).map(planwright_question::read_decision) {
            Some(Decision::Approve | Decision::ApproveAlways) if about_this => return Ok(Consent::Given),
            // A card that the user passed over counts as denied.
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

/// The user's answer to the card about what a command changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    NotAsked,
    Keep,
    TakeBack,
}

pub fn keeping(call: &CallMessage, history: &[Message]) -> Keeping {
    let about_this = |asked: &CallToApprove| asked.call_id == call.body.call_id && asked.moment == ApprovalMoment::After;
    let Some((card, _)) = cards(history).find(|(_, asked)| about_this(asked)) else { return Keeping::NotAsked };
    match answers_to(history, card.question_id).map(planwright_question::read_decision) {
        Some(Decision::Approve | Decision::ApproveAlways) => Keeping::Keep,
        // A card that the user passed over counts as denied.
        Some(Decision::Deny) | None => Keeping::TakeBack,
    }
}

/// The approval cards of the history, with the calls that they are about.
fn cards(history: &[Message]) -> impl Iterator<Item = (&QuestionCard, &CallToApprove)> {
    history.iter().filter_map(|message| message.body.question()).filter_map(|card| Some((card, card.call.as_ref()?)))
}

/// Raises the card. The call stays open until the user has answered.
pub async fn ask(
    chat: &Arc<Chat>,
    call: &CallMessage,
    effects: &[Effect],
    approval: Approval,
    agent: Agent,
    (moment, question): (ApprovalMoment, Question),
) -> Result<CallOutcome, Problem> {
    tally::judged("asked");
    let mut pending = Pending::new(agent, QuestionKind::ToolApproval, approval.severity, vec![question]);
    pending.call = Some(CallToApprove {
        call_id: call.body.call_id,
        tool: call.body.tool.clone(),
        args: Some(call.body.args.clone()),
        effects: effects.iter().take(MOST_SHOWN).map(shown).collect::<Result<_, _>>().map_err(broken)?,
        reason: approval.reason,
        folder: place_of(effects),
        moment,
        grant: grant_of(&call.body.tool, effects, moment),
    });
    let question = pending.message_beside(chat.id, call.body.reply.id);
    let change = Change::messages([question.clone()]).event(pending.event()).log_question(&pending, call.body.model());
    chat.publish(change, move |chat| chat.activity.ask(pending)).await?;
    crash::point("card_stored");
    Ok(CallOutcome::Asked(vec![question]))
}

/// An effect as a card shows it.
fn shown(effect: &Effect) -> serde_json::Result<EffectShown> {
    serde_json::from_value(serde_json::to_value(effect)?)
}
