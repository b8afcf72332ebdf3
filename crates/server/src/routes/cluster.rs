use crate::App;
use crate::answer::{ApiError, ApiResult};
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_protocol::{ErrorCode, Problem, Timestamp, WorkspaceId};
use planwright_store::NodePlace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long a move waits until the other node has the workspace.
const MOVED_WITHIN: Duration = Duration::from_secs(5);

/// The nodes that share the database, and where each workspace is.
#[derive(JsonSchema, Serialize)]
pub struct ClusterView {
    /// The name of the node that answers; absent if the server has the database for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// Whether this node can reach the other ones.
    is_connected: bool,
    /// By name, also those that ended.
    nodes: Vec<NodeView>,
    /// By name.
    workspaces: Vec<LeaseView>,
}

#[derive(JsonSchema, Serialize)]
pub struct NodeView {
    #[schemars(example = &"a")]
    name: String,
    version: String,
    /// Whether it runs, and has renewed its lease.
    alive: bool,
    started_at: Timestamp,
    /// Number of workspaces that are at this node.
    workspaces: usize,
    /// Number of chats in its memory.
    chats: u64,
    /// Hash of its configuration.
    configuration: String,
    /// Whether its configuration is another than that of the node that answers.
    differs: bool,
}

#[derive(JsonSchema, Serialize)]
pub struct LeaseView {
    workspace_id: WorkspaceId,
    name: String,
    path: String,
    /// The node where it is; absent while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// The only node that may have it; absent for a shared folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    home: Option<String>,
    /// Counts the nodes that have had it.
    term: u64,
}

/// Nodes and leases.
pub async fn show(State(app): State<App>) -> ApiResult<ClusterView> {
    let store = app.sessions.store();
    let (rows, leases) = (store.nodes().await?, store.lease_rows().await?);
    let node = store.leases().node().map(str::to_owned);
    let configuration_of = |details: &serde_json::Value| details["configuration"].as_str().unwrap_or_default().to_owned();
    let own = rows.iter().find(|row| Some(&row.name) == node.as_ref()).map(|row| configuration_of(&row.details));
    let nodes = rows.into_iter().map(|row| {
        let configuration = configuration_of(&row.details);
        NodeView {
            workspaces: leases.iter().filter(|lease| lease.node.as_ref() == Some(&row.name)).count(),
            chats: row.details["chats"].as_u64().unwrap_or_default(),
            differs: row.is_alive && own.as_ref().is_some_and(|own| *own != configuration),
            configuration,
            name: row.name,
            version: row.version,
            alive: row.is_alive,
            started_at: row.started_at,
        }
    });
    let nodes = nodes.collect();
    let workspaces = leases.into_iter().map(|lease| LeaseView {
        workspace_id: lease.workspace,
        name: lease.name,
        path: lease.path,
        node: lease.node,
        home: lease.home.strip_prefix("node:").map(str::to_owned),
        term: lease.term,
    });
    Ok(Json(ClusterView {
        node,
        is_connected: app.sessions.peers().is_some_and(planwright_feed::Peers::is_connected),
        nodes,
        workspaces: workspaces.collect(),
    }))
}

/// Where a workspace moves.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// The name of a node that runs and has the folder.
    #[schemars(example = &"b")]
    node: String,
}

/// Where a workspace is now.
#[derive(JsonSchema, Serialize)]
pub struct Moved {
    workspace_id: WorkspaceId,
    node: String,
}

/// Gives a workspace to another node; its runs go on there.
pub async fn relocate(State(app): State<App>, Ids(id): Ids<WorkspaceId>, Body(Move { node }): Body<Move>) -> ApiResult<Moved> {
    let store = app.sessions.store();
    app.sessions.workspaces().row(id).await?;
    if store.leases().node() == Some(node.as_str()) && store.leases().holds(id) {
        return Ok(Json(Moved { workspace_id: id, node }));
    }
    if !store.nodes().await?.iter().any(|row| row.name == node && row.is_alive) {
        return Err(unfit("is no running node; GET /api/v1/cluster lists them"));
    }
    if store.home_of(id).await?.starts_with("node:") {
        return Err(unfit("does not have this folder: only folders in `[cluster] shared` can move"));
    }
    app.sessions.give_workspace(id, Some(node.clone())).await?;
    let began = Instant::now();
    while store.place_of(id).await? != NodePlace::Node(node.clone()) {
        if began.elapsed() > MOVED_WITHIN {
            return Err(Problem::new(
                ErrorCode::NodeAway,
                format!("Node {node} has not taken the workspace. Does it have the shared folder?"),
            )
            .into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(Json(Moved { workspace_id: id, node }))
}

fn unfit(why: &str) -> ApiError {
    Problem::new(ErrorCode::ValidationFailed, format!("`node` {why}.")).with_details(json!({ "fields": { "node": why } })).into()
}
