//! What `planwright run` costs before and beside the model: from its start to the first word of the reply, against the
//! start of node in the same run; and the most memory it takes for a task of ten calls. Exits with 1 when a bar is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark prints, and fails by panicking")]

use planwright_testkit::bench::{median_ms, report};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

const ROUNDS: usize = 25;

fn main() -> ExitCode {
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (ours, node) = starts(folder.path());
    let memory = memory(folder.path());
    println!("start of node                                              {node:>8.2}ms");
    println!("start of `planwright run` to the first request             {ours:>8.2}ms");
    let results = [
        report("the start against that of node", ours / node, "", 0.6),
        report("the most memory in a task of 10 calls", memory, "MB", 60.0),
    ];
    if results.into_iter().all(|within| within) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(folder: &Path, script: &Value, args: &[&str]) -> Child {
    let (workspace, file) = (folder.join("workspace"), folder.join("script.json"));
    std::fs::create_dir_all(&workspace).unwrap();
    std::fs::write(&file, script.to_string()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_planwright"))
        .args(["run", "Hi"])
        .args(args)
        .env_clear()
        .env("HOME", folder)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PLANWRIGHT_DATA_DIR", folder.join("data"))
        .env("PLANWRIGHT_MODEL", format!("script/{}", file.display()))
        .current_dir(workspace)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Both by turns, so that what else the machine does falls on both.
fn starts(folder: &Path) -> (f64, f64) {
    let script = json!({ "turns": [{ "text": "Hello." }] });
    let (mut ours, mut nodes) = (Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        let begun = Instant::now();
        let mut child = run(folder, &script, &[]);
        // The script answers as soon as it is asked; its word comes a little after the request.
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        ours.push(begun.elapsed());
        assert!(child.wait().unwrap().success());
        let begun = Instant::now();
        assert!(Command::new("node").args(["-e", "0"]).status().unwrap().success());
        nodes.push(begun.elapsed());
    }
    // The first of each made its files.
    (median_ms(ours.split_off(1)), median_ms(nodes.split_off(1)))
}

/// The high-water mark, read while the last reply is being written: all calls are over then.
fn memory(folder: &Path) -> f64 {
    let call = |tool: &str, args: Value| json!({ "calls": [{ "tool": tool, "args": args }] });
    let mut turns: Vec<Value> =
        (0..4).map(|number| call("write", json!({ "path": format!("/{number}.txt"), "content": "a line\n".repeat(20_000) }))).collect();
    turns.extend((0..3).map(|number| call("read", json!({ "path": format!("/{number}.txt") }))));
    turns.push(call("grep", json!({ "pattern": "line" })));
    turns.push(call("glob", json!({ "pattern": "**/*.txt" })));
    turns.push(call("run", json!({ "command": "cat *.txt | wc -l" })));
    assert_eq!(turns.len(), 10);
    turns.push(json!({ "text": "Finished now.", "delay_ms": 500 }));
    let mut child = run(folder, &json!({ "turns": turns }), &["--mode", "act", "--json"]);
    let mut highest = 0.0;
    let mut succeeded = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        succeeded += usize::from(event["type"] == "tool_result" && event["data"]["success"] == true);
        if event["type"] == "text_delta" && highest == 0.0 {
            highest = high_water(child.id());
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(succeeded, 10);
    highest
}

fn high_water(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
