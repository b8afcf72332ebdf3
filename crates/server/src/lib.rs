//! The HTTP server. No other crate serves HTTP.
//!
//! | module | contents |
//! | --- | --- |
//! | [`routes`] | the table of routes; one file per resource |
//! | [`table`], [`describe`], [`mod@openapi`] | one table that is both served and described |
//! | [`observe`] | request ids, the log, metrics |
//! | [`headers`] | security headers of every response |
//! | [`guard`] | authentication and authorization |
//! | [`listener`], [`connections`] | accepts connections, and limits them |
//! | [`sse`] | event streams: of one chat, over all chats |
//! | [`idempotency`] | retried requests |
//! | [`readiness`] | checks whether the server can work |
//! | [`request`] | parses bodies, queries and ids |
//! | [`answer`] | responses and errors |
//!
//! Invariants: handlers make no policy decisions. Every request passes [`guard`].

mod answer;
mod connections;
mod describe;
mod guard;
mod headers;
mod idempotency;
mod listener;
mod observe;
mod openapi;
mod readiness;
mod request;
mod routes;
mod sse;
mod table;

pub use guard::{AccessControl, ExternalAccess, Folders, LONGEST_PASSWORD, PublicUrl, SignInMethod, hash_password, new_token};
pub use request::LARGEST_BODY;
pub use routes::{ModelDirectory, ModelSources, ProviderView};

use planwright_chat::Sessions;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

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

/// Serves until `app.closing` is cancelled and all requests in progress have been answered.
pub async fn serve(listener: TcpListener, app: App) {
    let closing = app.closing.clone();
    observe::start(closing.clone());
    let connections = connections::Connections::new(app.access.proxies());
    listener::serve(listener, connections, routes::router(app), closing).await;
}
