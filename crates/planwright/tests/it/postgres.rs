//! The same product on PostgreSQL.

use crate::home;
use planwright_testkit::postgres::Database;
use planwright_testkit::server::{Home, Server, last_id, of_type};
use serde_json::{Value, json};
use std::process::Stdio;

fn script() -> Value {
    json!({ "act": [{ "calls": [{ "tool": "read", "args": { "path": "/.env" } }] }, { "text": "Done." }] })
}

/// The flag wins over the variable, which here leads nowhere.
async fn serve(home: &Home, database: &Database) -> Server {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url]);
    command.env("PLANWRIGHT_DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing");
    home.serve_command(command).await
}

#[tokio::test]
async fn a_chat_on_postgres_survives_a_kill_with_its_pending_question() {
    let (home, database) = (home(&script()), Database::fresh());
    home.put(".env", "KEY=1\n");
    let server = serve(&home, &database).await;
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Read it").await;
    let asking = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let (path, last, before) = (chat.path.clone(), last_id(&asking), chat.messages().await);
    server.kill().await;

    let server = serve(&home, &database).await;
    let chat = server.reopened(&path);
    let shown = chat.show().await;
    assert_eq!((&shown["state"], &shown["config"]["agent_role"]), (&json!("awaiting_answer"), &json!("actor")));
    assert_eq!(chat.messages().await, before);
    let question = &shown["pending_question"]["question_id"];
    chat.answer(question, json!({ "decision": "approve" })).await;
    let events = chat.run_to_end(last).await;
    assert_eq!(of_type(&events, "tool_result")[0]["success"], true);
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done");
    assert!(!home.workspace().join("../data/planwright.db").exists(), "nothing is kept in a file beside it");
}

#[tokio::test]
async fn run_keeps_its_chat_in_the_database_named_by_the_variable() {
    let (home, database) = (home(&json!({ "turns": [{ "text": "Hello there" }] })), Database::fresh());
    let output = home.command(&["run", "Hi"]).env("PLANWRIGHT_DATABASE_URL", &database.url).output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let server = serve(&home, &database).await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/workspaces/{workspace}/chats")).await[0]["title"], "Hi");
}

#[tokio::test]
async fn a_second_server_on_the_same_postgres_database_is_refused() {
    let (first, second, database) = (home(&script()), home(&script()), Database::fresh());
    let _server = serve(&first, &database).await;
    let mut command = second.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url]);
    let output = command.stdout(Stdio::null()).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("DATA_DIR_LOCKED") && said.contains("--database-url"), "{said}");
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_named_without_its_password() {
    let home = home(&script());
    for (args, part) in [
        (&["serve", "--listen", "127.0.0.1:0"][..], "127.0.0.1:1, database team, as ann"),
        (&["run", "Hi"], "127.0.0.1:1, database team, as ann"),
        (&["serve", "--help"], "PLANWRIGHT_DATABASE_URL"),
    ] {
        let mut command = home.command(args);
        let output = command.env("PLANWRIGHT_DATABASE_URL", "postgres://ann:hunter2@127.0.0.1:1/team").output().await.unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(part) && !said.contains("hunter2"), "{said}");
    }
}
