use crate::db::{Row, args};
use crate::store::{Store, StoreError, micros, timestamp};
use planwright_protocol::{Timestamp, WorkspaceId};
use serde::Serialize;

/// A folder the agent works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkspaceRow {
    pub id: WorkspaceId,
    pub name: String,
    pub path: String,
    pub created_at: Timestamp,
}

const ENSURE: &str = "insert into workspaces (id, name, path, created_at) values ($1, $2, $3, $4)
    on conflict (path) do update set path = excluded.path returning *";
const ALL: &str = "select * from workspaces order by name, id";
const ONE: &str = "select * from workspaces where id = $1";

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
}

fn read(row: &Row) -> Result<WorkspaceRow, StoreError> {
    Ok(WorkspaceRow {
        id: WorkspaceId(row.get("id")?),
        name: row.text("name")?,
        path: row.text("path")?,
        created_at: timestamp(row.get("created_at")?)?,
    })
}
