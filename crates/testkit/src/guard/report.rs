//! Counts per group, and the cases that can't be run with their reasons.

use super::Case;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Holds,
    /// What did not hold.
    Broken(String),
    /// This machine lacks something that the case needs.
    Unavailable(String),
}

/// What came of many cases.
#[derive(Debug, Default)]
pub struct Report {
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

impl Report {
    /// Counts the findings. `listed` are the cases that are known not to hold here, with the reason why:
    /// one that holds all the same, or that there is not, is as wrong as a case that is broken.
    #[must_use]
    pub fn new(findings: &[(&Case, Finding)], listed: &[(&str, &str)]) -> Self {
        let mut report = Self::default();
        for (case, finding) in findings {
            let id = &case.id;
            let reason = listed.iter().find(|(listed, _)| listed == id).map(|(_, reason)| reason);
            let count = report.groups.entry(case.group.clone()).or_default();
            count.total += 1;
            match (finding, reason) {
                (Finding::Holds, None) => count.passed += 1,
                (Finding::Holds, Some(reason)) => report.wrong.push(format!("{id} holds, but is listed: {reason}")),
                (Finding::Broken(_), Some(_)) => count.listed += 1,
                (Finding::Broken(what), None) => report.wrong.push(format!("{id} {}: {what}", case.title)),
                (Finding::Unavailable(why), _) => {
                    count.unavailable += 1;
                    report.unavailable.push(format!("{id} was not run: {why}"));
                }
            }
        }
        let unknown = listed.iter().filter(|(id, _)| !findings.iter().any(|(case, _)| case.id == *id));
        report.wrong.extend(unknown.map(|(id, _)| format!("{id} is listed, but there is no such case")));
        report
    }

    /// What must be mended, one paragraph each.
    #[must_use]
    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }
}

/// Says something past the capture of tests, so that it is seen also when they pass.
pub fn announce(text: &impl fmt::Display) {
    // Nobody may be listening; the tests still count.
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

impl fmt::Display for Report {
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
        let findings = [(first, Finding::Holds), (second, Finding::Broken("x".to_owned())), (third, Finding::Unavailable("y".to_owned()))];
        assert_eq!(Report::new(&findings, &[(&second.id, "known")]).wrong().len(), 0);
        assert_eq!(Report::new(&findings, &[(&first.id, "known"), ("XX-1", "gone")]).wrong().len(), 3);
    }
}
