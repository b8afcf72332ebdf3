use crate::db::{Row, args};
use crate::store::{Store, StoreError, micros, timestamp};
use crate::versions::FORGET_CONTENTS;
use planwright_protocol::{ChatId, Timestamp, WorkspaceId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// A folder the agent works in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkspaceRow {
    pub id: WorkspaceId,
    pub name: String,
    pub path: String,
    /// What the user set for it, over its file and their own.
    pub settings: Map<String, Value>,
    pub created_at: Timestamp,
}

const ENSURE: &str = "insert into workspaces (id, name, path, created_at) values ($1, $2, $3, $4)
    on conflict (path) do update set path = excluded.path returning *";
const ALL: &str = "select * from workspaces order by name, id";
const ONE: &str = "select * from workspaces where id = $1";
const UPDATE: &str = "update workspaces set name = $2, settings = $3 where id = $1";
const CHATS: &str = "select id from chats where workspace_id = $1";
const DELETE_CHATS: &str = "delete from chats where workspace_id = $1";
const DELETE: &str = "delete from workspaces where id = $1";
const TRUSTED: &str = "select sha256 from trust where workspace_id = $1";
const TRUST: &str = "insert into trust (workspace_id, sha256, at) values ($1, $2, $3)
    on conflict (workspace_id) do update set sha256 = excluded.sha256, at = excluded.at";
const PINNED: &str = "select pin from mcp_pins where workspace_id = $1 and server = $2";
const NEWEST_PIN: &str = "select pin from mcp_pins where server = $1 and origin = $2 order by at desc limit 1";
const PIN: &str = "insert into mcp_pins (workspace_id, server, origin, pin, at) values ($1, $2, $3, $4, $5)
    on conflict (workspace_id, server) do update set origin = excluded.origin, pin = excluded.pin, at = excluded.at";

impl Store {
    /// The workspace at this path; made if it is not known yet.
    ///
    /// # Errors
    /// The database failed.
    pub async fn ensure_workspace(&self, name: &str, path: &str) -> Result<WorkspaceRow, StoreError> {
        let mut transaction = self.db.begin().await?;
        let row = transaction.row(ENSURE, args![WorkspaceId::generate().0, name, path, micros(Timestamp::now())]).await?;
        transaction.commit().await?;
        read(&row)
    }

    /// # Errors
    /// The database failed.
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceRow>, StoreError> {
        self.db.rows(ALL, args![]).await?.iter().map(read).collect()
    }

    /// # Errors
    /// The database failed.
    pub async fn workspace(&self, id: WorkspaceId) -> Result<Option<WorkspaceRow>, StoreError> {
        self.db.row(ONE, args![id.0]).await?.as_ref().map(read).transpose()
    }

    /// Keeps the name and the settings of a workspace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn update_workspace(&self, row: &WorkspaceRow) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(UPDATE, args![row.id.0, row.name.as_str(), serde_json::to_string(&row.settings)?]).await?;
        transaction.commit().await
    }

    /// All chats of a workspace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn chats_in(&self, id: WorkspaceId) -> Result<Vec<ChatId>, StoreError> {
        self.db.rows(CHATS, args![id.0]).await?.iter().map(|row| Ok(ChatId(row.get("id")?))).collect()
    }

    /// Forgets a workspace and its chats.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_workspace(&self, id: WorkspaceId) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(DELETE_CHATS, args![id.0]).await?;
        transaction.run(DELETE, args![id.0]).await?;
        transaction.run(FORGET_CONTENTS, args![]).await?;
        transaction.commit().await
    }

    /// The hash of the workspace's own configuration that the user accepted last.
    ///
    /// # Errors
    /// The database failed.
    pub async fn trusted(&self, id: WorkspaceId) -> Result<Option<String>, StoreError> {
        self.db.row(TRUSTED, args![id.0]).await?.map(|row| row.text("sha256")).transpose()
    }

    /// # Errors
    /// The database failed.
    pub async fn trust(&self, id: WorkspaceId, sha256: &str) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(TRUST, args![id.0, sha256, micros(Timestamp::now())]).await?;
        transaction.commit().await
    }

    /// What the user accepted of an MCP server in a workspace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn mcp_pin(&self, id: WorkspaceId, server: &str) -> Result<Option<Value>, StoreError> {
        let row = self.db.row(PINNED, args![id.0, server]).await?;
        row.map(|row| Ok(serde_json::from_str(&row.text("pin")?)?)).transpose()
    }

    /// What they accepted last of a server of this name and origin, in any workspace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn newest_mcp_pin(&self, server: &str, origin: &str) -> Result<Option<Value>, StoreError> {
        let row = self.db.row(NEWEST_PIN, args![server, origin]).await?;
        row.map(|row| Ok(serde_json::from_str(&row.text("pin")?)?)).transpose()
    }

    /// # Errors
    /// The database failed.
    pub async fn pin_mcp(&self, id: WorkspaceId, server: &str, origin: &str, pin: &Value) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(PIN, args![id.0, server, origin, pin.to_string(), micros(Timestamp::now())]).await?;
        transaction.commit().await
    }
}

pub(crate) fn read(row: &Row) -> Result<WorkspaceRow, StoreError> {
    Ok(WorkspaceRow {
        id: WorkspaceId(row.get("id")?),
        name: row.text("name")?,
        path: row.text("path")?,
        settings: serde_json::from_str(&row.text("settings")?)?,
        created_at: timestamp(row.get("created_at")?)?,
    })
}
