use super::CommonArgs;
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// Check the installation, the models and the MCP servers, and say how to fix problems
#[derive(ClapArgs)]
#[command(after_help = "Exits with 1 if something does not work.

Examples:
  planwright doctor --workspace ~/project
  planwright doctor --json | jq '.[] | select(.status != \"ok\")'")]
pub struct DoctorArgs {
    /// Also check this folder's own configuration; does not start MCP servers named there
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}
