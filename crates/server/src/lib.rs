//! The HTTP server. No other crate serves HTTP.
//!
//! | module | contents |
//! | --- | --- |
//! | [`routes`] | the table of routes; one file per resource |
//! | [`table`], [`describe`], [`mod@openapi`] | one table that is both served and described |
//! | [`change_rule`] | who may call a route that changes something, and what a key does |
//! | [`observe`] | request ids, the log, metrics |
//! | [`headers`] | security headers of every response |
//! | [`guard`] | authentication and authorization |
//! | [`listener`], [`connections`] | accepts connections, and limits them |
//! | [`sse`] | event streams: of one chat, over all chats |
//! | [`idempotency`] | retried requests |
//! | [`leash`] | runs that stop when the client that started them is gone |
//! | [`nodes`] | requests for workspaces of other nodes |
//! | [`successor`] | asking the host of a data folder to hand it over |
//! | [`readiness`] | checks whether the server can work |
//! | [`request`] | parses bodies, queries and ids |
//! | [`answer`] | responses and errors |
//!
//! Invariants: handlers make no policy decisions. Every request passes [`guard`].

mod answer;
mod change_rule;
mod connections;
mod describe;
mod guard;
mod headers;
mod idempotency;
mod leash;
mod listener;
mod nodes;
mod observe;
mod openapi;
mod readiness;
mod request;
mod routes;
mod sse;
mod successor;
mod table;

pub use guard::{AccessControl, ExternalAccess, Folders, LONGEST_PASSWORD, PublicUrl, SignInMethod, hash_password, new_token};
pub use request::LARGEST_BODY;
pub use routes::{ModelDirectory, ModelSources, ProviderView};
pub use successor::PATH as YIELD_PATH;

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use connections::Connections;
use guard::{Peer, Way};
use planwright_chat::Sessions;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::DuplexStream;
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The state shared by all handlers.
#[derive(Clone)]
pub struct App {
    pub sessions: Sessions,
    pub access: Arc<AccessControl>,
    /// The configured models, and the vendors that could be configured.
    pub models: Arc<dyn ModelDirectory>,
    /// Whether the data folder is writable; blocks.
    pub storage: Arc<dyn Storage>,
    /// Ends streams, which would otherwise delay a shutdown for ever.
    pub closing: CancellationToken,
    /// Cancelled when a starting `serve` asks for the data folder; `None` if this process keeps it.
    pub successor: Option<CancellationToken>,
}

/// The data folder, as far as the server needs it.
pub trait Storage: Send + Sync {
    /// Tries to write.
    ///
    /// # Errors
    /// Why nothing can be stored at the moment.
    fn try_to_write(&self) -> std::io::Result<()>;

    /// Creates a folder with a small sample project; `whose` is part of its path.
    ///
    /// # Errors
    /// It can't be written.
    fn make_sample(&self, whose: &str) -> std::io::Result<PathBuf>;
}

/// The API's description, as OpenAPI 3.1.
pub fn openapi() -> &'static serde_json::Value {
    &openapi::DOCUMENT
}

/// The server, reached by an address, a socket, or from within the process.
#[derive(Clone)]
pub struct HttpServer {
    router: Router,
    local: Router,
    connections: Arc<Connections>,
    closing: CancellationToken,
    in_memory: TaskTracker,
}

/// Buffered bytes of a connection within the process, in each direction.
const IN_MEMORY: usize = 64 << 10;

impl HttpServer {
    #[must_use]
    pub fn new(app: App) -> Self {
        let closing = app.closing.clone();
        observe::start(closing.clone());
        let connections = Connections::new(app.access.proxies());
        if let Some(peers) = app.sessions.peers() {
            metrics::gauge!("planwright_node_info", "node" => peers.node().to_owned()).set(1.0);
            tokio::spawn(nodes::serve(peers.clone(), app.clone(), routes::router_for_nodes(app.clone())));
        }
        let successor = app.successor.clone();
        let router = routes::router(app);
        let local = successor::router(successor).fallback_service(router.clone());
        Self { router, local, connections, closing, in_memory: TaskTracker::new() }
    }

    /// Serves until `App::closing` is cancelled and all requests in progress have been answered.
    pub async fn serve(&self, listener: TcpListener) {
        listener::serve(listener, self.connections.clone(), self.router.clone(), self.closing.clone()).await;
    }

    /// The same on the socket in the data folder.
    pub async fn serve_socket(&self, listener: UnixListener) {
        listener::serve_socket(listener, self.connections.clone(), self.local.clone(), self.closing.clone()).await;
    }

    /// A connection from within the process; `None` if there are too many.
    #[must_use]
    pub fn connect(&self) -> Option<DuplexStream> {
        let peer = Peer::local();
        let slot = self.connections.admit(peer.remote.ip())?;
        let (ours, theirs) = tokio::io::duplex(IN_MEMORY);
        self.in_memory.spawn(listener::serve_connection(ours, peer, slot, self.local.clone(), self.closing.clone()));
        Some(theirs)
    }

    /// Waits until the connections from within the process have ended, after `App::closing` was cancelled.
    pub async fn drained(&self) {
        self.in_memory.close();
        self.in_memory.wait().await;
    }
}

/// The API for requests that need no connection. They are treated like requests that came by an address of this machine.
pub fn in_process(app: App) -> Router {
    let peer = Peer { way: Way::Network, remote: (Ipv4Addr::LOCALHOST, 0).into(), local: None };
    routes::router(app).layer(Extension(ConnectInfo(peer)))
}
