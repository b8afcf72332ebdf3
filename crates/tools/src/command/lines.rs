//! Lines for the model about discarded changes and refs.

use crate::git_name::ref_change;
use crate::path::WorkspacePath;
use crate::workspace::{OutputConflicts, PutBack, RefChange};

/// Maximum number of listed paths or refs.
const MOST_LISTED: usize = 20;

pub fn list(paths: &[&WorkspacePath]) -> String {
    let named = paths.iter().take(MOST_LISTED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let more = paths.len().saturating_sub(MOST_LISTED);
    if more > 0 { format!("{named}, and {more} more") } else { named }
}

/// The changes of refs.
pub fn refs_line(refs: &[RefChange]) -> Option<String> {
    let words = |change: &RefChange| ref_change(&change.path, change.before.as_deref(), change.after.as_deref());
    let all: Vec<String> = refs.iter().filter_map(words).collect();
    let more = all.len().saturating_sub(MOST_LISTED);
    let named = all.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join("; ");
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| format!("[git: {named}{more}. The user allowed these refs to lose commits, and can revert it.]"))
}

/// Build output that others changed meanwhile.
pub fn output_line(conflicts: &OutputConflicts, why: &str) -> Option<String> {
    let named: Vec<&WorkspacePath> = conflicts.named.iter().collect();
    let count = conflicts.count;
    (count > 0)
        .then(|| format!("[not kept: {count} entries of build output, because {why}: {}. Build again if you need yours.]", list(&named)))
}

pub fn emptied_line(paths: &[String]) -> Option<String> {
    let first = paths.first()?;
    Some(format!(
        "[git's records are unchanged: the command added /{first} to git, which looks like a secret and is empty for commands. List the files to add, without it, and commit again.]"
    ))
}

pub fn odd_line(count: u64) -> Option<String> {
    (count > 0).then(|| format!("[not kept: {count} changes of files whose names a call can't contain]"))
}

pub fn objects_line(count: usize) -> Option<String> {
    (count > 0).then(|| format!("[not kept: changes of {count} objects that git already had]"))
}

/// What could not be restored.
pub fn left_lines(done: &PutBack) -> Vec<String> {
    let lost =
        done.lost.first().map(|first| format!("[can't restore {} files without a copy, such as {first}. Tell the user.]", done.lost.len()));
    let left = done.left.first().map(|first| {
        format!("[not restored, because others changed them after the command ended: {} entries, such as {first}]", done.left.len())
    });
    lost.into_iter().chain(left).collect()
}
