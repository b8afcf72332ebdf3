//! The tree of a case, with a server on it, its chats and its database.

use crate::BINARY;
use planwright_protocol::ChatId;
use planwright_store::Store;
use planwright_testkit::guard::{CallWatch, Case, Fixture, Setup, Suite};
use planwright_testkit::server::{ChatClient, Home, Server};
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::process::Command;

const CASES: &str = include_str!("../../../../testkit/data/guard-cases.json");

/// The plan of the acting chat, and the other chat's.
pub const OWN_PLAN: &str = "/plans/roadmap.plan";
const OTHER_PLAN: &str = "/plans/other.plan";

pub struct Stage {
    pub case: Case,
    /// The case as it is written, with what the test kit leaves out.
    pub written: Value,
    pub fixture: Fixture,
    watch: Mutex<Option<CallWatch>>,
    // Removes the folder, so it goes last.
    pub home: Home,
}

impl Stage {
    pub fn new(suite: &Suite, case: Case) -> Self {
        let file: Value = serde_json::from_str(CASES).unwrap();
        let written = file["cases"].as_array().unwrap().iter().find(|written| written["id"] == case.id.as_str()).unwrap().clone();
        let home = Home::new(BINARY, &json!({ "turns": [{ "text": "Noted." }], "repeat": true }));
        let mut fixture = Fixture::new(suite, home.workspace().parent().unwrap());
        let files: Vec<Setup> = case.setup.iter().filter(|step| !matches!(step, Setup::Elsewhere)).cloned().collect();
        fixture.apply(&files);
        Self { case, written, fixture, watch: Mutex::default(), home }
    }

    /// A step of the case's setup that only a server can take.
    pub fn step(&self, op: &str) -> Option<&Value> {
        self.written["setup"].as_array().unwrap().iter().find(|step| step["op"] == op)
    }

    /// The call of the case, as a model would make it.
    pub fn call(&self) -> Value {
        json!({ "tool": self.case.tool, "args": self.case.args })
    }

    pub fn command(&self) -> Command {
        let workspace = self.fixture.workspace();
        self.home.command(&["serve", "--listen", "127.0.0.1:0", "--workspace", workspace.to_str().unwrap()])
    }

    pub async fn serve(&self) -> Server {
        self.home.serve_command(self.command()).await
    }

    pub async fn serve_with(&self, name: &str, value: &str) -> Server {
        let mut command = self.command();
        command.env(name, value);
        self.home.serve_command(command).await
    }

    /// The acting chat with its plan, and another one beside it with its own.
    pub async fn chat<'s>(&self, server: &'s Server) -> ChatClient<'s> {
        let other = server.chat(json!({ "mode": "plan" })).await;
        claim(&other, OTHER_PLAN).await;
        let chat = server.chat(json!({ "agent_role": self.case.role })).await;
        claim(&chat, OWN_PLAN).await;
        chat
    }

    /// From here on nothing may change that the case does not allow.
    pub fn begin(&self) {
        *self.watch() = Some(CallWatch::start(&self.fixture, &self.case));
    }

    pub fn watch(&self) -> MutexGuard<'_, Option<CallWatch>> {
        self.watch.lock().unwrap()
    }

    pub fn database(&self) -> PathBuf {
        self.home.workspace().with_file_name("data").join("planwright.db")
    }

    /// The database, as somebody with a shell would open it.
    pub async fn connection(&self) -> SqliteConnection {
        SqliteConnectOptions::new().filename(self.database()).create_if_missing(true).connect().await.unwrap()
    }

    pub async fn tamper(&self, sql: impl Into<String>) {
        sqlx::raw_sql(AssertSqlSafe(sql.into())).execute(&mut self.connection().await).await.unwrap();
    }

    /// All events of a chat, as they are read from the database.
    pub async fn events(&self, chat: &ChatClient<'_>) -> Vec<Value> {
        let id = ChatId(uuid::Uuid::parse_str(chat.path.rsplit('/').next().unwrap()).unwrap());
        let store = Store::visit(&self.database()).await.unwrap().unwrap();
        let events = store.stored_after(id, 0, u32::MAX).await.unwrap();
        store.close().await;
        events.iter().map(|event| serde_json::from_str(&event.envelope).unwrap()).collect()
    }

    pub async fn look(&self, sql: &'static str) -> String {
        sqlx::query_scalar(sql).fetch_one(&mut self.connection().await).await.unwrap()
    }
}

/// Makes a plan the chat's own, as the user may.
pub async fn claim(chat: &ChatClient<'_>, plan: &str) {
    let (status, body) = chat.patch(json!({ "plan_file": plan })).await;
    assert_eq!(status, StatusCode::OK, "{body}");
}

/// Whether a run is over, or waits for the user.
pub fn rests(event: &Value) -> bool {
    event["type"] == "run_finished" || event["data"]["state"] == "awaiting_answer"
}

/// What comes of saying something.
pub async fn say(chat: &ChatClient<'_>, words: &str) -> Vec<Value> {
    let after = newest(chat).await;
    chat.say(words).await;
    chat.events(after, rests).await
}

pub async fn newest(chat: &ChatClient<'_>) -> u64 {
    chat.server.get(&format!("{}/snapshot", chat.path)).await["last_event_id"].as_u64().unwrap()
}

/// The user approves a plan, it is carried out, and they go back to planning.
pub async fn approve(chat: &ChatClient<'_>, plan: &str) {
    let after = newest(chat).await;
    let (status, body) = chat.server.post(&format!("{}/execute", chat.path), json!({ "plan_file": plan })).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    chat.run_to_end(after).await;
    let (status, body) = chat.patch(json!({ "mode": "plan" })).await;
    assert_eq!(status, StatusCode::OK, "{body}");
}

/// The pending question of a chat that waits.
pub async fn pending(chat: &ChatClient<'_>) -> Value {
    chat.show().await["pending_question"]["question_id"].clone()
}

/// Waits until nothing of the chat is under way.
pub async fn settle(chat: &ChatClient<'_>) {
    while !["idle", "failed", "awaiting_answer"].contains(&chat.show().await["state"].as_str().unwrap()) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
