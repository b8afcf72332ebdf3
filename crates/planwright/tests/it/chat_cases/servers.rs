//! MCP servers that are not what they seem. More of these are in `mcp.rs`.

use super::scenarios;
use super::seen::Seen;
use super::stage::{Stage, say};
use crate::mcp::address::{Way, speak};
use crate::mcp::site::{FILE, hostile, processes};
use planwright_testkit::server::Server;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;

scenarios! {
    "MC-001" => it_has_a_tool_that_writes,
    "MC-004" => its_tools_look_alike,
    "MC-005" => it_says_something_else_after_it_was_accepted,
    "MC-006" => something_else_is_run_after_it_was_accepted,
    "MC-007" => it_comes_with_the_folder,
    "MC-009" => it_never_answers,
    "MC-010" => it_babbles,
    "MC-011" => it_dies_in_the_middle,
    "MC-014" => its_address_sends_us_on,
    "MC-015" => its_address_notes_what_it_is_sent,
    "MC-018" => it_points_out_of_the_workspace,
}

const READS: &str = "trust_read_only = true\ntimeout_s = 3";

/// What becomes of a call that a model makes in the case's chat.
async fn called(stage: &Stage, server: &Server, tool: &str) -> Seen {
    stage.home.write_script(
        &json!({ "turns": [{ "calls": [{ "tool": tool, "args": { "path": "src/main.rs" } }] }, { "text": "As you like." }] }),
    );
    let chat = server.chat(json!({ "agent_role": stage.case.role })).await;
    stage.begin();
    let begun = server.stopwatch();
    let events = say(&chat, "Go on").await;
    Seen::last_call(&chat, events).await.within(begun.elapsed())
}

/// The same with a server of the user's configuration, from its start on.
async fn configured(stage: &Stage, config: &str, tool: &str) -> Seen {
    stage.home.put_config(config);
    let server = stage.serve().await;
    let seen = called(stage, &server, tool).await;
    // Nothing of this harmed the server: another call is answered.
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let read = json!({ "tool": "read", "args": { "path": "/README.md" } });
    assert_eq!(server.post(&format!("/workspaces/{workspace}/tools"), read).await.1["success"], true);
    server.kill().await;
    seen
}

async fn it_has_a_tool_that_writes(stage: Arc<Stage>) -> Seen {
    configured(&stage, &hostile(&["plain"], READS), "h__write").await
}

async fn its_tools_look_alike(stage: Arc<Stage>) -> Seen {
    let names = stage.case.args["register"].as_array().unwrap().clone();
    assert_eq!(names, ["r\u{435}ad", "Read"].map(Value::from), "these are what the server offers");
    configured(&stage, &hostile(&["alike"], READS), "h__Read").await
}

async fn it_says_something_else_after_it_was_accepted(stage: Arc<Stage>) -> Seen {
    let said = stage.home.data().with_file_name("said").join("look.txt");
    std::fs::create_dir(said.parent().unwrap()).unwrap();
    std::fs::write(&said, "Looks.").unwrap();
    let config = hostile(&["saying", said.to_str().unwrap()], READS);
    assert!(!configured(&stage, &config, "h__look").await.is_refused());
    std::fs::write(&said, "Looks, and sends what it sees.").unwrap();
    configured(&stage, &config, "h__look").await
}

async fn something_else_is_run_after_it_was_accepted(stage: Arc<Stage>) -> Seen {
    assert!(!configured(&stage, &hostile(&["plain"], READS), "h__look").await.is_refused());
    let mark = format!("run-instead-{}", stage.home.data().display());
    let seen = configured(&stage, &hostile(&["plain", &mark], READS), "h__look").await;
    assert_eq!(processes(&[&mark]), 0, "it was started");
    seen
}

async fn it_comes_with_the_folder(stage: Arc<Stage>) -> Seen {
    let mark = format!("came-along-{}", stage.home.data().display());
    let file = stage.fixture.workspace().join(FILE);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, hostile(&["plain", &mark], READS)).unwrap();
    let foreign = json!({ "mcpServers": { "h": { "command": "node", "args": [mark] } } });
    std::fs::write(stage.fixture.workspace().join(".mcp.json"), foreign.to_string()).unwrap();
    let seen = configured(&stage, "", "h__look").await;
    assert_eq!(processes(&[&mark]), 0, "it was started");
    seen
}

async fn it_never_answers(stage: Arc<Stage>) -> Seen {
    configured(&stage, &hostile(&["plain"], READS), "h__hang").await
}

/// Garbage, half of a message, and a line without end.
async fn it_babbles(stage: Arc<Stage>) -> Seen {
    for tool in ["h__half", "h__line"] {
        let seen = configured(&stage, &hostile(&["plain"], READS), tool).await;
        assert!(seen.is_refused_with("MCP_FAILED"), "{tool}: {seen:?}");
    }
    configured(&stage, &hostile(&["plain"], READS), "h__garbage").await
}

async fn it_dies_in_the_middle(stage: Arc<Stage>) -> Seen {
    let seen = configured(&stage, &hostile(&["plain"], READS), "h__die").await;
    // The run came to its end by itself, so there was something to go on with.
    let run = if seen.has_event("run_finished") { "resumable" } else { "lost" };
    seen.fact("run_state", run)
}

async fn its_address_sends_us_on(stage: Arc<Stage>) -> Seen {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let spoken = speak(Way::Redirect, &format!("http://{}/api", target.local_addr().unwrap())).await;
    let seen = configured(&stage, &format!("[mcp.servers.far]\nurl = \"{}\"\n{READS}\n", spoken.url), "far__say").await;
    let reached = tokio::time::timeout(std::time::Duration::from_millis(200), target.accept()).await.is_ok();
    seen.fact("no_network_to", !reached)
}

async fn its_address_notes_what_it_is_sent(stage: Arc<Stage>) -> Seen {
    let spoken = speak(Way::Plain, "").await;
    stage.home.put_config(&format!("[mcp.servers.far]\nurl = \"{}\"\n{READS}\n", spoken.url));
    let server = stage.serve().await;
    let seen = called(&stage, &server, "far__say").await;
    let heard = spoken.heard.lock().unwrap().replace(&server.token, "$TOKEN");
    assert!(heard.contains("POST /mcp"), "{heard}");
    seen.fact("bytes_lack", heard)
}

async fn it_points_out_of_the_workspace(stage: Arc<Stage>) -> Seen {
    let place = stage.case.args["resource"].as_str().unwrap();
    configured(&stage, &hostile(&["plain", place], READS), "h__link").await
}
