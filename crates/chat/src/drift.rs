//! Files that changed between the writing of a plan and its approval.

use crate::chat::{Chat, broken};
use crate::plan::StoredPlan;
use planwright_protocol::message::{DriftedFile, FileDrift, PlannedFiles};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::sha256_hex;
use planwright_protocol::{Message, Notice, Plan, Problem};
use planwright_store::ApprovalRow;
use planwright_tools::workspace::{Found, Kind};
use planwright_tools::{Scope, Workspace, WorkspacePath};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A plan that covers more files than this is watched in part.
const MOST_FILES: usize = 200;
const LONGEST_LOOK: Duration = Duration::from_secs(2);

/// The files of a plan as they are now.
pub async fn planned_files(chat: &Arc<Chat>, plan: &Plan) -> Result<PlannedFiles, Problem> {
    let (workspace, plan) = (chat.workspace.clone(), plan.clone());
    tokio::task::spawn_blocking(move || look(&workspace, &plan)).await.map_err(broken)
}

/// Tells the user and the model which files are not as they were when the plan was written; `None` when all are.
pub fn note(chat: &Chat, approval: &ApprovalRow, history: &[Message], now: &PlannedFiles) -> Option<Message> {
    let drifted = drifted(&approval.plan_file, &approval.sha256, history, now);
    if drifted.is_empty() {
        return None;
    }
    let list = drifted.iter().map(|file| format!("{} ({})", file.path, file.change.as_str())).collect::<Vec<_>>().join(", ");
    let text = format!(
        "Drift: files of this plan are not as they were when it was written: {list}. Read them again before you change them; if a step no longer fits, ask."
    );
    Some(Message::notice(chat.id, Notice::Drift(drifted), text))
}

impl Chat {
    /// The files of the chat's plan that are not as they were when it was written, before anybody approves it.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn drift(self: &Arc<Self>) -> Result<Vec<DriftedFile>, Problem> {
        let plan_file = self.record().config.plan_file.as_deref().and_then(|file| WorkspacePath::parse_file(file).ok());
        let Some(path) = plan_file else { return Ok(Vec::new()) };
        let Some(stored) = StoredPlan::read(self, &path).await else { return Ok(Vec::new()) };
        let history = self.store.landmarks(self.id).await?;
        let now = planned_files(self, stored.plan()).await?;
        Ok(drifted(&stored.path, stored.sha256(), &history, &now))
    }
}

/// What differs between the writing of a plan, which the history tells of, and now.
fn drifted(plan_file: &str, sha256: &str, history: &[Message], now: &PlannedFiles) -> Vec<DriftedFile> {
    let versions = history.iter().rev().filter_map(|message| message.body.plan());
    let Some(written) = versions.into_iter().find(|version| version.plan_file == plan_file) else { return Vec::new() };
    let Some(then) = &written.files else { return Vec::new() };
    // A plan that was edited by hand may name other files than it did; that is no drift.
    let same_plan = written.sha256 == sha256;
    let paths: BTreeSet<&String> = then.hashes.keys().chain(now.hashes.keys()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let (was, is) = (then.hashes.get(path), now.hashes.get(path));
            let unknown = (was.is_none() && then.is_partial) || (is.is_none() && now.is_partial);
            let both = was.is_some() && is.is_some();
            let change = change(was.and_then(Option::as_ref), is.and_then(Option::as_ref))?;
            (both || (same_plan && !unknown)).then(|| DriftedFile { path: path.clone(), change })
        })
        .collect()
}

fn change(was: Option<&String>, is: Option<&String>) -> Option<FileDrift> {
    match (was, is) {
        (Some(was), Some(is)) => (was != is).then_some(FileDrift::Changed),
        (Some(_), None) => Some(FileDrift::Deleted),
        (None, Some(_)) => Some(FileDrift::New),
        (None, None) => None,
    }
}

fn look(workspace: &Workspace, plan: &Plan) -> PlannedFiles {
    let mut paths: Vec<WorkspacePath> = Vec::new();
    let mut has_more = false;
    for name in plan.files() {
        let literal = WorkspacePath::parse(name).ok().filter(|_| !name.contains(['*', '?', '[', '{']));
        match literal.map(|path| (workspace.entry(&path), path)) {
            Some((Ok(Some(entry)), _)) if entry.kind == Kind::Folder => has_more = true,
            Some((_, path)) => paths.push(path),
            None => has_more = true,
        }
    }
    let mut is_partial = false;
    if let Some(scope) = Scope::of(plan, &StepChoice::default()).filter(|_| has_more) {
        let found = Mutex::new(Vec::new());
        let walked = workspace.walk(&WorkspacePath::root(), Instant::now() + LONGEST_LOOK, || {
            |file: &Found<'_>| {
                if scope.contains(&file.path) {
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(file.path.clone());
                }
            }
        });
        is_partial = walked.map_or(true, |walked| walked.late);
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort();
        paths.extend(found);
    }
    is_partial |= paths.len() > MOST_FILES;
    let hashes = paths.into_iter().take(MOST_FILES).map(|path| (path.to_string(), hash(workspace, &path))).collect();
    PlannedFiles { hashes, is_partial }
}

fn hash(workspace: &Workspace, path: &WorkspacePath) -> Option<String> {
    workspace.read(path).ok().map(|snapshot| sha256_hex(&snapshot.bytes))
}
