//! The only crate that knows HTTP.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`routes`] | the table of routes; one file per resource |
//! | [`table`], [`describe`], [`mod@openapi`] | how the table is served and described at once |
//! | [`observe`] | request ids, the log, metrics |
//! | [`headers`] | what every answer tells the browser |
//! | [`guard`] | who may come in, and what they may do there |
//! | [`listener`], [`connections`] | where connections come from, and how many there may be |
//! | [`sse`] | events as streams: of one chat, over all chats |
//! | [`idempotency`] | requests that can be sent again |
//! | [`request`] | bodies, queries and ids, as they come in |
//! | [`answer`] | answers and errors, as they go out |
//!
//! Invariants: a handler has no policy of its own; no request passes [`guard`] unseen.

mod answer;
mod connections;
mod describe;
mod guard;
mod headers;
mod idempotency;
mod listener;
mod observe;
mod openapi;
mod request;
mod routes;
mod sse;
mod table;

pub use guard::{Access, Folders, LONGEST_PASSWORD, Outside, PublicUrl, SignIn, hash_password, new_token};
pub use request::LARGEST_BODY;
pub use routes::{ModelNames, ModelSources, ProviderView, Shelf};

use planwright_chat::Sessions;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What every handler has at hand.
#[derive(Clone)]
pub struct App {
    pub sessions: Sessions,
    pub access: Arc<Access>,
    /// The models that people configured, and could.
    pub models: Arc<dyn Shelf>,
    /// Whether what is to be kept can be written; blocks.
    pub storage: Arc<dyn Storage>,
    /// Ends streams, which would otherwise hold up a shutdown for ever.
    pub closing: CancellationToken,
}

/// Where chats are kept, as far as the server has to know.
pub trait Storage: Send + Sync {
    /// Tries to write.
    ///
    /// # Errors
    /// Why nothing can be kept at the moment.
    fn try_to_write(&self) -> std::io::Result<()>;

    /// Makes a folder with a small project to try things on; `whose` is part of its path.
    ///
    /// # Errors
    /// It can't be written.
    fn make_sample(&self, whose: &str) -> std::io::Result<PathBuf>;
}

/// The API's description, as OpenAPI 3.1.
pub fn openapi() -> &'static serde_json::Value {
    &openapi::DOCUMENT
}

/// Serves until `app.closing` is cancelled and what is under way has been answered.
pub async fn serve(listener: TcpListener, app: App) {
    let closing = app.closing.clone();
    observe::start(closing.clone());
    let connections = connections::Connections::new(app.access.proxies());
    listener::serve(listener, connections, routes::router(app), closing).await;
}
