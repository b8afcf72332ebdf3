//! Where the server is.

use futures::future::BoxFuture;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use url::Url;

/// The server that a client talks to.
#[derive(Clone)]
pub enum ServerTarget {
    /// `http://` or `https://`, with a token if the server needs one.
    Url { url: String, token: Option<String> },
    /// The socket of a host on this machine. A token is needed on a server with accounts.
    Socket(PathBuf, Option<String>),
    /// A connector of the caller's own.
    Custom(Arc<dyn Connect>),
}

/// A stream of bytes to a server.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}
pub type BoxedStream = Box<dyn Duplex>;

/// Opens connections to a server. Called again after each loss, so it may lead to another server of the same data.
pub trait Connect: Send + Sync {
    fn connect(&self) -> BoxFuture<'_, io::Result<BoxedStream>>;

    /// For `Host`.
    fn authority(&self) -> String {
        "localhost".to_owned()
    }

    /// For `Authorization`.
    fn token(&self) -> Option<String> {
        None
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl ServerTarget {
    /// # Errors
    /// The address is not one of a server.
    pub(crate) fn connector(self) -> Result<Arc<dyn Connect>, String> {
        match self {
            Self::Custom(connector) => Ok(connector),
            Self::Socket(path, token) => Ok(Arc::new(SocketConnector { path, token })),
            Self::Url { url, token } => Ok(Arc::new(UrlConnector::new(&url, token)?)),
        }
    }
}

struct SocketConnector {
    path: PathBuf,
    token: Option<String>,
}

impl Connect for SocketConnector {
    fn connect(&self) -> BoxFuture<'_, io::Result<BoxedStream>> {
        Box::pin(async { Ok(Box::new(UnixStream::connect(&self.path).await?) as BoxedStream) })
    }

    fn token(&self) -> Option<String> {
        self.token.clone()
    }
}

struct UrlConnector {
    host: String,
    port: u16,
    authority: String,
    token: Option<String>,
    tls: Option<TlsConnector>,
}

impl UrlConnector {
    fn new(url: &str, token: Option<String>) -> Result<Self, String> {
        let wrong = || format!("{url:?} is not an address such as http://127.0.0.1:7420 or https://plan.example");
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let (Some(host), Some(port)) = (parsed.host_str(), parsed.port_or_known_default()) else { return Err(wrong()) };
        let tls = match parsed.scheme() {
            "http" => None,
            "https" => Some(tls().map_err(|error| format!("can't read this machine's certificates: {error}"))?),
            _ => return Err(wrong()),
        };
        if parsed.path() != "/" || parsed.query().is_some() || !parsed.username().is_empty() {
            return Err(wrong());
        }
        let authority = parsed.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        // An address of version 6 has brackets in a URL only.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let token = token.or_else(|| parsed.fragment().and_then(|rest| rest.strip_prefix("token=")).map(str::to_owned));
        Ok(Self { host, port, authority, token, tls })
    }
}

fn tls() -> Result<TlsConnector, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

impl Connect for UrlConnector {
    fn connect(&self) -> BoxFuture<'_, io::Result<BoxedStream>> {
        Box::pin(async {
            let open = async {
                let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
                stream.set_nodelay(true)?;
                let Some(tls) = &self.tls else { return Ok(Box::new(stream) as BoxedStream) };
                let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
                Ok(Box::new(tls.connect(name, stream).await?) as BoxedStream)
            };
            tokio::time::timeout(CONNECT_TIMEOUT, open).await?
        })
    }

    fn authority(&self) -> String {
        self.authority.clone()
    }

    fn token(&self) -> Option<String> {
        self.token.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_scheme_host_and_port_and_may_have_the_token_that_serve_printed() {
        let of = |url: &str| UrlConnector::new(url, None);
        let local = of("http://127.0.0.1:7420/#token=abc").unwrap();
        assert_eq!((local.host.as_str(), local.port, local.authority.as_str()), ("127.0.0.1", 7420, "127.0.0.1:7420"));
        assert_eq!(local.token.as_deref(), Some("abc"));
        let six = of("http://[::1]:7420").unwrap();
        assert_eq!((six.host.as_str(), six.authority.as_str()), ("::1", "[::1]:7420"));
        assert_eq!(of("http://plan.example").unwrap().port, 80);
        for wrong in ["plan.example", "ftp://plan.example", "http://", "http://a@plan.example", "http://plan.example/app"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
