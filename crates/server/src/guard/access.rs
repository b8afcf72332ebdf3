//! What the server was started with.

use super::Folders;
use super::address::{Hosts, PublicUrl};
use super::limits::Buckets;
use super::streams::UnsentEvents;
use planwright_protocol::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::sync::Semaphore;

/// How people sign in.
pub enum SignIn {
    /// Not at all; everyone who reaches the server is let in.
    Off,
    /// Whoever has this token is let in.
    Token(String),
    /// By their accounts.
    Users,
}

/// How people come in, without the secret of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMode {
    Token,
    Off,
    Users,
}

/// How the world outside reaches the server.
pub struct Outside {
    /// The address that people know, if a reverse proxy or a name stands before the server's own.
    pub public_url: Option<PublicUrl>,
    /// Machines that tell the truth about whom they pass on, in `X-Forwarded-For`.
    pub proxies: Vec<IpAddr>,
    /// What one user may ask for.
    pub requests_per_minute: u32,
    pub folders: Folders,
}

pub struct Access {
    pub(super) sign_in: SignIn,
    pub(super) hosts: Hosts,
    pub(super) proxies: Vec<IpAddr>,
    pub(super) folders: Folders,
    /// Has the port in it: a browser sends cookies to all ports of a machine.
    pub(super) cookie: String,
    pub(super) tries_of_address: Buckets<IpAddr>,
    pub(super) tries_of_name: Buckets<String>,
    pub(super) requests_of_user: Buckets<UserId>,
    /// Names of nobody, as somebody's members to be.
    pub(crate) unknown_members: Buckets<UserId>,
    pub(crate) unsent: UnsentEvents,
    /// Each check of a password takes 19 MiB, and a processor for a while.
    pub(super) hashing: Semaphore,
}

/// Failed sign-ins at once, and how long until one more; first by address, then by name.
const TRIES_OF_ADDRESS: (u32, Duration) = (20, Duration::from_secs(6));
const TRIES_OF_NAME: (u32, Duration) = (10, Duration::from_secs(12));

/// The same for names of nobody that are to become members: who has an account is not for everybody to find out.
const UNKNOWN_MEMBERS: (u32, Duration) = (5, Duration::from_mins(1));

impl Access {
    /// Machines that pass on the requests of others.
    pub(crate) fn proxies(&self) -> Vec<IpAddr> {
        self.proxies.clone()
    }

    #[must_use]
    pub fn new(sign_in: SignIn, listening: SocketAddr, outside: Outside) -> Self {
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
            hashing: Semaphore::new(cores.clamp(1, 4)),
        }
    }

    #[must_use]
    pub fn mode(&self) -> AuthMode {
        match self.sign_in {
            SignIn::Off => AuthMode::Off,
            SignIn::Token(_) => AuthMode::Token,
            SignIn::Users => AuthMode::Users,
        }
    }
}
