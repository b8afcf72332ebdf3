//! What taking back some files, or some changes of a file, would do.

use crate::changed_steps::steps_in_progress;
use crate::changes::ChangesQuery;
use crate::chat::{Chat, broken};
use crate::net_change::{Net, net_changes};
use crate::revert::{Conflict, Revert, Step};
use planwright_protocol::api::changes::RevertDiff;
use planwright_protocol::op::FileToRevert;
use planwright_protocol::{ErrorCode, Image, Problem, sha256_hex};
use planwright_store::{Content, StoredChange};
use planwright_tools::WorkspacePath;
use planwright_tools::diff::{self, Diff};
use planwright_tools::hunks::{HunkError, revert_some};
use planwright_tools::workspace::CHANGED;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The most files of one request.
const MOST_FILES: usize = 2000;
const MOST_DIFFS: usize = 100;
const LONGEST_DIFF: usize = 64 << 10;
const NOT_SHOWN: &str = "it is not what was shown: load its changes again";
const NO_CHANGE: &str = "this chat has no change of it, or it was reverted already";
const NO_TEXT: &str = "it is no text, so only the whole file can be reverted";

impl Chat {
    /// What it would do to take back changes of these files.
    ///
    /// # Errors
    /// `VALIDATION_FAILED`: a file or change is named wrongly.
    pub(crate) async fn revert_files(&self, files: &[FileToRevert]) -> Result<Revert, Problem> {
        let files = checked(files)?;
        let rows = self.store.file_changes(self.id).await?;
        let messages = self.store.changing_messages(self.id).await?;
        let rows = ChangesQuery::default().chosen(&rows, &messages, &steps_in_progress(&messages));
        let net = net_changes(&rows);
        let shown: HashMap<&str, &(Net, Option<String>)> = net.iter().map(|one| (one.0.path.as_str(), one)).collect();
        let (mut revert, mut restored) = (Revert::default(), BTreeSet::new());
        for (path, file) in &files {
            let Some((net, from)) = shown.get(path.to_string().as_str()) else {
                revert.refuse(path, NO_CHANGE);
                continue;
            };
            if net.after.content() != file.after_sha256.as_deref() {
                revert.refuse(path, NOT_SHOWN);
                continue;
            }
            let present = self.image_of(path).await?;
            if !present.matches(&net.after) {
                revert.refuse(path, CHANGED);
                continue;
            }
            let partial = match &file.hunks {
                Some(numbers) => self.without_hunks(net, numbers, &mut revert).await?,
                None => Part::Whole,
            };
            match (partial, from) {
                (Part::Refused, _) => {}
                (Part::Some(content), _) => revert.keep_rest(net, content, file.hunks.clone().unwrap_or_default()),
                (Part::Whole, None) => revert.restore(net, present, &mut restored),
                (Part::Whole, Some(from)) => self.move_back(&mut revert, (net, from), present, &mut restored).await?,
            }
        }
        self.restore_folders(&mut revert, &rows, &mut restored).await?;
        let covered = rows.iter().filter(|row| restored.contains(&row.change.path));
        revert.covered = covered.map(|row| (row.id, row.change.path.clone())).collect();
        self.possible(revert).await
    }

    async fn image_of(&self, path: &WorkspacePath) -> Result<Image, Problem> {
        let (workspace, path) = (self.workspace.clone(), path.clone());
        tokio::task::spawn_blocking(move || workspace.image(&path)).await.map_err(broken)
    }

    /// How each file would change, as diffs of the first 100 files.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn revert_diffs(&self, revert: &Revert) -> Result<Vec<RevertDiff>, Problem> {
        let mut diffs = Vec::new();
        for step in revert.files.iter().take(MOST_DIFFS) {
            let Some(mut change) = self.file_change(&step.path, &step.present, &step.wanted).await? else { continue };
            if let Some(content) = revert.contents.iter().find(|content| step.wanted.content() == Some(content.sha256.as_str())) {
                change.after.bytes = Some(content.bytes.clone());
            }
            let shown = tokio::task::spawn_blocking(move || diff::of(&change, None, LONGEST_DIFF)).await.map_err(broken)?;
            let Diff { text, added, removed, .. } = shown;
            diffs.push(RevertDiff { path: step.path.clone(), diff: text, added, removed });
        }
        Ok(diffs)
    }

    /// The content without the numbered changes.
    async fn without_hunks(&self, net: &Net, numbers: &[usize], revert: &mut Revert) -> Result<Part, Problem> {
        let Some(change) = self.file_change(&net.path, &net.before, &net.after).await? else { return Ok(Part::Refused) };
        let (path, wanted) = (change.path.clone(), numbers.to_vec());
        let reverted = tokio::task::spawn_blocking(move || revert_some(&change, &wanted)).await.map_err(broken)?;
        Ok(match reverted {
            Ok(None) => Part::Whole,
            Ok(Some(text)) => Part::Some(text.into_bytes().into()),
            Err(HunkError::NoText) => {
                revert.refuse(&path, NO_TEXT);
                Part::Refused
            }
            Err(HunkError::Unknown { number, count }) => {
                return Err(invalid("hunks", &format!("names change {number} of {path}, which has {count} changes, numbered from 0")));
            }
        })
    }

    /// A file that was only moved goes back to its old path.
    async fn move_back(
        &self,
        revert: &mut Revert,
        (net, from): (&Net, &str),
        present: Image,
        restored: &mut BTreeSet<String>,
    ) -> Result<(), Problem> {
        let old = WorkspacePath::parse(from)?;
        if self.image_of(&old).await? != Image::Absent {
            revert.refuse(&old, CHANGED);
            return Ok(());
        }
        revert.files.push(Step { path: net.path.clone(), present, wanted: Image::Absent });
        revert.files.push(Step { path: from.to_owned(), present: Image::Absent, wanted: net.before.clone() });
        restored.extend([net.path.clone(), from.to_owned()]);
        Ok(())
    }

    /// Adds the folders that restored files need, as far as the chat deleted them.
    async fn restore_folders(&self, revert: &mut Revert, rows: &[&StoredChange], restored: &mut BTreeSet<String>) -> Result<(), Problem> {
        let mut first: HashMap<&str, &Image> = HashMap::new();
        for row in rows {
            first.entry(&row.change.path).or_insert(&row.change.before);
        }
        let mut wanted = BTreeMap::new();
        for step in revert.files.iter().filter(|step| step.wanted != Image::Absent) {
            let mut path = WorkspacePath::parse(&step.path)?;
            while let Some((folder, _)) = path.split().filter(|(folder, _)| !folder.is_root()) {
                if let Some(image @ Image::Folder { .. }) = first.get(folder.to_string().as_str()) {
                    wanted.insert(folder.clone(), (*image).clone());
                }
                path = folder;
            }
        }
        for (folder, image) in wanted {
            if self.image_of(&folder).await? == Image::Absent && restored.insert(folder.to_string()) {
                revert.files.push(Step { path: folder.to_string(), present: Image::Absent, wanted: image });
            }
        }
        Ok(())
    }
}

/// How much of a file is taken back.
enum Part {
    Whole,
    /// All but this content.
    Some(Arc<[u8]>),
    Refused,
}

impl Revert {
    fn refuse(&mut self, path: &WorkspacePath, reason: &str) {
        self.conflicts.push(Conflict { path: path.to_string(), reason: reason.to_owned() });
    }

    fn restore(&mut self, net: &Net, present: Image, restored: &mut BTreeSet<String>) {
        self.files.push(Step { path: net.path.clone(), present, wanted: net.before.clone() });
        restored.insert(net.path.clone());
    }

    /// Takes back some changes of a file, which gets a content that it never had.
    fn keep_rest(&mut self, net: &Net, bytes: Arc<[u8]>, mut numbers: Vec<usize>) {
        let sha256 = sha256_hex(&bytes);
        let wanted = Image::File { mode: net.after.mode(), sha256: sha256.clone() };
        numbers.sort_unstable();
        numbers.dedup();
        self.files.push(Step { path: net.path.clone(), present: net.after.clone(), wanted });
        self.hunks.insert(net.path.clone(), numbers);
        self.contents.push(Content { sha256, bytes });
    }
}

/// The files by path, each named once.
fn checked(files: &[FileToRevert]) -> Result<BTreeMap<WorkspacePath, &FileToRevert>, Problem> {
    if files.is_empty() || files.len() > MOST_FILES {
        return Err(invalid("files", &format!("must name 1 to {MOST_FILES} files")));
    }
    let mut by_path = BTreeMap::new();
    for file in files {
        let path = WorkspacePath::parse(&file.path).map_err(|problem| invalid("files", &problem.message))?;
        if file.hunks.as_ref().is_some_and(Vec::is_empty) {
            return Err(invalid("hunks", &format!("of {path} must name at least one change; leave it out to revert the whole file")));
        }
        if let Some(again) = by_path.insert(path, file) {
            return Err(invalid("files", &format!("names {} twice", again.path)));
        }
    }
    Ok(by_path)
}

fn invalid(field: &str, what: &str) -> Problem {
    Problem::new(ErrorCode::ValidationFailed, format!("`{field}` {what}.")).with_details(json!({ "fields": { field: what } }))
}
