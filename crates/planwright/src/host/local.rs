//! Reaches the host of a data folder, and becomes it when there is none.
//!
//! To a client this is a connector like any other: after each loss it is asked for a new connection, which leads to the present
//! host, or to this process once it has taken the lock.

use super::{Host, HostOptions, OpenFolder, socket};
use crate::data_dir::DataDir;
use crate::models::ask_daemon;
use crate::output;
use crate::servers::Waits;
use futures::future::BoxFuture;
use planwright_client::{BoxedStream, Connect, ServerTarget};
use planwright_server::{AccessControl, ExternalAccess, Folders, SignInMethod};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long to wait for a process that has the lock and does not answer yet: one that starts or ends.
const START_TIMEOUT: Duration = Duration::from_secs(20);
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// How long the process that asked for the folder has the first right to its lock.
const SUCCESSOR_FIRST: Duration = Duration::from_secs(10);

/// The data folder of this machine, whoever hosts it.
pub struct LocalServer {
    folder: Option<PathBuf>,
    options: HostOptions,
    token: Option<String>,
    state: tokio::sync::Mutex<State>,
    waits: Mutex<Option<Waits>>,
    /// Why hosting failed the last time.
    failure: Mutex<Option<anyhow::Error>>,
}

#[derive(Default)]
struct State {
    host: Option<Host>,
    /// Until then another process takes the lock first.
    yielded_until: Option<Instant>,
    is_closed: bool,
}

impl LocalServer {
    /// `token` is for a host with accounts.
    pub fn new(folder: Option<PathBuf>, options: HostOptions, token: Option<String>) -> Arc<Self> {
        let (state, waits, failure) = (tokio::sync::Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { folder, options, token, state, waits, failure })
    }

    /// Finds the host, or becomes it.
    ///
    /// # Errors
    /// There is none, and this process can't be it.
    pub async fn open(self: &Arc<Self>) -> anyhow::Result<()> {
        match self.reach().await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_else(|| error.into())),
        }
    }

    /// What a client reaches this folder by.
    #[must_use]
    pub fn target(self: &Arc<Self>) -> ServerTarget {
        ServerTarget::Custom(Arc::new(LocalConnector(self.clone())))
    }

    /// Whether this process is the host.
    pub async fn is_host(&self) -> bool {
        self.state.lock().await.host.is_some()
    }

    /// Does something with the folder, if this process is the host.
    pub async fn with_folder<T>(&self, work: impl AsyncFnOnce(&OpenFolder) -> T) -> Option<T> {
        match &self.state.lock().await.host {
            Some(host) => Some(work(&host.folder).await),
            None => None,
        }
    }

    /// What to print about MCP servers that this process waits for.
    pub fn new_waits(&self) -> Vec<String> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(Waits::new_messages).unwrap_or_default()
    }

    /// Ends hosting; the next client of the folder goes on.
    pub async fn close(&self) {
        let mut state = self.state.lock().await;
        state.is_closed = true;
        if let Some(host) = state.host.take() {
            host.end().await;
        }
    }

    async fn reach(self: &Arc<Self>) -> io::Result<BoxedStream> {
        let mut state = self.state.lock().await;
        let until = Instant::now() + START_TIMEOUT;
        loop {
            if state.is_closed {
                return Err(io::ErrorKind::NotConnected.into());
            }
            if let Some(host) = &state.host {
                let stream = host.server.connect().ok_or(io::ErrorKind::ConnectionRefused)?;
                return Ok(Box::new(stream));
            }
            let path = DataDir::path_of(self.folder.clone()).map_err(io::Error::other)?;
            if let Ok(stream) = socket::connect(&path).await {
                return Ok(Box::new(stream));
            }
            let may_lock = state.yielded_until.is_none_or(|until| Instant::now() >= until);
            match may_lock.then(|| DataDir::try_open(self.folder.clone())) {
                Some(Ok(Some(data))) => state.host = Some(self.start(data).await.map_err(|error| self.failed(error))?),
                Some(Err(error)) => return Err(self.failed(error)),
                None | Some(Ok(None)) if Instant::now() >= until => return Err(self.failed(DataDir::locked(&path))),
                None | Some(Ok(None)) => tokio::time::sleep(RETRY_INTERVAL).await,
            }
        }
    }

    /// Keeps the error for [`Self::open`]; the client gets its text.
    fn failed(&self, error: anyhow::Error) -> io::Error {
        let text = format!("{error:#}");
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        io::Error::other(text)
    }

    async fn start(self: &Arc<Self>, data: DataDir) -> anyhow::Result<Host> {
        let mut options = self.options.clone();
        ask_daemon(&mut options.config, options.model.as_deref()).await;
        let folder = OpenFolder::new(data, options).await?;
        let resumed = folder.resume().await?;
        if resumed > 0 {
            tracing::info!(resumed, "resuming interrupted runs");
        }
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner) = Some(Waits::new(folder.pool.clone()));
        let successor = CancellationToken::new();
        let host = folder.host(local_access(), Some(successor.clone()));
        let server = self.clone();
        tokio::spawn(async move {
            successor.cancelled().await;
            server.hand_over().await;
        });
        Ok(host)
    }

    /// Another process asked for the folder. Requests that come meanwhile wait, and then go to it.
    async fn hand_over(&self) {
        let mut state = self.state.lock().await;
        let Some(host) = state.host.take() else { return };
        tracing::info!("handing the data folder over to a server");
        host.end().await;
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner) = None;
        state.yielded_until = Some(Instant::now() + SUCCESSOR_FIRST);
    }
}

/// For the client.
struct LocalConnector(Arc<LocalServer>);

impl Connect for LocalConnector {
    fn connect(&self) -> BoxFuture<'_, io::Result<BoxedStream>> {
        Box::pin(self.0.reach())
    }

    fn token(&self) -> Option<String> {
        self.0.token.clone()
    }
}

/// Nobody reaches such a host but the user, on the socket or from within the process.
fn local_access() -> AccessControl {
    let outside =
        ExternalAccess { public_url: None, proxies: Vec::new(), requests_per_minute: u32::MAX, folders: Folders { roots: Vec::new() } };
    AccessControl::new(SignInMethod::Off, SocketAddr::from(([127, 0, 0, 1], 0)), outside)
}

/// Waits until the process that yields a folder has released it.
pub async fn lock_of_yielding(folder: Option<PathBuf>, path: &Path) -> anyhow::Result<DataDir> {
    let until = Instant::now() + START_TIMEOUT;
    output::note("another planwright has the data folder; it hands it over");
    while Instant::now() < until {
        if let Some(data) = DataDir::try_open(folder.clone())? {
            return Ok(data);
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
    Err(DataDir::locked(path))
}
