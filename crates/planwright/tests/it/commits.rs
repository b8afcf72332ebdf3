//! With `[git] commit_steps`, finished work is committed on a branch of its own, and nothing of the repository is touched or run.

use crate::changes::{Work, one_call_a_message};
use crate::write;
use planwright_testkit::server::Home;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn git(home: &Home, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"])
        .args(args)
        .current_dir(home.workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// A repository in which everything that git would run leaves a trace.
fn hostile(calls: &[Value], settings: &str) -> Home {
    let home = one_call_a_message(calls);
    home.put_config(&format!("[approvals]\ndelete = \"allow\"\n{settings}"));
    git(&home, &["init", "-q", "-b", "main"]);
    for (path, text) in [("kept.txt", "kept\n"), ("gone.txt", "gone\n"), ("d/inside.txt", "inside\n"), (".gitignore", "ignored.txt\n")] {
        home.put(path, text);
    }
    git(&home, &["add", "-A"]);
    git(&home, &["commit", "-q", "-m", "First"]);
    let trap = home.workspace().with_file_name("trap.sh");
    std::fs::write(&trap, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", trap.with_file_name("sprung").display())).unwrap();
    std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
    for hook in ["reference-transaction", "post-index-change", "pre-commit", "post-commit", "post-checkout", "pre-auto-gc"] {
        std::fs::create_dir_all(home.workspace().join(".git/hooks")).unwrap();
        std::fs::copy(&trap, home.workspace().join(".git/hooks").join(hook)).unwrap();
    }
    let trap = trap.to_str().unwrap();
    for (key, value) in [
        ("core.fsmonitor", trap),
        ("filter.trap.clean", trap),
        ("filter.trap.process", trap),
        ("gpg.program", trap),
        ("commit.gpgsign", "true"),
        ("core.editor", trap),
        ("core.pager", trap),
    ] {
        git(&home, &["config", key, value]);
    }
    home.put(".git/info/attributes", "* filter=trap\n");
    home
}

#[tokio::test]
async fn finished_work_is_committed_on_a_branch_of_its_own_and_nothing_of_the_repository_runs() {
    let home = hostile(
        &[
            write("/new.txt", "new\n"),
            json!({ "tool": "run", "args": { "command": "rm gone.txt; chmod 700 d; echo x > d/'ö \"x'; echo i > ignored.txt; ln -s new.txt l; chmod +x new.txt" } }),
            write("/.env", "KEY=1\n"),
        ],
        "[git]\ncommit_steps = true\n",
    );
    home.put("kept.txt", "the user's own edit\n");
    let watched = |home: &Home| {
        let index = std::fs::read(home.workspace().join(".git/index")).unwrap();
        (index, home.file(".git/HEAD"), home.file(".git/refs/heads/main"))
    };
    let before = watched(&home);
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    work.all(3).await;
    assert_eq!(watched(&home), before, "the user's index, HEAD and branch");
    assert!(
        !home.workspace().with_file_name("sprung").exists(),
        "{:?}",
        std::fs::read_to_string(home.workspace().with_file_name("sprung"))
    );
    let messages = work.chat.messages().await;
    let notes: Vec<&Value> = messages.iter().map(|message| &message["metadata"]["commit"]).filter(|commit| commit.is_object()).collect();
    assert_eq!(notes.len(), 2, "the last work was nothing for git: {notes:#?}");
    let branch = notes[0]["branch"].as_str().unwrap();
    assert!(branch.starts_with("planwright/"), "{branch}");
    assert_eq!(git(&home, &["rev-parse", branch]), notes[1]["id"].as_str().unwrap());
    assert_eq!(git(&home, &["rev-list", "--count", branch]), "3");
    assert_eq!(git(&home, &["rev-parse", &format!("{branch}~2")]), git(&home, &["rev-parse", "main"]));
    let listed = git(&home, &["ls-tree", "-r", "-z", branch]);
    let shown = |entry: &str| entry.split_once('\t').map(|(facts, path)| format!("{} {path}", &facts[..6])).unwrap();
    let files: Vec<String> = listed.trim_end_matches('\0').split('\0').map(shown).collect();
    assert_eq!(files, ["100644 .gitignore", "100644 d/inside.txt", "100644 d/ö \"x", "100644 kept.txt", "120000 l", "100755 new.txt"]);
    assert_eq!(git(&home, &["cat-file", "blob", &format!("{branch}:kept.txt")]), "kept", "the user's own edits are not the agent's");
    assert_eq!(git(&home, &["cat-file", "blob", &format!("{branch}:new.txt")]), "new");
    let careless = Command::new("git").args(["update-ref", "refs/heads/careless", "HEAD"]).current_dir(home.workspace()).status().unwrap();
    assert!(careless.success() && home.workspace().with_file_name("sprung").exists(), "the traps are set");
}

#[tokio::test]
async fn nothing_is_committed_unless_it_is_asked_for_and_a_failure_ends_nothing() {
    let home = hostile(&[write("/new.txt", "new\n")], "");
    let server = home.serve().await;
    Work::begin(&server).await.all(1).await;
    assert_eq!(git(&home, &["branch", "--list"]), "* main");

    let home = hostile(&[write("/new.txt", "new\n")], "[git]\ncommit_steps = true\n");
    // A branch of this name leaves no room for branches below it.
    git(&home, &["branch", "planwright"]);
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    work.all(1).await;
    let messages = work.chat.messages().await;
    let told = messages.iter().find(|message| message["metadata"]["commit"]["error"].is_string()).unwrap();
    assert!(told["content"].as_str().unwrap().contains("Can't commit the changes"), "{told}");
    assert_eq!((work.chat.show().await["state"].as_str(), home.file("new.txt").as_deref()), (Some("idle"), Some("new\n")));
}

#[tokio::test]
async fn each_step_that_is_done_is_a_commit_and_a_plan_that_the_server_ticked_can_be_taken_back() {
    let steps: Vec<Value> =
        [1, 2].map(|number| json!({ "step_number": number, "action": format!("Write {number}"), "files": ["*.txt"] })).to_vec();
    let report = |number: u32| json!({ "tool": "update_step", "args": { "step_number": number, "status": "done" } });
    let home = crate::home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": { "goal": "Two files", "steps": steps } }] }, { "text": "Ready." }],
        "act": [
            { "calls": [write("/1.txt", "1\n"), report(1)] },
            { "calls": [write("/2.txt", "2\n"), report(2)] },
            { "text": "Done." },
        ],
    }));
    home.put_config("[git]\ncommit_steps = true\n");
    git(&home, &["init", "-q", "-b", "main"]);
    git(&home, &["commit", "-q", "--allow-empty", "-m", "First"]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let asked = chat.say("Plan it").await;
    let planned = planwright_testkit::server::last_id(&chat.run_to_end(0).await);
    chat.post("execute").await;
    chat.run_to_end(planned).await;
    assert!(home.file("plans/two-files.plan").unwrap().contains("- [x] 2. Write 2"));
    let subjects = git(&home, &["log", "--format=%s", "planwright/two-files"]);
    assert_eq!(subjects.lines().collect::<Vec<_>>(), ["Step 2: Write 2", "Step 1: Write 1", "First"]);
    let (status, body) = server.post(&format!("{}/revert", chat.path), json!({ "message_id": asked["id"] })).await;
    assert!(status.is_success(), "{body:#}");
    assert!(home.file("1.txt").is_none() && !home.workspace().join("plans").exists(), "{body:#}");
}
