//! How users sign in to a server, and where it may listen.

use crate::args::{Auth, BadUsage};
use crate::data_dir::DataDir;
use crate::output;
use anyhow::bail;
use planwright_server::{Folders, SignInMethod};
use planwright_store::Store;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Minimum length of a self-chosen token on a server that other machines can reach.
const MIN_TOKEN_LENGTH: usize = 16;

/// Refuses a server without sign-in that other machines can reach.
pub fn check_reach(listen: SocketAddr, auth: Auth, outside: bool) -> anyhow::Result<()> {
    if auth == Auth::Off && outside {
        bail!(BadUsage(
            "with --auth off everyone who comes could run commands on this machine, so there can be no --public-url and no \
            --trusted-proxy; use --auth token or --auth users"
                .to_owned()
        ));
    }
    if auth == Auth::Off && !listen.ip().is_loopback() {
        bail!(BadUsage(format!(
            "{listen} can be reached from other machines, and with --auth off everyone there could run commands on this one; \
            listen on 127.0.0.1, or use --auth token or --auth users"
        )));
    }
    Ok(())
}

pub async fn sign_in(auth: Auth, listen: SocketAddr, data: &DataDir, store: &Store) -> anyhow::Result<SignInMethod> {
    Ok(match auth {
        Auth::Off => SignInMethod::Off,
        Auth::Token => {
            let token = data.token()?;
            if token.len() < MIN_TOKEN_LENGTH && !listen.ip().is_loopback() {
                bail!(BadUsage(format!(
                    "PLANWRIGHT_TOKEN is shorter than {MIN_TOKEN_LENGTH} characters, and {listen} can be reached from other machines; \
                    use a longer one, or none, and one is made"
                )));
            }
            SignInMethod::Token(token)
        }
        Auth::Users => {
            if store.users().await?.is_empty() {
                output::note("there are no accounts yet; `planwright user add NAME` creates the first one, also while the server runs");
            }
            SignInMethod::Users
        }
    })
}

/// Where users with accounts may add workspaces.
pub fn folders(roots: &[PathBuf]) -> anyhow::Result<Folders> {
    let real = |root: &PathBuf| {
        std::fs::canonicalize(root).map_err(|error| BadUsage(format!("--workspace-root {} can't be opened: {error}", root.display())))
    };
    Ok(Folders { roots: roots.iter().map(real).collect::<Result<_, _>>()? })
}
