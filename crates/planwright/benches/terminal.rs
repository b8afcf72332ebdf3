//! What the terminal UI costs: from its start to its first picture, its memory at rest, and from a key to its letter on the
//! screen while an answer streams in. Exits with 1 when a bar is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark prints, and fails by panicking")]

use planwright_testkit::bench::{median_ms, report};
use planwright_testkit::server::Home;
use planwright_testkit::terminal::Terminal;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
const LETTERS: &str = "qwertzuiopasdfghjklyxcvbnm";

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = (0..2_000).map(|number| format!("word{number}")).collect();
    let home = home(&json!({ "turns": [{ "text": words.join(" "), "delay_ms": 2 }], "repeat": true }));
    let (first, ready, memory) = starts(&home).await;
    println!("start to a chat that can be written to                    {ready:>8.2}ms");
    let results = [
        report("start to the first picture", first, "ms", 60.0),
        report("memory at rest, as host", memory, "MB", 40.0),
        report("from a key to its letter while 2,000 words stream", echo(&home).await, "ms", 16.7),
    ];
    if results.into_iter().all(|within| within) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn home(script: &Value) -> Home {
    Home::new(env!("CARGO_BIN_EXE_planwright"), script)
}

fn open(home: &Home) -> Terminal {
    Terminal::start(&home.command(&[]), 80, 24)
}

/// The medians of both times, and the memory of the last one.
async fn starts(home: &Home) -> (f64, f64, f64) {
    let (mut first, mut ready, mut memory) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..=ROUNDS {
        let begun = Instant::now();
        let mut terminal = open(home);
        terminal.shows("PLAN").await;
        first.push(begun.elapsed());
        terminal.shows("script.json").await;
        ready.push(begun.elapsed());
        memory = resident(terminal.process());
        terminal.press("\x03");
        assert!(terminal.ended().await.success());
    }
    // The first of each made its files.
    (median_ms(first.split_off(1)), median_ms(ready.split_off(1)), memory)
}

async fn echo(home: &Home) -> f64 {
    let mut terminal = open(home);
    terminal.shows("script.json").await;
    terminal.press("Go");
    terminal.shows("Go").await;
    terminal.press("\r");
    terminal.shows("word9").await;
    let (mut typed, mut times) = (String::from("#"), Vec::<Duration>::new());
    terminal.press("#");
    terminal.shows("#").await;
    for letter in LETTERS.chars() {
        typed.push(letter);
        let begun = Instant::now();
        terminal.press(&letter.to_string());
        terminal.shows(&typed).await;
        times.push(begun.elapsed());
    }
    assert!(!terminal.text().contains("word1999"), "the answer ended before the typing did");
    median_ms(times)
}

fn resident(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
