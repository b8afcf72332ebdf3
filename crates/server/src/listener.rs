//! Accepts connections and sets their options.

use crate::connections::{AnswerBody, ConnectionSlot, Connections, RequestBody};
use crate::guard::{Peer, Way};
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_peercred};
use rustix::process::geteuid;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

/// Maximum unread bytes in the kernel per client. The default is megabytes, which a stalled client would hold.
const SEND_BUFFER: usize = 128 << 10;
/// Maximum bytes of a response buffered before the kernel accepts them.
const WRITE_BUFFER: usize = 64 << 10;
/// Timeout of a client that reads nothing.
const STALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout for the head of a request, and for an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// After a failed accept, for example without free descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Serves until `closing` is cancelled and all requests in progress have been answered.
pub async fn serve(mut listener: TcpListener, connections: Arc<Connections>, router: Router, closing: CancellationToken) {
    let tasks = TaskTracker::new();
    while let Some((stream, remote)) = closing.run_until_cancelled(Listener::accept(&mut listener)).await {
        // Dropped, so that connections being served continue.
        let Some(slot) = connections.admit(remote.ip()) else { continue };
        tune(&stream);
        let peer = Peer { way: Way::Network, remote, local: stream.local_addr().ok() };
        tasks.spawn(serve_connection(stream, peer, slot, router.clone(), closing.clone()));
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// The same on a socket. Other users of the machine are turned away, whatever the permissions of the socket.
pub async fn serve_socket(listener: UnixListener, connections: Arc<Connections>, router: Router, closing: CancellationToken) {
    let tasks = TaskTracker::new();
    while let Some(accepted) = closing.run_until_cancelled(listener.accept()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "can't accept a connection on the socket");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let is_own = socket_peercred(&stream).is_ok_and(|peer| peer.uid == geteuid());
        let peer = Peer::local();
        let Some(slot) = is_own.then(|| connections.admit(peer.remote.ip())).flatten() else { continue };
        tasks.spawn(serve_connection(stream, peer, slot, router.clone(), closing.clone()));
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// Serves one connection to its end, or until it is closed to make room.
pub async fn serve_connection<S>(stream: S, peer: Peer, slot: ConnectionSlot, router: Router, closing: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let wait = slot.wait.clone();
    let service = service_fn(move |mut request: Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let (mut router, wait) = (router.clone(), wait.clone());
        async move {
            let answer = router.call(request.map(|body| Body::new(RequestBody::new(body, wait.clone())))).await;
            answer.map(|answer| answer.map(|body| AnswerBody::new(body, wait)))
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(WRITE_BUFFER)
        .serve_connection(TokioIo::new(Socket { stream, stalled: None }), service);
    let served = async {
        if let Some(served) = closing.run_until_cancelled(&mut connection).await {
            return served;
        }
        Pin::new(&mut connection).graceful_shutdown();
        (&mut connection).await
    };
    let is_too_slow = match slot.end.run_until_cancelled(served).await {
        Some(Ok(())) => return,
        Some(Err(error)) => {
            tracing::debug!(%error, "connection ended early");
            error.is_timeout()
        }
        None => {
            tracing::debug!("connection closed to make room");
            true
        }
    };
    let rest = connection.into_parts();
    // An idle connection gets no error response: it may be about to send its next request.
    if is_too_slow && !rest.read_buf.is_empty() {
        let _ = rest.io.into_inner().write_all(TOO_SLOW).await;
    }
}

/// A connection that ends when its client has read nothing for too long.
struct Socket<S> {
    stream: S,
    /// Runs while the kernel accepts no more bytes.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Socket<S> {
    fn watched(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL_TIMEOUT)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watched(cx, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watched(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Sends small writes at once, and limits the unread bytes of a slow client.
fn tune(stream: &TcpStream) {
    let tuned = stream.set_nodelay(true).and_then(|()| Ok(set_socket_send_buffer_size(stream, SEND_BUFFER)?));
    if let Err(error) = tuned {
        tracing::debug!(%error, "can't set socket options");
    }
}
