//! A command loses nothing of git's history unasked, and what the user lets it lose can be taken back.

use super::output;
use crate::command_effects::{BOTH_WAYS, actor, project, result, run, to_question};
use crate::command_keep::repository;
use planwright_testkit::server::{ChatClient, Home, Server};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;

pub fn git(home: &Home, args: &[&str]) -> String {
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
    "git checkout -q feature && git reset -q --hard HEAD~1",
    "git checkout -q feature && git reset -q --hard HEAD~1 && git gc -q",
    "git branch -q -f feature main",
    "git update-ref refs/heads/feature main",
    "git tag -f v1 main",
    "git tag kept feature && git symbolic-ref refs/heads/feature refs/heads/main",
    "git symbolic-ref HEAD refs/tags/v1",
    "git checkout -q feature && GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b git commit -q --amend --allow-empty -m amended",
    "git checkout -q -b on other && export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b && \
     git commit -q --allow-empty -m on && git rebase -q --keep-empty on feature",
    "cp .git/refs/heads/feature .git/refs/heads/kept.lock; rm .git/refs/heads/feature",
    "git checkout -q --detach feature && rm .git/refs/heads/feature",
    "git checkout -q --detach main && rm .git/refs/heads/main .git/refs/heads/other .git/refs/heads/feature && git tag -d v1",
];

/// Git searches its packed refs by halves, so it finds none of these. Taken back, each is a file of its own again.
const DISORDERED: &str =
    "git pack-refs --all; (grep '#' .git/packed-refs; grep -v -e '#' -e '\\^' .git/packed-refs | tac) > p; cat p > .git/packed-refs; rm p";

/// A fast-forward, but who says so may have taken the commits from elsewhere.
const DOUBTFUL: &str = "echo gone > .git/objects/info/alternates; git update-ref refs/heads/main feature";

async fn decide(chat: &ChatClient<'_>, decision: &str) -> Value {
    let (question, last) = to_question(chat).await;
    assert_eq!(question["severity"], "critical", "{question}");
    chat.answer(&question["question_id"], json!({ "decision": decision })).await;
    result(chat, last).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ref_or_a_log_that_loses_commits_asks_first() {
    for environment in BOTH_WAYS {
        for command in LOSSES.iter().chain([&DOUBTFUL, &DISORDERED]) {
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
            "git merge -q --no-ff -m merged feature && git update-ref -d refs/heads/feature",
            "git checkout -q --detach && git commit -q --allow-empty -m more && git branch on && git checkout -q main",
            "git reset -q --hard feature",
            "echo y > src/lib.rs && git stash -q && echo z > src/lib.rs && git stash -q",
            "git checkout -q v1 && git checkout -q main",
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

/// A repository whose branch `main` has three commits, each of which changes a file.
fn with_commits(turns: &[Value]) -> Home {
    let home = project(turns);
    repository(&home);
    for text in ["second", "third"] {
        home.put("src/lib.rs", &format!("{text}\n"));
        git(&home, &["commit", "-qam", text]);
    }
    home
}

async fn revert(server: &Server, chat: &ChatClient<'_>, more: Value) -> (u16, Value) {
    let messages = chat.messages().await;
    let first = messages.iter().find(|message| message["message_type"] == "text").unwrap()["id"].clone();
    let mut body = json!({ "message_id": first });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, body) = server.post(&format!("{}/revert", chat.path), body).await;
    (status.as_u16(), body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hard_reset_names_the_branch_and_the_commits_and_is_undone_whole() {
    for environment in BOTH_WAYS {
        let home = with_commits(&[run("git reset -q --hard HEAD~2")]);
        let (old, base) = (git(&home, &["rev-parse", "main"]), git(&home, &["rev-parse", "main~2"]));
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        let (question, last) = to_question(&chat).await;
        assert!(question.to_string().contains("branch main would lose at most 2 commits"), "{question}");
        chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
        let result = result(&chat, last).await;
        assert_eq!(git(&home, &["rev-parse", "main"]), base, "{result}");
        let words = format!("branch main moved from {} to {}", &old[..10], &base[..10]);
        assert!(output(&result).contains(&words), "{result}");
        let changes = server.get(&format!("{}/changes", chat.path)).await;
        assert!(changes["total"].to_string().contains(&words), "{changes}");
        // Git may pack the refs and look at the index meanwhile; the values count.
        git(&home, &["pack-refs", "--all"]);
        let (status, body) = revert(&server, &chat, json!({})).await;
        assert_eq!(status, 200, "{body}");
        assert!(body.to_string().contains("git's branch main"), "{body}");
        assert_eq!(git(&home, &["rev-parse", "main"]), old);
        assert_eq!(home.file("src/lib.rs").as_deref(), Some("third\n"));
        assert_eq!(git(&home, &["status", "--porcelain", "--untracked-files=no"]), "");
        assert_eq!(git(&home, &["fsck", "--full", "--strict"]), "");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_that_somebody_moved_on_since_is_a_conflict_and_the_rest_goes_back() {
    for environment in BOTH_WAYS {
        let home =
            with_commits(&[run("git reset -q --hard HEAD~1 && git update-ref refs/heads/new main && git update-ref -d refs/heads/other")]);
        git(&home, &["checkout", "-q", "other"]);
        git(&home, &["commit", "-q", "--allow-empty", "-m", "of the other"]);
        git(&home, &["checkout", "-q", "main"]);
        git(&home, &["pack-refs", "--all"]);
        let other = git(&home, &["rev-parse", "other"]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        decide(&chat, "approve").await;
        git(&home, &["commit", "-q", "--allow-empty", "-m", "of the user"]);
        git(&home, &["pack-refs", "--all"]);
        let mine = git(&home, &["rev-parse", "main"]);
        let (status, body) = revert(&server, &chat, json!({})).await;
        assert_eq!(status, 409, "{body}");
        let conflicts = body["error"]["details"]["conflicts"].to_string();
        assert!(conflicts.contains("/.git/refs/heads/main") && !conflicts.contains("other") && !conflicts.contains("index"), "{body}");
        let (status, body) = revert(&server, &chat, json!({ "skip_conflicts": true })).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!((git(&home, &["rev-parse", "main"]), git(&home, &["rev-parse", "other"])), (mine, other));
        assert_eq!(git(&home, &["branch", "--list", "new"]), "", "the command made it, and git packed it");
        git(&home, &["fsck", "--full"]);
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
        run("git checkout -q feature && git reset -q --hard HEAD~1"),
    ];
    for environment in BOTH_WAYS {
        let home = with_history_for(&turns);
        let before = names(&home);
        let Some(server) = serve_as_ordinary_user(&home, environment).await else { return };
        let chat = actor(&server).await;
        let result = decide(&chat, "approve").await;
        assert_ne!(names(&home), before, "{result}");
        let (status, body) = revert(&server, &chat, json!({})).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(names(&home), before, "{result}");
        git(&home, &["fsck", "--full"]);
        assert!(!home.workspace().join("node_modules/a/.git").exists());
        assert_eq!(home.file("node_modules/a/y").as_deref(), Some("y\n"));
    }
}
