//! Name resolution and connections.

use async_trait::async_trait;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::{TcpStream, UdpSocket};

/// How a client reaches the network. It decides nothing: the client checks every address in between.
#[async_trait]
pub trait WebNetwork: Send + Sync {
    /// # Errors
    /// The name can't be resolved.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// # Errors
    /// Nobody answers there.
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream>;

    /// The same for an endpoint that the user configured, which may be on this machine.
    ///
    /// # Errors
    /// Nobody answers there.
    async fn connect_configured(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}

/// The network of this machine.
pub struct SystemNetwork;

#[async_trait]
impl WebNetwork for SystemNetwork {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 443)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        if is_own(address).await {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is an address of this machine"));
        }
        TcpStream::connect(address).await
    }
}

/// Whether an address, public or not, is one of this machine: then packets to it come from that address as well. Connecting
/// a UDP socket asks the routing table and sends nothing.
async fn is_own(address: SocketAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let Ok(socket) = UdpSocket::bind((any, 0)).await else { return false };
    if socket.connect(address).await.is_err() {
        return false;
    }
    socket.local_addr().is_ok_and(|own| own.ip() == address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn an_address_of_this_machine_is_not_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = SystemNetwork.connect(listener.local_addr().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
