//! `POST /workspaces/:id/tools`: calls of the user, by the same gate and log as the model's.

use crate::home;
use planwright_testkit::server::{Home, Server};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

fn quiet() -> Home {
    home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

async fn workspace(server: &Server) -> String {
    server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned()
}

/// The endpoint's answer; errors of tools are answers too.
async fn call(server: &Server, body: Value) -> Value {
    let path = format!("/workspaces/{}/tools", workspace(server).await);
    let (status, answer) = server.post(&path, body.clone()).await;
    assert_eq!(status, StatusCode::OK, "{body}: {answer}");
    answer
}

fn code(answer: &Value) -> &str {
    assert_eq!(answer["success"], false, "{answer}");
    answer["error"]["code"].as_str().unwrap()
}

#[tokio::test]
async fn a_command_lands_and_one_that_planners_may_not_run_does_not() {
    let home = quiet();
    let server = home.serve().await;
    let run = |plan_mode: bool| json!({ "tool": "run", "args": { "command": "echo made > made.txt && cat made.txt" }, "config": { "plan_mode": plan_mode } });
    assert_eq!(code(&call(&server, run(true)).await), "TOOL_BLOCKED_BY_MODE");
    let answer = call(&server, run(false)).await;
    assert!(answer["success"] == true && answer["result"]["output"].as_str().unwrap().contains("made"), "{answer}");
    assert_eq!(home.file("made.txt").as_deref(), Some("made\n"));
}

#[tokio::test]
async fn a_shutdown_ends_the_command_of_a_call_and_its_answer_says_so() {
    let home = quiet();
    let server = home.serve().await;
    let started = home.workspace().join("started");
    let run = json!({ "tool": "run", "args": { "command": "touch started; sleep 612.25" }, "config": { "plan_mode": false } });
    let url = format!("{}/api/v1/workspaces/{}/tools", server.base, workspace(&server).await);
    let call = tokio::spawn(server.client().post(url).bearer_auth(&server.token).json(&run).send());
    let runs = |process: std::io::Result<std::fs::DirEntry>| {
        std::fs::read(process.unwrap().path().join("cmdline")).is_ok_and(|line| line == b"sleep\x00612.25\x00")
    };
    while !std::fs::read_dir("/proc").unwrap().any(runs) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(server.terminate().await);
    let answer: Value = call.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(code(&answer), "CANCELLED", "{answer}");
    assert!(!started.exists(), "nothing of it landed");
}
