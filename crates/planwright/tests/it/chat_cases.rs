//! The guard cases of chats: leaving plan mode, answers, switches in mid-run, approved plans, delegates, crashes, files that give orders, MCP servers.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`stage`] | the tree of a case, its server, its chats, its database |
//! | [`seen`] | the outcome of a case, and the expectations that failed |
//! | [`readings`] | how some cases are read |
//! | [`approvals`], [`answers`], [`delegations`], [`switches`], [`recoveries`], [`injections`], [`servers`] | the scenarios, by the ids of their cases |
//!
//! A case without a scenario fails the test unless it is listed with the reason why it can't be carried out yet.
#![expect(clippy::panic, reason = "a scenario that can't go on fails its case")]

mod answers;
mod approvals;
mod delegations;
mod injections;
mod readings;
mod recoveries;
mod seen;
mod servers;
mod stage;
mod switches;

use planwright_testkit::guard::{Case, CaseFinding, CaseReport, Harness, Suite, announce};
use seen::Seen;
use stage::Stage;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

const GROUPS: &[&str] = &[
    "exit-plan-mode-and-approval",
    "ask-user-answers",
    "mode-or-role-switch-in-flight",
    "plan-ownership-and-approved-snapshot",
    "crash-and-recovery",
    "prompt-injection",
    "sub-agents-and-delegation",
    "mcp-and-acp",
    "tool-names-and-arguments",
];

/// Cases of editors stand in the same group as those of MCP servers, and are carried out elsewhere.
fn is_of_chats(case: &Case) -> bool {
    GROUPS.contains(&case.group.as_str()) && case.tool != "acp"
}

/// Cases that can't be carried out yet, with the reason. A case that has a scenario may not stand here.
const LISTED: &[(&str, &str)] = &[];

/// The cases to run, by their ids (default all).
const CASES: &str = "PLANWRIGHT_CHAT_CASES";

/// Most of a case is waiting, so there is room for more of them than there are processors.
const AT_ONCE: usize = 6;

type Scenario = fn(Arc<Stage>) -> Pin<Box<dyn Future<Output = Seen> + Send>>;

/// Which scenario carries out which case.
macro_rules! scenarios {
    ($($id:literal => $scenario:ident,)*) => {
        pub const SCENARIOS: &[(&str, super::Scenario)] = &[$(($id, |stage| Box::pin($scenario(stage))),)*];
    };
}
use scenarios;

const ALL: [&[(&str, Scenario)]; 7] = [
    approvals::SCENARIOS,
    answers::SCENARIOS,
    delegations::SCENARIOS,
    switches::SCENARIOS,
    recoveries::SCENARIOS,
    injections::SCENARIOS,
    servers::SCENARIOS,
];

fn scenario(id: &str) -> Option<Scenario> {
    ALL.into_iter().flatten().find(|(of, _)| *of == id).map(|(_, scenario)| *scenario)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_guard_case_of_chats_holds() {
    let suite = Arc::new(Suite::load());
    let wanted = std::env::var(CASES).unwrap_or_default();
    let cases = suite.of(&[Harness::Server]).filter(|case| is_of_chats(case));
    let cases: Vec<&Case> = cases.filter(|case| wanted.is_empty() || wanted.contains(&case.id)).collect();
    let (mut running, room) = (JoinSet::new(), Arc::new(Semaphore::new(AT_ONCE)));
    for (place, case) in cases.iter().enumerate() {
        let (suite, case, room) = (suite.clone(), (*case).clone(), room.clone());
        running.spawn(async move {
            let _room = room.acquire().await.unwrap();
            (place, finding(&suite, &case).await)
        });
    }
    let mut findings: Vec<(usize, CaseFinding)> = running.join_all().await;
    findings.sort_by_key(|(place, _)| *place);
    let findings: Vec<(&Case, CaseFinding)> = findings.into_iter().map(|(place, finding)| (cases[place], finding)).collect();
    for (id, reason) in readings::reasons() {
        announce(&format_args!("{id} is read so: {reason}"));
    }
    let listed: Vec<(&str, &str)> = LISTED.iter().filter(|(id, _)| wanted.is_empty() || wanted.contains(id)).copied().collect();
    for (id, reason) in &listed {
        announce(&format_args!("{id} is not carried out yet: {reason}"));
    }
    let report = CaseReport::new(&findings, &listed);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{} wrong:\n{}", report.wrong().len(), report.wrong().join("\n\n"));
}

async fn finding(suite: &Suite, written: &Case) -> CaseFinding {
    let Some(scenario) = scenario(&written.id) else { return CaseFinding::Broken("it has no scenario".to_owned()) };
    let stage = Arc::new(Stage::new(suite, readings::read(written)));
    // In a task of its own, so that a scenario that panics is a case that does not hold.
    match tokio::spawn(scenario(stage.clone())).await {
        Ok(seen) => seen.finding(&stage),
        Err(error) => CaseFinding::Broken(panicked(error)),
    }
}

fn panicked(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "it was cancelled".to_owned() };
    let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
    text.unwrap_or_else(|| "it panicked without a word".to_owned())
}

#[test]
fn no_scenario_is_without_a_case_and_none_is_listed() {
    let suite = Suite::load();
    for (id, _) in ALL.into_iter().flatten() {
        let known = |case: &Case| case.id == *id && case.harness == Harness::Server && is_of_chats(case);
        assert!(suite.cases.iter().any(known), "there is no case {id} to carry out");
        assert!(LISTED.iter().all(|(listed, _)| listed != id), "{id} is carried out and listed");
    }
}
