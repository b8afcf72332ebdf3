//! The command line of `planwright acp`.

use super::{CommonArgs, RemoteArgs};
use clap::Args as ClapArgs;

/// Serve one editor, with the Agent Client Protocol on stdin and stdout
///
/// Editors start this command themselves. The folder to work in is the one open in the editor. Logs go to stderr.
#[derive(ClapArgs)]
#[command(after_help = "docs/editors.md has the settings of Zed, Neovim and JetBrains. If another planwright has the chats, such as
`serve`, the editor works there.

Examples:
  planwright acp                                         what an editor's settings name
  planwright acp --model demo/demo                       try it without a model
  planwright acp --data-dir ~/.local/share/planwright-editor
  npx acpx --agent 'planwright acp' exec \"Explain src/lib.rs\"")]
pub struct AcpArgs {
    /// Trust a workspace's own .planwright/config.toml
    #[arg(long)]
    pub trust: bool,
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(flatten)]
    pub common: CommonArgs,
}
