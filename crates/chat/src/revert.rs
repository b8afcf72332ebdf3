//! What taking back a chat's changes would do: thought out from what was noted and what is there, nothing done.

use crate::chat::{Chat, broken};
use planwright_protocol::api::changes::RevertSummary;
use planwright_protocol::message::{RevertNotice, RevertStatus};
use planwright_protocol::op::RevertTarget;
use planwright_protocol::{ErrorCode, Image, Message, MessageBody, MessageId, Notice, Problem};
use planwright_store::{Content, StoredChange};
use planwright_tools::workspace::{CHANGED, NO_COPY, NOT_EMPTY};
use planwright_tools::{Workspace, WorkspacePath};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What is done to each path, and what can't be.
#[derive(Debug, Default)]
pub struct Revert {
    pub files: Vec<Step>,
    pub conflicts: Vec<Conflict>,
    /// The changes that are taken back by it.
    pub(crate) covered: Vec<(i64, String)>,
    /// The files of which only some changes are taken back, with their numbers.
    pub(crate) hunks: BTreeMap<String, Vec<usize>>,
    /// The contents that no file had before: those without some of its changes.
    pub(crate) contents: Vec<Content>,
}

pub use planwright_protocol::message::{RevertConflict as Conflict, RevertStep as Step};

/// How many paths an answer has of each kind.
const MOST_LISTED: usize = 1000;

/// So much of a revert as one answer can have.
#[must_use]
pub fn revert_summary(revert: Revert) -> RevertSummary {
    let Revert { mut files, mut conflicts, .. } = revert;
    let (file_count, conflict_count) = (files.len(), conflicts.len());
    files.truncate(MOST_LISTED);
    conflicts.truncate(MOST_LISTED);
    let truncated = file_count.max(conflict_count) > MOST_LISTED;
    RevertSummary { files, file_count, conflicts, conflict_count, truncated }
}

/// Cuts the lists in the message of a revert, for an answer.
pub fn shorten_revert(message: &mut Message) {
    if let MessageBody::Notice(Notice::Revert(revert)) = &mut message.body {
        revert.files.truncate(MOST_LISTED);
        revert.conflicts.truncate(MOST_LISTED);
    }
}

/// What a message took everything back to, if it did so.
pub fn target(message: &Message) -> Option<MessageId> {
    recorded(message).and_then(|notice| notice.message_id)
}

fn recorded(message: &Message) -> Option<&RevertNotice> {
    if let Some(Notice::Revert(notice)) = message.body.notice() { Some(notice) } else { None }
}

impl Chat {
    /// What it would do to take back everything from a message on.
    ///
    /// # Errors
    /// `NOT_FOUND`, when the chat has no such message.
    pub async fn revert(&self, message: MessageId) -> Result<Revert, Problem> {
        let missing = || Problem::new(ErrorCode::NotFound, format!("This chat has no message {message}."));
        let from = self.store.place(self.id, message).await?.ok_or_else(missing)?;
        let rows = self.store.file_changes(self.id).await?;
        let mut reverts = HashMap::new();
        for past in self.store.changing_messages(self.id).await? {
            if let Some(target) = target(&past)
                && let Some(place) = self.store.place(self.id, target).await?
            {
                reverts.insert(past.id, place);
            }
        }
        let chains = chains(rows, &reverts, from);
        let workspace = self.workspace.clone();
        let revert = tokio::task::spawn_blocking(move || thought_out(&workspace, chains)).await.map_err(broken)?;
        self.possible(revert).await
    }

    /// What taking back these changes would do.
    ///
    /// # Errors
    /// `NOT_FOUND` or `VALIDATION_FAILED`: there is no such message, or a file is named wrongly.
    pub async fn revert_of(&self, target: &RevertTarget) -> Result<Revert, Problem> {
        match target {
            RevertTarget::Message(message) => self.revert(*message).await,
            RevertTarget::Files(files) => self.revert_files(files).await,
        }
    }

    /// The same without what can't be done.
    pub(crate) async fn possible(&self, mut revert: Revert) -> Result<Revert, Problem> {
        let is_made = |revert: &Revert, sha256: &str| revert.contents.iter().any(|content| content.sha256 == sha256);
        let mut without_copy = BTreeSet::new();
        for step in &revert.files {
            if let Some(sha256) = step.wanted.content()
                && !is_made(&revert, sha256)
                && !self.store.has_content(sha256).await?
            {
                without_copy.insert(step.path.clone());
            }
        }
        // Git makes its index anew; for all else it must be said.
        revert.files.retain(|step| !(without_copy.contains(&step.path) && is_index(&step.path)));
        let conflicts = without_copy.into_iter().filter(|path| !is_index(path));
        revert.conflicts.extend(conflicts.map(|path| Conflict { path, reason: NO_COPY.to_owned() }));
        let workspace = self.workspace.clone();
        tokio::task::spawn_blocking(move || without_conflicts(&workspace, revert)).await.map_err(broken)
    }
}

impl Revert {
    /// The revert that a notice reports.
    #[must_use]
    pub fn from_notice(message: &Message) -> Self {
        recorded(message)
            .map(|notice| Self { files: notice.files.clone(), conflicts: notice.conflicts.clone(), ..Self::default() })
            .unwrap_or_default()
    }

    /// Why nothing was taken back.
    pub(crate) fn refused(&self) -> Problem {
        let text = format!(
            "{} of the files can't be taken back, so nothing was: {}. Send `skip_conflicts: true` to take back the rest.",
            self.conflicts.len(),
            named(self.conflicts.iter().map(|conflict| format!("{} ({})", conflict.path, conflict.reason)))
        );
        let first = &self.conflicts[..self.conflicts.len().min(MOST_LISTED)];
        Problem::new(ErrorCode::Conflict, text).with_details(json!({ "conflicts": first, "conflict_count": self.conflicts.len() }))
    }

    /// The facts that stand in the message.
    pub(crate) fn notice(&self, target: &RevertTarget) -> RevertNotice {
        let message_id = match target {
            RevertTarget::Message(message_id) => Some(*message_id),
            RevertTarget::Files(_) => None,
        };
        let (files, conflicts) = (self.files.clone(), self.conflicts.clone());
        RevertNotice { message_id, hunks: self.hunks.clone(), status: RevertStatus::Running, files, conflicts }
    }
}

/// The first few of many.
pub fn named(names: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 20;
    let more = names.len().saturating_sub(MOST);
    let list = names.take(MOST).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{list}, and {more} more") } else { list }
}

type Chains = BTreeMap<String, Chain>;

/// The changes of a path that are to be undone, the newest first.
#[derive(Default)]
struct Chain {
    all: Vec<StoredChange>,
    /// The places of those that count: what was taken back already, and all of that lies in reach, cancels out with what
    /// took it back.
    in_force: Vec<usize>,
}

fn chains(rows: Vec<StoredChange>, reverts: &HashMap<MessageId, u64>, from: u64) -> Chains {
    let mut chains = Chains::new();
    let mut cancelled: HashSet<(MessageId, String)> = HashSet::new();
    let mut newer = u64::MAX;
    for row in rows.into_iter().rev() {
        // A change whose message was never stored belongs to what came next.
        let place = row.seq.unwrap_or(newer);
        newer = place;
        if place < from {
            continue;
        }
        let path = row.change.path.clone();
        let chain = chains.entry(path.clone()).or_default();
        if row.reverted_by.is_some_and(|by| cancelled.contains(&(by, path.clone()))) {
            // It cancels out.
        } else if reverts.get(&row.change.message_id).is_some_and(|target| *target >= from) {
            cancelled.insert((row.change.message_id, path));
        } else {
            chain.in_force.push(chain.all.len());
        }
        chain.all.push(row);
    }
    chains
}

impl Chain {
    /// How the path was before the oldest of its changes, and which of them are undone by going back there.
    fn back(&self, present: &Image) -> Result<(Image, Vec<i64>), &'static str> {
        let ids = |rows: &[&StoredChange]| rows.iter().map(|row| row.id).collect();
        // Where one change follows the other up to what is there now, nobody else had a hand in it.
        let all: Vec<&StoredChange> = self.all.iter().collect();
        if let Some(wanted) = straight_back(present, &all) {
            return Ok((wanted, ids(&all)));
        }
        let in_force: Vec<&StoredChange> = self.in_force.iter().map(|&place| &self.all[place]).collect();
        back(present, &in_force).map(|wanted| (wanted, ids(&in_force)))
    }
}

/// `None` where what a change left is not what the next one found.
fn straight_back(present: &Image, chain: &[&StoredChange]) -> Option<Image> {
    let mut now = present;
    for row in chain {
        if *now == Image::Unknown || !now.matches(&row.change.after) {
            return None;
        }
        now = &row.change.before;
    }
    (*now != Image::Unknown).then(|| now.clone())
}

/// Follows each path from how it is to how it was.
fn thought_out(workspace: &Arc<Workspace>, chains: Chains) -> Revert {
    let mut revert = Revert::default();
    for (path, chain) in chains {
        let Ok(place) = WorkspacePath::parse(&path) else { continue };
        let present = workspace.image(&place);
        match chain.back(&present) {
            Ok((wanted, _)) if same(&present, &wanted) => {}
            Ok((wanted, undone)) => {
                revert.covered.extend(undone.into_iter().map(|id| (id, path.clone())));
                revert.files.push(Step { path, present, wanted });
            }
            // Whoever looks at the repository may have git write its index anew, which is no reason to refuse.
            Err(_) if is_index(&path) => {}
            Err(reason) => revert.conflicts.push(Conflict { path, reason: reason.to_owned() }),
        }
    }
    revert
}

fn is_index(path: &str) -> bool {
    path == "/.git/index"
}

/// How a path was before the oldest of its changes.
fn back(present: &Image, chain: &[&StoredChange]) -> Result<Image, &'static str> {
    let mut now = present.clone();
    let mut is_noted = false;
    for row in chain {
        let (before, after) = (&row.change.before, &row.change.after);
        // An unknown state equals itself only if the two notes follow each other.
        if now.matches(after) || (is_noted && now == *after) {
            now = before.clone();
            is_noted = true;
        } else if !now.matches(before) {
            return Err(if *after == Image::Unknown { NO_COPY } else { CHANGED });
        }
    }
    if now == Image::Unknown && is_noted { Err(NO_COPY) } else { Ok(now) }
}

/// Nothing to do, as far as is known.
fn same(present: &Image, wanted: &Image) -> bool {
    present.matches(wanted) || present == wanted
}

/// Leaves out what can't be done because of what is around it: folders that others use, and what was in folders that are gone.
fn without_conflicts(workspace: &Workspace, mut revert: Revert) -> Revert {
    let failed: BTreeSet<String> = revert.conflicts.iter().map(|conflict| conflict.path.clone()).collect();
    let mut steps: BTreeMap<WorkspacePath, Step> = BTreeMap::new();
    for step in revert.files.drain(..).filter(|step| !failed.contains(&step.path)) {
        if let Ok(path) = WorkspacePath::parse(&step.path) {
            steps.insert(path, step);
        }
    }
    let is_folder = |image: &Image| matches!(image, Image::Folder { .. });
    // The deepest first: a folder stays if one in it does.
    let folders: Vec<WorkspacePath> =
        steps.iter().rev().filter(|(_, step)| is_folder(&step.present) && !is_folder(&step.wanted)).map(|(path, _)| path.clone()).collect();
    for folder in folders {
        let goes = |name: &String| steps.get(&folder.join(name)).is_some_and(|step| step.wanted == Image::Absent);
        let stays: Option<Vec<_>> = workspace.list(&folder).ok().map(|names| names.into_iter().filter(|(name, _)| !goes(name)).collect());
        if stays.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        steps.remove(&folder);
        // Build output is nobody's: its folder stays, and that is no reason to refuse.
        if !stays.is_some_and(|names| names.iter().all(|(name, _)| workspace.is_output(&folder.join(name)))) {
            revert.conflicts.push(Conflict { path: folder.to_string(), reason: NOT_EMPTY.to_owned() });
        }
    }
    // The uppermost first: what lies in a folder that can't be made can't be either.
    for path in steps.keys().cloned().collect::<Vec<_>>() {
        let is_made = steps.get(&path).is_some_and(|step| step.wanted != Image::Absent);
        let Some((folder, _)) = path.split().filter(|(folder, _)| is_made && !folder.is_root()) else { continue };
        let has_folder = steps.get(&folder).map_or_else(|| is_folder(&workspace.image(&folder)), |step| is_folder(&step.wanted));
        if !has_folder {
            steps.remove(&path);
            revert.conflicts.push(Conflict { path: path.to_string(), reason: format!("the folder {folder} that it was in is gone") });
        }
    }
    revert.files = steps.into_values().collect();
    revert.conflicts.sort_by(|one, other| one.path.cmp(&other.path));
    let failed: BTreeSet<&str> = revert.conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
    revert.covered.retain(|(_, path)| !failed.contains(path.as_str()));
    revert
}
