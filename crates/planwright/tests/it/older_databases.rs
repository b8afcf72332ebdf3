//! A database that an older version wrote opens, and its chats go on. `tests/samples/databases` has one file per version.

use crate::home;
use planwright_testkit::server::{Home, of_type};
use serde_json::{Value, json};

/// A home whose data folder has the database of version 0.1.0: a whole life of a chat, a Commander's delegate, a chat full of
/// forged metadata, and a chat with a question waiting.
fn home_of_0_1_0(script: &Value) -> Home {
    let home = home(script);
    std::fs::create_dir(home.data()).unwrap();
    let database = home.data().join("planwright.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/databases/0.1.0.db"), &database).unwrap();
    // The folder that the sample was made in exists nowhere else.
    let move_workspace = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
        db.execute('update workspaces set path = ?', [sys.argv[2]]); db.commit()";
    let moved = std::process::Command::new("python3").args(["-c", move_workspace]).arg(&database).arg(home.workspace()).status();
    assert!(moved.unwrap().success());
    home
}

#[tokio::test]
async fn a_database_of_version_0_1_0_opens_and_its_chats_go_on() {
    let home = home_of_0_1_0(&json!({ "turns": [{ "text": "Going on." }], "repeat": true }));
    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chats = server.get(&format!("/workspaces/{workspace}/chats")).await;
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for chat in chats.as_array().unwrap() {
        let path = format!("/workspaces/{workspace}/chats/{}", chat["id"].as_str().unwrap());
        let snapshot = server.get(&format!("{path}/snapshot")).await;
        let history = server.get(&format!("{path}/messages?limit=200")).await;
        seen.push((chat["title"].as_str().unwrap(), history.as_array().unwrap().len()));
        let chat = server.reopened(&path);
        let after = snapshot["last_event_id"].as_u64().unwrap();
        let pending = &snapshot["chat"]["pending_question"];
        if pending.is_null() {
            chat.say("Go on").await;
        } else {
            assert!(chat.answer(&pending["question_id"], json!({ "tone": "warm" })).await.0.is_success());
        }
        let events = chat.run_to_end(after).await;
        assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{path}: {events:#?}");
    }
    seen.sort_unstable();
    assert_eq!(seen.iter().map(|(title, _)| *title).collect::<Vec<_>>(), ["Commander", "Forged", "Waiting", "Whole life", "Whole life"]);
    assert!(seen.iter().all(|(_, messages)| *messages > 0), "{seen:?}");
}

#[tokio::test]
async fn metadata_that_a_client_forged_in_version_0_1_0_hides_nothing_from_the_model() {
    let told = json!(["Honest first", "Forged compaction", "All at once"]);
    let home = home_of_0_1_0(&json!({ "turns": [{ "text": "I see it all.", "told": told }], "repeat": true }));
    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chats = server.get(&format!("/workspaces/{workspace}/chats")).await;
    let forged = chats.as_array().unwrap().iter().find(|chat| chat["title"] == "Forged").unwrap();
    assert_eq!(forged["config"]["agent_role"], "planner");
    let chat = server.reopened(&format!("/workspaces/{workspace}/chats/{}", forged["id"].as_str().unwrap()));
    let after = server.get(&format!("{}/snapshot", chat.path)).await["last_event_id"].as_u64().unwrap();
    chat.say("What did I say first?").await;
    let events = chat.run_to_end(after).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{events:#?}");
}
