//! The example that plans on every new issue and waits for approval.

use super::runner::{Runner, output_text, read};
use crate::{plan, write};
use serde_json::{Value, json};
use std::process::Output;

pub const WORKFLOW: &str = "docs/examples/plan-on-issue/plan-on-issue.yml";
const BRANCH: &str = "planwright/issue-7";

fn working() -> Value {
    json!({
        "plan": [{ "calls": [write("/bye.txt", "too early"), { "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n"), { "tool": "update_step", "args": { "step_number": 1, "status": "done" } }] }, { "text": "Done." }],
    })
}

fn new_issue(runner: &Runner) -> Output {
    runner.job(
        WORKFLOW,
        "plan",
        "main",
        &[
            ("github.event.issue.number", "7"),
            ("github.event.issue.title", "Say goodbye $(touch $HOME/never)"),
            ("github.event.issue.body", "Please.\n`touch $HOME/never`\"; touch $HOME/never"),
            ("secrets.ANTHROPIC_API_KEY", "the-key"),
        ],
    )
}

fn comment(runner: &Runner, text: &str) -> Output {
    let values = [("github.event.issue.number", "7"), ("github.event.comment.body", text), ("secrets.ANTHROPIC_API_KEY", "the-key")];
    runner.job(WORKFLOW, "execute", "main", &values)
}

/// The order that the comment with the plan names.
fn approval(runner: &Runner) -> String {
    let body = runner.body();
    let order = body.lines().filter_map(|line| line.strip_prefix("    ")).find(|line| line.starts_with("/approve "));
    assert!(order.is_some(), "{body}");
    order.unwrap().to_owned()
}

fn changed(runner: &Runner) -> String {
    runner.shell(&format!("git --git-dir origin.git diff --name-only main {BRANCH}"))
}

/// A file on the issue's branch, as the server has it.
fn pushed(runner: &Runner, path: &str) -> String {
    runner.shell(&format!("git --git-dir origin.git show {BRANCH}:{path}"))
}

#[test]
fn an_issue_gets_a_plan_and_the_plan_is_carried_out_when_exactly_it_was_approved() {
    let runner = Runner::new(&working());
    let planned = new_issue(&runner);
    assert!(planned.status.success(), "{}", output_text(&planned));
    let approval = approval(&runner);
    assert!(runner.body().contains("    Say goodbye\n") && approval.len() == "/approve ".len() + 64, "{}", runner.body());
    assert!(pushed(&runner, "plans/say-goodbye.plan").contains("- [ ] 1. Write the file"));
    assert_eq!(changed(&runner), "plans/say-goodbye.plan\n");
    assert!(!runner.at("never").exists(), "words of the issue were run");
    let installed = format!("apt-get install -qq -y {} bubblewrap\n", runner.at("temp/planwright.deb").display());
    assert!(runner.read("system-calls").ends_with(&installed), "{}", runner.read("system-calls"));
    assert_eq!(runner.read("temp/planwright.deb"), "a package");

    for wrong in [format!("/approve {}", "0".repeat(64)), "/approve ".to_owned(), approval[..40].to_owned(), format!("Please {approval}")] {
        let refused = comment(&runner, &wrong);
        assert_eq!(refused.status.code(), Some(1), "{wrong}: {}", output_text(&refused));
        assert!(runner.body().contains("not the plan as it is now"), "{}", runner.body());
        assert_eq!(changed(&runner), "plans/say-goodbye.plan\n");
    }

    let executed = comment(&runner, &format!("{approval}\r\nThanks!"));
    assert!(executed.status.success(), "{}", output_text(&executed));
    assert_eq!(pushed(&runner, "bye.txt"), "Goodbye\n");
    assert!(pushed(&runner, "plans/say-goodbye.plan").contains("- [x] 1. Write the file"));
    assert_eq!(changed(&runner), "bye.txt\nplans/say-goodbye.plan\n");
    let calls = runner.read("gh-calls");
    assert!(calls.contains("issue comment 7"), "{calls}");
    assert!(calls.ends_with("pr create --head planwright/issue-7 --title Plan for issue 7 --body-file -\n"), "{calls}");

    let again = comment(&runner, &approval);
    assert_eq!(again.status.code(), Some(1), "an approval is for the plan as it was: {}", output_text(&again));
}

#[test]
fn only_people_of_the_project_start_the_job_that_carries_out() {
    let condition = read(WORKFLOW)["jobs"]["execute"]["if"].as_str().unwrap().to_owned();
    let who = r#"contains(fromJSON('["OWNER", "MEMBER", "COLLABORATOR"]'), github.event.comment.author_association)"#;
    assert!(condition.ends_with(&format!("&& {who}")) && !condition.contains("||"), "{condition}");
}

#[test]
fn work_that_goes_beyond_the_plan_of_an_issue_is_not_pushed() {
    let mut script = working();
    script["act"] = json!([{ "calls": [{ "tool": "rm", "args": { "path": "/hello.txt" } }] }, { "text": "Done." }]);
    let runner = Runner::new(&script);
    let planned = new_issue(&runner);
    assert!(planned.status.success(), "{}", output_text(&planned));
    let blocked = comment(&runner, &approval(&runner));
    assert_eq!(blocked.status.code(), Some(3), "{}", output_text(&blocked));
    assert!(runner.body().contains("exit code 3") && runner.body().contains("/hello.txt"), "{}", runner.body());
    assert_eq!(changed(&runner), "plans/say-goodbye.plan\n");
}

#[test]
fn an_issue_that_leaves_a_question_open_gets_the_question_and_one_that_fails_gets_the_reason() {
    let question = json!({ "name": "tone", "question": "Which tone?", "schema": { "type": "string" } });
    let asks = Runner::new(&json!({ "turns": [{ "calls": [{ "tool": "ask_user", "args": { "questions": [question] } }] }] }));
    assert_eq!(new_issue(&asks).status.code(), Some(3));
    assert!(asks.body().contains("\n    Which tone?\n"), "{}", asks.body());
    let fails = Runner::new(&json!({ "turns": [{ "error": "PROVIDER_REJECTED" }] }));
    assert_eq!(new_issue(&fails).status.code(), Some(1));
    assert!(fails.body().contains("exit code 1.\n\n    "), "{}", fails.body());
    assert_eq!(comment(&fails, &format!("/approve {}", "0".repeat(64))).status.code(), Some(1));
    assert_eq!(fails.body(), "There is no plan for this issue.\n");
}
