//! A command loses nothing of git's history unasked, and what the user lets it lose can be taken back.

use super::output;
use crate::command_effects::{BOTH_WAYS, actor, project, result, run, to_question};
use crate::command_keep::repository;
use planwright_testkit::server::{ChatClient, Home, Server};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;

fn git(home: &Home, args: &[&str]) -> String {
    let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "safe.directory=*"];
    let mut command = std::process::Command::new("git");
    let output = command.args(identity).args(args).current_dir(home.workspace()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn with_history(command: &str) -> Home {
    with_history_for(&[run(command)])
}

/// A repository with a branch, a tag and a stash that nothing else contains.
fn with_history_for(turns: &[Value]) -> Home {
    let home = project(turns);
    repository(&home);
    git(&home, &["checkout", "-q", "other"]);
    for (name, message) in [("feature", "of the branch"), ("tagged", "of the tag")] {
        git(&home, &["checkout", "-q", "-b", name, "main"]);
        git(&home, &["commit", "-q", "--allow-empty", "-m", message]);
    }
    git(&home, &["tag", "v1"]);
    git(&home, &["checkout", "-q", "main"]);
    git(&home, &["branch", "-D", "-q", "tagged"]);
    home.put("src/lib.rs", "stashed\n");
    git(&home, &["stash", "-q"]);
    home
}

/// Everything that names a commit.
fn names(home: &Home) -> String {
    let files = [".git/HEAD", ".git/logs/HEAD", ".git/logs/refs/stash", ".git/logs/refs/heads/feature"];
    let logs: String = files.iter().map(|file| home.file(file).unwrap_or_default()).collect();
    git(home, &["for-each-ref"]) + &logs
}

const LOSSES: &[&str] = &[
    "rm .git/refs/heads/feature",
    "git branch -D feature",
    "git update-ref -d refs/heads/feature",
    "git tag -d v1",
    "git stash drop",
    "git stash clear",
    ": > .git/logs/HEAD",
    "head -n 1 .git/logs/HEAD > l; cat l > .git/logs/HEAD; rm l",
    "rm .git/logs/refs/heads/feature",
    "git reflog expire --expire=now --all; git gc -q --prune=now",
    "git rev-parse main > .git/refs/heads/feature",
    "echo broken > .git/refs/heads/feature",
    "echo broken > .git/HEAD",
    "git pack-refs --all; : > .git/packed-refs",
    "git pack-refs --all; sed -i /feature/d .git/packed-refs",
];

async fn decide(chat: &ChatClient<'_>, decision: &str) -> Value {
    let (question, last) = to_question(chat).await;
    assert_eq!(question["severity"], "critical", "{question}");
    chat.answer(&question["question_id"], json!({ "decision": decision })).await;
    result(chat, last).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ref_or_a_log_that_loses_commits_asks_first() {
    for environment in BOTH_WAYS {
        for command in LOSSES {
            let home = with_history(command);
            let before = names(&home);
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = decide(&chat, "deny").await;
            assert_eq!(names(&home), before, "{command}: {result}");
            git(&home, &["fsck", "--full"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loss_that_the_user_keeps_can_be_taken_back() {
    for environment in BOTH_WAYS {
        for command in LOSSES {
            let home = with_history(command);
            let before = names(&home);
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = decide(&chat, "approve").await;
            let messages = chat.messages().await;
            let first = messages.iter().find(|message| message["message_type"] == "text").unwrap()["id"].clone();
            let (status, body) = server.post(&format!("{}/revert", chat.path), json!({ "message_id": first })).await;
            assert!(status.is_success(), "{command}: {body}\n{result}");
            assert_eq!(names(&home), before, "{command}: {result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_in_a_repository_already_stays_and_only_new_objects_come() {
    for environment in BOTH_WAYS {
        for command in [
            "rm -rf .git/objects",
            "rm -rf .git/objects/??",
            "chmod -R u+w .git/objects; find .git/objects -type f | while read f; do : > $f; done",
            "find .git/objects -type f | while read f; do rm -f $f; ln -s /etc/passwd $f; done",
            "mkdir -p .git/objects/info; echo /tmp/evil > .git/objects/info/alternates",
            "mkdir -p .git/refs/replace; git rev-parse main > .git/refs/replace/$(git rev-parse feature)",
            "git rev-parse main > .git/shallow",
            "rm .git/index",
            "rm -rf .git",
            "rm -rf .git/refs .git/logs",
            "git gc -q",
        ] {
            let home = with_history(&format!("{command}; true"));
            let before = git(&home, &["for-each-ref"]);
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert_eq!(git(&home, &["for-each-ref"]), before, "{command}: {result}");
            git(&home, &["fsck", "--full"]);
            assert!(!home.workspace().join(".git/objects/info/alternates").exists(), "{command}");
            assert_eq!(git(&home, &["ls-files"]).lines().count(), 3, "{command}: {result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ordinary_work_with_git_asks_nothing() {
    for environment in BOTH_WAYS {
        let identity =
            "git config --list > /dev/null; export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b";
        for command in [
            "echo x >> src/lib.rs && git commit -qam x",
            "git commit -q --amend --allow-empty -m amended",
            "git checkout -q feature && git commit -q --allow-empty -m more",
            "git checkout -q -b fresh && git commit -q --allow-empty -m fresh && git checkout -q main && git merge -q fresh && git branch -d fresh",
            "git update-ref refs/heads/renamed feature && git update-ref -d refs/heads/feature",
            "git branch -d other",
            "git rebase -q feature",
            "git reset -q --soft feature",
            "git pack-refs --all",
            "git tag v2 && git branch b2 feature",
            "git stash apply -q",
        ] {
            let home = with_history(&format!("{identity}; {command}"));
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert_eq!(result["result"]["exit_code"], 0, "{command}: {result}");
            assert!(!output(&result).contains("not kept"), "{command}: {result}");
            git(&home, &["fsck", "--full"]);
        }
    }
}

/// A server of an ordinary user, to whom everything in this home belongs; `None` if the tests are not run by root.
async fn serve_as_ordinary_user(home: &Home, environment: &[(&str, &str)]) -> Option<Server> {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let folder = home.workspace().parent().unwrap().to_owned();
    let binary = folder.join("planwright");
    std::fs::copy(crate::BINARY, &binary).unwrap();
    assert!(std::process::Command::new("chown").args(["-hR", "65534:65534"]).arg(&folder).status().unwrap().success());
    let plain = home.command(&[]);
    let mut command = tokio::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary).args(["serve", "--listen", "127.0.0.1:0"]);
    command.env_clear().envs(plain.as_std().get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs(environment.iter().copied()).current_dir(home.workspace()).kill_on_drop(true);
    Some(home.serve_command(command).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn for_an_ordinary_user_repositories_objects_and_refs_are_as_safe() {
    let turns = [
        run("mkdir -p node_modules/a/.git/hooks; echo evil > node_modules/a/.git/hooks/x; echo y > node_modules/a/y; true"),
        run("chmod -R u+w .git/objects; find .git/objects -type f | while read f; do : > $f; done; rm -rf .git/objects/??; true"),
        run("git branch -D feature"),
    ];
    for environment in BOTH_WAYS {
        let home = with_history_for(&turns);
        let before = names(&home);
        let Some(server) = serve_as_ordinary_user(&home, environment).await else { return };
        let chat = actor(&server).await;
        let result = decide(&chat, "deny").await;
        assert_eq!(names(&home), before, "{result}");
        git(&home, &["fsck", "--full"]);
        assert!(!home.workspace().join("node_modules/a/.git").exists());
        assert_eq!(home.file("node_modules/a/y").as_deref(), Some("y\n"));
    }
}
