//! A database of either kind, for one test.

use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::message::UserText;
use planwright_protocol::{ChatConfig, ChatId, Envelope, Event, Message, Role, Timestamp, WorkspaceId};
use planwright_store::{Append, ChatRow, Store, StoreError, StoredEvent};
use planwright_testkit::postgres::Database;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tempfile::TempDir;

pub enum World {
    Sqlite(TempDir),
    Postgres(Database),
}

/// Generates a test of each function for each database.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::world::World::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::world::World::postgres()).await;
            })*
        }
    };
}
pub(crate) use on_both;

impl World {
    pub fn sqlite() -> Self {
        World::Sqlite(tempfile::tempdir().unwrap())
    }

    pub fn postgres() -> Self {
        World::Postgres(Database::fresh())
    }

    pub async fn open(&self) -> Store {
        self.try_open().await.unwrap()
    }

    pub async fn try_open(&self) -> Result<Store, StoreError> {
        match self {
            World::Sqlite(folder) => Store::open(&folder.path().join("a.db")).await,
            World::Postgres(database) => Store::connect(&database.url).await,
        }
    }

    /// Opens the database beside the process that uses it.
    pub async fn visit(&self) -> Option<Store> {
        match self {
            World::Sqlite(folder) => Store::visit(&folder.path().join("a.db")).await.unwrap(),
            World::Postgres(database) => Store::visit_server(&database.url).await.unwrap(),
        }
    }

    /// Changes the database as an older version or a user with a shell would.
    pub async fn tamper(&self, sql: impl Into<String>) {
        let sql = AssertSqlSafe(sql.into());
        match self {
            World::Sqlite(folder) => {
                let mut connection = self.sqlite_options(folder).connect().await.unwrap();
                sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
            World::Postgres(database) => {
                let mut connection = database.url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
                sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    /// A connection that blocks all other writers until it is closed.
    pub async fn hold(&self) -> Holder {
        let World::Sqlite(folder) = self else { unreachable!("only a file is held") };
        let mut connection = self.sqlite_options(folder).connect().await.unwrap();
        sqlx::raw_sql("begin immediate").execute(&mut connection).await.unwrap();
        Holder(connection)
    }

    /// The texts in the first column of a query's result.
    pub async fn look(&self, sql: &str) -> Vec<String> {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            World::Sqlite(folder) => {
                let mut connection = self.sqlite_options(folder).connect().await.unwrap();
                sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
            }
            World::Postgres(database) => {
                let mut connection = database.url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
                sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
            }
        }
    }

    /// Chooses the SQL for the database.
    pub fn either<T>(&self, sqlite: T, postgres: T) -> T {
        match self {
            World::Sqlite(_) => sqlite,
            World::Postgres(_) => postgres,
        }
    }

    #[expect(clippy::unused_self, reason = "reads as a question to the world")]
    fn sqlite_options(&self, folder: &TempDir) -> SqliteConnectOptions {
        SqliteConnectOptions::new().filename(folder.path().join("a.db")).create_if_missing(true)
    }
}

pub struct Holder(sqlx::SqliteConnection);

impl Holder {
    pub async fn close(self) {
        self.0.close().await.unwrap();
    }
}

pub fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

pub async fn chat_in(store: &Store) -> ChatRow {
    chat_of(store, "/w").await
}

pub async fn chat_of(store: &Store, workspace: &str) -> ChatRow {
    let workspace = store.ensure_workspace("w", workspace).await.unwrap();
    let chat = chat_row(workspace.id);
    store.create_chat(&chat).await.unwrap();
    chat
}

pub fn chat_row(workspace_id: WorkspaceId) -> ChatRow {
    ChatRow {
        id: ChatId::generate(),
        version: 0,
        workspace_id,
        title: "T".into(),
        config: ChatConfig { role: Role::Planner, plan_file: None },
        state: ChatState::Idle,
        pending: None,
        grants: Vec::new(),
        progress: None,
        epoch: 0,
        seq_ceiling: 0,
        usage: Usage::default(),
        run: None,
        turn_start: None,
        marks: planwright_store::Marks::default(),
        created_at: moment(0),
        updated_at: moment(0),
    }
}

/// Appends to a chat, at its current version.
pub async fn append(store: &Store, chat: &ChatRow, append: Append<'_>) -> Result<u64, StoreError> {
    let version = store.chat(chat.id).await?.map_or(0, |stored| stored.version);
    store.append(&ChatRow { version, ..chat.clone() }, append).await
}

pub fn created(chat: &ChatRow, seq: u64, text: &str) -> Envelope {
    let mut message = Message::new(chat.id, UserText::default(), text);
    message.created_at = chat.created_at;
    Envelope { event: Event::MessageCreated { message }, seq, at: chat.created_at }
}

/// Events as they were before they were stored.
pub async fn envelopes(store: &Store, chat: &ChatRow, after: u64, limit: u32) -> Vec<Envelope> {
    let stored = store.stored_after(chat.id, after, limit).await.unwrap();
    let read = |event: StoredEvent| {
        let envelope: Envelope = serde_json::from_str(&event.envelope).unwrap();
        assert_eq!((event.seq, event.name.as_str()), (envelope.seq, envelope.event.name()));
        envelope
    };
    stored.into_iter().map(read).collect()
}
