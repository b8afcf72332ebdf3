//! Keeping a command's changes loses nothing of the user's, and "always allow" covers only what was asked.

use crate::command_effects::{actor, project, result, run, to_question};
use planwright_testkit::server::{Home, last_id, of_type};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

/// The result of the first command, everything kept that is asked about.
async fn kept(home: &Home) -> Value {
    let server = home.serve().await;
    let chat = actor(&server).await;
    let (question, last) = to_question(&chat).await;
    chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
    result(&chat, last).await
}

#[tokio::test]
async fn what_the_user_did_in_a_folder_since_a_command_deleted_it_is_left_alone() {
    let home = project(&[run("rm -rf src")]);
    let server = home.serve().await;
    let chat = actor(&server).await;
    let (question, last) = to_question(&chat).await;
    home.put("src/inner/mine.rs", "by hand\n");
    chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
    let result = result(&chat, last).await;
    assert!(result["result"]["output"].as_str().unwrap().contains("others changed"), "{result}");
    assert_eq!(home.file("src/inner/mine.rs").as_deref(), Some("by hand\n"));
}

#[tokio::test]
async fn a_folder_that_was_renamed_keeps_the_files_whose_names_no_call_can_spell() {
    let home = project(&[run("mv src source")]);
    let odd: &OsStr = OsStr::from_bytes(b"bad\xff");
    std::fs::write(home.workspace().join("src").join(odd), "odd\n").unwrap();
    std::fs::write(home.workspace().join("src/nl\nname"), "line\n").unwrap();
    let result = kept(&home).await;
    let at = |name: &OsStr| std::fs::read_to_string(home.workspace().join("source").join(name)).ok();
    assert_eq!((at(odd).as_deref(), at(OsStr::new("nl\nname")).as_deref()), (Some("odd\n"), Some("line\n")), "{result}");
    assert_eq!((home.file("src/lib.rs"), home.file("source/lib.rs").as_deref()), (None, Some("pub fn a() {}\n")));
}

#[tokio::test]
async fn modes_of_folders_are_kept_and_a_folder_that_the_command_opened_can_be_deleted() {
    let home = project(&[run("chmod 700 src; chmod 755 shut; rm -rf shut; mkdir made; chmod 500 made")]);
    home.put("shut/file", "x\n");
    std::fs::set_permissions(home.workspace().join("shut"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let result = kept(&home).await;
    let mode = |path: &str| std::fs::metadata(home.workspace().join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("src"), mode("made")), (0o700, 0o500), "{result}");
    assert!(!home.workspace().join("shut").exists(), "{result}");
}

#[tokio::test]
async fn a_standing_yes_to_changes_is_none_to_deletions_and_one_to_the_network_is_none_at_all() {
    let plan = crate::plan("docs/**");
    let home = crate::home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan }] }, { "text": "Ready." }],
        "act": [
            { "calls": [{ "tool": "run", "args": { "command": "echo a > a.txt", "network": true } }] },
            run("echo b > b.txt"),
            run("rm b.txt"),
            { "text": "Done." },
        ],
    }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let mut last = last_id(&chat.run_to_end(0).await);
    chat.post("execute").await;
    let mut severities = Vec::new();
    for decision in ["approve_always", "approve_always", "deny"] {
        let events = chat.events(last, |event| event["data"]["state"] == "awaiting_answer").await;
        last = last_id(&events);
        let question = of_type(&events, "question_pending").last().unwrap().to_owned().clone();
        severities.push(question["severity"].as_str().unwrap().to_owned());
        chat.answer(&question["question_id"], json!({ "decision": decision })).await;
    }
    // The network, what was changed outside the plan, and then, after a second file without a question, the deletion.
    assert_eq!(severities, ["major", "major", "critical"]);
    chat.run_to_end(last).await;
    assert_eq!((home.file("a.txt").as_deref(), home.file("b.txt").as_deref()), (Some("a\n"), Some("b\n")));
}

/// A real repository with one commit.
pub fn repository(home: &Home) {
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"];
        let mut command = std::process::Command::new("git");
        command.args(identity).args(args).current_dir(home.workspace()).env("HOME", home.workspace());
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    std::fs::remove_dir_all(home.workspace().join(".git")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    git(&["branch", "other"]);
}

#[tokio::test]
async fn commits_branches_and_tags_by_a_command_are_kept_and_the_user_is_named_as_the_author() {
    let home = project(&[run("echo x >> src/lib.rs && git commit -qam second && git branch -d other && git log -1 --format=%an")]);
    repository(&home);
    std::fs::write(home.workspace().parent().unwrap().join(".gitconfig"), "[user]\n\tname = Bob\n\temail = bob@example.com\n").unwrap();
    let server = home.serve().await;
    let chat = actor(&server).await;
    let result = result(&chat, 0).await;
    assert_eq!(result["result"]["exit_code"], 0, "{result}");
    assert!(result["result"]["output"].as_str().unwrap().contains("\nBob\n"), "{result}");
    let git = |args: &[&str]| {
        let output =
            std::process::Command::new("git").args(["-c", "safe.directory=*"]).args(args).current_dir(home.workspace()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(git(&["log", "--format=%s"]), "second\nfirst\n");
    assert_eq!(git(&["branch", "--format=%(refname:short)"]).trim(), "main");
    assert_eq!(git(&["status", "--porcelain", "--untracked-files=no"]), "");
}

#[tokio::test]
async fn a_rebase_left_half_done_leaves_the_repository_as_it_was() {
    let home = project(&[run(
        "git checkout -q other && echo o > src/lib.rs && git commit -qam o && git checkout -q main && echo m > src/lib.rs && git commit -qam m; \
         git rebase other; true",
    )]);
    repository(&home);
    let before = home.file("src/lib.rs");
    std::fs::write(home.workspace().parent().unwrap().join(".gitconfig"), "[user]\n\tname = Bob\n\temail = bob@example.com\n").unwrap();
    let server = home.serve().await;
    let chat = actor(&server).await;
    let result = result(&chat, 0).await;
    assert!(result["result"]["output"].as_str().unwrap().contains("half done"), "{result}");
    assert_eq!(home.file(".git/HEAD").as_deref(), Some("ref: refs/heads/main\n"));
    assert!(!home.workspace().join(".git/rebase-merge").exists());
    assert_eq!(home.file("src/lib.rs"), before, "files fit the repository: {result}");
}

#[tokio::test]
async fn a_secret_that_git_keeps_is_not_emptied_by_a_commit() {
    let home = project(&[run("echo x >> src/lib.rs && git commit -qam change && git show --stat")]);
    home.put(".env", "KEY=1\n");
    repository(&home);
    std::fs::write(home.workspace().parent().unwrap().join(".gitconfig"), "[user]\n\tname = Bob\n\temail = bob@example.com\n").unwrap();
    let server = home.serve().await;
    let chat = actor(&server).await;
    let result = result(&chat, 0).await;
    let output = result["result"]["output"].as_str().unwrap();
    assert!(output.contains("lib.rs") && !output.contains(".env"), "{output}");
}
