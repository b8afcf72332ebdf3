//! Building and testing real projects with `run`, in the sandbox.

use crate::home;
use planwright_testkit::guard::FolderTree;
use planwright_testkit::server::{Home, Server};
use serde_json::{Value, json};
use std::path::Path;

/// The manifest of a crate would count as one of ours, so it has another name until it is copied.
const SAMPLE: &str = ".sample";

#[tokio::test]
async fn cargo_tests_pass_for_tester_and_actor_and_the_tester_leaves_the_sources_alone() {
    tests_pass("cargo", "cargo test --offline --locked", "1 passed").await;
}

#[tokio::test]
async fn npm_tests_pass_for_tester_and_actor_and_the_tester_leaves_the_sources_alone() {
    tests_pass("npm", "npm test", "pass 1").await;
}

#[tokio::test]
async fn pytest_passes_for_tester_and_actor_and_the_tester_leaves_the_sources_alone() {
    tests_pass("pytest", "/usr/bin/python3 -m pytest", "1 passed").await;
}

async fn tests_pass(sample: &str, command: &str, said: &str) {
    let script = json!({ "turns": [{ "calls": [{ "tool": "run", "args": { "command": command } }] }, { "text": "Done." }] });
    let home = home(&script);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(sample), &home.workspace());
    let chats = home.workspace().join(".planwright/chats");
    std::fs::create_dir_all(&chats).unwrap();
    // The server's own files exist already.
    home.put(".planwright/.gitignore", "/chats/\n");
    let look = || FolderTree::except(&home.workspace(), Some(&chats));
    let server = serve(&home).await;
    // The tester first: what the actor builds may stay.
    for role in ["tester", "actor"] {
        let before = look();
        let result = result(&server, role).await;
        assert_eq!(result["metadata"]["facts"]["exit_code"], 0, "{command} as {role}: {result:#}");
        assert!(result["content"].as_str().unwrap().contains(said), "{command} as {role}: {result:#}");
        let changes = before.changes(&look());
        assert!(role == "actor" || changes.is_empty(), "{command} as {role} changed the sources: {changes:#?}");
    }
}

/// A server that finds the toolchains of the user who runs the tests.
async fn serve(home: &Home) -> Server {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("XDG_CONFIG_HOME", home.workspace().with_file_name("config"));
    home.serve_command(command).await
}

/// The stored result of the one call.
async fn result(server: &Server, role: &str) -> Value {
    let chat = server.chat(json!({ "agent_role": role })).await;
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "run_finished" || event["data"]["state"] == "awaiting_answer").await;
    let messages = chat.messages().await;
    let result = messages.iter().find(|message| message["message_type"] == "tool_result");
    assert!(result.is_some(), "{role} got no result: {messages:#?}");
    result.cloned().unwrap()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let target = to.join(name.strip_suffix(SAMPLE).unwrap_or(&name));
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
