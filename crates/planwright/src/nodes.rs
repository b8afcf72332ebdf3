//! Nodes that share a database: `--nats-url`, `--node`, `planwright nodes`.

use crate::args::{BadUsage, ClusterArgs, NodesArgs};
use crate::data_dir::DataDir;
use crate::output;
use anyhow::{Context, bail};
use planwright_chat::Sessions;
use planwright_config::Config;
use planwright_feed::{Nats, Peers};
use planwright_protocol::{CallId, ErrorCode, Problem, sha256_hex};
use planwright_store::{LeaseChange, NodeOptions, Store, StoreError};
use planwright_workspaces::Workspaces;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// Identifies a shared folder: a node that sees another file, or none, does not have this folder.
const ID_FILE: &str = ".planwright-folder";
/// How often a node says how busy it is.
const DESCRIBE_EVERY: Duration = Duration::from_secs(2);

/// A node's place among the others, before it has any workspace.
pub struct Membership {
    peers: Peers,
    changes: UnboundedReceiver<LeaseChange>,
    shared: Vec<(PathBuf, String)>,
    configuration: String,
}

/// Opens the database: for this process alone, or as a node with others.
pub async fn open(
    data: &DataDir,
    database: Option<&str>,
    cluster: ClusterArgs,
    config: &Config,
) -> anyhow::Result<(Store, Option<Membership>)> {
    let Some(nats) = cluster.nats_url.filter(|url| !url.is_empty()) else { return Ok((data.store(database).await?, None)) };
    let Some(database) = database.filter(|url| !url.is_empty()) else {
        bail!(BadUsage("--nats-url needs --database-url: nodes share a PostgreSQL database".to_owned()));
    };
    let name = cluster.node.unwrap_or_else(host_name);
    if !is_name(&name) {
        bail!(BadUsage(format!("--node {name} is no name for a node; it has 1 to 64 letters, digits, - and _")));
    }
    let shared = config.cluster.shared.iter().map(|folder| shared_folder(folder)).collect::<anyhow::Result<Vec<_>>>()?;
    let ids = shared.iter().map(|(_, id)| id.clone()).collect();
    let options = NodeOptions { name: name.clone(), version: env!("CARGO_PKG_VERSION").to_owned(), shared: ids };
    let (store, changes) = match Store::join(database, options).await {
        Err(error @ (StoreError::InUse | StoreError::NodeInUse(_))) => bail!(Problem::new(ErrorCode::DataDirLocked, error.to_string())),
        joined => joined?,
    };
    let bus = Nats::connect(&nats, &name).map_err(|error| BadUsage(format!("--nats-url can't be used: {error}")))?;
    let peers = Peers::new(Arc::new(bus), store.clone(), name, &store.cluster_id().await?);
    let configuration = sha256_hex(config.fingerprint().as_bytes())[..12].to_owned();
    Ok((store, Some(Membership { peers, changes, shared, configuration })))
}

impl Membership {
    /// Names the folders that other nodes have as well, and settles the workspaces that have no home yet.
    pub async fn settle(&self, workspaces: &Workspaces) -> anyhow::Result<()> {
        workspaces.share(self.shared.clone());
        for lease in workspaces.store().lease_rows().await?.into_iter().filter(|lease| lease.home.is_empty()) {
            if Path::new(&lease.path).is_dir() {
                workspaces.settle(&workspaces.row(lease.workspace).await?).await?;
            }
        }
        Ok(())
    }

    /// Works with the other nodes until the process ends.
    pub async fn begin(self, sessions: &Sessions, closing: CancellationToken) {
        let Membership { peers, changes, configuration, .. } = self;
        sessions.join(peers).await;
        let following = sessions.clone();
        tokio::spawn(async move { following.follow_leases(changes).await });
        let sessions = sessions.clone();
        tokio::spawn(async move {
            loop {
                sessions.store().leases().describe(json!({ "chats": sessions.in_memory(), "configuration": configuration }).to_string());
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = tokio::time::sleep(DESCRIBE_EVERY) => {}
                }
            }
        });
    }
}

/// A folder that several nodes have, with the id that is stored in it.
#[expect(clippy::disallowed_methods, reason = "the id file belongs to no workspace")]
fn shared_folder(folder: &Path) -> anyhow::Result<(PathBuf, String)> {
    let folder = std::fs::canonicalize(folder).with_context(|| format!("[cluster] shared: can't open {}", folder.display()))?;
    let file = folder.join(ID_FILE);
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&file);
    if let Ok(mut made) = made {
        made.write_all(CallId::generate().to_string().as_bytes())?;
        made.sync_all()?;
    }
    let id = std::fs::read_to_string(&file).with_context(|| format!("can't read {}", file.display()))?;
    let id = id.trim().to_owned();
    if id.is_empty() {
        bail!("{} is empty: another node is just making it, or ended while it did. Try again, or delete it", file.display());
    }
    Ok((folder, id))
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// The machine's name, with what is allowed in a node's.
#[expect(clippy::disallowed_methods, reason = "a file of the system")]
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String =
        name.trim().chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' }).take(64).collect();
    if name.is_empty() { "node".to_owned() } else { name }
}

/// `planwright nodes`
pub async fn nodes(args: NodesArgs) -> anyhow::Result<ExitCode> {
    let Some(url) = args.storage.database_url.as_deref().filter(|url| !url.is_empty()) else {
        bail!(BadUsage("nodes share a PostgreSQL database; name it with --database-url".to_owned()));
    };
    let Some(store) = Store::visit_server(url).await? else { bail!("the database has no tables of this version yet; start a node first") };
    let (nodes, leases) = (store.nodes().await?, store.lease_rows().await?);
    if args.json {
        let nodes: Vec<_> = nodes
            .iter()
            .map(|node| {
                let workspaces: Vec<_> = leases.iter().filter(|lease| lease.node.as_ref() == Some(&node.name)).collect();
                let workspaces: Vec<_> = workspaces
                    .iter()
                    .map(|lease| json!({ "id": lease.workspace, "name": lease.name, "path": lease.path, "term": lease.term }))
                    .collect();
                json!({ "name": node.name, "version": node.version, "alive": node.is_alive, "started_at": node.started_at,
                    "chats": node.details["chats"], "configuration": node.details["configuration"], "workspaces": workspaces })
            })
            .collect();
        let free: Vec<_> = leases
            .iter()
            .filter(|lease| lease.node.is_none())
            .map(|lease| json!({ "id": lease.workspace, "name": lease.name, "path": lease.path, "home": lease.home }))
            .collect();
        output::data(&serde_json::to_string_pretty(&json!({ "nodes": nodes, "without_node": free }))?);
        return Ok(ExitCode::SUCCESS);
    }
    if nodes.is_empty() {
        output::line("No node has ever joined this database. `planwright serve --nats-url URL --node NAME` starts one.");
    }
    for node in &nodes {
        let state = if node.is_alive { "running" } else { "away" };
        output::line(&format!("{}  {state}  version {}  {} chats in memory", node.name, node.version, node.details["chats"]));
        for lease in leases.iter().filter(|lease| lease.node.as_ref() == Some(&node.name)) {
            output::line(&format!("  {}  {}  term {}", lease.name, lease.path, lease.term));
        }
    }
    for lease in leases.iter().filter(|lease| lease.node.is_none()) {
        let home = lease.home.strip_prefix("node:").map_or_else(String::new, |node| format!(", belongs to node {node}"));
        output::line(&format!("at no node: {}  {}{home}", lease.name, lease.path));
    }
    Ok(ExitCode::SUCCESS)
}
