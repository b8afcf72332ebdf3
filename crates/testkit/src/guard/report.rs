//! Counts per group, and the cases that can't run, with their reasons.

use super::Case;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseFinding {
    Holds,
    /// The violations.
    Broken(String),
    /// This machine lacks something that the case needs.
    Unavailable(String),
}

/// The results of many cases.
#[derive(Debug, Default)]
pub struct CaseReport {
    groups: BTreeMap<String, Count>,
    unavailable: Vec<String>,
    wrong: Vec<String>,
}

#[derive(Debug, Default)]
struct Count {
    passed: usize,
    total: usize,
    listed: usize,
    unavailable: usize,
}

impl CaseReport {
    /// Counts the findings. `listed` are the known exceptions with their reasons: a listed case that holds or does not exist is as
    /// wrong as a broken case.
    #[must_use]
    pub fn new(findings: &[(&Case, CaseFinding)], listed: &[(&str, &str)]) -> Self {
        let mut report = Self::default();
        for (case, finding) in findings {
            let id = &case.id;
            let reason = listed.iter().find(|(listed, _)| listed == id).map(|(_, reason)| reason);
            let count = report.groups.entry(case.group.clone()).or_default();
            count.total += 1;
            match (finding, reason) {
                (CaseFinding::Holds, None) => count.passed += 1,
                (CaseFinding::Holds, Some(reason)) => report.wrong.push(format!("{id} holds, but is listed: {reason}")),
                (CaseFinding::Broken(_), Some(_)) => count.listed += 1,
                (CaseFinding::Broken(what), None) => report.wrong.push(format!("{id} {}: {what}", case.title)),
                (CaseFinding::Unavailable(why), _) => {
                    count.unavailable += 1;
                    report.unavailable.push(format!("{id} was not run: {why}"));
                }
            }
        }
        let unknown = listed.iter().filter(|(id, _)| !findings.iter().any(|(case, _)| case.id == *id));
        report.wrong.extend(unknown.map(|(id, _)| format!("{id} is listed, but there is no such case")));
        report
    }

    /// What must be fixed, one paragraph each.
    #[must_use]
    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }
}

/// Prints past the tests' capture, so that it is visible when they pass.
pub fn announce(text: &impl fmt::Display) {
    // Printing may fail; the tests still count.
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

impl fmt::Display for CaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, Count { passed, total, listed, unavailable }) in &self.groups {
            write!(f, "{group}: {passed}/{total} (listed {listed})")?;
            writeln!(f, "{}", if *unavailable > 0 { format!(" (not run here {unavailable})") } else { String::new() })?;
        }
        self.unavailable.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Suite;

    #[test]
    fn a_listed_case_that_holds_and_a_broken_one_that_is_not_listed_are_wrong() {
        let suite = Suite::load();
        let [first, second, third] = &suite.cases[..3] else { panic!("too few cases") };
        let findings =
            [(first, CaseFinding::Holds), (second, CaseFinding::Broken("x".to_owned())), (third, CaseFinding::Unavailable("y".to_owned()))];
        assert_eq!(CaseReport::new(&findings, &[(&second.id, "known")]).wrong().len(), 0);
        assert_eq!(CaseReport::new(&findings, &[(&first.id, "known"), ("XX-1", "gone")]).wrong().len(), 3);
    }
}
