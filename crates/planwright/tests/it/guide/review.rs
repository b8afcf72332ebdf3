//! The example that lints the plans of a pull request and has the Reviewer look at it.

use super::runner::{Runner, output_text};
use serde_json::json;
use std::process::Output;

pub const WORKFLOW: &str = "docs/examples/check-plans.yml";

const PLAN: &str = "---
goal: Say goodbye
---

## Steps

- [ ] 1. Write the file
  reason: It is asked for
  files: bye.txt
";

/// A pull request with one more file.
fn runner(file: &str, content: &str) -> Runner {
    let review = json!({
        "summary": "One thing is wrong.",
        "findings": [{ "path": "/bye.txt", "line": 1, "severity": "major", "comment": "It ends without a word." }],
    });
    let script = json!({ "turns": [
        { "calls": [{ "tool": "submit_review", "args": review }], "told": ["Review this change.", "+"] },
        { "text": "Handed in." },
    ] });
    let runner = Runner::new(&script);
    std::fs::write(runner.at("content"), content).unwrap();
    let add =
        format!("git checkout --quiet -b change && mkdir -p plans && cp ../content {file} && git add . && git commit --quiet -m Change");
    runner.shell(&format!("cd first && {add} && git push --quiet origin change"));
    runner
}

fn pull_request(runner: &Runner, key: &str) -> Output {
    runner.job(WORKFLOW, "check", "change", &[("secrets.ANTHROPIC_API_KEY", key), ("github.base_ref", "main")])
}

#[test]
fn a_pull_request_gets_the_findings_of_the_reviewer_as_its_summary() {
    let runner = runner("bye.txt", "Bye\n");
    let checked = pull_request(&runner, "the-key");
    assert!(checked.status.success(), "{}", output_text(&checked));
    assert_eq!(runner.read("temp/summary.md"), "One thing is wrong.\nmajor: /bye.txt:1 It ends without a word.\n");
}

#[test]
fn without_the_key_a_pull_request_is_linted_only() {
    let runner = runner("plans/say-goodbye.plan", PLAN);
    let checked = pull_request(&runner, "");
    assert!(checked.status.success() && output_text(&checked).contains("No key, no review."), "{}", output_text(&checked));
    assert!(!runner.at("temp/summary.md").exists());
}

#[test]
fn a_plan_that_should_be_better_fails_the_check_before_anything_is_asked_of_a_model() {
    let runner = runner("plans/say-goodbye.plan", &PLAN.replace("  files: bye.txt\n", ""));
    let checked = pull_request(&runner, "the-key");
    assert_eq!(checked.status.code(), Some(1), "{}", output_text(&checked));
    assert!(output_text(&checked).contains("plans/say-goodbye.plan:7:1: step 1 has no files"), "{}", output_text(&checked));
    assert!(!runner.at("temp/summary.md").exists());
}
