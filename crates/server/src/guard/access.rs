//! The sign-in configuration of the running server.

use super::Folders;
use super::address::{Hosts, PublicUrl};
use super::limits::Buckets;
use super::streams::UnsentEvents;
use planwright_protocol::UserId;
use planwright_protocol::api::server::AuthMode;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How users sign in.
pub enum SignInMethod {
    /// No sign-in: everyone who reaches the server has access.
    Off,
    /// Everyone with this token has access.
    Token(String),
    /// With their accounts.
    Users,
}

/// How clients reach the server.
pub struct ExternalAccess {
    /// The public address, if a reverse proxy or a name is in front of the server.
    pub public_url: Option<PublicUrl>,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Vec<IpAddr>,
    /// Maximum requests per user and minute.
    pub requests_per_minute: u32,
    pub folders: Folders,
}

pub struct AccessControl {
    pub(super) sign_in: SignInMethod,
    pub(super) hosts: Hosts,
    pub(super) proxies: Vec<IpAddr>,
    pub(super) folders: Folders,
    /// Contains the port: a browser sends cookies to all ports of a machine.
    pub(super) cookie: String,
    pub(super) tries_of_address: Buckets<IpAddr>,
    pub(super) tries_of_name: Buckets<String>,
    pub(super) requests_of_user: Buckets<UserId>,
    /// Attempts to add members whose names have no account, by user.
    pub(crate) unknown_members: Buckets<UserId>,
    pub(crate) unsent: UnsentEvents,
    /// Each password check takes 19 MiB and a processor for a while.
    pub(super) hashing: Arc<Semaphore>,
}

/// Failed sign-ins allowed at once, and the time until one more is allowed; by address, then by name.
const TRIES_OF_ADDRESS: (u32, Duration) = (20, Duration::from_secs(6));
const TRIES_OF_NAME: (u32, Duration) = (10, Duration::from_secs(12));

/// The same for adding members without an account: members must not be able to find out who has one.
const UNKNOWN_MEMBERS: (u32, Duration) = (5, Duration::from_mins(1));

impl AccessControl {
    /// Proxies that forward requests of others.
    pub(crate) fn proxies(&self) -> Vec<IpAddr> {
        self.proxies.clone()
    }

    #[must_use]
    pub fn new(sign_in: SignInMethod, listening: SocketAddr, outside: ExternalAccess) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let per_minute = outside.requests_per_minute.max(1);
        Self {
            sign_in,
            hosts: Hosts::new(listening, outside.public_url),
            proxies: outside.proxies,
            folders: outside.folders,
            cookie: format!("planwright_{}", listening.port()),
            tries_of_address: Buckets::new(TRIES_OF_ADDRESS.0, TRIES_OF_ADDRESS.1),
            tries_of_name: Buckets::new(TRIES_OF_NAME.0, TRIES_OF_NAME.1),
            requests_of_user: Buckets::new(per_minute, Duration::from_mins(1) / per_minute),
            unknown_members: Buckets::new(UNKNOWN_MEMBERS.0, UNKNOWN_MEMBERS.1),
            unsent: UnsentEvents::default(),
            hashing: Arc::new(Semaphore::new(cores.clamp(1, 4))),
        }
    }

    #[must_use]
    pub fn mode(&self) -> AuthMode {
        match self.sign_in {
            SignInMethod::Off => AuthMode::Off,
            SignInMethod::Token(_) => AuthMode::Token,
            SignInMethod::Users => AuthMode::Users,
        }
    }
}
