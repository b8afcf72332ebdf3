//! The nodes that share a database, and where each workspace is.

use crate::arg::args;
use crate::db::Db;
use crate::error::StoreError;
use crate::leases::{LeaseChange, Leases, Tenure};
use crate::node::{NodeOptions, home_of_node};
use crate::ownership::{Ownership, Scope};
use crate::postgres;
use crate::store::{Store, timestamp};
use planwright_protocol::{Timestamp, WorkspaceId};
use serde_json::Value;
use tokio::sync::mpsc;

/// A node, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRow {
    pub name: String,
    pub version: String,
    /// What it says about itself.
    pub details: Value,
    pub started_at: Timestamp,
    pub is_alive: bool,
}

/// A workspace and its owner, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    pub workspace: WorkspaceId,
    pub name: String,
    pub path: String,
    /// `node:NAME`, `shared:ID`, or empty.
    pub home: String,
    /// The living owner.
    pub node: Option<String>,
    pub term: u64,
}

/// Where a workspace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodePlace {
    /// At this process.
    Here,
    /// At another node.
    Node(String),
    /// At none for the moment. The node that alone may take it, if there is only one.
    Nowhere { home: Option<String> },
    /// There is no such workspace.
    Unknown,
}

/// The database's clock, in microseconds.
macro_rules! with_clock {
    ($query:literal) => {
        concat!("with clock as materialized (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now) ", $query)
    };
}

const NODES: &str = with_clock!(
    "select name, version, details, started_at, case when is_ended = 0 and expires_at > now then 1 else 0 end as is_alive
        from nodes, clock order by name"
);
const LEASES: &str = with_clock!(
    "select workspaces.id, workspaces.name, path, home, term, nodes.name as node from workspaces cross join clock
        join workspace_leases on workspace_leases.workspace_id = workspaces.id
        left join nodes on nodes.incarnation = workspace_leases.incarnation and is_ended = 0 and expires_at > now
    where is_leaving = 0 order by workspaces.name, workspaces.id"
);
const PLACE: &str = with_clock!(
    "select home, nodes.name as node from workspace_leases cross join clock
        left join nodes on nodes.incarnation = workspace_leases.incarnation and is_ended = 0 and expires_at > now
    where workspace_id = $1"
);
const CLUSTER: &str = "select id from cluster limit 1";
const HOME: &str = "select home from workspace_leases where workspace_id = $1";
const SETTLE: &str = "insert into workspace_leases (workspace_id, home) values ($1, $2) on conflict (workspace_id)
    do update set home = case when workspace_leases.home = '' then excluded.home else workspace_leases.home end";

impl Store {
    /// Opens the PostgreSQL database at a URL as a node that shares it with others. Also returns the changes of its leases.
    ///
    /// # Errors
    /// The database is unreachable, a process without nodes uses it, or a node with this name or another version is running.
    pub async fn join(url: &str, node: NodeOptions) -> Result<(Self, mpsc::UnboundedReceiver<LeaseChange>), StoreError> {
        let (db, leases, changes) = postgres::join(url, node).await?;
        Ok((Self { leases, ..Self::of(db) }, changes))
    }

    /// The workspaces of this process.
    #[must_use]
    pub fn leases(&self) -> &Leases {
        &self.leases
    }

    /// The same database, for writes that are only valid during a tenure.
    #[must_use]
    pub fn under(&self, tenure: &Tenure) -> Self {
        Self { tenure: Some(tenure.clone()), ..self.clone() }
    }

    /// Where a workspace is, by the database.
    ///
    /// # Errors
    /// The database failed.
    pub async fn place_of(&self, workspace: WorkspaceId) -> Result<NodePlace, StoreError> {
        if self.leases.holds(workspace) {
            return Ok(NodePlace::Here);
        }
        let Some(row) = self.db.row(PLACE, args![workspace.0]).await? else { return Ok(NodePlace::Unknown) };
        Ok(match row.optional_text("node")? {
            Some(node) if Some(node.as_str()) == self.leases.node() => NodePlace::Here,
            Some(node) => NodePlace::Node(node),
            None => NodePlace::Nowhere { home: row.text("home")?.strip_prefix("node:").map(str::to_owned) },
        })
    }

    /// All nodes that ever joined under a name of their own. Only for a database that nodes share.
    ///
    /// # Errors
    /// The database failed.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        let rows = if self.is_server() { self.db.rows(NODES, args![]).await? } else { Vec::new() };
        let read = |row: &crate::db::Row| {
            Ok(NodeRow {
                name: row.text("name")?,
                version: row.text("version")?,
                details: serde_json::from_str(&row.text("details")?)?,
                started_at: timestamp(row.get("started_at")?)?,
                is_alive: row.get::<i32>("is_alive")? == 1,
            })
        };
        rows.iter().map(read).collect()
    }

    /// All workspaces with their owners. Only for a database that nodes share.
    ///
    /// # Errors
    /// The database failed.
    pub async fn lease_rows(&self) -> Result<Vec<LeaseRow>, StoreError> {
        let rows = if self.is_server() { self.db.rows(LEASES, args![]).await? } else { Vec::new() };
        let read = |row: &crate::db::Row| {
            Ok(LeaseRow {
                workspace: WorkspaceId(row.get("id")?),
                name: row.text("name")?,
                path: row.text("path")?,
                home: row.text("home")?,
                node: row.optional_text("node")?,
                term: row.number("term")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// The name of this database's nodes on a bus.
    ///
    /// # Errors
    /// The database failed.
    pub async fn cluster_id(&self) -> Result<String, StoreError> {
        self.db.row(CLUSTER, args![]).await?.map_or(Ok(String::new()), |row| row.text("id"))
    }

    /// The home of a workspace; empty if it is unknown.
    ///
    /// # Errors
    /// The database failed.
    pub async fn home_of(&self, workspace: WorkspaceId) -> Result<String, StoreError> {
        self.db.row(HOME, args![workspace.0]).await?.map_or(Ok(String::new()), |row| row.text("home"))
    }

    /// Names the home of a workspace that has none: a shared folder's id, or else this node. Returns the home.
    ///
    /// # Errors
    /// The database failed.
    pub async fn settle(&self, workspace: WorkspaceId, shared: Option<&str>) -> Result<String, StoreError> {
        let Some(node) = self.leases.node() else { return Ok(String::new()) };
        let home = shared.map_or_else(|| home_of_node(node), |id| format!("shared:{id}"));
        let mut transaction = self.db.begin().await?;
        transaction.run(SETTLE, args![workspace.0, home]).await?;
        transaction.commit().await?;
        self.look_for_leases();
        self.home_of(workspace).await
    }

    /// Gives up a workspace whose chats have ended, for a node to take.
    pub async fn release(&self, workspace: WorkspaceId, to: Option<String>) {
        if let Some(ownership) = self.ownership() {
            ownership.release(workspace, to).await;
        }
    }

    /// Looks for free workspaces now, and not only with the next renewal.
    pub fn look_for_leases(&self) {
        if let Some(ownership) = self.ownership() {
            ownership.look();
        }
    }

    /// The tenure under which this store writes, or the current one.
    pub(crate) fn tenure_of(&self, workspace: WorkspaceId) -> Result<Tenure, StoreError> {
        self.tenure.clone().map_or_else(|| self.leases.tenure(workspace), Ok)
    }

    /// The scope of a change in a workspace.
    pub(crate) fn scope_of(&self, workspace: WorkspaceId) -> Result<Scope, StoreError> {
        Ok(Scope::Workspace(self.tenure_of(workspace)?.proof()))
    }

    /// The scope of a change in the workspace that this store is for.
    pub(crate) fn scope(&self) -> Scope {
        self.tenure.as_ref().map_or(Scope::Server, |tenure| Scope::Workspace(tenure.proof()))
    }

    fn ownership(&self) -> Option<&Ownership> {
        match &self.db {
            Db::Postgres { appends: Some(appends), .. } => Some(appends.ownership()),
            Db::Postgres { appends: None, .. } | Db::Sqlite { .. } => None,
        }
    }

    fn is_server(&self) -> bool {
        matches!(self.db, Db::Postgres { .. })
    }
}
