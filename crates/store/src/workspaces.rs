use crate::store::{Store, StoreError, micros, timestamp};
use planwright_protocol::{Timestamp, WorkspaceId};
use serde::Serialize;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

/// A folder the agent works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkspaceRow {
    pub id: WorkspaceId,
    pub name: String,
    pub path: String,
    pub created_at: Timestamp,
}

impl Store {
    /// The workspace at this path; made if it is not known yet.
    ///
    /// # Errors
    /// The database failed.
    pub async fn ensure_workspace(&self, name: &str, path: &str) -> Result<WorkspaceRow, StoreError> {
        let row = sqlx::query(
            "insert into workspaces (id, name, path, created_at) values ($1, $2, $3, $4)
             on conflict (path) do update set path = excluded.path returning *",
        )
        .bind(WorkspaceId::generate().0)
        .bind(name)
        .bind(path)
        .bind(micros(Timestamp::now()))
        .fetch_one(&self.writer)
        .await?;
        read(&row)
    }

    /// # Errors
    /// The database failed.
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceRow>, StoreError> {
        sqlx::query("select * from workspaces order by name, id").fetch_all(&self.reader).await?.iter().map(read).collect()
    }

    /// # Errors
    /// The database failed.
    pub async fn workspace(&self, id: WorkspaceId) -> Result<Option<WorkspaceRow>, StoreError> {
        sqlx::query("select * from workspaces where id = $1").bind(id.0).fetch_optional(&self.reader).await?.as_ref().map(read).transpose()
    }
}

fn read(row: &SqliteRow) -> Result<WorkspaceRow, StoreError> {
    Ok(WorkspaceRow {
        id: WorkspaceId(row.try_get("id")?),
        name: row.try_get("name")?,
        path: row.try_get("path")?,
        created_at: timestamp(row.try_get("created_at")?)?,
    })
}
