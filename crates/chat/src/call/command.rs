//! A command after its end: what it changed is judged before anything else happens.

use super::{Carried, ask, cards, told, updated};
use crate::agent::Agent;
use crate::card::answers_to;
use crate::chat::{Change, Chat};
use crate::crash;
use crate::versions::{self, Looked, Present};
use planwright_protocol::message::{ApprovalMoment, CallToApprove, Category};
use planwright_protocol::question::Decision;
use planwright_protocol::{CallMessage, ErrorCode, Message, Problem};
use planwright_tools::command::Landed;
use planwright_tools::{
    Consent, Effect, FileEffect, KEEPING, LandingEffect, Output, Permit, Situation, Staged, ToolContext, Verdict, decide,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The call, with a mark if it runs a command.
pub fn noted(mut call: CallMessage, effects: &[Effect]) -> CallMessage {
    call.body.runs_command |= effects.iter().any(Effect::is_open_ended);
    call
}

/// Whether a command belongs to the call, which ended with the server.
pub fn is_run_by(call: &CallMessage) -> bool {
    call.body.category == Some(Category::Execute) || call.body.runs_command
}

/// What the user said about what a command changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    NotAsked,
    Keep,
    TakeBack,
}

/// Decides on what the call's command changed: it lands, is taken back, or is put to the user.
pub async fn settle(chat: &Arc<Chat>, call: &CallMessage, history: &[Message]) -> Result<Carried, Problem> {
    crash::point("command_ended");
    let cx = context(chat, call).await?;
    let load = cx.clone();
    let Some(staged) = chat.carry(move || Staged::load(&load)).await?? else { return unknown(chat, call, cx).await };
    if let Some(why) = staged.half_done() {
        return take_back(chat, call, staged, why).await;
    }
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
    let (_, withheld) = sift(&situation, staged.effects());
    // Before anybody is asked: nothing that no command may do is there meanwhile.
    let (staged, withheld) = chat.carry(move || staged.put_back_withheld(withheld)).await??;
    let (effects, _) = sift(&situation, staged.effects());
    match verdict(&situation, &effects) {
        Verdict::Allow(permit) => Box::pin(keep(chat, call, staged, permit, withheld)).await,
        Verdict::Ask(approval) => {
            let question =
                planwright_question::card::keep_changes(&summary(&effects), &format!("{}. {}", approval.reason, named(&effects)));
            ask(chat, call, &effects, approval, agent, (ApprovalMoment::After, question)).await
        }
        Verdict::Deny(problem) => take_back(chat, call, staged, &problem.message).await,
    }
}

/// What to tell of a command that the user stopped. Nothing it changed is kept.
pub async fn stopped(chat: &Arc<Chat>, call: &CallMessage) -> Result<Value, Problem> {
    let cx = context(chat, call).await?;
    chat.carry(move || Staged::discard(&cx)).await??;
    if call.body.is_landing {
        let text = "The user stopped the run while what this command changed was being brought into the workspace. Look at the files before you go on.";
        return Err(Problem::new(ErrorCode::OutcomeUnknown, text));
    }
    if call.body.category != Some(Category::Execute) {
        let text = "The user stopped the run in the middle of this call. Nothing it changed in the workspace was kept; what it did elsewhere is not known.";
        return Err(Problem::new(ErrorCode::Cancelled, text));
    }
    Err(Problem::new(ErrorCode::Cancelled, "The user stopped the run. Nothing that this command changed was kept."))
}

async fn context(chat: &Arc<Chat>, call: &CallMessage) -> Result<ToolContext, Problem> {
    chat.tool_context(Agent::of(call)?, Some(call.body.call_id)).await
}

/// What no command may do is left out one by one, so that the rest of what it did is not lost.
pub fn sift(situation: &Situation, effects: Vec<Effect>) -> (Vec<Effect>, Vec<Effect>) {
    effects.into_iter().partition(|effect| !matches!(decide(situation, std::slice::from_ref(effect)), Verdict::Deny(_)))
}

/// Decides on what is left of a command's changes. Where not even its build output may be kept, nothing is.
pub fn verdict(situation: &Situation, effects: &[Effect]) -> Verdict {
    match decide(situation, &[LandingEffect::Keep.into()]) {
        refused @ Verdict::Deny(_) => refused,
        Verdict::Allow(_) | Verdict::Ask(_) => decide(situation, effects),
    }
}

async fn keep(chat: &Arc<Chat>, call: &CallMessage, staged: Staged, permit: Permit, withheld: Vec<Effect>) -> Result<Carried, Problem> {
    let is_resumed = call.body.is_landing;
    // From here on what it changed may be in the workspace, also if its stage is gone.
    let mut call = call.clone();
    call.body.is_landing = true;
    let call = &call;
    let (staged, withheld, changes) = chat
        .carry(move || {
            let changes = staged.file_changes(&withheld);
            (staged, withheld, changes)
        })
        .await?;
    let mut change = Change::default().event(updated(call));
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
    let outcome = if is_resumed { with_found(chat, call, outcome).await? } else { outcome };
    told(chat, call, outcome).await
}

async fn take_back(chat: &Arc<Chat>, call: &CallMessage, staged: Staged, why: &str) -> Result<Carried, Problem> {
    let why = why.to_owned();
    let outcome = chat.carry(move || staged.take_back(&why)).await?;
    crash::point("command_taken_back");
    let outcome = if call.body.is_landing { with_found(chat, call, outcome).await? } else { outcome };
    versions::settle(chat, call.id).await?;
    told(chat, call, outcome).await
}

/// The server ended in the middle of it, and with it the command.
async fn unknown(chat: &Arc<Chat>, call: &CallMessage, cx: ToolContext) -> Result<Carried, Problem> {
    chat.carry(move || Staged::discard(&cx)).await??;
    let problem = if call.body.is_landing {
        let found = Found::of(versions::looked_at(chat, call.id).await?);
        let text = format!(
            "Outcome unknown: the server was restarted right after this command ended, and its output is lost. {}. Don't run it again before you have looked there.",
            found.text()
        );
        Problem::new(ErrorCode::OutcomeUnknown, text).with_details(found.facts())
    } else if call.body.category == Some(Category::Write) {
        let text = "Outcome unknown: the server was restarted while this call was under way. Its answer is lost, and nothing it changed in the workspace was kept; what it did elsewhere is not known. It was not made again.";
        Problem::new(ErrorCode::OutcomeUnknown, text)
    } else {
        let text = "Outcome unknown: the server was restarted while this command ran, which ended it. Its output is lost, and nothing it changed in the workspace was kept. It was not run again; do so only if that does no harm outside the workspace.";
        Problem::new(ErrorCode::OutcomeUnknown, text)
    };
    told(chat, call, Err(problem)).await
}

/// Adds what is known of each path: some of the changes had landed before the server was restarted.
async fn with_found(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Output, Problem>) -> Result<Result<Output, Problem>, Problem> {
    let found = Found::of(versions::looked_at(chat, call.id).await?);
    let line = format!("\n[the server was restarted while what the command changed was on its way into the workspace. {}.]", found.text());
    Ok(match outcome {
        Ok(output) => Ok(Output { text: output.text + &line, ..output }),
        Err(problem) => Err(Problem { message: problem.message.clone() + &line, ..problem }),
    })
}

/// What is known of the paths that a command was to change.
#[derive(Default)]
struct Found {
    kept: Vec<String>,
    not_kept: Vec<String>,
    changed_since: Vec<String>,
}

impl Found {
    fn of(paths: Vec<Looked>) -> Self {
        let mut found = Self::default();
        for one in paths {
            let list = match one.present() {
                Present::After => &mut found.kept,
                Present::Before => &mut found.not_kept,
                Present::Neither => &mut found.changed_since,
            };
            list.push(one.path.to_string());
        }
        found
    }

    fn text(&self) -> String {
        const MOST: usize = 20;
        let all = [
            ("As the command left it", &self.kept),
            ("As it was before, so that the command's change is not there", &self.not_kept),
            ("Changed by somebody else, so that nobody knows whether the command's change was there", &self.changed_since),
        ];
        let part = |(words, paths): (&str, &Vec<String>)| {
            let named = paths.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
            let more = paths.len().saturating_sub(MOST);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            (!paths.is_empty()).then(|| format!("{words}: {named}{more}"))
        };
        let parts: Vec<String> = all.into_iter().filter_map(part).collect();
        if parts.is_empty() { "It changed nothing but build output and git's own records".to_owned() } else { parts.join(". ") }
    }

    fn facts(&self) -> Value {
        json!({ "kept": self.kept, "not_kept": self.not_kept, "changed_since": self.changed_since })
    }
}

fn word(call: &CallMessage, history: &[Message]) -> Word {
    let about_this = |asked: &CallToApprove| asked.call_id == call.body.call_id && asked.moment == ApprovalMoment::After;
    let Some((card, _)) = cards(history).find(|(_, asked)| about_this(asked)) else { return Word::NotAsked };
    match answers_to(history, card.question_id).map(planwright_question::read_decision) {
        Some(Decision::Approve | Decision::ApproveAlways) => Word::Keep,
        // A card that the user passed over counts as a no.
        Some(Decision::Deny) | None => Word::TakeBack,
    }
}

/// The first of the paths, so that there is something to decide on.
fn named(effects: &[Effect]) -> String {
    const MOST: usize = 12;
    let file = |effect: &FileEffect| match effect {
        FileEffect::Delete(path) | FileEffect::Replace(path) => Some(format!("deleted {path}")),
        FileEffect::Create(path) | FileEffect::CreateFolder(path) => Some(format!("created {path}")),
        FileEffect::Write(path) => Some(format!("changed {path}")),
        FileEffect::Move { from, to } => Some(format!("moved {from} to {to}")),
        FileEffect::Read(_) | FileEffect::ChangeRepository(_) => None,
    };
    let word = |effect: &Effect| match effect {
        Effect::File(effect) => file(effect),
        Effect::Landing(LandingEffect::LoseCommits(loss)) => Some(loss.to_string()),
        Effect::Landing(_) | Effect::Record(_) | Effect::Run(_) => None,
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
    let created = count(|effect| matches!(effect, Effect::File(FileEffect::Create(_) | FileEffect::CreateFolder(_))));
    let changed = count(|effect| matches!(effect, Effect::File(FileEffect::Write(_))));
    let moved = count(|effect| matches!(effect, Effect::File(FileEffect::Move { .. })));
    let parts = [(deleted, "deleted"), (changed, "changed"), (created, "created"), (moved, "moved")];
    parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}
