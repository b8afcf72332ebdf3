//! `planwright run`: what it answers, and how it says how it ended.

use crate::{home, plan, write};
use planwright_testkit::server::{Home, of_type};
use planwright_testkit::stopwatch::Stopwatch;
use serde_json::{Value, json};
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Child;

async fn run(home: &Home, args: &[&str]) -> Output {
    home.command(&[&["run"], args].concat()).output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn events(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args([name, &pid]).status().unwrap().success());
}

/// Waits until a run has printed this on stderr.
async fn said(child: &mut Child, what: &str) -> String {
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap());
    let mut line = String::new();
    let wait = async {
        while !line.contains(what) {
            line.clear();
            assert_ne!(lines.read_line(&mut line).await.unwrap(), 0, "it ended without {what:?}");
        }
    };
    tokio::time::timeout(planwright_testkit::PATIENCE, wait).await.unwrap();
    line
}

/// A model that goes on for a long time and would write a file at the end of it.
fn slow() -> Value {
    json!({ "turns": [
        { "text": "Listing.", "calls": [{ "tool": "ls", "args": {} }] },
        { "text": "now I will think about this for a very long time indeed", "delay_ms": 400, "calls": [write("/late.txt", "x")] },
        { "text": "Done." },
    ] })
}

#[tokio::test]
async fn run_writes_a_plan_and_then_carries_it_out() {
    let home = home(&json!({
        "plan": [{ "calls": [write("/bye.txt", "no"), { "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
    }));
    let planned = run(&home, &["Say goodbye"]).await;
    let answer = text(&planned.stdout);
    assert_eq!(planned.status.code(), Some(0), "{answer}");
    assert!(answer.starts_with("Ready.\n") && answer.contains("Plan: Say goodbye"), "{answer}");
    assert!(answer.ends_with("Written to /plans/say-goodbye.plan\n"), "{answer}");
    let beside = text(&planned.stderr);
    assert!(beside.contains("TOOL_BLOCKED_BY_MODE") && beside.contains("--mode act --plan plans/say-goodbye.plan\n"), "{beside}");
    assert_eq!(home.file("bye.txt"), None);

    let acted = run(&home, &["Go", "--mode", "act", "--plan", "plans/say-goodbye.plan"]).await;
    assert_eq!(acted.status.code(), Some(0), "{}", text(&acted.stderr));
    assert_eq!(text(&acted.stdout), "Done.\n", "the answer alone");
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
}

#[tokio::test]
async fn run_with_json_prints_one_event_a_line() {
    let home = home(&json!({ "turns": [{ "text": "Hello there" }] }));
    let events = events(&run(&home, &["Hi", "--json"]).await);
    assert_eq!(events[0]["type"], "message_created");
    let said: String = of_type(&events, "text_delta").iter().map(|delta| delta["text"].as_str().unwrap()).collect();
    assert_eq!(said, "Hello there");
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b) && events.iter().all(|event| event["at"].is_string()), "{events:?}");
}

#[tokio::test]
async fn run_says_by_its_exit_code_and_its_last_event_how_it_ended() {
    let secret = json!({ "turns": [{ "calls": [{ "tool": "read", "args": { "path": "/.env" } }] }, { "text": "Done." }] });
    let fails = json!({ "turns": [{ "error": "PROVIDER_REJECTED" }] });
    for (script, args, code, outcome) in
        [(&fails, &["Hi"][..], 1, "failed"), (&secret, &["Hi"], 3, "blocked"), (&secret, &["Hi", "--yes"], 0, "done")]
    {
        let home = home(script);
        home.put(".env", "KEY=1\n");
        let output = run(&home, args).await;
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
        let output = run(&home, &[args, &["--json"]].concat()).await;
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
        let events = events(&output);
        let last = events.last().unwrap();
        assert_eq!((&last["type"], &last["data"]["outcome"]), (&json!("run_finished"), &json!(outcome)), "{args:?}");
        assert_eq!(of_type(&events, "run_finished").len(), 1);
        assert_eq!(last["data"]["error"].is_object(), outcome == "failed", "{last}");
    }
}

#[tokio::test]
async fn what_can_only_be_a_mistake_is_bad_usage_and_says_what_to_do() {
    let home = home(&json!({ "turns": [{ "text": "x" }] }));
    let folder = home.workspace();
    let outside = folder.with_file_name("elsewhere.plan");
    std::fs::write(&outside, "# x").unwrap();
    home.put("plans/broken.plan", "no plan at all\n");
    home.put("notes.md", "x");
    let plan = |file| ["Go", "--mode", "act", "--plan", file];
    for (args, code, told) in [
        (&["Hi", "--mode", "sideways"][..], 2, "possible values"),
        (&[], 2, "TASK"),
        (&["  "], 2, "the task is empty"),
        (&["Hi", "--workspace", "nowhere"], 2, "the workspace nowhere can't be opened"),
        (&["Hi", "--plan", "plans/a.plan"], 2, "add --mode act"),
        (&plan("plans/missing.plan"), 2, "there is no /plans/missing.plan in the workspace"),
        (&plan("../elsewhere.plan"), 2, "outside the workspace"),
        (&plan("notes.md"), 2, "plans are called plans/NAME.plan"),
        (&plan("plans/broken.plan"), 1, "plans/broken.plan:1:1: "),
    ] {
        let output = run(&home, args).await;
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(told) && output.stdout.is_empty(), "{args:?}: {}", text(&output.stderr));
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_one_is_bad_usage_on_the_command_line_and_a_failure_in_a_file() {
    let home = home(&json!({ "turns": [{ "text": "x" }] }));
    for name in ["foo", "/", "demo/", "/demo", "nobody/nothing"] {
        let output = run(&home, &["Hi", "--json", "--model", name]).await;
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && text(&output.stderr).contains("--model: "), "{name}: {}", text(&output.stderr));
        home.put_config(&format!("[models]\ndefault = \"{name}\"\n"));
        let output = home.command(&["run", "Hi"]).env_remove("PLANWRIGHT_MODEL").output().await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {}", text(&output.stderr));
    }
}

#[tokio::test]
async fn a_plan_is_found_from_where_the_user_stands_and_as_the_workspace_names_it() {
    let act = json!([{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }]);
    let home =
        home(&json!({ "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }], "act": act }));
    assert!(run(&home, &["Say goodbye"]).await.status.success());
    let full = home.workspace().join("plans/say-goodbye.plan");
    for (place, file) in [
        ("plans", "say-goodbye.plan"),
        ("plans", "/plans/say-goodbye.plan"),
        ("..", "workspace/plans/say-goodbye.plan"),
        ("/", full.to_str().unwrap()),
    ] {
        let folder = home.workspace();
        let mut command = home.command(&["run", "Go", "--mode", "act", "--plan", file, "--workspace", folder.to_str().unwrap()]);
        let output = command.current_dir(folder.join(place)).output().await.unwrap();
        assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output.stderr));
    }
}

#[tokio::test]
async fn a_task_that_is_larger_than_a_message_may_be_is_refused_with_what_to_do() {
    let home = home(&json!({ "turns": [{ "text": "Never." }] }));
    let mut child = home.command(&["run", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It does not listen to the end.
    let _ = stdin.write_all(&vec![b'x'; 30 << 20]).await;
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("longer than 2 MiB") && told.contains("into files of the workspace"), "{told}");
}

#[tokio::test]
async fn what_is_no_id_of_a_chat_is_told_where_the_ids_are() {
    let home = home(&json!({ "turns": [{ "text": "Never." }] }));
    for args in [&["run", "Hi", "--chat", "nope"][..], &["export", "nope"]] {
        let output = home.command(args).output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("a chat's id looks like") && told.contains(".planwright/chats"), "{told}");
    }
}

#[tokio::test]
async fn the_task_can_come_from_stdin() {
    let home = home(&json!({ "turns": [{ "text": "Heard.", "told": ["a task\tof\ntwo lines"] }] }));
    let mut child = home.command(&["run", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a task\tof\ntwo lines\n").await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "Heard.\n"), "{}", text(&output.stderr));
}

#[tokio::test]
async fn a_blocked_run_shows_the_question_its_options_and_what_to_do_and_can_be_answered_later() {
    let home = home(&json!({ "turns": [{ "calls": [{ "tool": "rm", "args": { "path": "/a.txt" } }] }, { "text": "Done." }] }));
    home.put("a.txt", "a\n");
    let output = run(&home, &["Delete it", "--mode", "act"]).await;
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    for part in [
        "? Allow `rm` to run?",
        "/a.txt would be deleted",
        "- approve: ",
        "- deny: ",
        "blocked: ",
        "--yes",
        "planwright serve --workspace .",
    ] {
        assert!(told.contains(part), "{part:?} is missing in\n{told}");
    }
    assert!(home.file("a.txt").is_some());

    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chats = server.get(&format!("/workspaces/{workspace}/chats")).await;
    let chat = server.reopened(&format!("/workspaces/{workspace}/chats/{}", chats[0]["id"].as_str().unwrap()));
    assert!(told.contains(chats[0]["id"].as_str().unwrap()), "{told}");
    let question = chat.show().await["pending_question"]["question_id"].clone();
    let (status, body) = chat.answer(&question, json!({ "decision": "approve" })).await;
    assert!(status.is_success(), "{body}");
    chat.run_to_end(0).await;
    assert_eq!(home.file("a.txt"), None);
}

#[tokio::test]
async fn yes_takes_a_default_and_never_approves_a_plan_or_leaving_the_sandbox() {
    let ask = |schema: Value| json!({ "calls": [{ "tool": "ask_user", "args": { "questions": [{ "name": "where", "question": "Where?", "schema": schema }] } }] });
    let end = json!({ "text": "Done.", "told": ["dev"] });
    let open = ask(json!({ "type": "string", "enum": ["dev", "prod"] }));
    let default = ask(json!({ "type": "string", "enum": ["dev", "prod"], "default": "dev" }));
    let network = json!({ "calls": [{ "tool": "run", "args": { "command": "true", "network": true } }] });
    let page = json!({ "calls": [{ "tool": "web_fetch", "args": { "url": "https://docs.rs/serde" } }] });
    let leave = json!({ "calls": [
        { "tool": "write_plan", "args": plan("bye.txt") },
        { "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } },
    ] });
    for (turn, mode, code, told) in [
        (default, "plan", 0, ""),
        (open, "plan", 3, "  - prod"),
        (network, "act", 3, "--yes does not approve"),
        (page, "plan", 3, "--yes does not approve hosts"),
        (leave, "plan", 3, "the plan needs your approval"),
    ] {
        let home = home(&json!({ "turns": [turn, end] }));
        let output = run(&home, &["Go", "--yes", "--mode", mode]).await;
        assert_eq!(output.status.code(), Some(code), "{told}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
}

#[tokio::test]
async fn an_interrupted_run_ends_for_good_and_says_how_to_go_on() {
    for name in ["-INT", "-TERM"] {
        let home = home(&slow());
        let mut command = home.command(&["run", "Go", "--mode", "act", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut events: Vec<Value> = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            events.push(serde_json::from_str(&line).unwrap());
            if events.last().unwrap()["data"]["text"].as_str().is_some_and(|text| text.contains("think")) {
                signal(&child, name);
            }
        }
        assert_eq!(events.last().unwrap()["data"]["outcome"], "stopped", "{name}");
        let output = child.wait_with_output().await.unwrap();
        assert_eq!(output.status.code(), Some(130), "{name}");
        assert!(text(&output.stderr).contains("changes so far are kept"), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("planwright serve --workspace ."), "{}", text(&output.stderr));
        assert_eq!(home.file("late.txt"), None);
        let server = home.serve().await;
        let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
        let chats = server.get(&format!("/workspaces/{workspace}/chats")).await;
        assert_eq!(chats[0]["state"], "idle", "nothing is resumed");
    }
}

#[tokio::test]
async fn a_second_interrupt_ends_a_run_at_once() {
    let home = home(&slow());
    let mut command = home.command(&["run", "Go", "--mode", "act"]);
    // The stop hangs, as one may that waits for a disk.
    command.env("PLANWRIGHT_HOLD_POINT", "stop_begun:switch_stored");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    said(&mut child, "→ ls").await;
    signal(&child, "-INT");
    said(&mut child, "press Ctrl-C again").await;
    let begun = Stopwatch::start(&[child.id().unwrap()]);
    signal(&child, "-INT");
    assert_eq!(child.wait().await.unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(5), "the stop would have hung for 20 s");
}

#[tokio::test]
async fn a_run_that_nobody_reads_any_more_ends_quietly() {
    let home = home(&slow());
    let mut child = home.command(&["run", "Go", "--mode", "act"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).await.unwrap();
    assert_eq!(line, "Listing.\n");
    drop(reader);
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).await.unwrap();
    assert_eq!((child.wait().await.unwrap().code(), told.as_str()), (Some(130), "→ ls {}\n"));
    assert_eq!(home.file("late.txt"), None);
}
