//! Several chats, and the user, at work on the same files: nobody's change is lost without a word.

use super::output;
use crate::command_effects::{actor, project, result, run};
use crate::home;
use planwright_testkit::server::{Home, of_type};
use serde_json::{Value, json};

const CLIENTS: usize = 3;
const TIMES: usize = 20;

/// The results of clients that each make `calls` in a chat of their own, at the same time.
async fn all_at_once(home: &Home, chats: usize) -> Vec<Value> {
    let server = home.serve().await;
    let clients = (0..chats).map(|_| async {
        let chat = actor(&server).await;
        let events = chat.run_to_end(0).await;
        of_type(&events, "tool_result").into_iter().cloned().collect::<Vec<Value>>()
    });
    futures::future::join_all(clients).await.concat()
}

fn has_changed(result: &Value, path: &str) -> bool {
    result["result"]["changed"].as_array().is_some_and(|changed| changed.iter().any(|one| one["path"] == path))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_commands_that_append_to_one_file_every_one_told_as_kept_is_in_it() {
    let home = project(&vec![run("echo line >> shared.txt"); TIMES]);
    home.put("shared.txt", "");
    let results = all_at_once(&home, CLIENTS).await;
    assert_eq!(results.len(), CLIENTS * TIMES);
    let (kept, refused): (Vec<&Value>, Vec<&Value>) = results.iter().partition(|result| has_changed(result, "/shared.txt"));
    assert_eq!(home.file("shared.txt").unwrap().lines().count(), kept.len(), "{} were refused", refused.len());
    for result in refused {
        assert!(output(result).contains("others changed") && output(result).contains("/shared.txt"), "{result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_commands_and_edits_of_one_file_every_one_told_as_kept_is_in_it() {
    let read = json!({ "tool": "read", "args": { "path": "/shared.txt" } });
    let edit = json!({ "tool": "edit", "args": { "path": "/shared.txt", "old_string": "top\n", "new_string": "top\nedit\n" } });
    let turns: Vec<Value> = (0..TIMES / 2).flat_map(|_| [run("echo line >> shared.txt"), json!({ "calls": [read, edit] })]).collect();
    let home = project(&turns);
    home.put("shared.txt", "top\n");
    let results = all_at_once(&home, CLIENTS).await;
    let commands = results.iter().filter(|result| has_changed(result, "/shared.txt")).count();
    let is_edit = |result: &&Value| result["success"] == true && result["result"]["diff"].is_string();
    let edits = results.iter().filter(is_edit).count();
    let text = home.file("shared.txt").unwrap();
    let count = |word: &str| text.lines().filter(|line| *line == word).count();
    assert_eq!((count("line"), count("edit")), (commands, edits), "{text}\n{results:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_commits_at_once_every_one_told_as_kept_is_in_the_history() {
    let commit = "echo $RANDOM$$ > f$RANDOM$(date +%N); git add -A; git -c user.name=A -c user.email=a@example.com commit -qm line";
    let home = project(&vec![run(commit); 5]);
    crate::command_keep::repository(&home);
    let results = all_at_once(&home, CLIENTS).await;
    let is_kept = |result: &&Value| result["result"]["exit_code"] == 0 && !output(result).contains("git's records");
    let kept = results.iter().filter(is_kept).count();
    let log =
        std::process::Command::new("git").args(["-c", "safe.directory=*", "log", "--format=%s"]).current_dir(home.workspace()).output();
    let log = String::from_utf8(log.unwrap().stdout).unwrap();
    assert_eq!(log.lines().filter(|line| *line == "line").count(), kept, "{results:#?}");
    assert!(kept > 0);
}

#[tokio::test]
async fn what_others_deleted_or_put_into_its_place_meanwhile_is_left_so() {
    let wait = "until grep -q go signal; do sleep 0.05; done; echo made >> beside.txt";
    let home = project(&[run(&format!("echo more >> src/lib.rs; echo more >> gone/a.txt; {wait}"))]);
    home.put("gone/a.txt", "a\n");
    home.put("signal", "");
    let server = home.serve().await;
    let chat = actor(&server).await;
    let staged = || {
        let found = std::fs::read_dir(home.data().join("commands")).into_iter().flatten().flatten();
        found.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    // The command has begun when its changes lie in its stage.
    let wrote = || walk(&staged()).iter().any(|path| path.ends_with("gone/a.txt"));
    while !wrote() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    std::fs::remove_file(home.workspace().join("src/lib.rs")).unwrap();
    std::fs::remove_dir_all(home.workspace().join("gone")).unwrap();
    home.put("signal", "go\n");
    let result = result(&chat, 0).await;
    assert_eq!((home.file("src/lib.rs"), home.file("gone/a.txt")), (None, None), "{result}");
    assert_eq!(home.file("beside.txt").as_deref(), Some("made\n"), "{result}");
    assert!(output(&result).contains("others changed"), "{result}");
}

#[tokio::test]
async fn what_the_user_put_into_a_folder_is_not_lost_to_a_file_in_its_place() {
    let home = project(&[run("rm -r src; echo now a file > src; echo x > beside.txt")]);
    let server = home.serve().await;
    let chat = actor(&server).await;
    let (question, last) = crate::command_effects::to_question(&chat).await;
    home.put("src/mine.rs", "mine\n");
    chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
    let result = result(&chat, last).await;
    assert_eq!(home.file("src/mine.rs").as_deref(), Some("mine\n"), "{result}");
    assert_eq!(home.file("beside.txt").as_deref(), Some("x\n"), "{result}");
    assert!(output(&result).contains("others changed") && output(&result).contains("/src"), "{result}");
}

fn walk(folders: &[std::path::PathBuf]) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        let inside: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        found.extend(walk(&inside));
        found.push(folder.clone());
    }
    found
}

#[tokio::test]
async fn after_a_kill_it_is_told_of_each_path_whether_the_change_is_there() {
    let command = "echo mine > one.txt; echo mine > two.txt; echo mine > three.txt; echo started; \
                   until grep -q go signal; do sleep 0.05; done";
    let home = home(&json!({ "turns": [run(command), { "text": "Done." }] }));
    home.put("three.txt", "before\n");
    home.put("signal", "");
    let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", "command_landed")]).await;
    let chat = actor(&server).await;
    chat.events(0, |event| event["type"] == "tool_output").await;
    home.put("three.txt", "by hand\n");
    home.put("signal", "go\n");
    let path = chat.path.clone();
    assert!(!server.ended().await, "the process should have died");
    home.put("two.txt", "by hand\n");
    let server = home.serve().await;
    let chat = server.reopened(&path);
    let result = result(&chat, 0).await;
    assert_eq!(result["error"]["code"], "OUTCOME_UNKNOWN", "{result}");
    let details = &result["error"]["details"];
    assert_eq!(details["kept"], json!(["/one.txt"]), "{result}");
    assert_eq!(details["not_kept"], json!(["/three.txt"]), "{result}");
    assert_eq!(details["changed_since"], json!(["/two.txt"]), "{result}");
    for path in ["/one.txt", "/two.txt", "/three.txt"] {
        assert!(output(&result).contains(path), "{result}");
    }
    assert!(!output(&result).contains("what it changed is in the workspace"), "{result}");
}
