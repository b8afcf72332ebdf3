//! How people sign in to a server, and where one may listen.

use crate::args::{Auth, BadUsage};
use crate::data_dir::DataDir;
use crate::output;
use anyhow::bail;
use planwright_server::{Folders, SignIn};
use planwright_store::Store;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A token of one's own choosing must be this long before other machines may try to guess it.
const SHORTEST: usize = 16;

/// Refuses to be open to everyone where other machines can come.
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

pub async fn sign_in(auth: Auth, listen: SocketAddr, data: &DataDir, store: &Store) -> anyhow::Result<SignIn> {
    Ok(match auth {
        Auth::Off => SignIn::Off,
        Auth::Token => {
            let token = data.token()?;
            if token.len() < SHORTEST && !listen.ip().is_loopback() {
                bail!(BadUsage(format!(
                    "PLANWRIGHT_TOKEN is shorter than {SHORTEST} characters, and {listen} can be reached from other machines; \
                    use a longer one, or none, and one is made"
                )));
            }
            SignIn::Token(token)
        }
        Auth::Users => {
            if store.users().await?.is_empty() {
                output::note("nobody has an account yet; `planwright user add NAME` makes the first, also while the server runs");
            }
            SignIn::Users
        }
    })
}

/// Where people with accounts may have workspaces.
pub fn folders(roots: &[PathBuf]) -> anyhow::Result<Folders> {
    let real = |root: &PathBuf| {
        std::fs::canonicalize(root).map_err(|error| BadUsage(format!("--workspace-root {} can't be opened: {error}", root.display())))
    };
    Ok(Folders { roots: roots.iter().map(real).collect::<Result<_, _>>()? })
}
