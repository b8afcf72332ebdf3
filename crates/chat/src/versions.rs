//! What calls change in files: noted before it happens, settled after.
//!
//! The note tells how each path was before a call and how it is to be after it. Whichever of the two holds now says what
//! happened: after a crash, after a stop, and when it is to be taken back.

use crate::chat::{Chat, broken};
use planwright_protocol::{Image, MessageId, Problem};
use planwright_store::{Content, FileChangeRow, Versions};
use planwright_tools::{FileChange, WorkspacePath};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a message is about to change, ready to be stored.
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

/// Which side of what was noted holds now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Present {
    Before,
    After,
    Neither,
}

/// Whether what a message was to change has happened. Clears away what a write that was killed left.
pub async fn present(chat: &Arc<Chat>, message: MessageId) -> Result<Present, Problem> {
    let noted = looked_at(chat, message).await?;
    // A folder that is made for something may be there before that is.
    let holders: BTreeSet<WorkspacePath> = noted.iter().filter_map(|one| one.path.split()).map(|(folder, _)| folder).collect();
    let is_on_the_way =
        |one: &&Looked| one.row.before == Image::Absent && matches!(one.row.after, Image::Folder { .. }) && holders.contains(&one.path);
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

/// The paths that a message was to change.
pub async fn paths(chat: &Arc<Chat>, message: MessageId) -> Result<Vec<WorkspacePath>, Problem> {
    let rows = chat.store.file_changes_of(message).await?;
    Ok(rows.iter().filter_map(|row| WorkspacePath::parse(&row.change.path).ok()).collect())
}

/// Forgets of what was noted all that did not happen: a call failed, or was cut off.
pub async fn settle(chat: &Arc<Chat>, message: MessageId) -> Result<(), Problem> {
    let noted = looked_at(chat, message).await?;
    let undone = noted.iter().filter(|one| one.now.matches(&one.row.before) && !one.now.matches(&one.row.after));
    let undone: Vec<String> = undone.map(|one| one.row.path.clone()).collect();
    chat.store.forget_changes(message, &undone).await.map_err(Problem::from)
}

/// Forgets what did not come to these paths, nor to anything in them.
pub async fn forget_within(chat: &Arc<Chat>, message: MessageId, folders: &[WorkspacePath]) -> Result<(), Problem> {
    if folders.is_empty() {
        return Ok(());
    }
    let paths = paths(chat, message).await?;
    let left = paths.iter().filter(|path| folders.iter().any(|folder| path.is_within(folder)));
    let left: Vec<String> = left.map(ToString::to_string).collect();
    chat.store.forget_changes(message, &left).await.map_err(Problem::from)
}

/// A path that a message was to change, and what is there now.
pub struct Looked {
    pub path: WorkspacePath,
    row: FileChangeRow,
    now: Image,
}

impl Looked {
    /// Which side of what was noted holds.
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

/// What a message was to change, path by path.
pub async fn looked_at(chat: &Arc<Chat>, message: MessageId) -> Result<Vec<Looked>, Problem> {
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
            found.push(Looked { now: workspace.image(&path), row: stored.change, path });
        }
        found
    };
    tokio::task::spawn_blocking(look).await.map_err(broken)
}
