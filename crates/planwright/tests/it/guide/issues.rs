//! The example that plans on every new issue and waits for approval, with a scripted model, a real git and a `gh` that
//! keeps what it is told.

use super::file;
use crate::{BINARY, plan, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const GH: &str = "#!/bin/sh
echo \"$*\" >> \"$HOME/gh-calls\"
case $1 in auth) ;; *) cat > \"$HOME/gh-body\" ;; esac
";

/// A project on a git server, and the machine that a workflow runs on.
struct Runner {
    folder: TempDir,
}

impl Runner {
    fn new(script: &Value) -> Self {
        let runner = Self { folder: TempDir::new().unwrap() };
        std::fs::write(runner.at("script.json"), script.to_string()).unwrap();
        std::fs::create_dir(runner.at("bin")).unwrap();
        std::os::unix::fs::symlink(BINARY, runner.at("bin/planwright")).unwrap();
        std::fs::write(runner.at("bin/gh"), GH).unwrap();
        runner.shell("chmod +x bin/gh && git init --quiet --bare origin.git && git clone --quiet origin.git first 2>&1");
        runner.shell("cd first && echo Hello > hello.txt && git add . && git commit --quiet -m Begin && git push --quiet origin HEAD:main");
        runner.shell("git --git-dir origin.git symbolic-ref HEAD refs/heads/main");
        runner
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{}", self.at("bin").display(), std::env::var("PATH").unwrap());
        command.env_clear().env("HOME", self.folder.path()).env("PATH", path).env("GH_TOKEN", "the-token");
        for (name, value) in [("AUTHOR", "ann"), ("COMMITTER", "ann")] {
            command.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "ann@example.org");
        }
        command.env("PLANWRIGHT_MODEL", format!("script/{}", self.at("script.json").display())).current_dir(self.folder.path());
        command
    }

    fn shell(&self, line: &str) -> String {
        let output = self.command(Path::new("bash")).args(["-euc", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// One job of the workflow: a clone of its own, a machine without chats.
    fn job(&self, what: &str, variables: &[(&str, &str)]) -> Output {
        self.shell("rm -rf job .local && git clone --quiet origin.git job");
        let mut command = self.command(&file("docs/examples/plan-on-issue/plan-issue"));
        command.arg(what).env("ISSUE", "7").envs(variables.iter().copied()).current_dir(self.at("job")).output().unwrap()
    }

    fn body(&self) -> String {
        std::fs::read_to_string(self.at("gh-body")).unwrap()
    }

    /// A file on the issue's branch, as the server has it.
    fn pushed(&self, path: &str) -> String {
        self.shell(&format!("git --git-dir origin.git show planwright/issue-7:{path}"))
    }
}

fn working() -> Value {
    json!({
        "plan": [{ "calls": [write("/bye.txt", "too early"), { "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n"), { "tool": "update_step", "args": { "step_number": 1, "status": "done" } }] }, { "text": "Done." }],
    })
}

const ISSUE: &[(&str, &str)] = &[("TITLE", "Say goodbye $(touch /tmp/never)"), ("BODY", "Please.\n`touch never`")];

fn told(output: &Output) -> String {
    format!("{:?}\n{}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn an_issue_gets_a_plan_and_the_plan_is_carried_out_when_exactly_it_was_approved() {
    let runner = Runner::new(&working());
    let planned = runner.job("plan", ISSUE);
    assert!(planned.status.success(), "{}", told(&planned));
    let comment = runner.body();
    let approval = comment.lines().find_map(|line| line.strip_prefix("    /approve ")).unwrap();
    assert!(comment.contains("    Say goodbye\n") && approval.len() == 64, "{comment}");
    assert!(runner.pushed("plans/say-goodbye.plan").contains("- [ ] 1. Write the file"));
    assert_eq!(runner.shell("git --git-dir origin.git diff --name-only main planwright/issue-7"), "plans/say-goodbye.plan\n");

    for wrong in [format!("/approve {}", "0".repeat(64)), "/approve".to_owned(), format!("/approve {}", &approval[..12])] {
        let refused = runner.job("execute", &[("COMMENT", &wrong)]);
        assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
        assert!(runner.body().contains("not the plan as it is now"), "{}", runner.body());
    }

    let executed = runner.job("execute", &[("COMMENT", &format!("/approve {approval}\r\nThanks!"))]);
    assert!(executed.status.success(), "{}", told(&executed));
    assert_eq!(runner.pushed("bye.txt"), "Goodbye\n");
    assert!(runner.pushed("plans/say-goodbye.plan").contains("- [x] 1. Write the file"));
    assert_eq!(runner.shell("git --git-dir origin.git diff --name-only main planwright/issue-7"), "bye.txt\nplans/say-goodbye.plan\n");
    let calls = std::fs::read_to_string(runner.at("gh-calls")).unwrap();
    assert!(calls.contains("issue comment 7") && calls.ends_with("pr create --head planwright/issue-7 --title Plan for issue 7 --body-file -\n"), "{calls}");

    let again = runner.job("execute", &[("COMMENT", &format!("/approve {approval}"))]);
    assert_eq!(again.status.code(), Some(1), "an approval is for the plan as it was: {}", told(&again));
}

#[test]
fn work_that_goes_beyond_the_plan_of_an_issue_is_not_pushed() {
    let mut script = working();
    script["act"] = json!([{ "calls": [{ "tool": "rm", "args": { "path": "/hello.txt" } }] }, { "text": "Done." }]);
    let runner = Runner::new(&script);
    assert!(runner.job("plan", ISSUE).status.success());
    let comment = runner.body();
    let approval = comment.lines().find_map(|line| line.strip_prefix("    /approve ")).unwrap();
    let blocked = runner.job("execute", &[("COMMENT", &format!("/approve {approval}"))]);
    assert_eq!(blocked.status.code(), Some(3), "{}", told(&blocked));
    assert!(runner.body().contains("exit code 3"), "{}", runner.body());
    assert_eq!(runner.shell("git --git-dir origin.git diff --name-only main planwright/issue-7"), "plans/say-goodbye.plan\n");
}

#[test]
fn an_issue_that_leaves_a_question_open_gets_the_question_and_one_that_fails_gets_the_reason() {
    let question = json!({ "name": "tone", "question": "Which tone?", "schema": { "type": "string" } });
    let asks = Runner::new(&json!({ "turns": [{ "calls": [{ "tool": "ask_user", "args": { "questions": [question] } }] }] }));
    assert_eq!(asks.job("plan", ISSUE).status.code(), Some(3));
    assert!(asks.body().contains("\n    Which tone?\n"), "{}", asks.body());
    let fails = Runner::new(&json!({ "turns": [{ "error": "PROVIDER_REJECTED" }] }));
    assert_eq!(fails.job("plan", ISSUE).status.code(), Some(1));
    assert!(fails.body().contains("exit code 1.\n\n    "), "{}", fails.body());
}

#[test]
fn the_workflows_of_the_examples_can_be_read_and_so_can_their_scripts() {
    for name in ["docs/examples/check-plans.yml", "docs/examples/plan-on-issue/plan-on-issue.yml"] {
        let workflow: Value = serde_saphyr::from_str(&std::fs::read_to_string(file(name)).unwrap()).unwrap();
        let jobs = workflow["jobs"].as_object().unwrap();
        let steps = jobs.values().flat_map(|job| job["steps"].as_array().unwrap());
        let scripts: Vec<&str> = steps.filter_map(|step| step["run"].as_str()).collect();
        assert!(scripts.len() >= 2, "{name}");
        for script in scripts {
            // What others wrote must come by the environment: in a script it would be run.
            assert!(!script.contains("${{"), "{name}: {script}");
            assert!(Command::new("bash").args(["-nc", script]).status().unwrap().success(), "{name}: {script}");
        }
    }
}
