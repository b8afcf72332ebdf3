//! The gate judges a command's changes before the next call: they are kept, reverted, or never land.

use crate::home;
use planwright_testkit::server::{ChatClient, Home, last_id, of_type};
use serde_json::{Value, json};
use std::time::Duration;

pub fn run(command: &str) -> Value {
    json!({ "calls": [{ "tool": "run", "args": { "command": command } }] })
}

fn script(turns: &[Value]) -> Value {
    let mut turns = turns.to_vec();
    turns.push(json!({ "text": "Done." }));
    json!({ "turns": turns })
}

/// A workspace with a repository, some source, an ignored file and build output.
pub fn project(turns: &[Value]) -> Home {
    let home = home(&script(turns));
    for (path, content) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[core]\n"),
        (".git/hooks/README", "hooks\n"),
        (".gitignore", "/target\nlocal.cfg\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib.rs", "pub fn a() {}\n"),
        ("local.cfg", "mine\n"),
        ("target/out", "old\n"),
    ] {
        home.put(path, content);
    }
    home
}

pub async fn actor(server: &planwright_testkit::server::Server) -> ChatClient<'_> {
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Go").await;
    chat
}

pub async fn to_question(chat: &ChatClient<'_>) -> (Value, u64) {
    let events = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    (of_type(&events, "question_pending").last().unwrap().to_owned().clone(), last_id(&events))
}

/// The first tool result of a run that goes to its end.
pub async fn result(chat: &ChatClient<'_>, after: u64) -> Value {
    let events = chat.run_to_end(after).await;
    of_type(&events, "tool_result")[0].clone()
}

/// Without an overlay, as on a kernel that allows none.
pub const IN_PLACE: &[(&str, &str)] = &[("PLANWRIGHT_NO_OVERLAY", "1")];
pub const BOTH_WAYS: [&[(&str, &str)]; 2] = [&[], IN_PLACE];

#[tokio::test]
async fn what_a_command_makes_is_there_for_the_next_call_and_build_output_passes_unasked() {
    for environment in BOTH_WAYS {
        let home = project(&[run("echo new > src/new.rs; rm target/out; echo o > target/made; echo hello"), run("cat src/new.rs")]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        let events = chat.run_to_end(0).await;
        let results = of_type(&events, "tool_result");
        assert_eq!(results[0]["result"]["exit_code"], 0, "{results:#?}");
        assert_eq!(results[0]["result"]["changed"], json!([{ "path": "/src/new.rs", "change": "created" }]));
        assert!(results[1]["result"]["output"].as_str().unwrap().starts_with("new\n"), "{results:#?}");
        assert!(of_type(&events, "question_pending").is_empty());
        let live: String = of_type(&events, "tool_output").iter().map(|event| event["text"].as_str().unwrap()).collect();
        assert!(live.contains("hello\n"), "{live:?}");
        assert_eq!((home.file("target/made").as_deref(), home.file("target/out")), (Some("o\n"), None));
    }
}

#[tokio::test]
async fn a_deletion_by_a_command_is_put_to_the_user_and_can_be_taken_back() {
    for environment in BOTH_WAYS {
        let home = project(&[run("rm -r src local.cfg; echo x > made.txt; echo y >> .gitignore; echo ref: refs/heads/other > .git/HEAD")]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        let (question, last) = to_question(&chat).await;
        assert_eq!((&question["kind"], &question["severity"]), (&json!("tool_approval"), &json!("critical")));
        assert_eq!(question["questions"][0]["buttons"][2]["label"], "Take back");
        chat.answer(&question["question_id"], json!({ "decision": "deny" })).await;
        let result = result(&chat, last).await;
        assert!(result["result"]["taken_back"].as_u64().unwrap() >= 3, "{result}");
        assert_eq!(home.file("src/main.rs").as_deref(), Some("fn main() {}\n"));
        assert_eq!(home.file("src/lib.rs").as_deref(), Some("pub fn a() {}\n"));
        assert_eq!(home.file("local.cfg").as_deref(), Some("mine\n"), "also what git ignores comes back");
        assert_eq!((home.file("made.txt"), home.file(".gitignore").as_deref()), (None, Some("/target\nlocal.cfg\n")));
        assert_eq!(home.file(".git/HEAD").as_deref(), Some("ref: refs/heads/main\n"), "and so do git's records");
    }
}

#[tokio::test]
async fn a_deletion_by_a_command_that_the_user_keeps_is_one() {
    for environment in BOTH_WAYS {
        let home = project(&[run("rm src/lib.rs")]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        let (question, last) = to_question(&chat).await;
        chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
        assert_eq!(result(&chat, last).await["result"]["changed"], json!([{ "path": "/src/lib.rs", "change": "deleted" }]));
        assert_eq!(home.file("src/lib.rs"), None);
    }
}

#[tokio::test]
async fn the_word_on_what_a_command_changed_waits_over_a_restart() {
    let home = project(&[run("rm src/lib.rs; echo seen")]);
    let server = home.serve().await;
    let chat = actor(&server).await;
    let (question, last) = to_question(&chat).await;
    let path = chat.path.clone();
    assert!(home.file("src/lib.rs").is_some(), "nothing is lost before the word");
    server.kill().await;
    let server = home.serve().await;
    let chat = server.reopened(&path);
    chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
    let result = result(&chat, last).await;
    assert!(result["result"]["output"].as_str().unwrap().starts_with("seen\n"), "{result}");
    assert_eq!(home.file("src/lib.rs"), None);
}

#[tokio::test]
async fn a_command_outside_the_approved_plan_asks_and_one_inside_does_not() {
    let plan = crate::plan("src/**");
    let home = home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan }] }, { "text": "Ready." }],
        "act": [run("mkdir -p src; echo a > src/a.rs"), run("echo b > b.txt"), { "text": "Done." }],
    }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let planned = last_id(&chat.run_to_end(0).await);
    chat.post("execute").await;
    let events = chat.events(planned, |event| event["data"]["state"] == "awaiting_answer").await;
    let question = of_type(&events, "question_pending")[0].clone();
    assert_eq!(question["severity"], "major");
    assert!(question["call"]["reason"].as_str().unwrap().contains("/b.txt"), "{question}");
    assert_eq!((home.file("src/a.rs").as_deref(), home.file("b.txt")), (Some("a\n"), None));
}

#[tokio::test]
async fn git_hooks_its_configuration_and_our_own_files_stay_as_they_are_while_commits_are_kept() {
    for environment in BOTH_WAYS {
        let home = project(&[run(
            "echo evil > .git/hooks/post-commit; echo evil >> .git/config; echo /evil > .git/commondir; mkdir -p .git/refs/heads sub/.git; \
             echo abc > .git/refs/heads/main; echo evil > sub/.git/config; mkdir .planwright sub/.planwright; echo \"default_mode='act'\" | tee .planwright/config.toml > sub/.planwright/config.toml; true",
        )]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        let result = result(&chat, 0).await;
        assert_eq!(result["result"]["exit_code"], 0, "{result}");
        for absent in
            [".git/hooks/post-commit", ".git/commondir", "sub/.git/config", ".planwright/config.toml", "sub/.planwright/config.toml"]
        {
            assert_eq!(home.file(absent), None, "{absent}: {result}");
        }
        assert_eq!(home.file(".git/config").as_deref(), Some("[core]\n"));
        assert_eq!(home.file(".git/refs/heads/main").as_deref(), Some("abc\n"));
    }
}

#[tokio::test]
async fn a_file_that_only_moved_is_no_deletion() {
    let home = project(&[run("mv src/lib.rs src/library.rs")]);
    let server = home.serve().await;
    let chat = actor(&server).await;
    let result = result(&chat, 0).await;
    assert_eq!(result["success"], true, "{result}");
    assert_eq!((home.file("src/lib.rs"), home.file("src/library.rs").as_deref()), (None, Some("pub fn a() {}\n")));
}

#[tokio::test]
async fn what_somebody_else_changed_meanwhile_is_left_alone() {
    let wait = "until grep -q go signal; do sleep 0.05; done";
    let home = project(&[run(&format!("echo command > src/lib.rs; echo command > src/main.rs; echo written; {wait}"))]);
    home.put("signal", "");
    let server = home.serve().await;
    let chat = actor(&server).await;
    chat.events(0, |event| event["type"] == "tool_output").await;
    home.put("src/lib.rs", "by hand\n");
    home.put("signal", "go\n");
    let result = result(&chat, 0).await;
    assert!(result["result"]["output"].as_str().unwrap().contains("others changed"), "{result}");
    assert_eq!(home.file("src/lib.rs").as_deref(), Some("by hand\n"));
    assert_eq!(home.file("src/main.rs").as_deref(), Some("command\n"));
}

#[tokio::test]
async fn a_stop_ends_the_command_with_all_it_started_and_keeps_nothing() {
    let marker = "3071";
    for environment in BOTH_WAYS {
        let home = project(&[run(&format!("(setsid sleep {marker} &) ; echo x > made.txt; echo started; sleep {marker}"))]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        chat.events(0, |event| event["type"] == "tool_output").await;
        let begun = server.stopwatch();
        chat.post("stop").await;
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!((processes_with(&home, marker), home.file("made.txt")), (0, None));
        let messages = chat.messages().await;
        let result = messages.iter().find(|message| message["message_type"] == "tool_result").unwrap();
        assert_eq!(result["metadata"]["error"]["code"], "CANCELLED", "{result}");
    }
}

#[tokio::test]
async fn who_comes_in_the_middle_of_a_command_sees_what_it_has_printed() {
    let home = project(&[run("echo so far; sleep 3075")]);
    let server = home.serve().await;
    let chat = actor(&server).await;
    let events = chat.events(0, |event| event["type"] == "tool_output").await;
    let call = of_type(&events, "tool_output")[0]["call_id"].as_str().unwrap();
    let snapshot = server.get(&format!("{}/snapshot", chat.path)).await;
    assert_eq!(snapshot["printed"][call], "so far\n", "{snapshot:#}");
    chat.post("stop").await;
    assert_eq!(server.get(&format!("{}/snapshot", chat.path)).await["printed"], json!({}));
}

#[tokio::test]
async fn a_stop_in_the_first_moments_of_a_command_is_answered_too() {
    let home = project(&vec![run("sleep 3074"); 12]);
    let server = home.serve().await;
    for wait in 0..12 {
        let chat = actor(&server).await;
        chat.events(0, |event| event["type"] == "tool_call").await;
        tokio::time::sleep(Duration::from_millis(wait * 6)).await;
        let begun = server.stopwatch();
        chat.post("stop").await;
        assert!(begun.elapsed() < Duration::from_secs(10), "{wait}");
        assert_eq!(processes_with(&home, "3074"), 0);
    }
}

/// How many processes of this home have the marker in their command line.
fn processes_with(home: &Home, marker: &str) -> usize {
    let own = home.workspace().display().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines: Vec<String> = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect();
    lines.iter().filter(|line| line.contains(&format!("sleep {marker}")) && (line.contains(&own) || line.starts_with("sleep"))).count()
}

#[tokio::test]
async fn a_command_under_way_when_the_server_dies_dies_with_it_and_is_not_run_again() {
    let marker = "3072";
    for environment in BOTH_WAYS {
        let home = project(&[run(&format!("echo x >> made.txt; rm src/lib.rs; echo started; sleep {marker}"))]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        chat.events(0, |event| event["type"] == "tool_output").await;
        let path = chat.path.clone();
        server.kill().await;
        let server = home.serve_with(environment).await;
        let chat = server.reopened(&path);
        let events = chat.run_to_end(0).await;
        let result = of_type(&events, "tool_result")[0].clone();
        assert_eq!(result["error"]["code"], "OUTCOME_UNKNOWN", "{result}");
        assert_eq!((home.file("made.txt"), home.file("src/lib.rs").as_deref()), (None, Some("pub fn a() {}\n")));
        assert_eq!(processes_with(&home, marker), 0);
    }
}

#[tokio::test]
async fn a_switch_of_role_ends_the_command_that_runs() {
    let home = project(&[run("echo x > made.txt; echo started; sleep 3073")]);
    let server = home.serve().await;
    let chat = actor(&server).await;
    chat.events(0, |event| event["type"] == "tool_output").await;
    let (status, body) = chat.patch(json!({ "agent_role": "tester" })).await;
    assert!(status.is_success(), "{body}");
    assert_eq!((processes_with(&home, "3073"), home.file("made.txt")), (0, None));
}

#[tokio::test]
async fn planners_inspect_with_commands_that_can_change_nothing_when_that_is_switched_on() {
    let home = home(&script(&[run("cat src/lib.rs; echo x > made.txt; echo y >> src/lib.rs; touch /scratch/z; echo code $?")]));
    home.put("src/lib.rs", "pub fn a() {}\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Look").await;
    assert_eq!(result(&chat, 0).await["error"]["code"], "TOOL_BLOCKED_BY_MODE");
    server.kill().await;
    home.put_config("[sandbox]\ninspect = true\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Look").await;
    let result = result(&chat, 0).await;
    assert!(result["result"]["output"].as_str().unwrap().starts_with("pub fn a() {}\n"), "{result}");
    assert_eq!((home.file("made.txt"), home.file("src/lib.rs").as_deref()), (None, Some("pub fn a() {}\n")));
}

#[tokio::test]
async fn without_a_sandbox_no_command_runs_and_the_error_says_how_to_get_one() {
    let home = project(&[run("echo x > made.txt")]);
    // A folder without bubblewrap is all there is to find it in.
    let server = home.serve_with(&[("PLANWRIGHT_BUBBLEWRAP", "/nowhere/bwrap")]).await;
    let chat = actor(&server).await;
    let result = result(&chat, 0).await;
    assert_eq!(result["error"]["code"], "SANDBOX_UNAVAILABLE", "{result}");
    assert!(result["error"]["message"].as_str().unwrap().contains("apt-get install bubblewrap"));
    assert_eq!(home.file("made.txt"), None);
}

#[tokio::test]
async fn with_the_sandbox_switched_off_every_command_of_the_actor_asks_and_other_roles_stay_confined() {
    let home = project(&[run("echo x > made.txt; rm src/lib.rs")]);
    home.put_config("[sandbox]\nmode = \"off\"\n");
    let server = home.serve().await;
    let chat = actor(&server).await;
    let (question, last) = to_question(&chat).await;
    assert!(question["call"]["reason"].as_str().unwrap().contains("switched off"), "{question}");
    assert_eq!(home.file("made.txt"), None);
    chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
    // The gate judges its deletions all the same.
    let events = chat.events(last, |event| event["data"]["state"] == "awaiting_answer").await;
    let question = of_type(&events, "question_pending").last().unwrap()["question_id"].clone();
    chat.answer(&question, json!({ "decision": "deny" })).await;
    chat.run_to_end(last_id(&events)).await;
    assert_eq!((home.file("made.txt"), home.file("src/lib.rs").as_deref()), (None, Some("pub fn a() {}\n")));

    let chat = server.chat(json!({ "agent_role": "tester" })).await;
    chat.say("Go").await;
    let result = result(&chat, 0).await;
    assert_eq!((&result["result"]["exit_code"], home.file("made.txt")), (&json!(1), None), "{result}");
}

#[tokio::test]
async fn yes_on_the_command_line_does_not_let_a_command_leave_the_sandbox() {
    let home =
        home(&json!({ "turns": [{ "calls": [{ "tool": "run", "args": { "command": "true", "network": true } }] }, { "text": "Done." }] }));
    let output = home.command(&["run", "Go", "--mode", "act", "--yes"]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("leave the sandbox"), "{output:?}");
}

#[tokio::test]
async fn what_looks_like_a_secret_is_empty_for_commands() {
    let home = project(&[run("cat .env; cat deploy/*.pem; cat src/lib.rs")]);
    home.put(".gitignore", ".env\n*.pem\n");
    home.put(".env", "KEY=sk-secret\n");
    home.put("deploy/key.pem", "sk-secret\n");
    let server = home.serve().await;
    let chat = actor(&server).await;
    let result = result(&chat, 0).await;
    let output = result["result"]["output"].as_str().unwrap();
    assert!(!output.contains("sk-secret") && output.starts_with("pub fn a() {}\n"), "{output}");
    assert!(output.contains("looks like a secret: /.env"), "{output}");
    assert_eq!(home.file(".env").as_deref(), Some("KEY=sk-secret\n"));
}

#[tokio::test]
async fn arguments_of_a_command_that_make_no_sense_are_refused() {
    for args in [
        json!({ "command": " " }),
        json!({ "command": "true", "timeout_s": 0 }),
        json!({ "command": "true", "timeout_s": 100_000 }),
        json!({ "command": "a".repeat(70_000) }),
    ] {
        let home = home(&json!({ "turns": [{ "calls": [{ "tool": "run", "args": args }] }, { "text": "Done." }] }));
        let server = home.serve().await;
        let chat = actor(&server).await;
        assert_eq!(result(&chat, 0).await["error"]["code"], "INVALID_ARGUMENTS");
    }
}

#[tokio::test]
async fn the_doctor_tries_the_sandbox_out_and_says_what_is_wrong() {
    let home = home(&script(&[]));
    let output = home.command(&["doctor", "--json"]).output().await.unwrap();
    let checks: Value = serde_json::from_slice(&output.stdout).unwrap();
    let status = |name: &str| checks.as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()["status"].clone();
    assert_eq!(
        (status("sandbox"), status("data folder"), status("database"), status("git")),
        (json!("ok"), json!("ok"), json!("ok"), json!("ok"))
    );
    assert!(output.status.success(), "{checks:#}");

    let mut command = home.command(&["doctor"]);
    let output = command.env("PLANWRIGHT_BUBBLEWRAP", "/nowhere/bwrap").output().await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("apt-get install bubblewrap"), "{output:?}");
}
