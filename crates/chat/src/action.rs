//! Everything that changes a workspace is an action, whoever requests it. Every action takes the same five steps, in the order of
//! this file: prepare, decide, record the intent, commit, record the outcome.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`agent_call`] | tool calls of a model |
//! | `user_call` (beside this module) | tool calls of the user, through the tools endpoint |
//! | [`landing`], [`landing_text`] | the changes of an ended command, landed in the workspace; their description |
//! | [`plan_reply`] | a plan that the model gave as JSON, written to its file |
//! | [`plan_edit`] | the next version of the plan, as the user wrote it |
//! | [`plan_progress`] | boxes that the server ticks in the file of the approved plan |
//! | [`take_back`] | reverts a chat's changes for the user |
//! | [`tool`] | finding tools, and preparing them with the arguments of a call |
//! | [`signal`], [`step`] | the chat's reaction to a tool's output |
//! | [`approval`], [`effect_preview`], [`grants`] | the card that asks for the user's approval, and the answer |
//! | [`result`], [`repetition`] | the result of a model's call in the history |
//! | [`recovery`] | calls that a crash or a stop interrupted |
//!
//! Nothing else in this crate calls the gate or handles a permit.

pub mod agent_call;
pub mod approval;
mod effect_preview;
mod grants;
pub mod landing;
mod landing_text;
pub mod plan_edit;
pub mod plan_progress;
pub mod plan_reply;
mod recovery;
mod repetition;
pub mod result;
mod signal;
mod step;
pub mod take_back;
pub mod tool;

pub use recovery::cancelled;

use crate::chat::{Chat, broken};
use crate::crash;
use async_trait::async_trait;
use futures::{Stream, StreamExt};
use planwright_protocol::Agent;
use planwright_protocol::Problem;
use planwright_tools::{Approval, Consent, Effect, FileChange, LandingEffect, Output, Permit, Prepared, Situation, Verdict, decide};
use tokio_util::task::TaskTracker;

/// Maximum number of concurrent commits: each may hold a thread and a file.
const AT_ONCE: usize = 8;

/// A requested change of a workspace.
pub struct Action<C> {
    pub principal: Principal,
    pub call: C,
}

/// Who requests an action.
#[derive(Clone, Debug)]
pub enum Principal {
    /// An agent of the chat: its own, or a delegate.
    Model(Agent),
    /// A person, with the name of their account if they have one.
    User(Option<String>),
    /// Planwright itself, which updates the file of the approved plan.
    Server,
}

impl Principal {
    /// The agent whose permissions apply. A user acts within the role of the chat.
    pub fn agent(&self, chat: &Chat) -> Agent {
        match self {
            Principal::Model(agent) => *agent,
            Principal::User(_) | Principal::Server => chat.agent(),
        }
    }

    /// The name for audit records.
    pub fn account(&self) -> Option<&String> {
        match self {
            Principal::User(name) => name.as_ref(),
            Principal::Model(_) | Principal::Server => None,
        }
    }
}

/// The parts of one kind of action at each step.
#[async_trait]
pub trait Call: Send + Sized {
    /// The result of the commit.
    type Committed: Send + 'static;
    type Outcome: Send;

    /// Step 1: converts the request into effects.
    ///
    /// # Errors
    /// The server failed; the requester gets no result. The same holds for the other steps.
    async fn prepare(&mut self) -> Result<Preparation<Self::Committed, Self::Outcome>, Problem>;

    /// Step 2: the gate's input. An error refuses the action.
    async fn situation(&mut self, consent: Consent) -> Result<Situation, Problem>;

    /// Whether the user has agreed to this call of a model.
    fn consent(&self) -> Consent {
        Consent::Needed
    }

    /// Why an action that the gate allows is still refused.
    fn limit(&self, _effects: &[Effect]) -> Option<Problem> {
        None
    }

    /// Step 3: stores what is about to happen, so that it is known after a crash.
    async fn record_intent(&mut self, principal: &Principal, effects: &[Effect], changes: &[FileChange]) -> Result<(), Problem>;

    /// Step 4: the threads on which the action is committed. A stop waits for them.
    fn threads(&self) -> TaskTracker;

    /// Step 5: stores the outcome, and reports it to the requester.
    async fn record_outcome(self, principal: Principal, end: End<Self::Committed>) -> Result<Self::Outcome, Problem>;
}

pub enum Preparation<T, O> {
    Proposed(Proposal<T>),
    Refused(Refusal),
    /// There is nothing to do.
    Over(O),
}

/// The effects of an action, and the way to execute them.
pub struct Proposal<T> {
    effects: Vec<Effect>,
    /// Every path that it changes, before and after.
    changes: Vec<FileChange>,
    commit: Commit<T>,
}

type Commit<T> = Box<dyn FnOnce(&Permit) -> Result<T, Problem> + Send>;

impl<T> Proposal<T> {
    pub fn new(
        effects: Vec<Effect>,
        changes: Vec<FileChange>,
        commit: impl FnOnce(&Permit) -> Result<T, Problem> + Send + 'static,
    ) -> Self {
        Self { effects, changes, commit: Box::new(commit) }
    }
}

impl From<Prepared> for Proposal<Output> {
    fn from(mut tool: Prepared) -> Self {
        let (effects, changes) = (std::mem::take(&mut tool.effects), std::mem::take(&mut tool.changes));
        Self::new(effects, changes, move |permit| tool.commit(permit))
    }
}

pub struct Refusal {
    pub problem: Problem,
    pub cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The arguments are wrong, or the call comes too late.
    Mistake,
    /// A role, a mode or a setting forbids it. This is shown to the user and logged.
    Policy,
}

impl Refusal {
    pub fn mistake(problem: Problem) -> Self {
        Self { problem, cause: Cause::Mistake }
    }
}

/// How far an action got.
pub enum End<T> {
    Refused(Refusal),
    /// The user must approve these effects and changes first.
    Asks(Vec<Effect>, Vec<FileChange>, Approval),
    Committed(Result<T, Problem>),
}

/// Performs one action.
///
/// # Errors
/// The server failed.
pub async fn perform<C: Call>(action: Action<C>) -> Result<C::Outcome, Problem> {
    let begun = action.begin().await?;
    begun.commit().await?.finish().await
}

/// Performs read-only actions concurrently. Records their outcomes in the order of the actions. Actions after one that asks wait
/// for the answer.
///
/// # Errors
/// The server failed.
pub async fn perform_side_by_side<C: Call>(actions: Vec<Action<C>>) -> Result<Vec<C::Outcome>, Problem> {
    let mut begun = Vec::new();
    for action in actions {
        begun.push(action.begin().await?);
        if matches!(begun.last(), Some(Begun { decision: Decision::Asks(..), .. })) {
            break;
        }
    }
    let mut committed = in_order(begun.into_iter().map(Begun::commit));
    let mut outcomes = Vec::new();
    while let Some(one) = committed.next().await {
        outcomes.push(one?.finish().await?);
    }
    Ok(outcomes)
}

/// Runs several futures concurrently, and yields their results in order.
fn in_order<W: Future>(works: impl Iterator<Item = W>) -> impl Stream<Item = W::Output> {
    futures::stream::iter(works).buffered(AT_ONCE)
}

/// An action after its first three steps.
struct Begun<C: Call> {
    action: Action<C>,
    decision: Decision<C>,
}

enum Decision<C: Call> {
    Over(C::Outcome),
    Refused(Refusal),
    Asks(Vec<Effect>, Vec<FileChange>, Approval),
    Allowed(Commit<C::Committed>, Permit),
}

impl<C: Call> Action<C> {
    async fn begin(mut self) -> Result<Begun<C>, Problem> {
        let decision = match self.call.prepare().await? {
            Preparation::Over(outcome) => Decision::Over(outcome),
            Preparation::Refused(refusal) => Decision::Refused(refusal),
            Preparation::Proposed(proposal) => self.decide(proposal).await?,
        };
        Ok(Begun { action: self, decision })
    }

    /// Steps 2 and 3.
    async fn decide(&mut self, proposal: Proposal<C::Committed>) -> Result<Decision<C>, Problem> {
        let Proposal { effects, changes, commit } = proposal;
        let consent = match &self.principal {
            Principal::Model(_) => self.call.consent(),
            // Users consent to a call by making it.
            Principal::User(_) | Principal::Server => Consent::Given,
        };
        let verdict = match self.call.situation(consent).await {
            Err(problem) => return Ok(Decision::Refused(Refusal::mistake(problem))),
            Ok(situation) => decide(&situation, &effects),
        };
        crash::point("call_decided");
        let permit = match verdict {
            Verdict::Deny(problem) => return Ok(Decision::Refused(Refusal { problem, cause: Cause::Policy })),
            Verdict::Ask(approval) => return Ok(Decision::Asks(effects, changes, approval)),
            Verdict::Allow(permit) => permit,
        };
        if let Some(problem) = self.call.limit(&effects) {
            return Ok(Decision::Refused(Refusal::mistake(problem)));
        }
        self.call.record_intent(&self.principal, &effects, &changes).await?;
        Ok(Decision::Allowed(commit, permit))
    }
}

impl<C: Call> Begun<C> {
    async fn commit(self) -> Result<FinishedAction<C>, Problem> {
        let Self { action, decision } = self;
        let end = match decision {
            Decision::Over(outcome) => return Ok(FinishedAction::Over(outcome)),
            Decision::Refused(refusal) => End::Refused(refusal),
            Decision::Asks(effects, changes, approval) => End::Asks(effects, changes, approval),
            Decision::Allowed(commit, permit) => {
                let committed = action.call.threads().spawn_blocking(move || commit(&permit));
                End::Committed(committed.await.map_err(broken)?)
            }
        };
        Ok(FinishedAction::Open(action, end))
    }
}

/// An action of which only the outcome must be recorded.
enum FinishedAction<C: Call> {
    Over(C::Outcome),
    Open(Action<C>, End<C::Committed>),
}

impl<C: Call> FinishedAction<C> {
    async fn finish(self) -> Result<C::Outcome, Problem> {
        match self {
            FinishedAction::Over(outcome) => Ok(outcome),
            FinishedAction::Open(Action { principal, call }, end) => call.record_outcome(principal, end).await,
        }
    }
}

/// Splits a command's changes into those that may be kept and those that the gate denies one by one, so that the rest is not lost
/// with them. If nothing may be kept, the gate denies the rest as a whole.
pub fn without_denied(situation: &Situation, effects: Vec<Effect>) -> (Vec<Effect>, Vec<Effect>) {
    let is_denied = |effect: &Effect| matches!(decide(situation, std::slice::from_ref(effect)), Verdict::Deny(_));
    effects.into_iter().partition(|effect| matches!(effect, Effect::Landing(LandingEffect::Keep)) || !is_denied(effect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};

    #[test]
    fn no_other_file_of_this_crate_asks_the_gate_or_holds_a_permit() {
        let asks = |text: &str| text.split(|letter: char| !letter.is_alphanumeric()).any(|word| matches!(word, "Permit" | "Verdict"));
        let found: Vec<String> = crash::tests::sources().into_iter().filter(|(_, text)| asks(text)).map(|(name, _)| name).collect();
        assert_eq!(found, ["action.rs"]);
    }

    #[tokio::test]
    async fn as_many_works_as_allowed_are_under_way_at_once_and_end_in_their_order() {
        let (all_here, under_way, most) = (Arc::new(Barrier::new(AT_ONCE)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = |number: usize| {
            let (all_here, under_way, most) = (all_here.clone(), under_way.clone(), most.clone());
            tokio::task::spawn_blocking(move || {
                most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // No future passes the barrier alone.
                all_here.wait();
                under_way.fetch_sub(1, Ordering::SeqCst);
                number
            })
        };
        let done: Vec<usize> = in_order((0..3 * AT_ONCE).map(work)).map(Result::unwrap).collect().await;
        assert_eq!(done, (0..3 * AT_ONCE).collect::<Vec<_>>());
        assert_eq!(most.load(Ordering::SeqCst), AT_ONCE);
    }
}
