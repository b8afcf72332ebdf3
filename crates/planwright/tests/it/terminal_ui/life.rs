//! A whole life: plan, revise, approve, execute, deny, take back.

use super::{HOME_KEY, TAB, leave, opened, rests, say};
use crate::{home, plan, write};
use planwright_testkit::terminal::Terminal;
use serde_json::{Value, json};
use std::path::Path;

fn script() -> Value {
    let leave = json!({ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } });
    let mut revised = plan("/bye.txt");
    revised["steps"][0]["action"] = json!("Write a kinder farewell in 中文");
    let check = json!({ "step_number": 2, "action": "Read it aloud", "reason": "It has to sound well", "tools_needed": ["read"], "files": ["/bye.txt"] });
    revised["steps"].as_array_mut().unwrap().push(check);
    let deletion = json!({ "tool": "rm", "args": { "path": "/old.txt" } });
    json!({
        "plan": [
            { "text": "I **look** first.", "calls": [{ "tool": "read", "args": { "path": "/old.txt" } }] },
            { "calls": [{ "tool": "write_plan", "args": plan("/bye.txt") }] },
            { "calls": [leave] },
            { "text": "Kinder, then.", "calls": [{ "tool": "write_plan", "args": revised }], "told": ["Please be kinder"] },
            { "calls": [leave] },
        ],
        "act": [
            { "text": "I write it.", "calls": [write("/bye.txt", "Farewell\n")] },
            { "text": "Now the old one goes.", "calls": [deletion] },
            { "text": "Then it stays.", "told": ["somebody still reads it"] },
        ],
    })
}

/// Renews a picture of the guide if that is asked for.
fn picture(terminal: &Terminal, name: &str) {
    if std::env::var_os("TERMINAL_PICTURES").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/screenshots");
        std::fs::write(folder.join(format!("terminal-{name}.svg")), terminal.svg()).unwrap();
    }
}

#[tokio::test]
async fn at_a_terminal_a_plan_is_revised_approved_executed_a_deletion_denied_and_all_taken_back() {
    let home = home(&script());
    home.put("old.txt", "precious\nwords\n");
    let mut terminal = opened(&home, &[]).await;
    assert!(terminal.is_taken() && terminal.text().contains("PLAN"));
    say(&mut terminal, "Say goodbye, please").await;
    let asked = terminal.shows("Approve plan v1, 1 step?").await;
    assert!(asked.contains("1. Write the file") && asked.contains("Tab to answer"), "{asked}");
    assert_eq!(home.file("bye.txt"), None);

    terminal.press(TAB);
    terminal.shows("answer here").await;
    terminal.press("d");
    terminal.shows("What should change?").await;
    say(&mut terminal, "Please be kinder").await;
    let revised = terminal.shows("Approve plan v2, 2 steps?").await;
    assert!(revised.contains("Write a kinder farewell in 中文"), "{revised}");
    terminal.shows("Waiting for your answer").await;
    picture(&terminal, "plan");

    terminal.press("\x1ba");
    let asked = terminal.shows("Delete 1 file?").await;
    assert!(asked.contains("BUILD") && asked.contains("/old.txt") && !asked.contains("PLAN ·"), "{asked}");
    assert_eq!(home.file("bye.txt").as_deref(), Some("Farewell\n"));
    terminal.shows("Waiting for your answer").await;
    picture(&terminal, "deletion");
    terminal.press("\x1br");
    terminal.shows("What should the agent do instead?").await;
    say(&mut terminal, "Keep it, somebody still reads it").await;
    terminal.shows("Then it stays.").await;
    terminal.hides("Delete 1 file?").await;
    assert_eq!(home.file("old.txt").as_deref(), Some("precious\nwords\n"));

    rests(&mut terminal).await;
    taken_back(&mut terminal).await;
    assert_eq!((home.file("bye.txt"), home.file("old.txt").as_deref()), (None, Some("precious\nwords\n")));
    leave(terminal).await;
}

/// Takes back everything since the first message, after a look at what that would do.
async fn taken_back(terminal: &mut Terminal) {
    terminal.press(TAB);
    terminal.shows("take back").await;
    terminal.press(HOME_KEY);
    terminal.shows("Say goodbye, please").await;
    terminal.press("z");
    let preview = terminal.shows("Take back the changes of").await;
    assert!(preview.contains("/bye.txt"), "{preview}");
    terminal.press("y");
    terminal.shows("Took back").await;
}

#[tokio::test]
async fn the_page_of_the_plan_at_a_terminal_sends_comments_and_executes() {
    let mut revised = plan("/bye.txt");
    revised["goal"] = json!("Say goodbye twice");
    let home = home(&json!({
        "plan": [
            { "calls": [{ "tool": "write_plan", "args": plan("/bye.txt") }] },
            { "text": "Ready." },
            { "calls": [{ "tool": "write_plan", "args": revised }], "told": ["In two languages"] },
            { "text": "Better." },
        ],
        "act": [{ "calls": [write("/bye.txt", "Farewell\n")] }, { "text": "Built." }],
    }));
    let mut terminal = opened(&home, &[]).await;
    say(&mut terminal, "Say goodbye").await;
    terminal.shows("Ready.").await;
    terminal.press("\x10");
    terminal.shows("Execute step 1").await;
    terminal.press("c");
    terminal.shows("keep comment").await;
    say(&mut terminal, "In two languages").await;
    terminal.shows("Request changes (1 comment)").await;
    terminal.press("r");
    terminal.shows("Better.").await;
    rests(&mut terminal).await;
    terminal.press("\x10");
    // Until the newer version is read, the page shows the one that it knows.
    terminal.shows("v2 · /plans/").await;
    terminal.press("x");
    terminal.shows("Built.").await;
    rests(&mut terminal).await;
    assert_eq!(home.file("bye.txt").as_deref(), Some("Farewell\n"));
    leave(terminal).await;
}
