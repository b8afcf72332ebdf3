//! Arguments of `backup`, `restore`, `export` and `man`.

use crate::args::{StorageArgs, chat};
use clap::{Args as ClapArgs, ValueEnum};
use planwright_protocol::ChatId;
use std::path::PathBuf;

/// Save all chats, accounts and workspace settings in one file
///
/// Also works while the server runs: the file holds the state of one moment. It contains neither the workspaces' files nor
/// the token.
#[derive(ClapArgs)]
#[command(after_help = "Back up chats in PostgreSQL with its own tools; see docs/keeping.md.

Examples:
  planwright backup chats.backup
  planwright backup \"planwright-$(date +%F).backup\"      one for each day
  planwright backup --force nightly.backup               in place of the last one")]
pub struct BackupArgs {
    /// The file to write; an existing file is not overwritten
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
}

/// Restore what `planwright backup` saved
///
/// The server must not be running. The backup is checked first; if it is damaged, nothing changes. Runs that were in progress are
/// stopped, and their chats say so.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright restore chats.backup                        into a data folder without chats
  planwright restore chats.backup --data-dir ~/other     beside the present ones
  planwright restore chats.backup --replace              the present ones are kept in a file beside it")]
pub struct RestoreArgs {
    /// A file made by `planwright backup`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replace the existing chats; they are moved to a file next to the database
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
}

/// Print a chat, for people or for programs
///
/// Also works while the server runs. Markdown contains the conversation, the plans, and the outcome of each call; JSON contains
/// everything, including full results.
#[derive(ClapArgs)]
#[command(after_help = "The id of a chat is in the address of its page, and the name of its file in .planwright/chats.

Examples:
  planwright export 01a1e121-e56c-750e-9c54-a1ee26594fe8 > chat.md
  planwright export 01a1e121-e56c-750e-9c54-a1ee26594fe8 --format json | jq '.messages[].content'")]
pub struct ExportArgs {
    /// The chat's id
    #[arg(value_name = "CHAT", value_parser = chat)]
    pub chat: ChatId,
    /// Markdown for people, JSON for programs
    #[arg(long, value_enum, default_value_t = ExportFormat::Md)]
    pub format: ExportFormat,
    #[command(flatten)]
    pub storage: StorageArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Md,
    Json,
}

/// Write the manual pages into a folder
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright man ~/.local/share/man/man1 && man planwright-run")]
pub struct ManArgs {
    /// The folder; created if it is missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
