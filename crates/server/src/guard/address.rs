//! Checks `Host` and `Origin` of every request, against DNS rebinding and forms on foreign pages.

use super::AccessControl;
use crate::App;
use crate::answer::ApiError;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_protocol::{ErrorCode, Problem};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// How a client reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By an address, so perhaps from a browser that shows a foreign page.
    Network,
    /// By the socket in the data folder or within the process: the person who runs the server.
    Local,
}

/// The two ends of a connection.
#[derive(Clone, Copy)]
pub struct Peer {
    pub way: Way,
    pub remote: SocketAddr,
    /// The server's own address of this connection; only known, and only needed, if the server listens on all addresses.
    pub local: Option<SocketAddr>,
}

/// The public address of the server, such as `https://plan.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: Scheme,
    /// Name and port, as in `Host`.
    authority: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}/", self.authority)
    }
}

impl Peer {
    /// A client on the same machine, not by an address.
    pub fn local() -> Self {
        Self { way: Way::Local, remote: SocketAddr::from(([127, 0, 0, 1], 0)), local: None }
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an address such as https://plan.example or http://192.0.2.7:7420");
        let uri: Uri = text.trim_end_matches('/').parse().map_err(|_| wrong())?;
        let (scheme, usual) = match uri.scheme_str() {
            Some("http") => (Scheme::Http, ":80"),
            Some("https") => (Scheme::Https, ":443"),
            Some(_) | None => return Err(wrong()),
        };
        let authority = uri.authority().map(|authority| authority.as_str().to_lowercase()).unwrap_or_default();
        if authority.is_empty() || authority.contains('@') || uri.path_and_query().is_some_and(|path| path != "/") {
            return Err(wrong());
        }
        Ok(Self { scheme, authority: authority.strip_suffix(usual).unwrap_or(&authority).to_owned() })
    }
}

/// The names of the server.
pub struct Hosts(Vec<PublicUrl>);

impl Hosts {
    /// The listening address, this machine's usual names, and the public address.
    pub fn new(listening: SocketAddr, public: Option<PublicUrl>) -> Self {
        let port = listening.port();
        let own = [listening.to_string(), format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
        Self(own.into_iter().map(plain).chain(public).collect())
    }

    fn known(&self, host: &str, peer: Peer) -> Option<Scheme> {
        let host = host.to_ascii_lowercase();
        let called = peer.local.map(|local| plain(SocketAddr::new(local.ip().to_canonical(), local.port()).to_string()));
        self.0.iter().chain(called.as_ref()).find(|known| known.authority == host).map(|known| known.scheme)
    }

    fn own(&self, origin: &str, peer: Peer) -> bool {
        match origin.split_once("://") {
            Some(("http", host)) => self.known(host, peer) == Some(Scheme::Http),
            Some(("https", host)) => self.known(host, peer) == Some(Scheme::Https),
            Some(_) | None => false,
        }
    }
}

/// Browsers leave the default port out.
fn plain(address: String) -> PublicUrl {
    PublicUrl { scheme: Scheme::Http, authority: address.strip_suffix(":80").unwrap_or(&address).to_owned() }
}

/// How a request arrived.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub scheme: Scheme,
    /// The client's address, also from behind a trusted proxy.
    pub client: IpAddr,
    pub way: Way,
}

/// Accepts a request if it was sent to one of the server's names, and not by a foreign page.
pub async fn check_address(State(app): State<App>, ConnectInfo(peer): ConnectInfo<Peer>, mut request: Request, next: Next) -> Response {
    match arrival(&app.access, peer, &request) {
        Ok(arrival) => {
            request.extensions_mut().insert(arrival);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

fn arrival(access: &AccessControl, peer: Peer, request: &Request) -> Result<Arrival, ApiError> {
    let headers = request.headers();
    // No page in a browser can reach a socket.
    if peer.way == Way::Local && !headers.contains_key(header::ORIGIN) {
        return Ok(Arrival { scheme: Scheme::Http, client: peer.remote.ip(), way: peer.way });
    }
    let mut named = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        let text = "A request must have exactly one `Host` header.";
        return Err(ApiError::bad_request(Problem::new(ErrorCode::ValidationFailed, text)));
    };
    let scheme = host.to_str().ok().and_then(|host| access.hosts.known(host, peer));
    // If the request line names a host as well, that one counts.
    let line_known = request.uri().authority().is_none_or(|named| access.hosts.known(named.as_str(), peer).is_some());
    let own = |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| access.hosts.own(origin, peer));
    let origin_known = headers.get_all(header::ORIGIN).iter().all(own);
    match scheme {
        Some(scheme) if line_known && origin_known && !sent_by_foreign_page(headers) => {
            Ok(Arrival { scheme, client: client(access, peer, headers), way: peer.way })
        }
        Some(_) | None => Err(Problem::new(
            ErrorCode::Forbidden,
            "The request's Host or Origin is not this server's. Use the address that `planwright serve` printed, or start it with --public-url and the address you use.",
        )
        .into()),
    }
}

/// Browsers say where a request comes from even if they send no Origin. Following a link to the server is allowed.
fn sent_by_foreign_page(headers: &HeaderMap) -> bool {
    let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    matches!(says("sec-fetch-site"), Some("cross-site" | "same-site")) && says("sec-fetch-mode") != Some("navigate")
}

/// The last address that a trusted proxy added; earlier ones may be forged.
fn client(access: &AccessControl, peer: Peer, headers: &HeaderMap) -> IpAddr {
    let direct = peer.remote.ip().to_canonical();
    if !access.proxies.contains(&direct) {
        return direct;
    }
    let told = headers.get_all("x-forwarded-for").iter().next_back().and_then(|value| value.to_str().ok());
    told.and_then(|list| list.rsplit(',').next()?.trim().parse().ok()).unwrap_or(direct)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_scheme_name_and_port_and_nothing_else() {
        let url = |text: &str| text.parse::<PublicUrl>();
        assert_eq!(url("https://Plan.example:443/").unwrap().authority, "plan.example");
        assert_eq!(url("http://192.0.2.7:7420").unwrap().authority, "192.0.2.7:7420");
        for text in ["https://plan.example/", "http://192.0.2.7:7420/"] {
            assert_eq!(url(text).unwrap().to_string(), text);
        }
        for text in ["plan.example", "ftp://plan.example", "https://", "https://a@plan.example", "https://plan.example/app"] {
            assert!(url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_host_is_known_by_its_exact_name_and_port_only() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let peer = Peer { way: Way::Network, remote: at("192.0.2.9:5000"), local: Some(at("192.0.2.7:7420")) };
        let hosts = Hosts::new(at("0.0.0.0:7420"), Some("https://plan.example".parse().unwrap()));
        for host in ["localhost:7420", "LOCALHOST:7420", "127.0.0.1:7420", "[::1]:7420", "192.0.2.7:7420"] {
            assert_eq!(hosts.known(host, peer), Some(Scheme::Http), "{host}");
        }
        assert_eq!(hosts.known("plan.example", peer), Some(Scheme::Https));
        for host in
            ["localhost", "localhost:1", "localhost.evil.example:7420", "192.0.2.8:7420", "plan.example:7420", "evil.plan.example", ""]
        {
            assert_eq!(hosts.known(host, peer), None, "{host}");
        }
        for (origin, own) in [
            ("https://plan.example", true),
            ("http://plan.example", false),
            ("http://localhost:7420", true),
            ("https://localhost:7420", false),
            ("null", false),
            ("http://localhost:7420.evil.example", false),
        ] {
            assert_eq!(hosts.own(origin, peer), own, "{origin}");
        }
    }
}
