//! One fetch: resolve, check, connect, follow redirects.

use crate::address::is_public;
use crate::exchange::{Reply, Stream, USER_AGENT, exchange, failed};
use crate::network::{SystemNetwork, WebNetwork};
use crate::page::WebPage;
use crate::web_url::{Scheme, WebHost, WebUrl, not_public};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, HOST, LOCATION, USER_AGENT as AGENT};
use hyper::{Request, StatusCode};
use planwright_protocol::{ErrorCode, Problem};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ConfigBuilder, WantsVerifier};
use rustls_platform_verifier::BuilderVerifierExt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// For a whole fetch, with its redirects.
const WHOLE_TIME: Duration = Duration::from_secs(30);
const CONNECT_TIME: Duration = Duration::from_secs(8);
const MOST_REDIRECTS: usize = 5;
/// Addresses of one name that are tried.
const MOST_ADDRESSES: usize = 4;

/// Fetches pages of the public web.
pub struct WebClient {
    network: Arc<dyn WebNetwork>,
    tls: OnceLock<Option<TlsConnector>>,
    whole_time: Duration,
}

/// The outcome of a fetch.
#[derive(Debug)]
pub enum Fetched {
    Page(WebPage),
    /// The page is elsewhere, and the caller may not follow.
    Redirect {
        from: WebUrl,
        to: WebUrl,
    },
}

impl WebClient {
    /// On the network of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self::on(Arc::new(SystemNetwork))
    }

    /// On another network, for tests.
    #[must_use]
    pub fn on(network: Arc<dyn WebNetwork>) -> Self {
        Self { network, tls: OnceLock::new(), whole_time: WHOLE_TIME }
    }

    #[must_use]
    pub fn within(self, whole_time: Duration) -> Self {
        Self { whole_time, ..self }
    }

    /// Fetches a page. `may_follow` decides on each redirect.
    ///
    /// # Errors
    /// `FETCH_REFUSED` or `FETCH_FAILED`, for the model.
    pub async fn fetch(&self, url: &WebUrl, may_follow: &(dyn Fn(&WebUrl) -> bool + Send + Sync)) -> Result<Fetched, Problem> {
        self.in_time(self.follow(url, may_follow)).await
    }

    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
        let late = |_| failed(&format!("it took longer than {} s", self.whole_time.as_secs_f32()));
        timeout(self.whole_time, work).await.unwrap_or_else(|elapsed| Err(late(elapsed)))
    }

    async fn follow(&self, url: &WebUrl, may_follow: &(dyn Fn(&WebUrl) -> bool + Send + Sync)) -> Result<Fetched, Problem> {
        let mut here = url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let reply = self.get(&here).await?;
            let Some(location) = redirect(&reply) else {
                return WebPage::read(&here, url.fragment(), reply).await.map(Fetched::Page);
            };
            let next = here.join(location).map_err(|problem| {
                let text = format!("{} redirects to an address that is not fetched. {}", here.host(), problem.message);
                Problem::new(ErrorCode::FetchRefused, text)
            })?;
            let is_downgrade = here.scheme() == Scheme::Https && next.scheme() == Scheme::Http;
            if is_downgrade || !may_follow(&next) {
                return Ok(Fetched::Redirect { from: here, to: next });
            }
            here = next;
        }
        Err(failed(&format!("it was redirected more than {MOST_REDIRECTS} times")))
    }

    async fn get(&self, url: &WebUrl) -> Result<Reply, Problem> {
        let tcp = self.connect(url).await?;
        let stream: Box<dyn Stream> = match url.scheme() {
            Scheme::Http => Box::new(tcp),
            Scheme::Https => Box::new(self.encrypt(&url.host(), tcp).await?),
        };
        let request = request(url.inner())
            .header(ACCEPT, "text/markdown, text/html, text/plain;q=0.9, application/json;q=0.9, */*;q=0.1")
            .header(ACCEPT_ENCODING, "gzip")
            .body(Full::default())
            .map_err(|_| failed("the address can't be sent"))?;
        exchange(stream, request).await
    }

    /// Resolves the host once and connects to an address that was checked.
    async fn connect(&self, url: &WebUrl) -> Result<TcpStream, Problem> {
        let addresses = match url.web_host() {
            WebHost::Address(address) => vec![*address],
            // With the dot at its end no search domain is tried.
            WebHost::Name(name) => self.resolve(&format!("{name}.")).await?,
        };
        // A name with one inner address is refused with all the others.
        if !addresses.iter().copied().all(is_public) {
            return Err(not_public(&url.host()));
        }
        for address in addresses.into_iter().take(MOST_ADDRESSES) {
            match timeout(CONNECT_TIME, self.network.connect(SocketAddr::new(address, url.port()))).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => return Err(not_public(&url.host())),
                Ok(Err(_)) | Err(_) => {}
            }
        }
        Err(failed(&format!("{} can't be reached", url.host())))
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, Problem> {
        match self.network.resolve(name).await {
            Ok(found) if !found.is_empty() => Ok(found),
            Ok(_) | Err(_) => Err(failed(&format!("there is no host {}, or the network is away", name.trim_end_matches('.')))),
        }
    }

    /// A connection to an endpoint that the user configured, which may be anywhere.
    pub(crate) async fn connect_configured(&self, scheme: Scheme, host: &str, port: u16) -> Result<Box<dyn Stream>, Problem> {
        let addresses = match host.trim_matches(['[', ']']).parse() {
            Ok(address) => vec![address],
            Err(_) => self.resolve(host).await?,
        };
        for address in addresses.into_iter().take(MOST_ADDRESSES) {
            let connecting = timeout(CONNECT_TIME, self.network.connect_configured(SocketAddr::new(address, port)));
            if let Ok(Ok(tcp)) = connecting.await {
                return Ok(match scheme {
                    Scheme::Http => Box::new(tcp),
                    Scheme::Https => Box::new(self.encrypt(host, tcp).await?),
                });
            }
        }
        Err(failed(&format!("{host} can't be reached")))
    }

    async fn encrypt(&self, host: &str, tcp: TcpStream) -> Result<impl Stream + use<>, Problem> {
        let tls = self.tls.get_or_init(connector).as_ref();
        let tls = tls.ok_or_else(|| failed("the certificates of this machine can't be read"))?;
        let name = ServerName::try_from(host.to_owned()).map_err(|_| failed("its host has no certificate"))?;
        tls.connect(name, tcp)
            .await
            .map_err(|_| failed(&format!("there is no secure connection to {host}; its certificate may be invalid")))
    }
}

/// A request without credentials and cookies.
pub(crate) fn request(url: &url::Url) -> hyper::http::request::Builder {
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    Request::builder().uri(path).header(HOST, host).header(AGENT, USER_AGENT)
}

pub(crate) fn body(bytes: Vec<u8>) -> Full<Bytes> {
    Full::new(bytes.into())
}

fn redirect(reply: &Reply) -> Option<&str> {
    let redirects = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    redirects.contains(&reply.status()).then(|| reply.header(&LOCATION))?
}

/// Trusts the certificates of this machine.
fn connector() -> Option<TlsConnector> {
    Some(speaking_http(tls_versions()?.with_platform_verifier().ok()?.with_no_client_auth()))
}

fn tls_versions() -> Option<ConfigBuilder<ClientConfig, WantsVerifier>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()
}

fn speaking_http(mut config: ClientConfig) -> TlsConnector {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}

#[cfg(test)]
mod tests;
