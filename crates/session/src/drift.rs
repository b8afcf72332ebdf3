//! Files that changed between the writing of a plan and its approval.

use crate::chat::{Chat, broken};
use planwright_protocol::plan::plan_sha256;
use planwright_protocol::{Author, Message, MessageType, Plan, Problem};
use planwright_store::ApprovalRow;
use planwright_tools::workspace::Found;
use planwright_tools::{Scope, Workspace, WorkspacePath};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A plan that covers more files than this is watched in part.
const MOST_FILES: usize = 500;
const LONGEST_LOOK: Duration = Duration::from_secs(2);

/// The files that a plan names, by path, and a hash of what is in each; none where there is no file yet.
pub type Files = BTreeMap<String, Option<String>>;

/// The files of a plan as they are now.
pub async fn files_of(chat: &Arc<Chat>, plan: &Plan) -> Result<Files, Problem> {
    let (workspace, plan) = (chat.workspace.clone(), plan.clone());
    tokio::task::spawn_blocking(move || look(&workspace, &plan)).await.map_err(broken)
}

/// Tells the user and the model which files are not as they were when the plan was written; `None` when all are.
pub fn note(chat: &Chat, approval: &ApprovalRow, history: &[Message], now: &Files) -> Option<Message> {
    let of_plan = |message: &&Message| message.message_type == MessageType::Plan && message.meta("plan_file") == approval.plan_file;
    let written = history.iter().rev().find(of_plan)?;
    let then: Files = serde_json::from_value(written.metadata.get("files")?.clone()).ok()?;
    let mut drifted: Vec<(&str, &str)> =
        then.iter().filter_map(|(path, was)| Some((path.as_str(), change(was.as_ref(), now.get(path)?.as_ref())?))).collect();
    let gone = then.iter().filter(|(path, was)| was.is_some() && !now.contains_key(*path)).map(|(path, _)| (path.as_str(), "deleted"));
    drifted.extend(gone);
    // A plan that was edited by hand may name more than it did; that is no drift.
    if written.meta("sha256") == approval.sha256 && then.len() < MOST_FILES {
        let new = now.iter().filter(|(path, is)| is.is_some() && !then.contains_key(*path)).map(|(path, _)| (path.as_str(), "new"));
        drifted.extend(new);
    }
    if drifted.is_empty() {
        return None;
    }
    drifted.sort_unstable();
    let list = drifted.iter().map(|(path, change)| format!("{path} ({change})")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "Drift: files of this plan are not as they were when it was written: {list}. Read them again before you change them; if a step no longer fits, ask."
    );
    let facts: Vec<Value> = drifted.iter().map(|(path, change)| json!({ "path": path, "change": change })).collect();
    Some(Message::new(chat.id, Author::System, MessageType::Text, text).with("drift", facts))
}

fn change(was: Option<&String>, is: Option<&String>) -> Option<&'static str> {
    match (was, is) {
        (Some(was), Some(is)) => (was != is).then_some("changed"),
        (Some(_), None) => Some("deleted"),
        (None, Some(_)) => Some("new"),
        (None, None) => None,
    }
}

fn look(workspace: &Workspace, plan: &Plan) -> Files {
    let mut paths: Vec<WorkspacePath> = Vec::new();
    let mut has_more = false;
    for name in plan.files() {
        let literal = WorkspacePath::parse(name).ok().filter(|_| !name.contains(['*', '?', '[', '{']));
        match literal.map(|path| (workspace.entry(&path), path)) {
            Some((Ok(Some(entry)), _)) if entry.kind == planwright_tools::workspace::Kind::Folder => has_more = true,
            Some((_, path)) => paths.push(path),
            None => has_more = true,
        }
    }
    if let Some(scope) = Scope::of(plan).filter(|_| has_more) {
        let found = Mutex::new(Vec::new());
        // A walk that failed has found nothing; what is named in so many words is watched all the same.
        let _ = workspace.walk(&WorkspacePath::root(), Instant::now() + LONGEST_LOOK, || {
            |file: &Found<'_>| {
                if scope.contains(&file.path) {
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(file.path.clone());
                }
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort();
        paths.extend(found);
    }
    paths.into_iter().take(MOST_FILES).map(|path| (path.to_string(), hash(workspace, &path))).collect()
}

fn hash(workspace: &Workspace, path: &WorkspacePath) -> Option<String> {
    workspace.read(path).ok().map(|snapshot| plan_sha256(&snapshot.bytes))
}
