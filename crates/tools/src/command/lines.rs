//! Lines for the model about what was not kept, and about refs.

use crate::git_name::ref_change;
use crate::path::WorkspacePath;
use crate::workspace::{OutputConflicts, PutBack, RefChange};

/// How many paths or refs are named.
const MOST_SPELLED: usize = 20;

pub fn list(paths: &[&WorkspacePath]) -> String {
    let named = paths.iter().take(MOST_SPELLED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let more = paths.len().saturating_sub(MOST_SPELLED);
    if more > 0 { format!("{named}, and {more} more") } else { named }
}

/// What became of the refs.
pub fn refs_line(refs: &[RefChange]) -> Option<String> {
    let words = |change: &RefChange| ref_change(&change.path, change.before.as_deref(), change.after.as_deref());
    let all: Vec<String> = refs.iter().filter_map(words).collect();
    let more = all.len().saturating_sub(MOST_SPELLED);
    let named = all.iter().take(MOST_SPELLED).cloned().collect::<Vec<_>>().join("; ");
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| format!("[git: {named}{more}. The user let these refs lose commits, and can take it back.]"))
}

/// Files of build output that stayed as somebody else left them.
pub fn output_line(conflicts: &OutputConflicts, why: &str) -> Option<String> {
    let named: Vec<&WorkspacePath> = conflicts.named.iter().collect();
    let count = conflicts.count;
    (count > 0)
        .then(|| format!("[not kept: {count} entries of build output, because {why}: {}. Build again if you need yours.]", list(&named)))
}

pub fn emptied_line(paths: &[String]) -> Option<String> {
    let first = paths.first()?;
    Some(format!(
        "[git's own records are as before: the command gave /{first} to git, which looks like a secret and is empty for commands. Name the files to add, without it, and commit again.]"
    ))
}

pub fn odd_line(count: u64) -> Option<String> {
    (count > 0).then(|| format!("[not kept: {count} changes of files whose names can't be spelled]"))
}

pub fn objects_line(count: usize) -> Option<String> {
    (count > 0).then(|| format!("[not kept: changes of {count} objects that git already had]"))
}

/// What could not be taken back.
pub fn left_lines(done: &PutBack) -> Vec<String> {
    let lost = done.lost.first().map(|first| {
        format!("[could not be put back, because there is no copy: {} files, such as {first}. Tell the user.]", done.lost.len())
    });
    let left = done.left.first().map(|first| {
        format!("[left alone, because somebody else changed it since the command ended: {} entries, such as {first}]", done.left.len())
    });
    lost.into_iter().chain(left).collect()
}
