//! Code that a plan forgets: what uses a name that a step is about, outside of the plan's files.

use crate::builtin::source_search::{Hit, SourceSearch, split};
use crate::gate::{Scope, Secrets};
use crate::path::WorkspacePath;
use crate::workspace::Workspace;
pub use planwright_plan::Finding;
use planwright_plan::{Gravity, PlanDocument};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{Plan, PlanStep};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Somebody waits for it.
const LONGEST: Duration = Duration::from_secs(3);
const MOST_NAMES: usize = 16;
/// Shorter names are those of everything.
const SHORTEST_NAME: usize = 3;
const PLACES_NAMED: usize = 5;

/// The findings of a plan's text: names in backticks that the step's files define and code outside of the plan's files uses.
#[must_use]
pub fn callers_outside(workspace: &Workspace, secrets: &Arc<Secrets>, text: &str) -> Vec<Finding> {
    let Ok(document) = PlanDocument::parse(text) else { return Vec::new() };
    // A plan without files has no outside.
    let Some(scope) = Scope::of(&document.plan, &StepChoice::default()) else { return Vec::new() };
    let until = Instant::now() + LONGEST;
    let mut findings = Vec::new();
    let mut names = BTreeSet::new();
    for step in &document.plan.steps {
        let Some(own) = Scope::of(&Plan { steps: vec![step.clone()], ..Plan::default() }, &StepChoice::default()) else { continue };
        for quoted in quoted(step) {
            let (_, name) = split(quoted.trim_end_matches("()"));
            let is_known = names.len() >= MOST_NAMES || !is_name(name) || !names.insert(name.to_owned());
            let left = until.checked_duration_since(Instant::now());
            if let Some(left) = left.filter(|_| !is_known) {
                let places = Uses::find(workspace, secrets, name, &scope, &own, left);
                findings.extend(places.finding(name, place_of(text, quoted)));
            }
        }
    }
    findings
}

/// What stands between backticks in a step.
fn quoted(step: &PlanStep) -> impl Iterator<Item = &str> {
    [&step.action, &step.reason].into_iter().flat_map(|text| text.split('`').skip(1).step_by(2))
}

fn is_name(text: &str) -> bool {
    text.len() >= SHORTEST_NAME && text.chars().all(|c| c.is_alphanumeric() || c == '_') && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Line and column of the words in the plan's file.
fn place_of(text: &str, quoted: &str) -> (usize, usize) {
    let quoted = format!("`{quoted}`");
    let found = text.lines().zip(1..).find_map(|(line, number)| line.find(&quoted).map(|at| (number, line[..at].chars().count() + 1)));
    found.unwrap_or((1, 1))
}

#[derive(Default)]
struct Uses {
    is_defined: bool,
    /// Outside of the plan's files, in files that define no such name themselves.
    outside: BTreeSet<(WorkspacePath, u32)>,
}

impl Uses {
    fn find(workspace: &Workspace, secrets: &Arc<Secrets>, name: &str, scope: &Scope, own: &Scope, longest: Duration) -> Self {
        let found = Mutex::new(Uses::default());
        let search = SourceSearch::everywhere(name, secrets.clone(), longest);
        let searched = search.run(workspace, |path, hit| {
            let Hit::Parsed(source) = hit else { return };
            let is_defined = source.definitions_of(name).next().is_some();
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            if scope.contains(path) {
                found.is_defined |= is_defined && own.contains(path);
            } else if !is_defined {
                found.outside.extend(source.uses_of(name).map(|one| (path.clone(), one.line)));
            }
        });
        // A workspace that is gone has no callers.
        searched.map(|_| found.into_inner().unwrap_or_else(PoisonError::into_inner)).unwrap_or_default()
    }

    fn finding(&self, name: &str, (line, column): (usize, usize)) -> Option<Finding> {
        if !self.is_defined || self.outside.is_empty() {
            return None;
        }
        let named: Vec<String> = self.outside.iter().take(PLACES_NAMED).map(|(path, line)| format!("{path}:{line}")).collect();
        let more = self.outside.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!(
            "`{name}` is also used outside of the plan's files: {}{more}; name those files in a step if they must change",
            named.join(", ")
        );
        Some(Finding { line, column, message, gravity: Gravity::Warning })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::trial::Trial;

    const SOURCES: [(&str, &str); 4] = [
        ("src/plan.rs", "pub fn parse_plan() {}\npub fn unused() {}\n"),
        ("src/main.rs", "fn main() {\n    parse_plan();\n    // parse_plan\n    parse_plan();\n}\n"),
        ("web/plan.ts", "export const parse_plan = () => parse_plan;\n"),
        ("README.md", "Call `parse_plan`.\n"),
    ];

    fn found(files: &str) -> Vec<String> {
        let trial = Trial::new(&SOURCES);
        let text = format!("# Rename\n\n## Steps\n\n- [ ] 1. Rename `parse_plan()` to `read_plan`, drop `unused`\n  files: {files}\n");
        let findings = callers_outside(&trial.cx.workspace, &trial.cx.config.secrets, &text);
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_plan_that_renames_a_function_used_elsewhere_is_told_where() {
        assert_eq!(
            found("src/plan.rs"),
            [
                "5:17: `parse_plan` is also used outside of the plan's files: /src/main.rs:2, /src/main.rs:4; name those files in a step if they must change"
            ]
        );
    }

    #[test]
    fn a_plan_that_names_all_callers_or_no_definition_is_told_nothing() {
        for files in ["src/plan.rs, src/main.rs", "src/**", "src/main.rs", "web/plan.ts, src"] {
            assert_eq!(found(files), Vec::<String>::new(), "{files}");
        }
        let trial = Trial::new(&SOURCES);
        for text in ["no plan", "# A\n\n## Steps\n\n- [ ] 1. Rename `parse_plan`\n"] {
            assert!(callers_outside(&trial.cx.workspace, &trial.cx.config.secrets, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn who_writes_the_plan_is_told_with_the_result() {
        let trial = Trial::new(&SOURCES);
        let plan = |files: &str| {
            let args =
                serde_json::json!({ "goal": "Rename", "steps": [{ "step_number": 1, "action": "Rename `parse_plan`", "files": [files] }] });
            trial.plan("write_plan", &args.to_string()).unwrap().text
        };
        let told = plan("src/plan.rs");
        assert!(told.contains("`parse_plan` is also used outside of the plan's files: /src/main.rs:2"), "{told}");
        assert!(!plan("src").contains("outside"));
    }
}
