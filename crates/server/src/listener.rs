//! Where connections come from, and what is set on each.

use crate::guard::Peer;
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::pin::Pin;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

/// How much the kernel takes on of what a client has not read. By itself it takes megabytes, which a stalled client would hold.
const UNREAD: usize = 128 << 10;
/// How long the head of a request may take to come, and how long a connection may have none.
const HEAD: Duration = Duration::from_secs(15);
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Serves until `closing` is cancelled and what is under way has been answered.
pub async fn serve(mut listener: TcpListener, router: Router, closing: CancellationToken) {
    let connections = TaskTracker::new();
    while let Some((stream, remote)) = closing.run_until_cancelled(Listener::accept(&mut listener)).await {
        tune(&stream);
        let peer = Peer { remote, local: stream.local_addr().ok() };
        connections.spawn(attend(stream, peer, router.clone(), closing.clone()));
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// Serves one connection to its end.
async fn attend(stream: TcpStream, peer: Peer, router: Router, closing: CancellationToken) {
    let service = service_fn(move |mut request: Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().call(request.map(Body::new))
    });
    let mut connection =
        http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(HEAD).serve_connection(TokioIo::new(stream), service);
    let mut served = closing.run_until_cancelled(&mut connection).await;
    if served.is_none() {
        Pin::new(&mut connection).graceful_shutdown();
        served = Some((&mut connection).await);
    }
    let Some(Err(error)) = served else { return };
    tracing::debug!(%error, "a connection ended early");
    let rest = connection.into_parts();
    // Nothing is said to one that only was silent: it may be about to send its next request.
    if error.is_timeout() && !rest.read_buf.is_empty() {
        let _ = rest.io.into_inner().write_all(TOO_SLOW).await;
    }
}

/// Has words go out as they come, and little of them wait for a client that does not read.
fn tune(stream: &TcpStream) {
    let tuned = stream.set_nodelay(true).and_then(|()| Ok(set_socket_send_buffer_size(stream, UNREAD)?));
    if let Err(error) = tuned {
        tracing::debug!(%error, "a connection could not be tuned");
    }
}
