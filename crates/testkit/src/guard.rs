//! The attacks of `guard-cases.json`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`case`] | the cases, parsed |
//! | [`fixture`] | the temporary tree of a case |
//! | [`arguments`] | the bytes of a call's arguments |
//! | [`tree`] | a snapshot of a folder, to detect changes |
//! | [`invariant`] | what must hold after a call |
//! | [`report`] | counts per group, and the cases that can't run, with their reasons |
//!
//! This module does not know what it attacks: a [`Subject`] executes the calls. So the crates under test can depend on it.

pub mod arguments;
pub mod case;
pub mod fixture;
pub mod invariant;
pub mod report;
pub mod tree;

pub use case::{Case, CaseDecision, Harness, Invariant, Setup, Suite};
pub use fixture::Fixture;
pub use invariant::{CallWatch, FinishedCall};
pub use report::{CaseFinding, CaseReport, announce};
pub use tree::FolderTree;

use crate::PATIENCE;
use crate::stopwatch::Stopwatch;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// The system under attack: executes tool calls in the fixture's workspace.
pub trait Subject: Send + Sync + 'static {
    fn open(fixture: &Fixture) -> Self
    where
        Self: Sized;

    /// # Errors
    /// The call can't be made at all, and why. A refusal is a [`CaseOutcome`].
    fn call(&self, call: &CaseCall) -> Result<CaseOutcome, String>;
}

/// A tool call and its caller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseCall {
    pub role: String,
    pub tool: String,
    /// As received, not necessarily text.
    pub args: Vec<u8>,
    /// Plans of other chats, as workspace paths.
    pub foreign_plans: Vec<String>,
    pub own_plan: String,
}

/// The outcome of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseOutcome {
    pub decision: CaseDecision,
    pub code: Option<String>,
    /// All text that leaves the tool: its result, or the refusal.
    pub output: String,
    pub facts: Map<String, Value>,
    /// The chat's mode afterwards.
    pub mode: String,
}

/// A call that takes longer hangs.
const LONGEST_CALL: Duration = PATIENCE;

/// Executes a case in its own tree below `place` and returns what failed.
///
/// # Errors
/// All violations, one per line.
pub fn check<S: Subject>(suite: &Suite, case: &Case, place: &Path) -> Result<(), String> {
    let mut fixture = Fixture::new(suite, place);
    // The subject starts before the attacker, like a running server.
    let subject = Arc::new(S::open(&fixture));
    fixture.apply(&case.setup);
    let call = fixture.call(case);
    let watch = CallWatch::start(&fixture, case);
    let run = carry_out(&subject, call.clone(), &watch)?;
    let mut wrong = misfit(case, &run.outcome).into_iter().collect::<Vec<_>>();
    wrong.extend(watch.broken(&fixture, case, &run));
    if case.expect.invariants.contains(&Invariant::ServerAlive) {
        let harmless = CaseCall { tool: "read".to_owned(), args: br#"{"path":"/README.md"}"#.to_vec(), ..call };
        wrong.extend(carry_out(&subject, harmless, &watch).err().map(|why| format!("nothing works any more: {why}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// What is wrong with the decision, if the case does not accept it.
#[must_use]
pub fn misfit(case: &Case, outcome: &CaseOutcome) -> Option<String> {
    let codes = case.expect.code_any_of.as_deref().unwrap_or_default();
    let fits = match case.expect.decision {
        _ if case.either() => true,
        CaseDecision::Allow | CaseDecision::Ask => outcome.decision == case.expect.decision,
        // Whether a call is malformed or refused by policy depends on the order of checks; both end it.
        CaseDecision::Deny | CaseDecision::Error => {
            outcome.decision.refuses() && (codes.is_empty() || outcome.code.as_ref().is_some_and(|code| codes.contains(code)))
        }
    };
    (!fits).then(|| {
        let CaseOutcome { decision, code, output, .. } = outcome;
        let (expected, code) = (case.expect.decision, code.as_deref().unwrap_or("-"));
        format!("expected {expected:?} {codes:?}, got {decision:?} {code}: {}", output.chars().take(300).collect::<String>())
    })
}

/// Makes the call on its own thread, so that one that hangs or panics does not end the tests.
fn carry_out<S: Subject>(subject: &Arc<S>, call: CaseCall, watch: &CallWatch) -> Result<FinishedCall, String> {
    let (sender, receiver) = mpsc::channel();
    let subject = subject.clone();
    let thread = std::thread::spawn(move || {
        let start = Stopwatch::start(&[]);
        let outcome = subject.call(&call);
        // The receiver is only gone if the wait has already ended.
        let _ = sender.send((outcome, start.elapsed()));
    });
    match receiver.recv_timeout(LONGEST_CALL) {
        Ok((outcome, elapsed)) => Ok(FinishedCall { outcome: outcome?, elapsed, usage: watch.usage() }),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("no answer within {LONGEST_CALL:?}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().err().and_then(|panic| panic.downcast::<String>().ok());
            Err(format!("the call panicked: {}", panic.map_or_else(|| "no message".to_owned(), |message| *message)))
        }
    }
}
