//! A machine that runs the jobs of the example workflows: their scripts as they stand in the YAML, by the shell that GitHub uses for
//! them, with a scripted model, a real git, and stand-ins for `gh` and for what needs the system's administrator.

use super::file;
use crate::BINARY;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

const GH: &str = "#!/bin/sh
echo \"$*\" >> \"$HOME/gh-calls\"
case $1 in auth) ;; *) cat > \"$HOME/gh-body\" ;; esac
";
const SUDO: &str = "#!/bin/sh\nexec \"$@\"\n";
const SYSTEM: &str = "#!/bin/sh\necho \"${0##*/} $*\" >> \"$HOME/system-calls\"\n";

/// A project on a git server, and the machine.
pub struct Runner {
    folder: TempDir,
}

impl Runner {
    pub fn new(script: &Value) -> Self {
        let runner = Self { folder: TempDir::new().unwrap() };
        std::fs::write(runner.at("script.json"), script.to_string()).unwrap();
        std::fs::write(runner.at("package.deb"), "a package").unwrap();
        std::fs::create_dir(runner.at("bin")).unwrap();
        std::os::unix::fs::symlink(BINARY, runner.at("bin/planwright")).unwrap();
        for (name, text) in [("gh", GH), ("sudo", SUDO), ("apt-get", SYSTEM), ("sysctl", SYSTEM)] {
            std::fs::write(runner.at("bin").join(name), text).unwrap();
        }
        let example = file("docs/examples/plan-on-issue/plan-issue");
        runner.shell("chmod +x bin/* && git init --quiet --bare origin.git && git clone --quiet origin.git first 2>&1");
        runner.shell(&format!(
            "cd first && mkdir -p .github/scripts && cp '{}' .github/scripts && echo Hello > hello.txt",
            example.display()
        ));
        runner.shell("cd first && git add . && git commit --quiet -m Begin && git push --quiet origin HEAD:main");
        runner.shell("git --git-dir origin.git symbolic-ref HEAD refs/heads/main");
        runner
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{}", self.at("bin").display(), std::env::var("PATH").unwrap());
        command.env_clear().env("HOME", self.folder.path()).env("PATH", path);
        for name in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{name}_NAME"), "ann").env(format!("GIT_{name}_EMAIL"), "ann@example.org");
        }
        command.env("PLANWRIGHT_MODEL", format!("script/{}", self.at("script.json").display())).current_dir(self.folder.path());
        command
    }

    pub fn shell(&self, line: &str) -> String {
        let output = self.command("bash").args(["-euc", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a job of a workflow on a machine without chats, in a clone of its own at `branch`, until a step fails. The values are those of
    /// the expressions that its steps take from GitHub. Gives the outcome of the last step.
    pub fn job(&self, workflow: &str, job: &str, branch: &str, values: &[(&str, &str)]) -> Output {
        self.shell(&format!(
            "rm -rf job .local temp && mkdir temp && git clone --quiet origin.git job && cd job && git checkout --quiet {branch}"
        ));
        let package = format!("file://{}", self.at("package.deb").display());
        let known = [("vars.PLANWRIGHT_PACKAGE", package.as_str()), ("github.token", "the-token")];
        let value = |expression: &str| {
            let inner = expression.trim_start_matches("${{").trim_end_matches("}}").trim();
            let found = known.iter().chain(values).find(|(name, _)| *name == inner);
            assert!(found.is_some(), "{workflow}: nothing is known of {expression}");
            found.unwrap().1.to_owned()
        };
        let mut last = None;
        for step in scripts(&read(workflow)["jobs"][job]) {
            std::fs::write(self.at("temp/step.sh"), step["run"].as_str().unwrap()).unwrap();
            let mut command = self.command("bash");
            command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(self.at("temp/step.sh"));
            command.env("RUNNER_TEMP", self.at("temp")).env("GITHUB_STEP_SUMMARY", self.at("temp/summary.md"));
            let variables = step["env"].as_object().into_iter().flatten();
            command.envs(variables.map(|(name, text)| (name, value(text.as_str().unwrap()))));
            let output = command.current_dir(self.at("job")).output().unwrap();
            let is_over = !output.status.success();
            last = Some(output);
            if is_over {
                break;
            }
        }
        last.unwrap()
    }

    /// What was last said on the issue, or of the pull request.
    pub fn body(&self) -> String {
        self.read("gh-body")
    }
}

pub fn read(workflow: &str) -> Value {
    serde_saphyr::from_str(&std::fs::read_to_string(file(workflow)).unwrap()).unwrap()
}

/// The steps of a job that have a script.
pub fn scripts(job: &Value) -> Vec<Value> {
    let steps = job["steps"].as_array().unwrap();
    steps.iter().filter(|step| step["run"].is_string()).cloned().collect()
}

pub fn output_text(output: &Output) -> String {
    format!("{:?}\n{}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn no_script_of_a_workflow_has_words_of_others_in_it() {
    for name in [super::issues::WORKFLOW, super::review::WORKFLOW] {
        let workflow = read(name);
        // The shell that the tests use is the one that GitHub takes for this word.
        assert_eq!(workflow["defaults"]["run"]["shell"], "bash", "{name}");
        for step in workflow["jobs"].as_object().unwrap().values().flat_map(scripts) {
            // What others wrote must come by the environment: in a script it would be run.
            assert!(!step["run"].as_str().unwrap().contains("${{"), "{name}: {step}");
        }
        for checkout in workflow["jobs"].as_object().unwrap().values().map(|job| &job["steps"][0]) {
            assert_eq!(checkout["with"]["persist-credentials"], false, "{name}: the agent could read the token");
        }
    }
}
