//! How long things are kept: for good, unless the user's configuration says otherwise.

use crate::home;
use planwright_testkit::server::{ChatClient, Server};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use std::path::Path;
use std::time::Duration;

const LONG_AGO: &str = "1700000000000000";

async fn age(database: &Path, sql: String) {
    let mut connection = SqliteConnectOptions::new().filename(database).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Returns when it is gone; a test that hangs is ended.
async fn gone(server: &Server, path: &str) {
    while server.request(Method::GET, path, None).await.0 != StatusCode::NOT_FOUND {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn spoken<'s>(server: &'s Server, role: &str, until: &str) -> ChatClient<'s> {
    let chat = server.chat(json!({ "agent_role": role })).await;
    chat.say("Read it").await;
    chat.events(0, |event| event["data"]["state"] == until).await;
    chat
}

#[tokio::test]
async fn old_chats_and_log_entries_are_forgotten_when_the_configuration_says_so_and_not_before() {
    let home = home(&json!({
        "plan": [{ "text": "No." }],
        "act": [{ "calls": [{ "tool": "read", "args": { "path": "/.env" } }] }],
    }));
    home.put(".env", "KEY=1\n");
    let server = home.serve().await;
    let (old, waiting, fresh) = (
        spoken(&server, "planner", "idle").await,
        spoken(&server, "actor", "awaiting_answer").await,
        spoken(&server, "planner", "idle").await,
    );
    let (old, waiting, fresh) = (old.path, waiting.path, fresh.path);
    assert!(server.terminate().await);
    let fresh_id = fresh.rsplit('/').next().unwrap().replace('-', "");
    let database = home.data().join("planwright.db");
    age(&database, format!("update chats set updated_at = {LONG_AGO} where id <> x'{fresh_id}'; update audit set created_at = {LONG_AGO}"))
        .await;

    let server = home.serve().await;
    for path in [&old, &waiting, &fresh] {
        server.get(path).await;
    }
    assert_ne!(server.get("/audit").await.as_array().unwrap().len(), 0);
    assert!(server.terminate().await);

    home.put_config("[retention]\nchats_days = 30\naudit_days = 30\n");
    home.put(".planwright/config.toml", "[retention]\nchats_days = 1\n");
    let file = home.workspace().join(format!(".planwright/chats/{}.chat", old.rsplit('/').next().unwrap()));
    assert!(file.exists());
    let server = home.serve().await;
    gone(&server, &old).await;
    assert!(!file.exists(), "its file goes with it");
    assert_eq!(server.get(&waiting).await["state"], "awaiting_answer", "what waits for an answer is in use");
    server.get(&fresh).await;
    assert!(server.terminate().await, "what was begun is ended");
    let server = home.serve().await;
    assert_eq!(server.get("/audit").await, json!([]));
}

#[tokio::test]
async fn a_workspaces_own_file_cannot_have_chats_forgotten() {
    let home = home(&json!({ "turns": [{ "text": "No." }] }));
    home.put(".planwright/config.toml", "[retention]\nchats_days = 1\n");
    let output = home.command(&["run", "Hi", "--trust"]).output().await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("retention.chats_days is ignored: only your own configuration may set it"), "{said}");
}
