//! The whole binary with a real model on a real server of llama.cpp: `scripts/real-model` starts both and runs these. The
//! model is tiny, so what it says counts for nothing here, only how a run with it goes.
#![expect(clippy::expect_used, reason = "a test that can't go on says why")]

use crate::BINARY;
use planwright_testkit::server::{Home, of_type};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Reading our prompt and tools takes this model a while.
const PATIENCE: Duration = Duration::from_mins(5);

fn home(more: &str) -> Home {
    let base_url = std::env::var("PLANWRIGHT_REAL_MODEL").expect("scripts/real-model sets PLANWRIGHT_REAL_MODEL");
    let home = Home::new(BINARY, &json!({}));
    home.put("hello.txt", "Hello\n");
    home.put_config(&format!(
        "[models]\ndefault = \"real/smollm2\"\n[limits]\nturns = 3\n[providers.real]\nkind = \"openai\"\nbase_url = \"{base_url}\"\ncontext_tokens = 8192\ntimeout_s = 300\n{more}\n"
    ));
    home
}

/// The events of one `planwright run`, each with its time, and the exit code.
async fn run(home: &Home, task: &str) -> (Vec<(Duration, Value)>, Option<i32>) {
    let mut command = home.command(&["run", task, "--json"]);
    let start = Instant::now();
    let mut child = command.env_remove("PLANWRIGHT_MODEL").stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let read = async {
        let mut events = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            events.push((start.elapsed(), serde_json::from_str(&line).unwrap()));
        }
        (events, child.wait().await.unwrap().code())
    };
    tokio::time::timeout(PATIENCE, read).await.expect("the run does not end")
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn a_run_on_a_real_model_streams_and_counts_and_changes_nothing() {
    let home = home("max_output_tokens = 64");
    let (events, code) = run(&home, "Say hello.").await;
    let deltas: Vec<Duration> = events.iter().filter(|(_, event)| event["type"] == "text_delta").map(|(at, _)| *at).collect();
    let events: Vec<Value> = events.into_iter().map(|(_, event)| event).collect();
    let text: String = of_type(&events, "text_delta").iter().map(|delta| delta["text"].as_str().unwrap()).collect();
    let finished = of_type(&events, "run_finished")[0].clone();
    eprintln!("{} pieces from {:.2?} to {:.2?}: {text:?}", deltas.len(), deltas[0], deltas[deltas.len() - 1]);
    eprintln!("{finished} {:?}, exit code {code:?}", of_type(&events, "usage"));
    assert!(deltas.len() >= 3 && deltas[deltas.len() - 1] > deltas[0]);
    // It may babble up to its limit, and the result says so.
    match finished["outcome"].as_str().unwrap() {
        "done" => {
            assert_eq!(code, Some(0));
            assert!(of_type(&events, "usage")[0]["output_tokens"].as_u64() >= Some(deltas.len() as u64));
        }
        _ => assert_eq!((&finished["error"]["code"], code), (&json!("PROVIDER_GARBLED"), Some(1))),
    }
    assert_eq!(home.file("hello.txt").as_deref(), Some("Hello\n"));
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn a_run_held_to_json_ends_within_its_limits_whatever_a_real_model_says() {
    let home = home("tools = \"json\"\nmax_output_tokens = 160\nreply_timeout_s = 120");
    let (events, code) = run(&home, "Read hello.txt").await;
    let took = events.last().unwrap().0;
    let events: Vec<Value> = events.into_iter().map(|(_, event)| event).collect();
    let finished = of_type(&events, "run_finished")[0].clone();
    eprintln!("after {took:.2?}: {finished}, exit code {code:?}, calls {:?}", of_type(&events, "tool_call"));
    let ended = ["done", "PROVIDER_GARBLED", "LIMIT_REACHED", "LOOP_DETECTED"];
    let how = finished["error"]["code"].as_str().unwrap_or(finished["outcome"].as_str().unwrap());
    assert!(ended.contains(&how), "{finished}");
    assert_eq!(code, Some(i32::from(how != "done")));
    assert_eq!(home.file("hello.txt").as_deref(), Some("Hello\n"));
}

#[tokio::test]
#[ignore = "needs a real model; scripts/real-model runs it"]
async fn a_run_on_a_real_model_can_be_stopped_in_the_middle_of_its_words() {
    let home = home("max_output_tokens = 4000");
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env_remove("PLANWRIGHT_MODEL");
    let server = home.serve_command(command).await;
    let chat = server.chat(json!({})).await;
    chat.say("Count from 1 to 10000, one number after another, and leave none out.").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    let start = Instant::now();
    let (status, _) = chat.post("stop").await;
    eprintln!("stop was answered after {:.2?}", start.elapsed());
    assert!(status.is_success());
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "stopped");
}
