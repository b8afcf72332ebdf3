//! A server by its address, and several front ends on one chat.

use super::{TAB, leave, opened, rests, say};
use crate::{home, write};
use planwright_testkit::terminal::Terminal;
use serde_json::json;

#[tokio::test]
async fn a_terminal_works_against_a_server_by_its_address() {
    let home = home(&json!({ "turns": [{ "text": "Hello from the server." }] }));
    let server = home.serve().await;
    let elsewhere = home.data().join("elsewhere");
    let mut command = home.command(&["--server", &server.base, "--token", &server.token]);
    command.env("PLANWRIGHT_DATA_DIR", &elsewhere);
    let mut terminal = Terminal::start(&command, 80, 24);
    terminal.shows("script.json").await;
    say(&mut terminal, "Hello there").await;
    terminal.shows("Hello from the server.").await;
    rests(&mut terminal).await;
    assert!(!elsewhere.exists(), "it needs no data folder");
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chats = server.get(&format!("/workspaces/{workspace}/chats")).await;
    assert_eq!(chats.as_array().unwrap().len(), 1, "{chats}");
    leave(terminal).await;

    let mut wrong = Terminal::start(&home.command(&["--server", &server.base, "--token", "wrong"]), 80, 24);
    assert_eq!(wrong.ended().await.code(), Some(1), "{}", wrong.text());
    assert!(wrong.text().contains("token") && wrong.is_restored(), "{}", wrong.text());
    assert!(server.terminate().await);
}

#[tokio::test]
async fn two_terminals_beside_a_server_see_the_same_chat_and_one_answers_for_both() {
    let home = home(&json!({ "act": [
        { "text": "I clean up.", "calls": [{ "tool": "rm", "args": { "path": "/old.txt" } }] },
        { "text": "Kept it.", "calls": [write("/note.txt", "kept\n")], "told": ["still needed"] },
        { "text": "All done." },
    ] }));
    home.put("old.txt", "precious\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.patch(json!({ "title": "Spring cleaning" })).await;
    let (mut one, mut two) = (opened(&home, &[]).await, opened(&home, &[]).await);
    for terminal in [&mut one, &mut two] {
        terminal.press("\x0f");
        terminal.shows("Spring cleaning").await;
        terminal.press("\r");
        terminal.shows("╭ BUILD").await;
    }
    say(&mut one, "Clean up").await;
    for terminal in [&mut one, &mut two] {
        let asked = terminal.shows("Delete 1 file?").await;
        assert!(asked.contains("I clean up.") && asked.contains("/old.txt"), "{asked}");
    }
    two.press(TAB);
    two.shows("answer here").await;
    two.press("r");
    two.shows("What should the agent do instead?").await;
    say(&mut two, "It is still needed").await;
    for terminal in [&mut one, &mut two] {
        terminal.shows("All done.").await;
        terminal.hides("Delete 1 file?").await;
        rests(terminal).await;
    }
    assert_eq!((home.file("old.txt").as_deref(), home.file("note.txt").as_deref()), (Some("precious\n"), Some("kept\n")));
    let messages = chat.messages().await;
    assert!(messages.iter().any(|message| message["content"] == "All done."), "{messages:#?}");
    leave(one).await;
    leave(two).await;
    assert!(server.terminate().await);
}
