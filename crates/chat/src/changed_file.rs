//! One changed file as a diff with numbered changes.

use crate::changed_steps::steps_in_progress;
use crate::changes::ChangesQuery;
use crate::chat::{Chat, broken};
use crate::net_change::net_changes;
use planwright_protocol::api::changes::{ChangedFile, FileDiff};
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::hunks;
use planwright_tools::{WorkspacePath, diff};

/// The longest diff of one file.
const LONGEST: usize = 4 << 20;
/// Lines around each change.
const DEFAULT_CONTEXT: usize = 3;
const MOST_CONTEXT: usize = 100_000;

impl Chat {
    /// The diff of one file that the chat changed, with this many lines around each change (default 3).
    ///
    /// # Errors
    /// `NOT_FOUND`: the chat has no change of this file.
    pub async fn changed_file(&self, path: &str, context: Option<usize>, query: ChangesQuery) -> Result<FileDiff, Problem> {
        let path = WorkspacePath::parse(path)?.to_string();
        let rows = self.store.file_changes(self.id).await?;
        let messages = self.store.changing_messages(self.id).await?;
        let steps = steps_in_progress(&messages);
        let rows = query.chosen(&rows, &messages, &steps);
        let found = net_changes(&rows).into_iter().find(|(net, _)| net.path == path);
        let missing = || Problem::new(ErrorCode::NotFound, format!("This chat has no change of {path}."));
        let (net, from) = found.ok_or_else(missing)?;
        let change = self.file_change(&net.path, &net.before, &net.after).await?.ok_or_else(missing)?;
        let (before_sha256, after_sha256) = (net.before.content().map(str::to_owned), net.after.content().map(str::to_owned));
        let context = context.unwrap_or(DEFAULT_CONTEXT).min(MOST_CONTEXT);
        let (workspace, old_path) = (self.workspace.clone(), from.clone());
        let show = move || {
            let old_path = old_path.as_deref().map(|from| from.trim_start_matches('/'));
            let hunks = if old_path.is_some() { Vec::new() } else { hunks::numbered(&change, context) };
            let is_same = workspace.image(&change.path).matches(&change.after.image);
            (diff::within(&change, old_path, context, LONGEST), hunks, !is_same)
        };
        let (shown, hunks, changed_since) = tokio::task::spawn_blocking(show).await.map_err(broken)?;
        // Everything but the diff, as in a list.
        let mut files = self.files(vec![(net, from)], &mut 0).await?;
        crate::changes::summarise(&mut files, &rows, &steps);
        let file = files.pop().ok_or_else(missing)?;
        let file = ChangedFile {
            diff: shown.text,
            added: shown.added,
            removed: shown.removed,
            binary: shown.is_binary,
            truncated: shown.is_cut,
            ..file
        };
        Ok(FileDiff { file, before_sha256, after_sha256, hunks, changed_since })
    }
}
