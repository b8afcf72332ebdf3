//! The attacks of `guard-cases.json`.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`case`] | the cases as they are written |
//! | [`fixture`] | the temporary tree that a case is carried out in |
//! | [`arguments`] | the bytes of a call's arguments |
//! | [`tree`] | what a folder looks like, to tell whether anything in it changed |
//! | [`invariant`] | what must hold after a call |
//! | [`report`] | counts per group, and the cases that can't be run with their reasons |
//!
//! What is attacked is not known here: a [`Subject`] carries out the calls. So the crates under
//! test can use this one.

pub mod arguments;
pub mod case;
pub mod fixture;
pub mod invariant;
pub mod report;
pub mod tree;

pub use case::{Case, Decision, Harness, Invariant, Setup, Suite};
pub use fixture::Fixture;
pub use invariant::{Run, Watch};
pub use report::{Finding, Report, announce};
pub use tree::Tree;

use crate::PATIENCE;
use crate::stopwatch::Stopwatch;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// What is attacked: something that carries out tool calls in the fixture's workspace.
pub trait Subject: Send + Sync + 'static {
    fn open(fixture: &Fixture) -> Self
    where
        Self: Sized;

    /// # Errors
    /// The call can't be made at all, and why. A refusal is an [`Outcome`].
    fn call(&self, call: &Call) -> Result<Outcome, String>;
}

/// A tool call and who makes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    pub role: String,
    pub tool: String,
    /// As they arrive, not necessarily text.
    pub args: Vec<u8>,
    /// Plans of other chats, as workspace paths.
    pub foreign_plans: Vec<String>,
    pub own_plan: String,
}

/// What became of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub decision: Decision,
    pub code: Option<String>,
    /// All text that leaves the tool: its answer, or why not.
    pub output: String,
    pub facts: Map<String, Value>,
    /// The chat's mode afterwards.
    pub mode: String,
}

/// No call takes this long; one that does hangs.
const LONGEST_CALL: Duration = PATIENCE;

/// Carries out a case in a tree of its own below `place` and gives what went wrong.
///
/// # Errors
/// Everything that did not hold, one per line.
pub fn check<S: Subject>(suite: &Suite, case: &Case, place: &Path) -> Result<(), String> {
    let mut fixture = Fixture::new(suite, place);
    // The subject is there before the attacker is, as a running server would be.
    let subject = Arc::new(S::open(&fixture));
    fixture.apply(&case.setup);
    let call = fixture.call(case);
    let watch = Watch::start(&fixture, case);
    let run = carry_out(&subject, call.clone(), &watch)?;
    let mut wrong = misfit(case, &run.outcome).into_iter().collect::<Vec<_>>();
    wrong.extend(watch.broken(&fixture, case, &run));
    if case.expect.invariants.contains(&Invariant::ServerAlive) {
        let harmless = Call { tool: "read".to_owned(), args: br#"{"path":"/README.md"}"#.to_vec(), ..call };
        wrong.extend(carry_out(&subject, harmless, &watch).err().map(|why| format!("nothing works any more: {why}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Whether the decision is one that the case accepts; else what is wrong with it.
#[must_use]
pub fn misfit(case: &Case, outcome: &Outcome) -> Option<String> {
    let codes = case.expect.code_any_of.as_deref().unwrap_or_default();
    let fits = match case.expect.decision {
        _ if case.either() => true,
        Decision::Allow | Decision::Ask => outcome.decision == case.expect.decision,
        // Whether a call is malformed or refused by policy depends on what is looked at first; both end it.
        Decision::Deny | Decision::Error => {
            outcome.decision.refuses() && (codes.is_empty() || outcome.code.as_ref().is_some_and(|code| codes.contains(code)))
        }
    };
    (!fits).then(|| {
        let Outcome { decision, code, output, .. } = outcome;
        let (expected, code) = (case.expect.decision, code.as_deref().unwrap_or("-"));
        format!("expected {expected:?} {codes:?}, got {decision:?} {code}: {}", output.chars().take(300).collect::<String>())
    })
}

/// Makes the call on a thread of its own, so that one that hangs or panics does not end the tests.
fn carry_out<S: Subject>(subject: &Arc<S>, call: Call, watch: &Watch) -> Result<Run, String> {
    let (sender, receiver) = mpsc::channel();
    let subject = subject.clone();
    let thread = std::thread::spawn(move || {
        let start = Stopwatch::start(&[]);
        let outcome = subject.call(&call);
        // Nobody listens any more only if the wait has ended already.
        let _ = sender.send((outcome, start.elapsed()));
    });
    match receiver.recv_timeout(LONGEST_CALL) {
        Ok((outcome, elapsed)) => Ok(Run { outcome: outcome?, elapsed, usage: watch.usage() }),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("no answer within {LONGEST_CALL:?}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().err().and_then(|panic| panic.downcast::<String>().ok());
            Err(format!("the call panicked: {}", panic.map_or_else(|| "no message".to_owned(), |message| *message)))
        }
    }
}
