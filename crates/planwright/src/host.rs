//! Hosting a data folder: its chats, served to any number of clients.
//!
//! | module | contents |
//! | --- | --- |
//! | [`local`] | reaches the host of a data folder, and becomes it when there is none |
//! | [`socket`] | the socket in the data folder |
//!
//! Whoever has the folder's lock is the host. All front ends of this machine are clients of it, the host's own one as well.

mod local;
mod socket;

pub use local::{LocalServer, lock_of_yielding};
pub use socket::{Yielding, ask_to_yield};

use crate::args::ClusterArgs;
use crate::data_dir::DataDir;
use crate::disk;
use crate::models::{ConfiguredModels, Remotes};
use crate::nodes;
use crate::output;
use crate::retention;
use crate::servers::StoredPins;
use crate::wiring::ProcessOptions;
use planwright_chat::Sessions;
use planwright_config::Config;
use planwright_mcp::Pool;
use planwright_providers::RetryNotice;
use planwright_server::{AccessControl, App, HttpServer};
use planwright_store::Store;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// How long a running call may take when another process asks for the folder.
const CALL_GRACE: Duration = Duration::from_secs(10);
/// The same at the end of a node: another one goes on at once.
const CALL_GRACE_OF_NODE: Duration = Duration::from_secs(1);
/// Timeout for requests in progress when the host ends.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How a host works.
#[derive(Clone)]
pub struct HostOptions {
    pub config: Config,
    /// `--model`, or its variable.
    pub model: Option<String>,
    /// Whether `--trust` was given.
    pub trusts_all: bool,
    pub database_url: Option<String>,
    /// How it shares the database with other nodes.
    pub cluster: ClusterArgs,
    /// Where users with accounts may add workspaces; `None` without accounts.
    pub team: Option<Vec<PathBuf>>,
    /// Folders that hold workspaces.
    pub roots: Vec<PathBuf>,
    /// Receives a notification when a request to a model is retried.
    pub retries: Option<UnboundedSender<RetryNotice>>,
}

/// The chats of an open data folder, not served yet.
pub struct OpenFolder {
    pub data: Arc<DataDir>,
    pub store: Store,
    pub sessions: Sessions,
    /// MCP servers, to be stopped at the end.
    pub pool: Arc<Pool>,
    pub models: ConfiguredModels,
    config: Config,
    closing: CancellationToken,
}

impl OpenFolder {
    /// Opens a locked folder.
    pub async fn new(data: DataDir, options: HostOptions) -> anyhow::Result<Self> {
        let HostOptions { config, model, trusts_all, database_url, cluster, team, roots, retries } = options;
        let data = Arc::new(data);
        let (store, membership) = nodes::open(&data, database_url.as_deref(), cluster, &config).await?;
        let models = ConfiguredModels::new(&config, model.clone());
        let parts = ProcessOptions {
            config: config.clone(),
            model,
            trusts_all,
            commands: data.commands(),
            reserved: data.reserved(),
            team,
            roots,
            pins: Arc::new(StoredPins(store.clone())),
        };
        let (sessions, pool) = parts.chats(store.clone(), retries.map_or_else(Remotes::default, Remotes::reporting_to))?;
        let closing = CancellationToken::new();
        if let Some(membership) = membership {
            membership.settle(sessions.workspaces()).await?;
            membership.begin(&sessions, closing.clone()).await;
        }
        Ok(Self { data, store, sessions, pool, models, config, closing })
    }

    /// Cleans up after an earlier process, and resumes its runs. Returns their number.
    pub async fn resume(&self) -> anyhow::Result<usize> {
        if let Err(problem) = self.sessions.sweep_stages().await {
            output::note(&format!("can't clean up after commands: {problem}"));
        }
        // A node resumes the runs of each workspace that it takes.
        if self.sessions.peers().is_some() { Ok(0) } else { Ok(self.sessions.resume_all().await?) }
    }

    /// Serves the chats: on the socket, and to this process. With `successor` the folder is handed over on request.
    pub fn host(self, access: AccessControl, successor: Option<CancellationToken>) -> Host {
        let folder = self.data.real_path();
        // Without it, everything but attaching works.
        let listener = socket::bind(&folder)
            .inspect_err(|error| output::note(&format!("can't listen on the socket in {}: {error}", folder.display())))
            .ok();
        let app = App {
            sessions: self.sessions.clone(),
            access: Arc::new(access),
            models: Arc::new(self.models.clone()),
            storage: self.data.clone(),
            closing: self.closing.clone(),
            successor,
        };
        let closing = app.closing.clone();
        tokio::spawn(disk::watch_disk(self.data.reserve(), self.data.path().to_owned(), self.sessions.clone(), closing.clone()));
        tokio::spawn(retention::observe(self.sessions.clone(), self.config.retention, closing.clone()));
        let server = HttpServer::new(app);
        let on_socket = server.clone();
        let serving = tokio::spawn(async move {
            if let Some(listener) = listener {
                on_socket.serve_socket(listener).await;
            }
        });
        Host { folder: self, server, closing, serving }
    }
}

/// A served data folder.
pub struct Host {
    pub folder: OpenFolder,
    pub server: HttpServer,
    closing: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
}

impl Host {
    /// Ends: runs are left between two calls, or where they are after some time, and go on at the next host.
    pub async fn end(self) {
        let Self { folder, server, closing, serving } = self;
        // No request begins anything any more; clients connect again, to the next host.
        closing.cancel();
        let grace = if folder.sessions.peers().is_some() { CALL_GRACE_OF_NODE } else { CALL_GRACE };
        folder.sessions.hand_over(grace).await;
        folder.pool.close().await;
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, async { tokio::join!(serving, server.drained()) }).await;
        folder.store.close().await;
        folder.data.reserve().keep_for_next_start();
        socket::remove(&folder.data.real_path());
        folder.data.unlock();
    }
}
