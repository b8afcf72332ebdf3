//! `planwright run` on a terminal, and where there is none.

use crate::{home, write};
use planwright_testkit::server::Home;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};

const WIDTH: u16 = 60;

fn script() -> Value {
    let usage = json!({ "input_tokens": 1_200, "output_tokens": 100, "cost": 0.25 });
    json!({ "turns": [
        { "text": "Now I write it.\n", "calls": [write("/a-file-with-a-rather-long-name-that-does-not-fit-into-the-line.txt", "x"), { "tool": "read", "args": { "path": "/none" } }], "usage": usage },
        { "text": "All of it \u{1b}[31mis done.", "delay_ms": 20 },
    ] })
}

/// What a run shows on a terminal of its own.
async fn on_a_terminal(home: &Home, environment: &[(&str, &str)]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: WIDTH, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let reader = tokio::task::spawn_blocking(move || {
        let (mut shown, mut file) = (Vec::new(), File::from(master));
        let mut piece = [0; 4096];
        // The terminal ends with an error when its last user has gone.
        while let Ok(length @ 1..) = file.read(&mut piece) {
            shown.extend_from_slice(&piece[..length]);
        }
        String::from_utf8(shown).unwrap()
    });
    let mut command = home.command(&["run", "Go", "--mode", "act"]);
    command.env("TERM", "xterm").envs(environment.iter().copied());
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let status = command.spawn().unwrap().wait().await.unwrap();
    drop(command);
    let shown = reader.await.unwrap();
    assert_eq!(status.code(), Some(0), "{shown}");
    shown
}

/// What is left on the screen when lines have been rewritten.
fn settled(shown: &str) -> Vec<String> {
    let last = |line: &str| line.rsplit("\r\x1b[2K").next().unwrap_or_default().to_owned();
    shown.split("\r\n").map(last).collect()
}

#[tokio::test]
async fn on_a_terminal_one_line_is_rewritten_and_never_too_long() {
    let home = home(&script());
    let shown = on_a_terminal(&home, &[("NO_COLOR", "1")]).await;
    let states: Vec<&str> = shown.split("\r\x1b[2K").skip(1).map(|state| state.split("\r\n").next().unwrap()).collect();
    assert!(states.iter().any(|state| state.starts_with("Actor · thinking · 0s · 0 tokens")), "{shown:?}");
    assert!(states.iter().any(|state| state.starts_with("Actor · write /a-file") && state.contains("… · ")), "{shown:?}");
    assert!(states.iter().any(|state| state.contains("1.3k tokens · cost 0.25")), "{shown:?}");
    for state in states.iter().filter(|state| state.starts_with("Actor")) {
        assert!(state.chars().count() < usize::from(WIDTH), "{state:?} is too long");
    }
    let left = settled(&shown).join("\n");
    assert!(!left.contains("Actor ·") && left.contains("Now I write it.\n→ write /a-file"), "{left:?}");
    assert!(left.contains("All of it \u{FFFD}[31mis done.\ndone · "), "what a model says can't move the cursor: {left:?}");
    assert!(!shown.contains("\x1b[3") && !shown.contains("\x1b[1m") && !shown.contains("\x1b[0m"), "NO_COLOR: {shown:?}");
    let coloured = on_a_terminal(&home, &[]).await;
    assert!(coloured.contains("\x1b[31m✗ PATH_NOT_FOUND"), "{coloured:?}");
}

#[tokio::test]
async fn without_a_terminal_that_can_there_are_plain_lines() {
    let home = home(&script());
    let dumb = on_a_terminal(&home, &[("TERM", "dumb")]).await;
    let output = home.command(&["run", "Go", "--mode", "act"]).output().await.unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "Now I write it.\nAll of it \u{FFFD}[31mis done.\n");
    for shown in [dumb.replace("\r\n", "\n"), String::from_utf8(output.stderr).unwrap()] {
        assert!(!shown.contains(|character: char| character.is_control() && character != '\n'), "{shown:?}");
        assert!(shown.contains("\n✗ PATH_NOT_FOUND") && shown.contains("\ndone · "), "{shown:?}");
    }
}

/// Types a line on the terminal once it shows this, and returns everything that was shown, with the exit code.
async fn typed_on_a_terminal(home: &Home, after: &'static str, line: &'static str) -> (String, Option<i32>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let keyboard = tokio::task::spawn_blocking(move || {
        let (mut shown, mut file, mut piece, mut is_typed) = (Vec::new(), File::from(master), [0; 4096], false);
        while let Ok(length @ 1..) = file.read(&mut piece) {
            shown.extend_from_slice(&piece[..length]);
            if !is_typed && String::from_utf8_lossy(&shown).contains(after) {
                is_typed = true;
                file.write_all(line.as_bytes()).unwrap();
            }
        }
        String::from_utf8_lossy(&shown).into_owned()
    });
    let mut command = home.command(&["run", "Go", "--mode", "act"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let status = command.spawn().unwrap().wait().await.unwrap();
    drop(command);
    (keyboard.await.unwrap(), status.code())
}

#[tokio::test]
async fn a_run_at_a_terminal_asks_there_and_a_denial_has_its_reason() {
    let deletion = json!({ "calls": [{ "tool": "rm", "args": { "path": "/old.txt" } }] });
    let home = home(&json!({ "act": [deletion, { "text": "Kept.", "told": ["keep the old name"] }] }));
    home.put("old.txt", "precious\n");
    let (shown, code) = typed_on_a_terminal(&home, "answer", "deny keep the old name\n").await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("deletes /old.txt") && shown.contains("Kept."), "{shown}");
    assert_eq!(home.file("old.txt").as_deref(), Some("precious\n"));

    let question = json!({ "name": "colour", "question": "Which colour?", "schema": { "enum": ["Red", "Blue"] } });
    home.write_script(&json!({ "act": [
        { "calls": [{ "tool": "ask_user", "args": { "questions": [question] } }] },
        { "text": "As you like.", "told": ["Blue"] },
    ] }));
    let (shown, code) = typed_on_a_terminal(&home, "answer", "2\n").await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("? Which colour?") && shown.contains("As you like."), "{shown}");
}
