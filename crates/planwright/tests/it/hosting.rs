//! One data folder and any number of front ends: who hosts, who attaches, and who goes on.

use crate::mcp::site::{configured, hostile, output};
use crate::{home, write};
use planwright_testkit::PATIENCE;
use planwright_testkit::server::{Home, of_type};
use serde_json::{Value, json};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Child;

/// A run of several replies, slow enough to be disturbed.
fn slow(file: &str) -> Value {
    let reply = |text: &str| json!({ "text": format!("{text} of a reply that takes its time"), "delay_ms": 60, "calls": [{ "tool": "ls", "args": {} }] });
    json!({ "act": [reply("one"), reply("two"), reply("three"), { "text": "four", "calls": [write(file, "x")] }, { "text": "Done." }] })
}

fn start(home: &Home, args: &[&str]) -> Child {
    let mut command = home.command(&[&["run", "Go", "--mode", "act", "--json"], args].concat());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

struct Ended {
    code: Option<i32>,
    events: Vec<Value>,
    said: String,
}

async fn ended(child: Child) -> Ended {
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // `begun` took the first character.
    let text = if text.is_empty() || text.starts_with('{') { text } else { format!("{{{text}") };
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Ended { code: output.status.code(), events, said: String::from_utf8(output.stderr).unwrap() }
}

/// The process that answers on the socket.
async fn host(home: &Home) -> Option<u32> {
    let stream = tokio::net::UnixStream::connect(home.data().join("planwright.sock")).await.ok()?;
    stream.peer_cred().ok()?.pid().and_then(|pid| pid.try_into().ok())
}

async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let wait = async {
        loop {
            match look().await {
                Some(found) => return found,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap()
}

fn kill(pid: u32, signal: &str) {
    assert!(std::process::Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// Waits until a run has printed something.
async fn begun(child: &mut Child) {
    use tokio::io::AsyncReadExt;
    let mut byte = [0];
    tokio::time::timeout(PATIENCE, child.stdout.as_mut().unwrap().read_exact(&mut byte)).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_run_beside_a_server_happens_there_and_prints_the_same_lines() {
    let home = home(&slow("/a.txt"));
    let alone = ended(start(&home, &[])).await;
    assert_eq!(alone.code, Some(0), "{}", alone.said);
    let server = home.serve().await;
    let beside = ended(start(&home, &[])).await;
    assert_eq!(beside.code, Some(0), "{}", beside.said);
    let kinds = |ended: &Ended| -> Vec<String> {
        let of = |event: &Value| event["type"].as_str().unwrap().to_owned();
        ended.events.iter().map(of).filter(|kind| !kind.ends_with("_delta")).collect()
    };
    assert_eq!(kinds(&alone), kinds(&beside));
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/workspaces/{workspace}/chats")).await.as_array().unwrap().len(), 2);
    assert!(server.terminate().await);
}

#[tokio::test]
async fn the_socket_is_the_users_own_and_a_stale_one_is_replaced() {
    let home = home(&slow("/a.txt"));
    let server = home.serve().await;
    let socket = home.data().join("planwright.sock");
    let seen = std::fs::metadata(&socket).unwrap();
    assert!(seen.file_type().is_socket() && seen.permissions().mode() & 0o777 == 0o600, "{seen:?}");
    server.kill().await;
    assert!(socket.exists(), "a killed host leaves its socket");
    let run = ended(start(&home, &[])).await;
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert!(!socket.exists(), "a host that ends removes it");
}

#[tokio::test]
async fn a_run_goes_on_as_host_when_its_server_is_killed() {
    let home = home(&slow("/a.txt"));
    let server = home.serve().await;
    let mut run = start(&home, &[]);
    begun(&mut run).await;
    server.kill().await;
    let run = ended(run).await;
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert!(!run.said.contains("LOCKED"), "{}", run.said);
    assert_eq!(home.file("a.txt").as_deref(), Some("x"));
}

#[tokio::test]
async fn a_starting_server_takes_the_folder_over_from_a_run_which_goes_on_there() {
    let home = home(&slow("/a.txt"));
    let mut run = start(&home, &[]);
    begun(&mut run).await;
    assert_eq!(host(&home).await, run.id());
    let server = home.serve().await;
    assert_eq!(host(&home).await, Some(server.process()));
    let run = ended(run).await;
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert_eq!(home.file("a.txt").as_deref(), Some("x"));
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chats = server.get(&format!("/workspaces/{workspace}/chats")).await;
    assert_eq!((chats.as_array().unwrap().len(), &chats[0]["state"]), (1, &json!("idle")));
    assert!(server.terminate().await);
}

#[tokio::test]
async fn a_run_stops_when_its_client_has_been_gone_for_a_while_and_not_when_it_is_looked_at() {
    let long = json!({ "act": [{ "text": "word ".repeat(3000), "delay_ms": 100 }, { "text": "Done." }] });
    let home = home(&long);
    let server = home.serve().await;
    let mut run = start(&home, &[]);
    begun(&mut run).await;
    run.kill().await.unwrap();
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chat = server.get(&format!("/workspaces/{workspace}/chats")).await[0]["id"].as_str().unwrap().to_owned();
    let chat = server.reopened(&format!("/workspaces/{workspace}/chats/{chat}"));
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "stopped");
    assert!(server.terminate().await);
}

#[tokio::test]
async fn ten_hosts_killed_in_a_row_lose_nothing_double_nothing_and_nobody_sees_a_lock() {
    const KILLS: usize = 10;
    let home = home(&slow("/a.txt"));
    let mut server = Some(home.serve().await);
    let mut editor = home.editor("allow_once").await;
    editor.begin(&home.workspace()).await;
    let mut runs: Vec<Child> = Vec::new();
    for _ in 0..KILLS {
        let mut run = start(&home, &[]);
        begun(&mut run).await;
        runs.push(run);
        let host = until(async || host(&home).await).await;
        kill(host, "-KILL");
        if let Some(server) = server.take() {
            server.kill().await;
        }
    }
    let last = ended(start(&home, &[])).await;
    assert_eq!(last.code, Some(0), "{}", last.said);
    for run in runs {
        let run = ended(run).await;
        // The hosts among them were killed; everybody else came to the end.
        assert!(run.code.is_none_or(|code| code == 0), "{:?}: {}", run.code, run.said);
        assert!(!run.said.contains("LOCKED"), "{}", run.said);
        let numbers: Vec<u64> = run.events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    }
    drop(editor);
    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    for row in server.get(&format!("/workspaces/{workspace}/chats")).await.as_array().unwrap() {
        let chat = server.reopened(&format!("/workspaces/{workspace}/chats/{}", row["id"].as_str().unwrap()));
        if chat.messages().await.is_empty() {
            continue;
        }
        until(async || (chat.show().await["state"] == "idle").then_some(())).await;
        let said: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["message_type"] != "tool_result").collect();
        let texts: Vec<&str> = said.iter().map(|message| message["content"].as_str().unwrap()).filter(|text| *text == "Done.").collect();
        let asked = said.iter().filter(|message| message["author"] == "user").count();
        let calls = said.iter().filter(|message| message["message_type"] == "tool_call").count();
        assert_eq!((texts.len(), asked, calls), (1, 1, 4), "{said:#?}");
    }
    assert!(server.terminate().await);
}

#[tokio::test]
async fn another_model_than_the_hosts_is_named_and_an_unknown_one_is_refused_with_what_to_do() {
    let home = home(&slow("/a.txt"));
    let server = home.serve().await;
    let refused = ended(start(&home, &["--model", "nobody/nothing"])).await;
    assert_eq!(refused.code, Some(2), "{}", refused.said);
    assert!(refused.said.contains("does not know the model nobody/nothing"), "{}", refused.said);
    let other = ended(start(&home, &["--model", "demo/demo"])).await;
    assert!(other.said.contains("demo/demo") && other.code != Some(1), "{:?} {}", other.code, other.said);
    assert!(server.terminate().await);
}

#[tokio::test]
async fn a_run_can_use_a_server_by_its_address() {
    let home = home(&slow("/a.txt"));
    let server = home.serve().await;
    let elsewhere = home.data().join("elsewhere");
    let workspace = home.workspace();
    let args = ["--server", &server.base, "--token", &server.token, "--workspace", workspace.to_str().unwrap()];
    let mut command = home.command(&[&["run", "Go", "--mode", "act", "--json"][..], &args].concat());
    command.env("PLANWRIGHT_DATA_DIR", &elsewhere).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = ended(command.spawn().unwrap()).await;
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert!(!elsewhere.exists(), "it needs no data folder");
    let wrong = ended(start(&home, &["--server", &server.base, "--token", "wrong"])).await;
    assert_eq!(wrong.code, Some(1), "{}", wrong.said);
    assert!(wrong.said.contains("UNAUTHENTICATED"), "{}", wrong.said);
    assert!(server.terminate().await);
}

#[tokio::test]
async fn no_command_in_any_sandbox_reaches_the_socket() {
    let home = home(&json!({}));
    let socket = home.data().join("planwright.sock");
    let look = format!("test -e {0} && echo S''EEN || echo HID''DEN; ls {1} 2>&1; true", socket.display(), home.data().display());
    let calls = json!([{ "tool": "run", "args": { "command": look } }]);
    home.write_script(&json!({ "turns": [{ "calls": calls }, { "text": "Done." }] }));
    home.put_config("[sandbox]\ninspect = true\n");
    for role in ["planner", "actor", "tester"] {
        let mut command = home.command(&["run", "Go", "--role", role, "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = ended(command.spawn().unwrap()).await;
        let results = of_type(&run.events, "tool_result");
        let text = results[0].to_string();
        assert!(text.contains("HIDDEN") && !text.contains("SEEN") && !text.contains("planwright.db"), "{role}: {text}");
    }
    home.put_config("[sandbox]\nnetwork = true\n");
    let mut command = home.command(&["run", "Go", "--role", "actor", "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = ended(command.spawn().unwrap()).await;
    let text = of_type(&run.events, "tool_result")[0].to_string();
    assert!(text.contains("HIDDEN") && !text.contains("SEEN"), "with the network: {text}");
}

#[tokio::test]
async fn no_mcp_server_reaches_the_socket_whatever_it_is_given() {
    for (more, is_given_all) in [("", false), ("keep = true", false), ("network = true", false), ("keep = true\nnetwork = true", true)] {
        let home = configured("");
        let socket = home.data().join("planwright.sock");
        let readable = if is_given_all { json!([home.data(), socket, home.workspace().parent()]) } else { json!([]) };
        home.put_config(&hostile(&["plain"], &format!("{more}\nreadable = {readable}")));
        let server = home.serve().await;
        assert_eq!(host(&home).await, Some(server.process()), "the socket answers those who may");
        let said = output(&server, "act", "h__knock", json!({ "path": socket })).await;
        assert!(said.starts_with("not reached: "), "{more:?}: {said}");
        assert!(server.terminate().await);
    }
}
