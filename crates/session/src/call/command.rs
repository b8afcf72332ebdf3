//! A command after its end: what it changed is judged before anything else happens.

use super::{Carried, Moment, ask, cards, moment_of, told};
use crate::agent::Agent;
use crate::card::answers_to;
use crate::chat::{Change, Chat};
use crate::crash;
use crate::versions;
use planwright_protocol::question::Decision;
use planwright_protocol::{ErrorCode, Event, Message, Problem, Question};
use planwright_tools::command::Landed;
use planwright_tools::{Consent, Effect, KEEPING, Permit, Situation, Staged, ToolContext, Verdict, decide};
use serde_json::Value;
use std::sync::Arc;

/// Marks a call whose command's changes were allowed to land.
const LANDING: &str = "landing";

/// Marks a call of a tool that runs commands only at times, when it does.
const RUNS: &str = "runs_command";

/// The call, with a mark if it runs a command.
pub fn noted(call: Message, effects: &[Effect]) -> Message {
    if effects.iter().any(Effect::is_open_ended) { call.with(RUNS, true) } else { call }
}

/// Whether a command belongs to the call, which ended with the server.
pub fn is_run_by(call: &Message) -> bool {
    call.meta("category") == "execute" || call.metadata.contains_key(RUNS)
}

/// What the user said about what a command changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    NotAsked,
    Keep,
    TakeBack,
}

/// Decides on what the call's command changed: it lands, is taken back, or is put to the user.
pub async fn settle(chat: &Arc<Chat>, call: &Message, history: &[Message]) -> Result<Carried, Problem> {
    crash::point("command_ended");
    let cx = context(chat, call).await?;
    let load = cx.clone();
    let Some(staged) = chat.carry(move || Staged::load(&load)).await?? else { return unknown(chat, call, cx).await };
    let consent = match word(call, history) {
        Word::NotAsked => Consent::Needed,
        Word::Keep => Consent::Given,
        Word::TakeBack => return take_back(chat, call, staged, "The user had it taken back.").await,
    };
    let agent = Agent::of(call)?;
    let situation = match chat.situation(agent, KEEPING, consent).await {
        Err(problem) if problem.code == ErrorCode::ModeChanged => {
            return take_back(chat, call, staged, "The user switched the role while the command ran.").await;
        }
        other => other?,
    };
    let (effects, withheld) = sift(&situation, staged.effects());
    match verdict(&situation, &effects) {
        Verdict::Allow(permit) => keep(chat, call, staged, permit, withheld).await,
        Verdict::Ask(approval) => {
            let question = Question::keep_changes(&summary(&effects), &format!("{}. {}", approval.reason, named(&effects)));
            ask(chat, call, &effects, approval, agent, (Moment::After, question)).await
        }
        Verdict::Deny(problem) => take_back(chat, call, staged, &problem.message).await,
    }
}

/// What to tell of a command that the user stopped. Nothing it changed is kept.
pub async fn stopped(chat: &Arc<Chat>, call: &Message) -> Result<Value, Problem> {
    let cx = context(chat, call).await?;
    chat.carry(move || Staged::discard(&cx)).await??;
    if is_landing(call) {
        let text = "The user stopped the run while what this command changed was being brought into the workspace. Look at the files before you go on.";
        return Err(Problem::new(ErrorCode::OutcomeUnknown, text));
    }
    if call.meta("category") != "execute" {
        let text = "The user stopped the run in the middle of this call. Nothing it changed in the workspace was kept; what it did elsewhere is not known.";
        return Err(Problem::new(ErrorCode::Cancelled, text));
    }
    Err(Problem::new(ErrorCode::Cancelled, "The user stopped the run. Nothing that this command changed was kept."))
}

async fn context(chat: &Arc<Chat>, call: &Message) -> Result<ToolContext, Problem> {
    chat.tool_context(Agent::of(call)?, call.meta("call_id").parse().ok()).await
}

/// Whether what the command changed was already on its way into the workspace.
fn is_landing(call: &Message) -> bool {
    call.metadata.contains_key(LANDING)
}

/// What no command may do is left out one by one, so that the rest of what it did is not lost.
pub fn sift(situation: &Situation, effects: Vec<Effect>) -> (Vec<Effect>, Vec<Effect>) {
    effects.into_iter().partition(|effect| !matches!(decide(situation, std::slice::from_ref(effect)), Verdict::Deny(_)))
}

/// Decides on what is left of a command's changes. Where not even its build output may be kept, nothing is.
pub fn verdict(situation: &Situation, effects: &[Effect]) -> Verdict {
    match decide(situation, &[Effect::Keep]) {
        refused @ Verdict::Deny(_) => refused,
        Verdict::Allow(_) | Verdict::Ask(_) => decide(situation, effects),
    }
}

async fn keep(chat: &Arc<Chat>, call: &Message, staged: Staged, permit: Permit, withheld: Vec<Effect>) -> Result<Carried, Problem> {
    // From here on what it changed may be in the workspace, also if its stage is gone.
    let call = &call.clone().with(LANDING, true);
    let (staged, withheld, changes) = chat
        .carry(move || {
            let changes = staged.file_changes(&withheld);
            (staged, withheld, changes)
        })
        .await?;
    let mut change = Change::default().event(Event::MessageUpdated { message: call.clone() });
    change.versions = Box::new(versions::of(call.id, &changes));
    chat.publish(change, |_| {}).await?;
    crash::point("command_landing");
    let landed = chat.carry(move || staged.keep(&permit, &withheld)).await?;
    crash::point("command_landed");
    let outcome = match landed {
        Ok(Landed { told, left }) => {
            versions::forget_within(chat, call.id, &left).await?;
            told
        }
        Err(problem) => Err(problem),
    };
    told(chat, call, outcome).await
}

async fn take_back(chat: &Arc<Chat>, call: &Message, staged: Staged, why: &str) -> Result<Carried, Problem> {
    let why = why.to_owned();
    let outcome = chat.carry(move || staged.take_back(&why)).await?;
    crash::point("command_taken_back");
    versions::settle(chat, call.id).await?;
    told(chat, call, outcome).await
}

/// The server ended in the middle of it, and with it the command.
async fn unknown(chat: &Arc<Chat>, call: &Message, cx: ToolContext) -> Result<Carried, Problem> {
    chat.carry(move || Staged::discard(&cx)).await??;
    let text = if call.meta("category") == "write" && !is_landing(call) {
        "Outcome unknown: the server was restarted while this call was under way. Its answer is lost, and nothing it changed in the workspace was kept; what it did elsewhere is not known. It was not made again."
    } else if is_landing(call) {
        "Outcome unknown: the server was restarted right after this command ended. Its output is lost, but what it changed is in the workspace. Don't run it again before you have looked there."
    } else {
        "Outcome unknown: the server was restarted while this command ran, which ended it. Its output is lost, and nothing it changed in the workspace was kept. It was not run again; do so only if that does no harm outside the workspace."
    };
    told(chat, call, Err(Problem::new(ErrorCode::OutcomeUnknown, text))).await
}

fn word(call: &Message, history: &[Message]) -> Word {
    let about_this = |card: &&Message| card.metadata["call"].get("call_id") == call.metadata.get("call_id");
    let Some(card) = cards(history).filter(|card| moment_of(card) == Moment::After).find(about_this) else { return Word::NotAsked };
    match answers_to(history, card.meta("question_id")).and_then(Value::as_object).map(Decision::from_answers) {
        Some(Decision::Approve | Decision::ApproveAlways) => Word::Keep,
        // A card that the user passed over counts as a no.
        Some(Decision::Deny) | None => Word::TakeBack,
    }
}

/// The first of the paths, so that there is something to decide on.
fn named(effects: &[Effect]) -> String {
    const MOST: usize = 12;
    let word = |effect: &Effect| match effect {
        Effect::Delete(path) | Effect::Replace(path) => Some(format!("deleted {path}")),
        Effect::Create(path) | Effect::CreateFolder(path) => Some(format!("created {path}")),
        Effect::Write(path) => Some(format!("changed {path}")),
        Effect::Move { from, to } => Some(format!("moved {from} to {to}")),
        Effect::Read(_) | Effect::Progress | Effect::Review | Effect::Delegate(_) => None,
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => None,
        Effect::Consult { .. } | Effect::Call { .. } => None,
    };
    let mut sorted: Vec<&Effect> = effects.iter().collect();
    sorted.sort_by_key(|effect| !effect.loses());
    let mut words: Vec<String> = sorted.into_iter().filter_map(word).collect();
    let more = words.len().saturating_sub(MOST);
    words.truncate(MOST);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("All of it: {}{rest}.", words.join(", "))
}

/// How much of each kind, in words.
fn summary(effects: &[Effect]) -> String {
    let count = |wanted: fn(&Effect) -> bool| effects.iter().filter(|effect| wanted(effect)).count();
    let deleted = count(Effect::loses);
    let created = count(|effect| matches!(effect, Effect::Create(_) | Effect::CreateFolder(_)));
    let changed = count(|effect| matches!(effect, Effect::Write(_)));
    let moved = count(|effect| matches!(effect, Effect::Move { .. }));
    let parts = [(deleted, "deleted"), (changed, "changed"), (created, "created"), (moved, "moved")];
    parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}
