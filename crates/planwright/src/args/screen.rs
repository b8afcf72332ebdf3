//! The options of the terminal UI.

use super::{CommonArgs, RemoteArgs};
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// The terminal UI, which needs no subcommand.
#[derive(ClapArgs)]
pub struct ScreenArgs {
    /// The folder to work in [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(flatten)]
    pub common: CommonArgs,
}
