//! Facts about the workspace in the prompt, and the workspace's instructions.
//!
//! The root's `AGENTS.md` is always included; one in a subfolder when the chat concerns that folder. A folder without one may
//! have a `CLAUDE.md`, which is used instead.

use crate::chat::{Chat, broken};
use planwright_agent::fit;
use planwright_plan::PlanDocument;
use planwright_protocol::{Message, Problem, Timestamp};
use planwright_tools::text_file::Text;
use planwright_tools::{Workspace, WorkspacePath};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum size of one file in the prompt, and of all together, in bytes.
const MOST_OF_ONE: usize = 16 * 1024;
const MOST_OF_ALL: usize = 48 * 1024;
/// Files with instructions; the first existing one of a folder is used.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// The prompt's text for a file that does not fit.
const NO_ROOM: &str = "(This file does not fit here; read it before you work in its folder.)";

#[derive(Default)]
pub struct PromptContext {
    pub environment: Vec<String>,
    instructions: Vec<(String, String)>,
    /// Folders that were examined.
    known: BTreeSet<WorkspacePath>,
    /// The number of messages of the history that were examined.
    seen: usize,
}

impl PromptContext {
    /// Adds the folders that new messages concern.
    pub async fn look(&mut self, chat: &Arc<Chat>, history: &[Message]) -> Result<(), Problem> {
        let mut folders = BTreeSet::new();
        if self.environment.is_empty() {
            self.environment = environment(chat).await?;
            folders.insert(WorkspacePath::root());
            let plan = chat.approval().and_then(|approval| PlanDocument::parse(&approval.content).ok());
            plan.iter().flat_map(|document| document.plan.files()).for_each(|file| add_folders_of(file, &mut folders));
        }
        for call in history[self.seen.min(history.len())..].iter().filter_map(|message| message.body.tool_call()) {
            if let Some(path) = call.args.get("path").and_then(|path| path.as_str()) {
                add_folders_of(path, &mut folders);
            }
        }
        self.seen = history.len();
        folders.retain(|folder| self.known.insert(folder.clone()));
        if folders.is_empty() {
            return Ok(());
        }
        let workspace = chat.workspace.clone();
        let found = tokio::task::spawn_blocking(move || {
            folders.iter().filter_map(|folder| instructions_in(&workspace, folder)).collect::<Vec<_>>()
        });
        for (path, text) in found.await.map_err(broken)? {
            let held: usize = self.instructions.iter().map(|(_, text)| text.len()).sum();
            let text = if held + text.len() <= MOST_OF_ALL { text } else { NO_ROOM.to_owned() };
            self.instructions.push((path, text));
        }
        Ok(())
    }

    /// The instructions, in at most an eighth of a model's context.
    pub fn instructions(&self, context_tokens: u64) -> Vec<(String, String)> {
        let most = fit::max_conversation_bytes(context_tokens) / 6 / self.instructions.len().max(1);
        self.instructions.iter().map(|(path, text)| (path.clone(), fit::cut_middle(text, most).into_owned())).collect()
    }
}

async fn environment(chat: &Arc<Chat>) -> Result<Vec<String>, Problem> {
    let workspace = chat.workspace.clone();
    let branch = tokio::task::spawn_blocking(move || workspace.branch()).await.map_err(broken)?;
    let date = Timestamp::now().strftime("%Y-%m-%d").to_string();
    let mut lines = vec![
        "Paths begin with / at the root of the workspace.".to_owned(),
        format!("Today is {date} (UTC). The system is {}.", std::env::consts::OS),
    ];
    lines.extend(branch.map(|branch| format!("Git: the branch {branch} is checked out.")));
    Ok(lines)
}

/// The folders in a path or glob. The path itself may be one.
fn add_folders_of(path: &str, folders: &mut BTreeSet<WorkspacePath>) {
    let plain = path.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let mut next = WorkspacePath::parse(plain).ok();
    while let Some(folder) = next {
        next = folder.split().map(|(above, _)| above);
        folders.insert(folder);
    }
}

fn instructions_in(workspace: &Workspace, folder: &WorkspacePath) -> Option<(String, String)> {
    let is_there = |path: &WorkspacePath| matches!(workspace.entry(path), Ok(Some(_)));
    let path = INSTRUCTIONS.map(|name| folder.join(name)).into_iter().find(is_there)?;
    let text = Text::of(&workspace.read(&path).ok()?.bytes)?.shown();
    let text = if text.len() <= MOST_OF_ONE {
        text
    } else {
        format!("{}\n\n(The file is longer; read it for the rest.)", &text[..text.floor_char_boundary(MOST_OF_ONE)])
    };
    Some((path.to_string(), text.trim().to_owned())).filter(|(_, text)| !text.is_empty())
}
