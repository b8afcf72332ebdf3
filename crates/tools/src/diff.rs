//! Renders changes as unified diffs in git's format, which `git apply` and `patch` understand.

use crate::text_file::{Encoding, encoding_of};
use crate::version::{FileChange, Version};
use planwright_protocol::Image;
use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// Comparing two large, different files takes long. After this time the diff is coarser.
const LONGEST_DIFFING: Duration = Duration::from_secs(1);
/// Context lines around a change.
pub(crate) const CONTEXT: usize = 3;

/// A change as a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    pub text: String,
    pub added: usize,
    pub removed: usize,
    pub is_binary: bool,
    /// Whether the text was cut. It then says so, and can't be applied.
    pub is_cut: bool,
}

/// The lines that differ, up to `longest` bytes.
#[must_use]
pub fn hunks(before: &str, after: &str, longest: usize) -> Diff {
    hunks_within(before, after, CONTEXT, longest)
}

/// The same with so many lines around each change.
fn hunks_within(before: &str, after: &str, context: usize, longest: usize) -> Diff {
    let (old, new) = (lines(before), lines(after));
    let compared = compare(&old, &new);
    let mut diff = Diff::default();
    for group in compared.grouped_ops(context) {
        diff.text.push_str(&format!("{}\n", UnifiedHunkHeader::new(&group)));
        for change in group.iter().flat_map(|op| compared.iter_changes(op)) {
            match change.tag() {
                ChangeTag::Insert => diff.added += 1,
                ChangeTag::Delete => diff.removed += 1,
                ChangeTag::Equal => {}
            }
            diff.text.push_str(&format!("{}{}", change.tag(), change.value()));
            if !change.value().ends_with('\n') {
                diff.text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    if diff.text.len() > longest {
        let cut = diff.text.floor_char_boundary(longest);
        let left = diff.text.len() - cut;
        diff.text.truncate(cut);
        diff.text.push_str(&format!("\n[diff cut: {left} more bytes]\n"));
        diff.is_cut = true;
    }
    diff
}

/// The lines that git would count.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

pub(crate) fn compare<'t>(old: &'t [&'t str], new: &'t [&'t str]) -> TextDiff<'t, 't, str> {
    TextDiff::configure().timeout(LONGEST_DIFFING).diff_slices(old, new)
}

/// A change in git's format. `from` is the old path of a file that was only moved; `change` then has the new path.
#[must_use]
pub fn of(change: &FileChange, from: Option<&str>, longest: usize) -> Diff {
    within(change, from, CONTEXT, longest)
}

/// The same with so many lines around each change.
#[must_use]
pub fn within(change: &FileChange, from: Option<&str>, context: usize, longest: usize) -> Diff {
    let path = change.path.relative();
    let (before, after) = (Side::of(&change.before), Side::of(&change.after));
    let (old_name, new_name) = (quoted("a/", from.unwrap_or(path)), quoted("b/", path));
    let mut text = format!("diff --git {old_name} {new_name}\n");
    match (&before, &after) {
        // Git does not track folders.
        (None, None) => return Diff::default(),
        (None, Some(after)) => text.push_str(&format!("new file mode {}\n", after.mode)),
        (Some(before), None) => text.push_str(&format!("deleted file mode {}\n", before.mode)),
        // A change of kind is a deletion and a creation.
        (Some(before), Some(after)) if before.is_link() != after.is_link() => return replaced(change, context, longest),
        (Some(before), Some(after)) if before.mode != after.mode => {
            text.push_str(&format!("old mode {}\nnew mode {}\n", before.mode, after.mode));
        }
        (Some(_), Some(_)) => {}
    }
    if let Some(from) = from {
        text.push_str(&format!("similarity index 100%\nrename from {}\nrename to {}\n", quoted("", from), quoted("", path)));
        return Diff { text, ..Diff::default() };
    }
    let is_same = before.is_some() && after.is_some() && change.before.image.content() == change.after.image.content();
    if is_same && !before.as_ref().is_some_and(Side::is_link) {
        // Permissions that git does not track are no change.
        let is_told = text.lines().count() > 1;
        return if is_told { Diff { text, ..Diff::default() } } else { Diff::default() };
    }
    let text_of_side = |side: &Option<Side>| side.as_ref().map_or(Some(String::new()), |side| side.text.clone());
    let (Some(old), Some(new)) = (text_of_side(&before), text_of_side(&after)) else {
        let name = |side: &Option<Side>, name: &str| if side.is_some() { name.to_owned() } else { "/dev/null".to_owned() };
        text.push_str(&format!("Binary files {} and {} differ\n", name(&before, &old_name), name(&after, &new_name)));
        return Diff { text, is_binary: true, ..Diff::default() };
    };
    let hunks = hunks_within(&old, &new, context, longest);
    if !hunks.text.is_empty() {
        let header = |side: &Option<Side>, name: &str| if side.is_some() { ended(name) } else { "/dev/null".to_owned() };
        text.push_str(&format!("--- {}\n+++ {}\n{}", header(&before, &old_name), header(&after, &new_name), hunks.text));
    }
    Diff { text, ..hunks }
}

/// A change of kind, as a deletion and a creation.
fn replaced(change: &FileChange, context: usize, longest: usize) -> Diff {
    let gone = within(&FileChange { after: Version::absent(), ..change.clone() }, None, context, longest);
    let new = within(&FileChange { before: Version::absent(), ..change.clone() }, None, context, longest);
    Diff {
        text: gone.text + &new.text,
        added: new.added,
        removed: gone.removed,
        is_binary: gone.is_binary || new.is_binary,
        is_cut: gone.is_cut || new.is_cut,
    }
}

/// One side of a change, if git can represent it.
struct Side {
    mode: &'static str,
    /// `None` if it is not text.
    text: Option<String>,
}

const LINK: &str = "120000";

impl Side {
    fn of(version: &Version) -> Option<Self> {
        match &version.image {
            Image::Absent | Image::Folder { .. } => None,
            Image::Link { target } => Some(Self { mode: LINK, text: Some(target.clone()) }),
            Image::File { mode, .. } => {
                let mode = if mode.is_some_and(|mode| mode & 0o100 != 0) { "100755" } else { "100644" };
                Some(Self { mode, text: version.bytes.as_deref().and_then(text_of) })
            }
            Image::Unknown => Some(Self { mode: "100644", text: None }),
        }
    }

    fn is_link(&self) -> bool {
        self.mode == LINK
    }
}

/// The content as text, or `None`. Applying a diff must restore the exact bytes, so it shows no other encodings, and no NUL,
/// which git treats as binary.
pub(crate) fn text_of(bytes: &[u8]) -> Option<String> {
    encoding_of(bytes).filter(|encoding| *encoding == Encoding::Bytes)?;
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(str::to_owned)
}

/// A name at the end of a header line: if it contains a space, a tab marks its end.
fn ended(name: &str) -> String {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name.to_owned() }
}

/// A name as git writes it: quoted if it could be misread.
fn quoted(prefix: &str, name: &str) -> String {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if name.bytes().all(plain) {
        return format!("{prefix}{name}");
    }
    let escaped: String = name
        .bytes()
        .map(|byte| match byte {
            b'\n' => "\\n".to_owned(),
            b'\t' => "\\t".to_owned(),
            b'"' => "\\\"".to_owned(),
            b'\\' => "\\\\".to_owned(),
            byte if plain(byte) => char::from(byte).to_string(),
            byte => format!("\\{byte:03o}"),
        })
        .collect();
    format!("\"{prefix}{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::WorkspacePath;

    fn change(path: &str, before: Version, after: Version) -> FileChange {
        FileChange { path: WorkspacePath::parse(path).unwrap(), before, after }
    }

    fn file(text: &str, mode: u32) -> Version {
        Version::file(text.as_bytes(), Some(mode))
    }

    #[test]
    fn lines_are_git_lines_whatever_else_ends_one() {
        let diff = hunks("a\rb\nc", "a\rb\nd\r", 1000);
        assert_eq!(diff.text, "@@ -1,2 +1,2 @@\n a\rb\n-c\n\\ No newline at end of file\n+d\r\n\\ No newline at end of file\n");
        assert_eq!((diff.added, diff.removed), (1, 1));
    }

    #[test]
    fn a_long_diff_is_cut_and_says_so() {
        let diff = of(&change("/a", Version::absent(), file(&"line\n".repeat(1000), 0o644)), None, 100);
        assert!(diff.is_cut && diff.text.contains("[diff cut: ") && diff.added == 1000);
    }

    #[test]
    fn modes_kinds_and_what_is_no_text_are_said_as_git_says_them() {
        let text = |before: Version, after: Version| of(&change("/a", before, after), None, 1000).text;
        assert_eq!(text(file("x", 0o644), file("x", 0o755)), "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n");
        assert_eq!(text(file("x", 0o644), file("x", 0o600)), "", "git knows no finer modes");
        assert_eq!(text(file("\0", 0o644), file("x", 0o644)), "diff --git a/a b/a\nBinary files a/a and b/a differ\n");
        assert_eq!(text(Version::absent(), Image::Folder { mode: None }.into()), "");
        let replaced = text(file("x\n", 0o644), Image::Link { target: "b".into() }.into());
        assert!(replaced.contains("deleted file mode 100644") && replaced.contains("new file mode 120000"), "{replaced}");
    }

    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        assert_eq!(quoted("a/", "with space"), "a/with space");
        assert_eq!(quoted("a/", "é\"\t"), "\"a/\\303\\251\\\"\\t\"");
    }
}
