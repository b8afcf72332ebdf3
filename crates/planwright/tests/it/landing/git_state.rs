//! What git keeps besides refs and objects: worktrees, work that is half done, its configuration; and folders that end up empty.

use super::history::git;
use super::output;
use crate::command_effects::{BOTH_WAYS, actor, project, result, run};
use crate::command_keep::repository;
use crate::home;
use planwright_testkit::server::{Home, last_id, of_type};
use serde_json::json;

const IDENTITY: &str = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b";

fn with_repository(command: &str) -> Home {
    let home = project(&[run(&format!("{IDENTITY}; {command}"))]);
    repository(&home);
    home
}

/// With a worktree beside the workspace, which has commits of its own.
fn with_worktree(command: &str) -> Home {
    let home = with_repository(command);
    let place = home.workspace().parent().unwrap().join("linked");
    git(&home, &["worktree", "add", "-q", "-b", "linked", place.to_str().unwrap()]);
    git(&home, &["-C", place.to_str().unwrap(), "commit", "-q", "--allow-empty", "-m", "of the worktree"]);
    home
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_lands_also_where_git_tidies_up_or_makes_a_worktree_after_it() {
    for environment in BOTH_WAYS {
        for command in [
            "echo x >> src/lib.rs && git commit -qam landed && git gc -q; true",
            "echo x >> src/lib.rs && git commit -qam landed && git reflog expire --all && git gc -q --prune=now; true",
            "echo x >> src/lib.rs && git commit -qam landed && git worktree add -q wt -b fresh; true",
        ] {
            let home = with_worktree(command);
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert_eq!(git(&home, &["log", "-1", "--format=%s", "main"]), "landed\n", "{command}: {result}");
            assert_eq!(git(&home, &["log", "-1", "--format=%s", "linked"]), "of the worktree\n", "{command}: {result}");
            assert_eq!(git(&home, &["worktree", "list"]).lines().count(), 2, "{command}: {result}");
            assert!(!home.workspace().join("wt/.git").exists(), "{command}: {result}");
            let is_worktree = command.contains("worktree");
            assert!(!is_worktree || output(&result).contains("No command can create, change or remove a linked worktree"), "{result}");
            git(&home, &["fsck", "--full"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_work_that_git_has_half_done_neither_files_nor_records_land() {
    for environment in BOTH_WAYS {
        for command in [
            "git bisect start && git bisect bad && git bisect good HEAD~1; git checkout -q HEAD~1; echo x > src/new.rs; true",
            "git checkout -q -b side HEAD~1 && echo o > src/lib.rs && git commit -qam o && git rebase -q main; true",
            "git format-patch -q -1 --stdout > p; git reset -q --hard HEAD~1; echo o > src/lib.rs; git commit -qam o; git am -q p; true",
        ] {
            let home = with_repository(command);
            home.put("src/lib.rs", "second\n");
            git(&home, &["commit", "-qam", "second"]);
            let before = (git(&home, &["for-each-ref"]), home.file(".git/HEAD"), home.file("src/lib.rs"));
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert!(
                output(&result).contains("half done") && output(&result).contains("None of the command's changes was kept"),
                "{result}"
            );
            assert_eq!((git(&home, &["for-each-ref"]), home.file(".git/HEAD"), home.file("src/lib.rs")), before, "{command}: {result}");
            assert_eq!((home.file("src/new.rs"), home.file("p")), (None, None), "{command}: {result}");
            assert_eq!(git(&home, &["status", "--porcelain", "--untracked-files=no"]), "", "{command}: {result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_that_may_not_write_its_configuration_is_explained() {
    for command in ["git config core.editor vi", "git branch -m other renamed", "git branch -D other"] {
        let home = with_repository(command);
        let server = home.serve().await;
        let chat = actor(&server).await;
        let result = result(&chat, 0).await;
        assert!(output(&result).contains("no command may change .git/config"), "{command}: {result}");
        let branches = git(&home, &["branch", "--format=%(refname:short)"]);
        let expected = if command.contains("config") { "main\nother\n" } else { "main\n" };
        let expected = if command.contains("-m") { "main\nrenamed\n" } else { expected };
        assert_eq!(branches, expected, "{command}: {result}");
        git(&home, &["fsck", "--full"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_folder_outside_the_plan_asks_as_a_file_does() {
    for environment in BOTH_WAYS {
        for command in
            ["mkdir empty", "mkdir -p empty/in", "mkdir empty; echo x > src/a.rs", "git init -q empty", "mkdir -p empty/.planwright"]
        {
            let home = home(&json!({
                "plan": [{ "calls": [{ "tool": "write_plan", "args": crate::plan("src/**") }] }, { "text": "Ready." }],
                "act": [run(&format!("mkdir -p src; {command}; true")), { "text": "Done." }],
            }));
            let server = home.serve_with(environment).await;
            let chat = server.chat(json!({})).await;
            chat.say("Plan it").await;
            let planned = last_id(&chat.run_to_end(0).await);
            chat.post("execute").await;
            let events = chat.events(planned, |event| event["data"]["state"] == "awaiting_answer").await;
            let questions = of_type(&events, "question_pending");
            assert!(questions.first().is_some_and(|question| question.to_string().contains("/empty")), "{command}: {events:?}");
        }
    }
}
