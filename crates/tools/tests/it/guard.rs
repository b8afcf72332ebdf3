//! The cases of `guard-cases.json` that are about file tools and their arguments.

use crate::faults;
use crate::subject::FileTools;
use planwright_testkit::guard::{self, Case, CaseFinding, CaseReport, Harness, Setup, Suite, announce};

/// Cases that can't hold here, with the reason. A case that does hold may not stand here.
const LISTED: &[(&str, &str)] =
    &[("NM-030", "a tool takes text, so bytes that are none can't reach one; the server's JSON reader refuses them")];

#[test]
fn every_guard_case_of_the_file_tools_holds() {
    let suite = Suite::load();
    let findings: Vec<(&Case, CaseFinding)> = suite.of(&[Harness::Fs, Harness::Args]).map(|case| (case, finding(&suite, case))).collect();
    let report = CaseReport::new(&findings, LISTED);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{} wrong:\n{}", report.wrong().len(), report.wrong().join("\n\n"));
}

fn finding(suite: &Suite, case: &Case) -> CaseFinding {
    if let Some(finding) = faults::finding(suite, case) {
        return finding;
    }
    if case.setup.iter().any(|setup| matches!(setup, Setup::Mknod { .. })) && !rustix::process::geteuid().is_root() {
        return CaseFinding::Unavailable("only root can make device nodes".to_owned());
    }
    match guard::check::<FileTools>(suite, case, &std::env::temp_dir()) {
        Ok(()) => CaseFinding::Holds,
        Err(what) => CaseFinding::Broken(what),
    }
}
