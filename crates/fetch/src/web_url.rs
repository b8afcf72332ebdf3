//! The addresses that may be fetched, in every spelling.

use crate::address::is_public;
use planwright_protocol::{ErrorCode, Problem};
use std::fmt;
use std::net::IpAddr;
use url::{Host, Url};

/// The longest address, so that a card can show all of it.
pub const LONGEST_URL: usize = 2_000;

/// Endings of names that belong to one network only.
const INNER_NAMES: &[&str] = &["localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "onion"];

/// An address of the public web: HTTP or HTTPS, the usual port, no credentials. Its host is a name with a dot or a public
/// IP address, always in one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebUrl {
    url: Url,
    host: WebHost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WebHost {
    /// In lower case and ASCII, without a dot at the end.
    Name(String),
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

impl WebUrl {
    /// # Errors
    /// `INVALID_ARGUMENTS` for an address that can't be read, `FETCH_REFUSED` for one that is never fetched.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        if text.chars().count() > LONGEST_URL {
            return Err(refused(&format!("an address has at most {LONGEST_URL} characters")));
        }
        let url = Url::parse(text.trim()).map_err(|error| {
            let text = format!("`url` is not an address: {error}. Give a full one, such as https://docs.rs/tokio.");
            Problem::new(ErrorCode::InvalidArguments, text)
        })?;
        Self::of(url)
    }

    /// Where a redirect of this page leads.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub(crate) fn join(&self, location: &str) -> Result<Self, Problem> {
        if location.chars().count() > LONGEST_URL {
            return Err(refused(&format!("an address has at most {LONGEST_URL} characters")));
        }
        let url = self.url.join(location).map_err(|error| refused(&format!("the redirect has no valid address ({error})")))?;
        Self::of(url)
    }

    fn of(mut url: Url) -> Result<Self, Problem> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("only http and https are fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("an address must not have a user name or password"));
        }
        if !matches!(url.port_or_known_default(), Some(80 | 443)) {
            return Err(refused("only the ports 80 and 443 are fetched"));
        }
        let host = match url.host() {
            None => return Err(refused("it has no host")),
            Some(Host::Ipv4(address)) => checked(address.into())?,
            Some(Host::Ipv6(address)) => checked(address.into())?,
            Some(Host::Domain(name)) => WebHost::Name(checked_name(name)?),
        };
        if let WebHost::Name(name) = &host {
            url.set_host(Some(name)).map_err(|_| refused("its host is not a name"))?;
        }
        if url.as_str().chars().count() > LONGEST_URL {
            return Err(refused(&format!("an address has at most {LONGEST_URL} characters")));
        }
        Ok(Self { url, host })
    }

    /// The host in the spelling that approvals use.
    #[must_use]
    pub fn host(&self) -> String {
        match &self.host {
            WebHost::Name(name) => name.clone(),
            WebHost::Address(address) => address.to_string(),
        }
    }

    #[must_use]
    pub fn fragment(&self) -> Option<&str> {
        self.url.fragment().filter(|fragment| !fragment.is_empty())
    }

    pub(crate) fn web_host(&self) -> &WebHost {
        &self.host
    }

    pub(crate) fn scheme(&self) -> Scheme {
        if self.url.scheme() == "https" { Scheme::Https } else { Scheme::Http }
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    pub(crate) fn inner(&self) -> &Url {
        &self.url
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.url.as_str())
    }
}

impl serde::Serialize for WebUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.url.as_str())
    }
}

fn checked(address: IpAddr) -> Result<WebHost, Problem> {
    if is_public(address) { Ok(WebHost::Address(address)) } else { Err(not_public(&address.to_string())) }
}

fn checked_name(name: &str) -> Result<String, Problem> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let is_inner = |ending: &str| name.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if !name.contains('.') || INNER_NAMES.iter().any(|ending| is_inner(ending)) {
        return Err(not_public(&name));
    }
    Ok(name)
}

pub(crate) fn not_public(host: &str) -> Problem {
    refused(&format!("{host} is this machine or a private network, which is never reached"))
}

pub(crate) fn refused(why: &str) -> Problem {
    Problem::new(ErrorCode::FetchRefused, format!("The address is refused: {why}. Don't try other spellings; use another source."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(url: &str) -> &'static str {
        WebUrl::parse(url).unwrap_err().code.as_str()
    }

    #[test]
    fn inner_hosts_are_refused_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "127.0.0.1.",
            "127.000.000.001",
            "１２７.0.0.1",
            "127。0。0。1",
            "%31%32%37.0.0.1",
            "0",
            "0.0.0.0",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:0:0:1]",
            "[64:ff9b::127.0.0.1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fd00:ec2::254]",
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.5.4",
            "100.64.1.1",
            "224.0.0.1",
            "255.255.255.255",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "LocalHost.",
            "app.localhost",
            "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
            "printer.local",
            "intranet",
            "router.lan",
            "metadata.google.internal",
            "metadata.google.internal.",
            "x.home.arpa",
        ] {
            for scheme in ["http", "https", "HTTP"] {
                assert_eq!(code(&format!("{scheme}://{host}/")), "FETCH_REFUSED", "{host}");
            }
        }
    }

    #[test]
    fn other_schemes_ports_and_credentials_are_refused() {
        for url in [
            "file:///etc/passwd",
            "ftp://example.org/",
            "gopher://example.org/",
            "data:text/html,x",
            "javascript:alert(1)",
            "ws://example.org/",
            "http://example.org:8080/",
            "https://example.org:22/",
            "http://example.org:0/",
            "http://user@example.org/",
            "http://user:secret@example.org/",
            "http://:secret@example.org/",
            "http://example.org@127.0.0.1/",
            "unix:/run/x.sock",
        ] {
            assert_eq!(code(url), "FETCH_REFUSED", "{url}");
        }
        for url in
            ["", "docs.rs", "/etc/passwd", "http://", "http://[::1", "https://exa mple.org/", "http://1.2.3.4.5.6/", "http://999.1.1.1/"]
        {
            assert_eq!(code(url), "INVALID_ARGUMENTS", "{url}");
        }
    }

    #[test]
    fn a_host_has_one_spelling() {
        for (url, host) in [
            ("https://Docs.RS/tokio", "docs.rs"),
            ("https://docs.rs./tokio", "docs.rs"),
            ("http://docs.rs:443/", "docs.rs"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("https://BÜCHER.example./", "xn--bcher-kva.example"),
            ("http://0x5db8d822/", "93.184.216.34"),
            ("https://docs.rs\\@127.0.0.1/", "docs.rs"),
        ] {
            assert_eq!(WebUrl::parse(url).unwrap().host(), host, "{url}");
        }
        assert_eq!(WebUrl::parse("https://docs.rs./a?b#c").unwrap().to_string(), "https://docs.rs/a?b#c");
    }

    #[test]
    fn an_address_has_at_most_two_thousand_characters() {
        let url = |length: usize| format!("https://docs.rs/{}", "a".repeat(length - 16));
        assert!(WebUrl::parse(&url(LONGEST_URL)).is_ok());
        assert_eq!(code(&url(LONGEST_URL + 1)), "FETCH_REFUSED");
        assert_eq!(code(&format!("https://docs.rs/{}", "ü".repeat(1_000))), "FETCH_REFUSED", "as it is sent");
    }
}
