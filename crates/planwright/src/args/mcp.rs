//! Arguments of `mcp`.

use crate::args::{StorageArgs, anywhere};
use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

/// List MCP servers, and accept a server that changed
///
/// Also works while the server runs. Writing a server into your own configuration accepts it. You must accept it again when its
/// command or its tools' descriptions change. A server in a workspace's own file is accepted together with that file, and then
/// its tools.
#[derive(ClapArgs)]
#[command(
    mut_args(anywhere),
    after_help = "Examples:
  planwright mcp list                                    starts none of them
  planwright mcp list --workspace ~/project --json | jq '.[] | select(.changed)'
  planwright mcp accept notes                            shows what has changed, and asks
  planwright mcp accept notes --yes                      shows it, and takes it as it is"
)]
pub struct McpArgs {
    #[command(subcommand)]
    pub command: McpCommand,
    #[command(flatten)]
    pub storage: StorageArgs,
}

#[derive(Subcommand)]
pub enum McpCommand {
    /// List the servers, the command of each, and whether you accepted it. Starts no server, so it does not check the tools;
    /// `planwright doctor` does
    List {
        /// The folder whose servers to list
        #[arg(long, default_value = ".", value_name = "DIR")]
        workspace: PathBuf,
        /// Print JSON, in the API's form
        #[arg(long)]
        json: bool,
    },
    /// Show what changed in a server since you accepted it, and accept it
    ///
    /// Shows the changed command first. Then it starts the server and shows each new or changed tool. It accepts only what it has
    /// shown.
    /// Exits with 1 if you don't accept, or the server does not work.
    Accept {
        /// Its name under [mcp.servers]
        #[arg(value_name = "NAME")]
        name: String,
        /// The folder to accept it for
        #[arg(long, default_value = ".", value_name = "DIR")]
        workspace: PathBuf,
        /// Accept without asking
        #[arg(long)]
        yes: bool,
    },
}
