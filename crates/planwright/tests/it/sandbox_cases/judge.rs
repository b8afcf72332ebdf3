//! What must hold after a command, and what of it does not.

use super::readings::reading;
use planwright_testkit::guard::invariant::ProcessUsage;
use planwright_testkit::guard::{CallWatch, Case, CaseDecision, CaseOutcome, FinishedCall, Fixture, Invariant};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

const CASES: &str = include_str!("../../../../testkit/data/guard-cases.json");

/// The invariants that are about commands. All others are the test kit's.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Demand {
    ExitCode {
        value: i64,
    },
    ExitCodeNot {
        value: i64,
    },
    PacketsSeen {
        max: usize,
    },
    ProcessesLeft {
        max: usize,
    },
    #[serde(rename = "server_p99_ms")]
    Slowest {
        max: u64,
    },
    ResultCode {
        #[serde(rename = "in")]
        codes: Vec<String>,
    },
    DiskGrowthMb {
        max: u64,
    },
    /// A second call, after the command.
    Then {
        tool: String,
        args: Value,
        decision: CaseDecision,
    },
    #[serde(other)]
    OfTheTestKit,
}

/// What was seen of a command, in the sandbox or out of it.
pub struct Seen {
    pub outcome: CaseOutcome,
    pub elapsed: Duration,
    /// By how much the server's memory grew.
    pub grown_megabytes: u64,
    /// By how much the server's folder grew, at most.
    pub disk_megabytes: u64,
    /// How many came to our listener.
    pub connections: usize,
    /// The processes that are left.
    pub processes: Vec<String>,
    /// What 99 of 100 requests to the server took at most.
    pub p99: Duration,
    /// What became of the second call.
    pub then: Option<CaseDecision>,
    /// Whether all the server says of it is UTF-8.
    pub utf8: bool,
    /// What is wrong with the server.
    pub ailing: Option<String>,
}

impl Seen {
    pub fn exit_code(&self) -> Option<i64> {
        self.outcome.facts.get("exit_code").and_then(Value::as_i64)
    }
}

/// The demands of a case, as they are written.
pub fn demands(case: &Case) -> Vec<Demand> {
    let file: Value = serde_json::from_str(CASES).unwrap();
    let written = file["cases"].as_array().unwrap().iter().find(|written| written["id"] == case.id.as_str()).unwrap();
    let demands: Vec<Demand> = serde_json::from_value(written["expect"]["invariants"].clone()).unwrap();
    let unknown = |(known, demand): (&Invariant, &Demand)| *known == Invariant::Elsewhere && *demand == Demand::OfTheTestKit;
    assert!(!case.expect.invariants.iter().zip(&demands).any(unknown), "{} demands what nobody checks", case.id);
    demands
}

/// What does not hold of what the case says, one sentence each.
pub fn broken<'d>(
    case: &Case,
    demands: impl IntoIterator<Item = &'d Demand>,
    fixture: &Fixture,
    watch: &CallWatch,
    seen: &Seen,
) -> Vec<String> {
    let usage = ProcessUsage { grown_megabytes: seen.grown_megabytes, spawned: false };
    let run = FinishedCall { outcome: seen.outcome.clone(), elapsed: seen.elapsed, usage };
    let mut broken = watch.broken(fixture, case, &run);
    if !seen.utf8 && case.expect.invariants.contains(&Invariant::ValidUtf8InApi) {
        broken.push("what comes out is not UTF-8".to_owned());
    }
    broken.extend(demands.into_iter().filter_map(|demand| breaks(case, demand, seen)));
    broken
}

/// What must hold of every command in the sandbox, whether its case says so or not.
pub fn broken_in_any_case(case: &Case, fixture: &Fixture, watch: &CallWatch, seen: &Seen) -> Vec<String> {
    let mut broken: Vec<String> = seen.ailing.clone().into_iter().collect();
    broken.extend((!seen.utf8).then(|| "the server's answer is not UTF-8".to_owned()));
    broken.extend(seen.processes.iter().map(|process| format!("left running: {process}")));
    broken.extend(watch.changes(fixture, "$OUT"));
    if case.role == "Tester" {
        broken.extend(watch.changes(fixture, "$WS"));
    }
    broken
}

fn breaks(case: &Case, demand: &Demand, seen: &Seen) -> Option<String> {
    let exit_code = seen.exit_code();
    let (holds, what) = match demand {
        Demand::ExitCode { value } => {
            (exit_code == Some(*value), format!("the exit code is {exit_code:?}, not {value}: {}", beginning(seen)))
        }
        // A command that was cut off has none.
        Demand::ExitCodeNot { value } => (exit_code != Some(*value), format!("the exit code is {value}: {}", beginning(seen))),
        // Whatever wants out is the last part of its command: had it got an answer, it would have ended well.
        Demand::PacketsSeen { max } => (
            seen.connections <= *max && exit_code != Some(0),
            format!("{} came through, exit code {exit_code:?}: {}", seen.connections, beginning(seen)),
        ),
        Demand::ProcessesLeft { max } => (seen.processes.len() <= *max, format!("left running: {}", seen.processes.join("; "))),
        Demand::Slowest { max } => (seen.p99 <= Duration::from_millis(*max), format!("the server took {:?} to answer", seen.p99)),
        Demand::ResultCode { codes } => {
            let code = seen.outcome.code.as_deref();
            let any = reading(&case.id).is_some_and(|reading| reading.any_result) && (code.is_some() || exit_code.is_some());
            let fits = code.is_some_and(|code| codes.iter().any(|wanted| contract(wanted) == code));
            (any || fits, format!("the result is {code:?}, exit code {exit_code:?}, not one of {codes:?}: {}", beginning(seen)))
        }
        Demand::DiskGrowthMb { max } => (seen.disk_megabytes <= *max, format!("the disk has {} MB less", seen.disk_megabytes)),
        Demand::Then { tool, decision, .. } => {
            let then = seen.then.is_some_and(|then| then == *decision || (then.refuses() && decision.refuses()));
            (then, format!("{tool} afterwards: expected {decision:?}, got {:?}", seen.then))
        }
        Demand::OfTheTestKit => (true, String::new()),
    };
    (!holds).then_some(what)
}

/// The contract's word for a code of the cases.
fn contract(code: &str) -> &str {
    if code == "COMMAND_TIMEOUT" { "COMMAND_TIMED_OUT" } else { code }
}

fn beginning(seen: &Seen) -> String {
    seen.outcome.output.chars().take(300).collect()
}
