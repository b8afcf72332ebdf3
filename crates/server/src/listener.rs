//! Where connections come from, and what is set on each.

use axum::serve::Listener;
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};

/// How much the kernel takes on of what a client has not read. By itself it takes megabytes, which a stalled client would hold.
const UNREAD: usize = 128 << 10;

/// The listener of the server.
pub struct Door(pub TcpListener);

impl Listener for Door {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        tune(&stream);
        (stream, address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Has words go out as they come, and little of them wait for a client that does not read.
fn tune(stream: &TcpStream) {
    let tuned = stream.set_nodelay(true).and_then(|()| Ok(set_socket_send_buffer_size(stream, UNREAD)?));
    if let Err(error) = tuned {
        tracing::debug!(%error, "a connection could not be tuned");
    }
}
