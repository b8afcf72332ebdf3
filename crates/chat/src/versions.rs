//! File changes of calls: recorded before they happen, settled afterwards.
//!
//! The record has the state of each path before a call and its intended state after it. The current state shows what happened:
//! after a crash, after a stop, and for a revert.

use crate::chat::{Chat, broken};
use planwright_protocol::{Image, MessageId, Problem};
use planwright_store::{Content, FileChangeRow, Versions};
use planwright_tools::{FileChange, WorkspacePath};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The changes that a message is about to make, ready to be stored.
pub fn of(message_id: MessageId, changes: &[FileChange]) -> Versions {
    let mut versions = Versions::default();
    let mut known = BTreeSet::new();
    for change in changes.iter().filter(|change| change.before.image != change.after.image) {
        for version in [&change.before, &change.after] {
            if let (Some(sha256), Some(bytes)) = (version.image.content(), &version.bytes)
                && known.insert(sha256.to_owned())
            {
                versions.contents.push(Content { sha256: sha256.to_owned(), bytes: bytes.clone() });
            }
        }
        let (before, after) = (change.before.image.clone(), change.after.image.clone());
        versions.rows.push(FileChangeRow { message_id, path: change.path.to_string(), before, after });
    }
    versions
}

/// Which of the recorded states a path has now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Present {
    Before,
    After,
    Neither,
}

/// Whether a message's changes have happened. Also removes leftovers of a killed write.
pub async fn present(chat: &Arc<Chat>, message: MessageId) -> Result<Present, Problem> {
    let noted = observed_paths(chat, message).await?;
    // A new folder may exist before the file for which it was created.
    let holders: BTreeSet<WorkspacePath> = noted.iter().filter_map(|one| one.path.split()).map(|(folder, _)| folder).collect();
    let is_on_the_way = |one: &&ObservedPath| {
        one.row.before == Image::Absent && matches!(one.row.after, Image::Folder { .. }) && holders.contains(&one.path)
    };
    let all = |side: fn(&FileChangeRow) -> &Image| {
        let mut ends = noted.iter().filter(|one| !is_on_the_way(one));
        ends.all(|one| one.now.matches(side(&one.row)))
    };
    Ok(match (all(|row| &row.before), all(|row| &row.after)) {
        (true, _) => Present::Before,
        (false, true) => Present::After,
        (false, false) => Present::Neither,
    })
}

/// The paths that a message changes.
pub async fn paths(chat: &Arc<Chat>, message: MessageId) -> Result<Vec<WorkspacePath>, Problem> {
    let rows = chat.store.file_changes_of(message).await?;
    Ok(rows.iter().filter_map(|row| WorkspacePath::parse(&row.change.path).ok()).collect())
}

/// Deletes the records of changes that did not happen: a call failed, or was interrupted.
pub async fn settle(chat: &Arc<Chat>, message: MessageId) -> Result<(), Problem> {
    let noted = observed_paths(chat, message).await?;
    let undone = noted.iter().filter(|one| one.now.matches(&one.row.before) && !one.now.matches(&one.row.after));
    let undone: Vec<String> = undone.map(|one| one.row.path.clone()).collect();
    chat.store.forget_changes(message, &undone).await.map_err(Problem::from)
}

/// Deletes the records of changes that did not reach these paths or anything in them.
pub async fn forget_within(chat: &Arc<Chat>, message: MessageId, folders: &[WorkspacePath]) -> Result<(), Problem> {
    if folders.is_empty() {
        return Ok(());
    }
    let paths = paths(chat, message).await?;
    let left = paths.iter().filter(|path| folders.iter().any(|folder| path.is_within(folder)));
    let left: Vec<String> = left.map(ToString::to_string).collect();
    chat.store.forget_changes(message, &left).await.map_err(Problem::from)
}

/// A path that a message changes, and its current state.
pub struct ObservedPath {
    pub path: WorkspacePath,
    row: FileChangeRow,
    now: Image,
}

impl ObservedPath {
    /// Which of the recorded states it has.
    pub fn present(&self) -> Present {
        if self.now.matches(&self.row.after) {
            Present::After
        } else if self.now.matches(&self.row.before) {
            Present::Before
        } else {
            Present::Neither
        }
    }
}

/// The paths of a message's changes, with their current states.
pub async fn observed_paths(chat: &Arc<Chat>, message: MessageId) -> Result<Vec<ObservedPath>, Problem> {
    let rows = chat.store.file_changes_of(message).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let workspace = chat.workspace.clone();
    let look = move || {
        let (mut found, mut cleared) = (Vec::new(), BTreeSet::new());
        for stored in rows {
            let Ok(path) = WorkspacePath::parse(&stored.change.path) else { continue };
            if path.split().is_some_and(|(folder, _)| cleared.insert(folder)) {
                workspace.remove_leftovers(&path);
            }
            found.push(ObservedPath { now: workspace.image(&path), row: stored.change, path });
        }
        found
    };
    tokio::task::spawn_blocking(look).await.map_err(broken)
}
