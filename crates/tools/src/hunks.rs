//! The changes of a text file, numbered: a reader can name some of them and have only those reverted.
//!
//! The numbers count the hunks of a diff with three lines of context, from 0. With more context, one hunk of the diff shows
//! several numbered changes; the numbers stay the same.

use crate::diff::{CONTEXT, compare, lines, text_of};
use crate::version::FileChange;
use planwright_protocol::Image;
use planwright_protocol::api::changes::NumberedHunk;
use similar::{DiffOp, DiffTag};

/// The hunks of a change with so many lines of context. Empty for anything but text.
#[must_use]
pub fn numbered(change: &FileChange, context: usize) -> Vec<NumberedHunk> {
    let Some((before, after)) = texts(change) else { return Vec::new() };
    let (old, new) = (lines(&before), lines(&after));
    let compared = compare(&old, &new);
    let canonical = compared.grouped_ops(CONTEXT);
    compared.grouped_ops(context).iter().map(|group| hunk(group, &canonical)).collect()
}

fn hunk(group: &[DiffOp], canonical: &[Vec<DiffOp>]) -> NumberedHunk {
    let shares = |other: &[DiffOp]| other.iter().any(|op| op.tag() != DiffTag::Equal && group.contains(op));
    let numbers: Vec<usize> = canonical.iter().enumerate().filter(|(_, other)| shares(other)).map(|(number, _)| number).collect();
    let span = |range: fn(&DiffOp) -> std::ops::Range<usize>| {
        let start = group.first().map(range).unwrap_or_default().start;
        let end = group.last().map(range).unwrap_or_default().end;
        // A side without lines is placed after the line before it, as in a unified diff.
        if start == end { (start, 0) } else { (start + 1, end - start) }
    };
    let (old_start, old_lines) = span(DiffOp::old_range);
    let (new_start, new_lines) = span(DiffOp::new_range);
    NumberedHunk { number: numbers.first().copied().unwrap_or_default(), numbers, old_start, old_lines, new_start, new_lines }
}

/// Why some changes can't be reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkError {
    /// It is no text, so it has no numbered changes.
    NoText,
    /// There is no change with this number; there are so many.
    Unknown { number: usize, count: usize },
}

/// The text after, with the numbered changes reverted. `None` if these are all changes.
///
/// # Errors
/// It is no text, or has no such change.
pub fn revert_some(change: &FileChange, numbers: &[usize]) -> Result<Option<String>, HunkError> {
    let (before, after) = texts(change).ok_or(HunkError::NoText)?;
    let (old, new) = (lines(&before), lines(&after));
    let compared = compare(&old, &new);
    let canonical = compared.grouped_ops(CONTEXT);
    let count = canonical.len();
    if let Some(&number) = numbers.iter().find(|number| **number >= count) {
        return Err(HunkError::Unknown { number, count });
    }
    if (0..count).all(|number| numbers.contains(&number)) {
        return Ok(None);
    }
    let is_reverted = |op: &DiffOp| numbers.iter().any(|number| canonical[*number].contains(op));
    let mut text = String::new();
    for op in compared.ops() {
        let lines = if op.tag() != DiffTag::Equal && is_reverted(op) { &old[op.old_range()] } else { &new[op.new_range()] };
        text.extend(lines.iter().copied());
    }
    Ok(Some(text))
}

/// Both sides as text; an absent file is an empty one.
fn texts(change: &FileChange) -> Option<(String, String)> {
    let text = |version: &crate::version::Version| match version.image {
        Image::Absent => Some(String::new()),
        Image::File { .. } => version.bytes.as_deref().and_then(text_of),
        Image::Folder { .. } | Image::Link { .. } | Image::Unknown => None,
    };
    let both = text(&change.before)?;
    Some((both, text(&change.after)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff;
    use crate::path::WorkspacePath;
    use crate::version::Version;
    use proptest::prelude::*;

    fn change(before: &str, after: &str) -> FileChange {
        let version = |text: &str| Version::file(text.as_bytes(), Some(0o644));
        FileChange { path: WorkspacePath::parse("/a").unwrap(), before: version(before), after: version(after) }
    }

    fn text(changed: &[usize]) -> String {
        (0..40).map(|line| if changed.contains(&line) { format!("new {line}\n") } else { format!("line {line}\n") }).collect()
    }

    #[test]
    fn more_context_shows_several_changes_in_one_hunk_and_keeps_their_numbers() {
        let change = change(&text(&[]), &text(&[3, 5, 20, 38]));
        let shown = |context| numbered(&change, context).into_iter().map(|hunk| hunk.numbers).collect::<Vec<_>>();
        assert_eq!(shown(3), [[0], [1], [2]]);
        assert_eq!(shown(8), [vec![0, 1], vec![2]]);
        assert_eq!(shown(100), [[0, 1, 2]]);
        assert_eq!(shown(0), [[0], [0], [1], [2]], "less context splits a change");
        let first = &numbered(&change, 3)[0];
        assert_eq!((first.old_start, first.old_lines, first.new_start, first.new_lines), (1, 9, 1, 9));
        assert!(diff::within(&change, None, 3, 10_000).text.contains("@@ -1,9 +1,9 @@"));
    }

    #[test]
    fn only_the_named_changes_are_reverted() {
        let change = change(&text(&[]), &text(&[3, 20, 38]));
        assert_eq!(revert_some(&change, &[1]), Ok(Some(text(&[3, 38]))));
        assert_eq!(revert_some(&change, &[0, 2]), Ok(Some(text(&[20]))));
        assert_eq!(revert_some(&change, &[2, 1, 0]), Ok(None), "these are all");
        assert_eq!(revert_some(&change, &[3]), Err(HunkError::Unknown { number: 3, count: 3 }));
        let binary = FileChange { after: Version::file(&b"\0"[..], None), ..change };
        assert_eq!(revert_some(&binary, &[0]), Err(HunkError::NoText));
        assert_eq!(numbered(&binary, 3), []);
    }

    proptest! {
        #[test]
        fn changes_reverted_one_by_one_give_the_text_before(before in "([ab]\n){0,30}c?", after in "([ab]\n){0,30}c?") {
            let mut now = after;
            while let Some(hunk) = numbered(&change(&before, &now), 3).first() {
                now = revert_some(&change(&before, &now), &[hunk.number]).unwrap().unwrap_or_else(|| before.clone());
            }
            prop_assert_eq!(now, before);
        }
    }
}
