//! The files of a workspace, for the user. No approval is needed: the content goes to the user and not to a model.

use crate::registry::{Workspaces, broken};
use planwright_protocol::api::workspace::{FileContent, FileNode, FileType, PlanView};
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use planwright_tools::text_file::Text;
use planwright_tools::workspace::Kind;
use planwright_tools::{Workspace, WorkspacePath};
use std::io::Read;
use std::sync::Arc;

/// Maximum number of entries in a tree.
const MOST_ENTRIES: usize = 5000;
/// Maximum depth of a tree.
pub const DEEPEST: u32 = 16;
/// Maximum size of a displayed file.
const LARGEST: u64 = 2 << 20;
/// Maximum depth of plans in folders.
const DEEPEST_PLAN: u32 = 8;

impl Workspaces {
    /// Lists a folder and its subfolders, `depth` levels deep.
    ///
    /// # Errors
    /// No such workspace or folder.
    pub async fn files(&self, workspace: WorkspaceId, path: &str, depth: u32) -> Result<FileNode, Problem> {
        let path = WorkspacePath::parse(path).map_err(unfit)?;
        let folder = self.open(workspace).await?;
        let tree = move || {
            folder.host_path()?;
            let (_, kind) = folder.resolve(&path).map_err(of_path)?;
            let mut node = node_of(&path, kind);
            if kind == Kind::Folder {
                fill(&mut node, &folder, &path, depth, &mut MOST_ENTRIES.clone());
            }
            Ok(node)
        };
        tokio::task::spawn_blocking(tree).await.map_err(broken)?
    }

    /// A file of a workspace.
    ///
    /// # Errors
    /// No such workspace or file, or it is too large.
    pub async fn content(&self, workspace: WorkspaceId, path: &str) -> Result<FileContent, Problem> {
        let path = WorkspacePath::parse_file(path).map_err(unfit)?;
        let folder = self.open(workspace).await?;
        tokio::task::spawn_blocking(move || read(&folder, &path)).await.map_err(broken)?.map_err(of_path)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// No such workspace or file, or it is too large.
    pub async fn bytes(&self, workspace: WorkspaceId, path: &str) -> Result<Vec<u8>, Problem> {
        let path = WorkspacePath::parse_file(path).map_err(unfit)?;
        let folder = self.open(workspace).await?;
        tokio::task::spawn_blocking(move || read_bytes(&folder, &path)).await.map_err(broken)?.map_err(of_path)
    }

    /// The plans of a workspace, by name.
    ///
    /// # Errors
    /// No such workspace.
    pub async fn plans(&self, workspace: WorkspaceId) -> Result<Vec<PlanView>, Problem> {
        let folder = self.open(workspace).await?;
        let owners = self.store().plan_owners(workspace).await?;
        let views = move || {
            let plans = WorkspacePath::parse("/plans")?;
            let mut node = node_of(&plans, Kind::Folder);
            fill(&mut node, &folder, &plans, DEEPEST_PLAN, &mut MOST_ENTRIES.clone());
            let mut files = Vec::new();
            gather(node, &mut files);
            Ok(files.into_iter().map(|path| view_of(&folder, &path, owners.get(&path).copied())).collect())
        };
        tokio::task::spawn_blocking(views).await.map_err(broken)?
    }
}

fn node_of(path: &WorkspacePath, kind: Kind) -> FileNode {
    let file_type = match kind {
        Kind::Folder => FileType::Folder,
        Kind::File if path.is_plan() => FileType::Plan,
        Kind::File if path.is_chat() => FileType::Chat,
        Kind::File | Kind::Link | Kind::Other => FileType::Document,
    };
    let name = path.split().map_or("", |(_, name)| name).to_owned();
    let is_special = matches!(kind, Kind::Link | Kind::Other);
    FileNode { name, path: path.to_string(), file_type, is_special, children: None, is_cut: false }
}

fn fill(node: &mut FileNode, workspace: &Arc<Workspace>, path: &WorkspacePath, depth: u32, room: &mut usize) {
    // An unreadable folder is shown like an empty one.
    let (names, more) = workspace.list_first(path, *room + 1).unwrap_or_default();
    let mut children = Vec::new();
    node.is_cut = more > 0;
    for (name, _) in names {
        if *room == 0 {
            node.is_cut = true;
            break;
        }
        *room -= 1;
        let child_path = path.join(&name);
        // A name that can't be written as a path is listed but can't be opened.
        let kind = workspace.entry(&child_path).ok().flatten().map_or(Kind::Other, |entry| entry.kind);
        let mut child = node_of(&child_path, kind);
        if kind == Kind::Folder && depth > 1 && name != ".git" {
            fill(&mut child, workspace, &child_path, depth - 1, room);
        }
        children.push(child);
    }
    node.children = Some(children);
}

fn gather(node: FileNode, files: &mut Vec<String>) {
    if node.file_type == FileType::Plan {
        files.push(node.path);
    }
    node.children.into_iter().flatten().for_each(|child| gather(child, files));
}

fn read(workspace: &Workspace, path: &WorkspacePath) -> Result<FileContent, Problem> {
    let bytes = read_bytes(workspace, path)?;
    let size = bytes.len() as u64;
    let content = Text::of(&bytes).map(|text| text.shown());
    Ok(FileContent { path: path.to_string(), file_type: node_of(path, Kind::File).file_type, size, content })
}

fn read_bytes(workspace: &Workspace, path: &WorkspacePath) -> Result<Vec<u8>, Problem> {
    let file = workspace.open_file(path)?;
    let mut bytes = Vec::new();
    let unreadable = |error: std::io::Error| Problem::new(ErrorCode::NotFound, format!("{path} can't be read: {error}."));
    (&file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        let text = format!("{path} is larger than {} MiB, the limit for display. Open it with another program.", LARGEST >> 20);
        return Err(Problem::new(ErrorCode::TooLarge, text));
    }
    Ok(bytes)
}

fn view_of(workspace: &Workspace, path: &str, chat_id: Option<ChatId>) -> PlanView {
    let summary = WorkspacePath::parse_file(path).ok().and_then(|path| workspace.plan_summary(&path));
    PlanView {
        plan_file: path.to_owned(),
        status: summary.as_ref().map(|plan| plan.status),
        revision: summary.as_ref().map(|plan| plan.revision),
        steps_done: summary.as_ref().map_or(0, |plan| plan.steps_done),
        steps_total: summary.as_ref().map_or(0, |plan| plan.steps_total),
        goal: summary.map(|plan| plan.goal),
        chat_id,
    }
}

/// The error for a malformed path.
fn unfit(problem: Problem) -> Problem {
    let details = serde_json::json!({ "fields": { "path": problem.message } });
    Problem::new(ErrorCode::ValidationFailed, problem.message).with_details(details)
}

/// A path error, worded for a client instead of a model.
fn of_path(problem: Problem) -> Problem {
    if problem.code == ErrorCode::PathNotFound {
        return Problem::new(ErrorCode::NotFound, problem.message);
    }
    let is_for_clients = matches!(problem.code, ErrorCode::TooLarge | ErrorCode::NotFound);
    if is_for_clients { problem } else { unfit(problem) }
}
