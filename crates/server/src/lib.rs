//! The only crate that knows HTTP.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`routes`] | the table of routes; one file per resource |
//! | [`guard`] | who may come in, and what they may do there |
//! | [`sse`] | a chat's events as a stream |
//! | [`answer`] | errors and bodies as JSON |
//!
//! Invariants: a handler has no policy of its own; no request passes [`guard`] unseen.

mod answer;
mod guard;
mod routes;
mod sse;

pub use guard::{Access, Outside, PublicUrl, SignIn, hash_password, new_token};

use planwright_session::Sessions;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What every handler has at hand.
#[derive(Clone)]
pub struct App {
    pub sessions: Sessions,
    pub access: Arc<Access>,
    /// The models by mode, as people configured them.
    pub models: Arc<serde_json::Value>,
    /// Ends streams, which would otherwise hold up a shutdown for ever.
    pub closing: CancellationToken,
}

/// Serves until `app.closing` is cancelled and what is under way has been answered.
///
/// # Errors
/// The listener broke.
pub async fn serve(listener: TcpListener, app: App) -> std::io::Result<()> {
    let closing = app.closing.clone();
    let service = routes::router(app).into_make_service_with_connect_info::<guard::Peer>();
    axum::serve(listener, service).with_graceful_shutdown(async move { closing.cancelled().await }).await
}
