use crate::arg::args;
use crate::db::{Row, Transaction};
use crate::error::StoreError;
use crate::members;
use crate::store::{Store, micros, timestamp};
use planwright_protocol::api::workspace::WorkspaceRow;
use planwright_protocol::{ChatId, Timestamp, UserId, WorkspaceId};
use serde_json::Value;
use std::path::Path;

/// The result of adding a workspace.
#[derive(Clone, Debug, PartialEq)]
pub enum Added {
    /// The workspace, new or existing.
    Workspace(WorkspaceRow),
    /// The folder contains, or is inside, a workspace of other users.
    Taken(Vec<WorkspaceRow>),
}

const OF_OTHERS: &str = "select * from workspaces where is_leaving = 0 and not exists
    (select 1 from rights where rights.workspace_id = workspaces.id and rights.user_id = $1) order by path";
const AT: &str = "select * from workspaces where path = $1";
const ENSURE: &str = "insert into workspaces (id, name, path, created_at) values ($1, $2, $3, $4)
    on conflict (path) do update set path = excluded.path returning *";
/// Belongs to no node yet.
const LEASE: &str = "insert into workspace_leases (workspace_id, home) values ($1, '') on conflict (workspace_id) do nothing";
const ALL: &str = "select * from workspaces where is_leaving = 0 order by name, id";
const ONE: &str = "select * from workspaces where id = $1 and is_leaving = 0";
const UPDATE: &str = "update workspaces set name = $2, settings = $3 where id = $1";
const CHATS: &str = "select id from chats where workspace_id = $1";
const TRUSTED: &str = "select sha256 from trust where workspace_id = $1";
const TRUST: &str = "insert into trust (workspace_id, sha256, at) values ($1, $2, $3)
    on conflict (workspace_id) do update set sha256 = excluded.sha256, at = excluded.at";
const PINNED: &str = "select pin from mcp_pins where workspace_id = $1 and server = $2";
const NEWEST_PIN: &str = "select pin from mcp_pins where server = $1 and origin = $2 order by at desc limit 1";
const PIN: &str = "insert into mcp_pins (workspace_id, server, origin, pin, at) values ($1, $2, $3, $4, $5)
    on conflict (workspace_id, server) do update set origin = excluded.origin, pin = excluded.pin, at = excluded.at";

impl Store {
    /// The workspace at this path, created if it is new.
    ///
    /// # Errors
    /// The database failed.
    pub async fn ensure_workspace(&self, name: &str, path: &str) -> Result<WorkspaceRow, StoreError> {
        let mut transaction = self.db.begin().await?;
        let row = ensure(&mut transaction, name, path).await?;
        transaction.commit().await?;
        Ok(row)
    }

    /// The workspace at this path, created if it is new. A user with an account becomes the owner of a new workspace, and needs a
    /// right to an existing one. Checks and stores in one transaction, so that only one of two users gets overlapping folders:
    /// the database has one writer.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_workspace(&self, name: &str, path: &str, owner: Option<UserId>) -> Result<Added, StoreError> {
        let mut transaction = self.db.begin().await?;
        let Some(owner) = owner else {
            let row = ensure(&mut transaction, name, path).await?;
            transaction.commit().await?;
            return Ok(Added::Workspace(row));
        };
        let others = transaction.rows(OF_OTHERS, args![owner.0]).await?;
        let others = others.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let taken: Vec<WorkspaceRow> = others.into_iter().filter(|other| overlap(Path::new(&other.path), Path::new(path))).collect();
        if !taken.is_empty() {
            return Ok(Added::Taken(taken));
        }
        let is_new = transaction.rows(AT, args![path]).await?.is_empty();
        let row = ensure(&mut transaction, name, path).await?;
        if is_new {
            members::make_owner(&mut transaction, row.id, owner).await?;
        }
        transaction.commit().await?;
        Ok(Added::Workspace(row))
    }

    /// The workspaces that a user must not see.
    ///
    /// # Errors
    /// The database failed.
    pub async fn workspaces_of_others(&self, user: UserId) -> Result<Vec<WorkspaceRow>, StoreError> {
        self.db.rows(OF_OTHERS, args![user.0]).await?.iter().map(read).collect()
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

    /// Stores the name and settings of a workspace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn update_workspace(&self, row: &WorkspaceRow) -> Result<(), StoreError> {
        let mut transaction = self.db.begin_in(self.scope_of(row.id)?).await?;
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

    /// The hash of the workspace's own configuration that the user last accepted.
    ///
    /// # Errors
    /// The database failed.
    pub async fn trusted(&self, id: WorkspaceId) -> Result<Option<String>, StoreError> {
        self.db.row(TRUSTED, args![id.0]).await?.map(|row| row.text("sha256")).transpose()
    }

    /// # Errors
    /// The database failed.
    pub async fn trust(&self, id: WorkspaceId, sha256: &str) -> Result<(), StoreError> {
        let mut transaction = self.db.begin_in(self.scope_of(id)?).await?;
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

    /// What the user last accepted of a server with this name and origin, in any workspace.
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
        let mut transaction = self.db.begin_in(self.scope_of(id)?).await?;
        transaction.run(PIN, args![id.0, server, origin, pin.to_string(), micros(Timestamp::now())]).await?;
        transaction.commit().await
    }
}

async fn ensure(transaction: &mut Transaction, name: &str, path: &str) -> Result<WorkspaceRow, StoreError> {
    let row = read(&transaction.row(ENSURE, args![WorkspaceId::generate().0, name, path, micros(Timestamp::now())]).await?)?;
    transaction.run(LEASE, args![row.id.0]).await?;
    Ok(row)
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
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
