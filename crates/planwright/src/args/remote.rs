//! Options of front ends that can work on another server.

use clap::Args as ClapArgs;

/// A server instead of the chats of this machine.
#[derive(ClapArgs)]
pub struct RemoteArgs {
    /// The address of a server to work on; the workspace is then a folder on its machine
    #[arg(long, env = "PLANWRIGHT_SERVER", value_name = "URL")]
    pub server: Option<String>,
    /// The token for the server, or for a running planwright with accounts
    #[arg(long, env = "PLANWRIGHT_CLIENT_TOKEN", value_name = "T", hide_env_values = true)]
    pub token: Option<String>,
}
