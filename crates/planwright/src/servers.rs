//! MCP servers: the user's acceptances (pins) in the database, and access to servers without a chat.

use crate::args::BadUsage;
use crate::output;
use crate::wiring::ProcessOptions;
use anyhow::Context;
use async_trait::async_trait;
use planwright_config::Config;
use planwright_mcp::{Pin, Pins, Pool};
use planwright_protocol::{Problem, WorkspaceId};
use planwright_store::Store;
use planwright_tools::servers::Origin;
use planwright_tools::{Site, Workspace};
use planwright_workspaces::{Configuration, ReservedFolders, Settings, Trust, WorkspaceRules, neighbours};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument::WithSubscriber;

/// Marks pins of servers in the user's own file.
const USER: &str = "user";

pub struct StoredPins(pub Store);

#[async_trait]
impl Pins for StoredPins {
    async fn pinned(&self, workspace: WorkspaceId, server: &str) -> Result<Option<Pin>, Problem> {
        Ok(read(self.0.mcp_pin(workspace, server).await?))
    }

    async fn newest_of_user(&self, server: &str) -> Result<Option<Pin>, Problem> {
        Ok(read(self.0.newest_mcp_pin(server, USER).await?))
    }

    async fn pin(&self, workspace: WorkspaceId, server: &str, origin: Origin, pin: &Pin) -> Result<(), Problem> {
        let pin = serde_json::to_value(pin).unwrap_or_default();
        let origin = match origin {
            Origin::User => USER,
            Origin::Workspace => "workspace",
        };
        self.0.pin_mcp(workspace, server, origin, &pin).await.map_err(Problem::from)
    }
}

/// An unreadable pin accepts nothing.
fn read(pin: Option<Value>) -> Option<Pin> {
    pin.map(|pin| serde_json::from_value(pin).unwrap_or_else(|_| Pin { launch: String::new(), shown: Value::Null, tools: None }))
}

/// Without storage: every server counts as accepted.
pub struct NoPins;

#[async_trait]
impl Pins for NoPins {
    async fn pinned(&self, _: WorkspaceId, _: &str) -> Result<Option<Pin>, Problem> {
        Ok(None)
    }

    async fn newest_of_user(&self, _: &str) -> Result<Option<Pin>, Problem> {
        Ok(None)
    }

    async fn pin(&self, _: WorkspaceId, _: &str, _: Origin, _: &Pin) -> Result<(), Problem> {
        Ok(())
    }
}

/// Reads pins without adding any, for commands that only look.
pub struct ReadPins(pub StoredPins);

#[async_trait]
impl Pins for ReadPins {
    async fn pinned(&self, workspace: WorkspaceId, server: &str) -> Result<Option<Pin>, Problem> {
        self.0.pinned(workspace, server).await
    }

    async fn newest_of_user(&self, server: &str) -> Result<Option<Pin>, Problem> {
        self.0.newest_of_user(server).await
    }

    async fn pin(&self, _: WorkspaceId, _: &str, _: Origin, _: &Pin) -> Result<(), Problem> {
        Ok(())
    }
}

/// For commands that ask the user: also shows a server's first offer.
pub struct AskedPins(pub StoredPins);

#[async_trait]
impl Pins for AskedPins {
    fn shows_first(&self) -> bool {
        true
    }

    async fn pinned(&self, workspace: WorkspaceId, server: &str) -> Result<Option<Pin>, Problem> {
        self.0.pinned(workspace, server).await
    }

    async fn newest_of_user(&self, server: &str) -> Result<Option<Pin>, Problem> {
        self.0.newest_of_user(server).await
    }

    async fn pin(&self, workspace: WorkspaceId, server: &str, origin: Origin, pin: &Pin) -> Result<(), Problem> {
        self.0.pin(workspace, server, origin, pin).await
    }
}

/// The MCP servers of a folder, from the command line. Their programs work in their own place, beside a running server of ours.
pub struct FolderServers {
    pub rules: WorkspaceRules,
    pub trust: Trust,
    pub site: Site,
    pub pool: Arc<Pool>,
    place: PathBuf,
}

impl FolderServers {
    /// `accepted` is the hash of the folder's own file that the user trusts.
    pub async fn open(
        config: &Config,
        (store, own): (&Store, &ReservedFolders),
        pins: Arc<dyn Pins>,
        folder: &Path,
        id: WorkspaceId,
        accepted: Option<&str>,
    ) -> anyhow::Result<Self> {
        let temporary = std::env::temp_dir();
        let place = std::fs::canonicalize(&temporary).unwrap_or(temporary).join(format!("planwright-servers-{}", std::process::id()));
        let parts = ProcessOptions {
            config: config.clone(),
            model: None,
            trusts_all: false,
            commands: place.join("commands"),
            reserved: own.clone(),
            // With accounts, another user may have accepted the file.
            team: (!store.users().await?.is_empty()).then(Vec::new),
            roots: Vec::new(),
            pins,
        };
        let (layers, pool) = parts.layers().with_context(in_file)?;
        let wrong = |error| BadUsage(format!("the workspace {} can't be opened: {error}", folder.display()));
        let workspace = Arc::new(Workspace::open(folder).map_err(wrong)?);
        let (rules, trust) = layers.within(&workspace, accepted)?;
        let Settings { commands, secrets, .. } = (*rules.settings).clone();
        let neighbours = neighbours(store, id).await?;
        let site = Site { id, workspace, commands, secrets, neighbours };
        Ok(Self { rules, trust, site, pool, place })
    }

    /// Stops the started servers.
    pub async fn close(self) {
        self.pool.close().await;
        planwright_sandbox::remove_folder(&self.place);
    }
}

/// The place of a mistake in the user's own configuration.
pub fn in_file() -> String {
    Config::file().map_or_else(|| "the configuration".to_owned(), |file| file.display().to_string())
}

/// The workspace of a folder; a new id if it is unknown.
pub async fn known_workspace(store: &Store, folder: &Path) -> anyhow::Result<WorkspaceId> {
    let path = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let known = store.workspaces().await?.into_iter().find(|row| Path::new(&row.path) == path);
    Ok(known.map_or_else(WorkspaceId::generate, |row| row.id))
}

/// How long to wait for a server before reporting it.
const REPORT_AFTER: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(250);

/// Reports each server that we wait for, once per wait.
pub struct Waits {
    pool: Arc<Pool>,
    reported: BTreeSet<String>,
}

impl Waits {
    pub fn new(pool: Arc<Pool>) -> Self {
        Self { pool, reported: BTreeSet::new() }
    }

    /// The messages to print now.
    pub fn new_messages(&mut self) -> Vec<String> {
        let waited_for = self.pool.waited_for(REPORT_AFTER);
        self.reported.retain(|server| waited_for.contains_key(server));
        let news = waited_for.into_iter().filter(|(server, _)| self.reported.insert(server.clone()));
        news.map(|(server, most)| format!("waiting for the MCP server `{server}` to start, at most {} s (start_timeout_s)", most.as_secs()))
            .collect()
    }
}

/// Runs work that may wait for servers, and reports the wait. The servers' reports contain their problems, so these are logged
/// only if the user enables the log.
pub async fn while_waiting<T>(pool: &Arc<Pool>, work: impl Future<Output = T>) -> T {
    let mut waits = Waits::new(pool.clone());
    let mut ticks = tokio::time::interval(TICK);
    let wants_log = std::env::var_os(crate::args::LOG).is_some_and(|wanted| !wanted.is_empty());
    let log = if wants_log { tracing::dispatcher::get_default(Clone::clone) } else { tracing::Dispatch::none() };
    let work = work.with_subscriber(log);
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => waits.new_messages().iter().for_each(|line| output::note(&format!("planwright: {line}"))),
        }
    }
}
