//! Of the commands that keep things: `backup`, `restore`, `export`, `man`.

use crate::args::{StorageArgs, chat};
use clap::{Args as ClapArgs, ValueEnum};
use planwright_protocol::ChatId;
use std::path::PathBuf;

/// Save all chats, accounts and settings of workspaces in one file
///
/// Works also while the server runs: the file holds what was stored at one moment. The files of the workspaces are not in it, nor is
/// the token.
#[derive(ClapArgs)]
#[command(after_help = "Chats in PostgreSQL are saved by its own tools; docs/keeping.md says how.

Examples:
  planwright backup chats.backup
  planwright backup \"planwright-$(date +%F).backup\"      one for each day
  planwright backup --force nightly.backup               in place of the last one")]
pub struct BackupArgs {
    /// Where to write it; a file that is there is left alone
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Put it in the place of a file that is there
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
}

/// Put back what `planwright backup` saved
///
/// The server must not be running. The backup is checked first; if anything is wrong with it, nothing is changed. Runs that were in progress
/// are stopped, and their chats say so.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright restore chats.backup                        into a data folder without chats
  planwright restore chats.backup --data-dir ~/other     beside the present ones
  planwright restore chats.backup --replace              the present ones are kept in a file beside it")]
pub struct RestoreArgs {
    /// A file made by `planwright backup`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Take the place of the chats that are there; they are kept in a file beside
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
}

/// Print a chat, to read or to work with
///
/// Works also while the server runs. Markdown has what was said, the plans, and of calls only what became of them; JSON has
/// everything, whole results included.
#[derive(ClapArgs)]
#[command(after_help = "The id of a chat is in the address of its page, and the name of its file in .planwright/chats.

Examples:
  planwright export 01a1e121-e56c-750e-9c54-a1ee26594fe8 > chat.md
  planwright export 01a1e121-e56c-750e-9c54-a1ee26594fe8 --format json | jq '.messages[].content'")]
pub struct ExportArgs {
    /// Its id
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
    /// Made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
