//! Sizes that change in the middle, and terminals that are given back.

use super::{CTRL_C, leave, opened, rests, say};
use crate::home;
use serde_json::{Value, json};
use std::process::Command;

/// A reply that is still being written when something happens.
fn slow(words: usize) -> Value {
    let text: Vec<String> = (0..words).map(|number| format!("word{number}")).collect();
    json!({ "turns": [{ "text": format!("{} the-last", text.join(" ")), "delay_ms": 20 }], "repeat": true })
}

#[tokio::test]
async fn a_terminal_may_change_its_size_while_an_answer_streams() {
    let home = home(&slow(300));
    let mut terminal = opened(&home, &[]).await;
    say(&mut terminal, "Go").await;
    terminal.shows("word9").await;
    for (columns, rows) in [(120, 40), (41, 11), (30, 8), (300, 100), (80, 24)] {
        let rule = if columns < 40 { "too small".to_owned() } else { "━".repeat(columns.into()) };
        terminal.resize(columns, rows);
        let is_whole = |screen: &str| {
            let fits = columns < 40 || screen.lines().any(|line| line == rule);
            screen.contains("too small") == (columns < 40) && fits && (columns < 40 || screen.contains("? help"))
        };
        terminal.until(&format!("{columns}×{rows}"), is_whole).await;
    }
    let screen = terminal.shows("the-last").await;
    assert_eq!(screen.matches("the-last").count(), 1, "{screen}");
    rests(&mut terminal).await;
    leave(terminal).await;
}

#[tokio::test]
async fn however_it_ends_the_terminal_is_as_it_was() {
    for signal in ["-TERM", "-HUP", "-INT"] {
        let home = home(&slow(2_000));
        let mut terminal = opened(&home, &[]).await;
        say(&mut terminal, "Go").await;
        terminal.shows("word9").await;
        assert!(terminal.is_taken() && !terminal.is_restored());
        assert!(Command::new("kill").args([signal, &terminal.process().to_string()]).status().unwrap().success());
        terminal.ended().await;
        assert!(terminal.is_restored() && !terminal.is_taken(), "{signal}: {}", terminal.text());
        assert_eq!(terminal.wishes(), [""; 0]);
    }
}

#[tokio::test]
async fn leaving_while_the_agent_works_asks_what_becomes_of_the_run() {
    let home = home(&slow(2_000));
    let mut terminal = opened(&home, &[]).await;
    say(&mut terminal, "Go").await;
    terminal.shows("word9").await;
    terminal.press("/quit");
    terminal.shows("/quit").await;
    terminal.press("\r");
    terminal.shows("The agent is at work").await;
    terminal.press("s");
    assert!(terminal.ended().await.success());
    assert!(terminal.is_restored());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_on_a_terminal_that_was_given_back() {
    let home = home(&slow(1));
    let mut terminal =
        planwright_testkit::terminal::Terminal::start(&home.command(&["--server", "http://127.0.0.1:9", "--token", "T"]), 80, 24);
    assert_eq!(terminal.ended().await.code(), Some(1), "{}", terminal.text());
    assert!(terminal.is_restored() && terminal.text().contains("Can't reach the server"), "{}", terminal.text());
    let mut waiting = opened(&home, &[]).await;
    waiting.press(CTRL_C);
    assert!(waiting.ended().await.success());
}
