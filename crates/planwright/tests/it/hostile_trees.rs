//! Trees of files that no program makes by itself: nested without end, of holes, of thousands of names for one file, shut to their
//! owner. They end neither the server nor the disk, and say why they are not kept.

use crate::command_effects::{BOTH_WAYS, actor, project, result, run};
use crate::small_disk::{SmallDisk, User, until};
use planwright_testkit::server::of_type;
use reqwest::StatusCode;
use serde_json::{Value, json};

/// More than a stack has room for, and more than a path can name.
const NESTED: &str = r#"perl -e 'for (1..2500) { mkdir "d" or die; chdir "d" or die }'"#;

fn output(result: &Value) -> &str {
    result["result"]["output"].as_str().or_else(|| result["error"]["message"].as_str()).unwrap_or_default()
}

#[tokio::test]
async fn folders_nested_without_end_are_not_kept_and_the_server_goes_on() {
    for (environment, places) in BOTH_WAYS.into_iter().zip([&["src", "target", "/scratch", ".git/refs"][..], &["src", "node_modules"]]) {
        for place in places {
            let command = format!("mkdir -p {place}; cd {place}; {NESTED}; echo made");
            let home = project(&[run(&command), run("echo alive > src/alive.rs")]);
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let events = chat.run_to_end(0).await;
            let results = of_type(&events, "tool_result");
            assert_eq!(results.len(), 2, "{place} {environment:?}: {results:#?}");
            assert!(results[0]["result"]["output"].as_str().unwrap().contains("made"), "{place} {environment:?}: {results:#?}");
            assert_eq!(results[1]["result"]["exit_code"], 0, "{place} {environment:?}: {results:#?}");
            assert_eq!(home.file("src/main.rs").as_deref(), Some("fn main() {}\n"), "{place} {environment:?}");
            assert_eq!(home.file("src/alive.rs").as_deref(), Some("alive\n"), "{place} {environment:?}");
            let path = format!("{place}/{}", "d/".repeat(200));
            assert!(!home.workspace().join(&path).exists(), "{place} {environment:?}");
            if environment.is_empty() && *place != "/scratch" {
                assert!(output(results[0]).contains("nested more than 200 folders"), "{place}: {results:#?}");
            }
            // Also with the caches that have it.
            assert!(server.terminate().await);
        }
    }
}

#[tokio::test]
async fn names_of_one_file_and_holes_take_no_more_of_the_disk_than_they_have() {
    for user in User::all() {
        let holes = "truncate -s 1900M hole; for i in $(seq 40); do ln hole name$i; done; echo made";
        let names = "head -c 30000000 /dev/urandom > full; for i in $(seq 40); do ln full name$i; done; echo made";
        for (command, is_kept) in [(holes, true), (names, false)] {
            let home = project(&[run(command)]);
            let Some(disk) = SmallDisk::new(&home, user, "300m", 5000) else { return };
            let server = home.serve_command(disk.serve(&[])).await;
            let before = disk.free_beside_reserve().await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert!(output(&result).contains("made"), "{user:?}: {result:#}");
            assert_eq!(disk.list("workspace").len(), if is_kept { 41 } else { 0 }, "{user:?}: {result:#}");
            assert!(is_kept || output(&result).contains("hard links"), "{user:?}: {result:#}");
            until("nothing is taken", || disk.free().is_within(&before)).await;
        }
    }
}

#[tokio::test]
async fn what_lies_in_folders_that_are_shut_or_deep_counts_to_the_share_of_a_command() {
    for user in User::all() {
        let shut = "mkdir /scratch/d; head -c 30000000 /dev/zero > /scratch/d/x; chmod 0 /scratch/d; sleep 60";
        let deep = r#"perl -e 'chdir "/scratch"; for (1..40) { mkdir "d" x 200; chdir "d" x 200 } exec "head -c 30000000 /dev/zero > x; sleep 60"'"#;
        for command in [shut, deep] {
            let home = project(&[run(command)]);
            home.put_config("[sandbox]\ndisk_mb = 20\nstaging = \"disk\"\n");
            let Some(disk) = SmallDisk::new(&home, user, "400m", 5000) else { return };
            let server = home.serve_command(disk.serve(&[])).await;
            let before = disk.free_beside_reserve().await;
            let chat = server.chat(json!({ "agent_role": "tester" })).await;
            chat.say("Go").await;
            let result = result(&chat, 0).await;
            assert_eq!(result["result"]["limits_reached"], json!(["disk"]), "{user:?}: {command}: {result:#}");
            until("its caches are cleared", || disk.free().is_within(&before)).await;
            let (status, answer) = server.post(&format!("{}/messages", chat.path), json!({ "content": "And now?" })).await;
            assert_eq!(status, StatusCode::ACCEPTED, "{answer}");
        }
    }
}

#[tokio::test]
async fn logs_that_are_too_large_to_compare_are_asked_about_and_not_read() {
    let command = "mkdir -p .git/logs/refs/heads; for i in $(seq 400); do truncate -s 15M .git/logs/refs/heads/x$i; done; echo made";
    let home = project(&[run(command)]);
    let server = home.serve().await;
    let chat = actor(&server).await;
    let (question, last) = crate::command_effects::to_question(&chat).await;
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap();
    let most: u64 = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most < 800_000, "{most} kB of memory");
    chat.answer(&question["question_id"], json!({ "decision": "deny" })).await;
    result(&chat, last).await;
    assert!(home.file(".git/logs/refs/heads/x1").is_none());
}
