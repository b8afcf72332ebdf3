//! Of `mcp`.

use crate::args::{StorageArgs, anywhere};
use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

/// MCP servers: which there are, and accepting one that has changed
///
/// Works also while the server runs. A server of your own configuration is accepted by being written there; it is to be accepted again when
/// what is run for it, or what its tools say of themselves, is not what it was. One of a workspace's own file is accepted with that file, and
/// then its tools.
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
    /// List the servers, what is run for each, and whether that is what you accepted. Starts none, so what their tools say is not looked
    /// at; `planwright doctor` does that
    List {
        /// The folder whose servers these are
        #[arg(long, default_value = ".", value_name = "DIR")]
        workspace: PathBuf,
        /// Print JSON, as the API has it
        #[arg(long)]
        json: bool,
    },
    /// Show what of a server is not what you accepted, and accept it
    ///
    /// First what is run for it; then it is started, and each tool is shown that is new or says something else. Nothing is accepted that
    /// was not shown.
    /// Exits with 1 if it is not accepted, or does not work.
    Accept {
        /// Its name, as under [mcp.servers]
        #[arg(value_name = "NAME")]
        name: String,
        /// The folder to accept it for
        #[arg(long, default_value = ".", value_name = "DIR")]
        workspace: PathBuf,
        /// Don't ask
        #[arg(long)]
        yes: bool,
    },
}
