//! The cases of `guard-cases.json` that are about what a user's message asks for.

use planwright_agent::intent::{Intent, detect};
use planwright_testkit::guard::{Case, CaseFinding, CaseReport, Harness, Invariant, Suite, announce};

/// Cases that can't hold here, with the reason. A case that does hold may not stand here.
const LISTED: &[(&str, &str)] = &[
    ("IN-059", "the words are an order; that they come from an attached file is the caller's to know, who then does not ask the detector"),
    ("IN-060", "the words are an order; that their author may not give it is the caller's to know, who then does not ask the detector"),
];

#[test]
fn every_guard_case_of_the_intent_detector_holds() {
    let suite = Suite::load();
    let findings: Vec<(&Case, CaseFinding)> = suite.of(&[Harness::Intent]).map(|case| (case, finding(case))).collect();
    let report = CaseReport::new(&findings, LISTED);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{}", report.wrong().join("\n"));
}

#[test]
fn the_listed_cases_are_exactly_those_that_the_user_did_not_type() {
    let suite = Suite::load();
    let foreign: Vec<&str> =
        suite.of(&[Harness::Intent]).filter(|case| case.args["author"] != "user").map(|case| case.id.as_str()).collect();
    assert_eq!(foreign, LISTED.iter().map(|(id, _)| *id).collect::<Vec<_>>());
}

fn finding(case: &Case) -> CaseFinding {
    let reading = detect(case.args["text"].as_str().unwrap());
    let intent = reading.intent.as_str();
    // Reading a message changes no mode, so the label is all there is to check.
    let wrong = case.expect.invariants.iter().find(|invariant| matches!(invariant, Invariant::IntentLabel { equals } if equals != intent));
    if let Some(expected) = wrong {
        return CaseFinding::Broken(format!("read as {intent}, not {expected:?}"));
    }
    if reading.intent == Intent::ExecuteNow && reading.suggests_execution {
        return CaseFinding::Broken("an order is acted on, not suggested as well".to_owned());
    }
    CaseFinding::Holds
}
