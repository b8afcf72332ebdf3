//! Where a case can't be carried out as it is written: how it is read instead.

use planwright_testkit::guard::{Case, CaseDecision, Invariant};

/// What stands for `<new>`: the content that a file was to get.
pub const NEW_CONTENT: &str = "fn main() { new() }\n";

struct Reading {
    id: &'static str,
    /// Codes that are right as well.
    codes: &'static [&'static str],
    /// Invariants by their names that something else stands for.
    without: &'static [&'static str],
    /// The correct expectation instead of the written one.
    decision: Option<CaseDecision>,
    reason: &'static str,
}

const LEAVING_ASKS: &str = "the contract answers a call to leave plan mode with the server's own card, and the chat stays in plan mode";

const AS_WRITTEN: Reading = Reading { id: "", codes: &[], without: &[], decision: None, reason: "" };

const READINGS: &[Reading] = &[
    Reading { id: "AP-002", reason: "the other file is a plan; one that is none is refused before anybody is asked", ..AS_WRITTEN },
    Reading { id: "AP-008", codes: &["PATH_NOT_FOUND"], reason: "the contract's code of a file that is not there", ..AS_WRITTEN },
    Reading {
        id: "AP-016",
        codes: &["INTERNAL"],
        reason: "leaving plan mode only asks; it is the user's yes that can't be stored, and that is told to the user",
        ..AS_WRITTEN
    },
    Reading {
        id: "AP-018",
        reason: "there is no setting that approves everything; all that can be allowed is, and the chat begins in act mode",
        ..AS_WRITTEN
    },
    Reading {
        id: "AP-023",
        reason: "in a chat without a plan; in one with a plan such a question is shown as the server's own card, which the scenario checks",
        ..AS_WRITTEN
    },
    Reading { id: "AP-025", codes: &["UNAUTHENTICATED"], reason: "an agent has no credential, so it is nobody", ..AS_WRITTEN },
    Reading { id: "QA-006", reason: "with the id of a question that waits in the other chat", ..AS_WRITTEN },
    Reading {
        id: "QA-017",
        reason: "also with a listener of our own in place of the address, so that a fetch would be seen",
        ..AS_WRITTEN
    },
    Reading { id: "QA-021", reason: "none and 1,000", ..AS_WRITTEN },
    Reading { id: "QA-029", codes: &["TOO_LARGE"], reason: "the body is larger than any that the server takes", ..AS_WRITTEN },
    Reading { id: "MS-002", codes: &["MODE_CHANGED"], reason: "a call belongs to the role that made it", ..AS_WRITTEN },
    Reading {
        id: "MS-004",
        codes: &["CANCELLED"],
        without: &["events_include"],
        reason: "leaving act mode stops the run, so its calls are CANCELLED, which their results tell",
        ..AS_WRITTEN
    },
    Reading {
        id: "MS-005",
        codes: &["CANCELLED"],
        reason: "as MS-004; a switch that stops nothing gives MODE_CHANGED, which the scenario checks",
        ..AS_WRITTEN
    },
    Reading { id: "MS-007", codes: &["MODE_CHANGED"], reason: "a call belongs to the role that made it", ..AS_WRITTEN },
    Reading {
        id: "MS-008",
        reason: "eight chats of one server, as a chat makes one call at a time; `switches.rs` of the session crate has eight writers in one chat and 1,000 flips",
        ..AS_WRITTEN
    },
    Reading { id: "MS-012", codes: &["CANCELLED"], reason: "as MS-004; `edit` has `old_string` and `new_string`", ..AS_WRITTEN },
    Reading {
        id: "PO-008",
        without: &["events_include"],
        reason: "there is no such event; that the changed file is not carried out without a new look is checked instead",
        ..AS_WRITTEN
    },
    Reading {
        id: "CR-002",
        reason: "two kills here; `kills.rs` has 10 with every run of the tests and 200 in `make torture`",
        ..AS_WRITTEN
    },
    Reading { id: "CR-003", reason: "the run goes on by itself, so what was cut off is said anew", ..AS_WRITTEN },
    Reading {
        id: "CR-005",
        reason: "of a command, while it runs; once its end is noted its outcome is known, which the scenario checks",
        ..AS_WRITTEN
    },
    Reading {
        id: "SA-007",
        codes: &["CANCELLED"],
        reason: "as MS-004; the switch comes after the first write; `delegation.rs` has a switch that stops nothing",
        ..AS_WRITTEN
    },
    Reading { id: "SA-008", reason: "while a command of the delegate runs", ..AS_WRITTEN },
    Reading { id: "PI-004", decision: Some(CaseDecision::Ask), reason: LEAVING_ASKS, ..AS_WRITTEN },
    Reading { id: "PI-005", decision: Some(CaseDecision::Ask), reason: LEAVING_ASKS, ..AS_WRITTEN },
    Reading { id: "PI-008", decision: Some(CaseDecision::Ask), reason: LEAVING_ASKS, ..AS_WRITTEN },
    Reading { id: "CR-014", reason: "the clock is that of the server process", ..AS_WRITTEN },
];

/// The case, as it is carried out and judged.
pub fn read(written: &Case) -> Case {
    let mut case = written.clone();
    for invariant in &mut case.expect.invariants {
        if let Invariant::ContentIn { values, .. } = invariant {
            values.iter_mut().filter(|value| *value == "<new>").for_each(|value| NEW_CONTENT.clone_into(value));
        }
    }
    let Some(reading) = READINGS.iter().find(|reading| reading.id == case.id) else { return case };
    if let Some(decision) = reading.decision {
        case.expect.decision = decision;
        case.expect.code_any_of = None;
    }
    if !reading.codes.is_empty() {
        case.expect.code_any_of.get_or_insert_default().extend(reading.codes.iter().map(ToString::to_string));
    }
    case
}

/// Whether something else stands for an invariant of a case.
pub fn replaces(id: &str, invariant: &str) -> bool {
    READINGS.iter().any(|reading| reading.id == id && reading.without.contains(&invariant))
}

pub fn reasons() -> impl Iterator<Item = (&'static str, &'static str)> {
    READINGS.iter().map(|reading| (reading.id, reading.reason))
}
