//! The files that a call changed, as editors show them: whole texts before and after.

use planwright_client::{ChangesFilter, FileDiffFilter, RemoteChat};
use planwright_protocol::MessageId;
use planwright_protocol::api::changes::{FileDiff, Status};

/// More lines of context than a file has, so that its diff is the whole file.
const WHOLE: usize = 100_000;
/// Longer diffs are not shown.
const LONGEST: usize = 512 << 10;
const MOST_FILES: usize = 50;

/// A text file before and after a message; `None` where the file did not exist.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangedText {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The complete text files that a message changed, without binary files and files that are too long to show.
pub async fn changed_by(chat: &RemoteChat, message: MessageId) -> Vec<ChangedText> {
    let query = ChangesFilter { message: Some(message), summary: true, cursor: None };
    let Ok(changes) = chat.changes(&query).await else { return Vec::new() };
    let mut texts = Vec::new();
    for file in changes.total.files.iter().filter(|file| !file.binary && file.from.is_none()).take(MOST_FILES) {
        let query = FileDiffFilter { message: Some(message), context: Some(WHOLE) };
        if let Ok(diff) = chat.changed_file(&file.path, &query).await {
            texts.extend(whole(&diff));
        }
    }
    texts
}

/// Both texts, from a diff that has all lines.
fn whole(diff: &FileDiff) -> Option<ChangedText> {
    let file = &diff.file;
    if file.truncated || file.binary || file.diff.len() > LONGEST || file.diff.is_empty() {
        return None;
    }
    let (mut before, mut after) = (String::new(), String::new());
    let mut last = ' ';
    for line in file.diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@")).skip(1) {
        let mut characters = line.chars();
        let Some(kind) = characters.next() else { continue };
        let text = characters.as_str();
        match kind {
            ' ' => {
                before.push_str(text);
                after.push_str(text);
            }
            '-' => before.push_str(text),
            '+' => after.push_str(text),
            // "No newline at end of file"
            '\\' => [(&mut before, '-'), (&mut after, '+')].into_iter().for_each(|(text, kind)| {
                if (last == kind || last == ' ') && text.ends_with('\n') {
                    text.pop();
                }
            }),
            // A second hunk: lines between the two are missing.
            _ => return None,
        }
        last = kind;
    }
    let (is_new, is_gone) = (file.status == Status::Created, file.status == Status::Deleted);
    Some(ChangedText { path: file.path.clone(), before: (!is_new).then_some(before), after: (!is_gone).then_some(after) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(status: &str, diff: &str) -> Option<(Option<String>, Option<String>)> {
        let file = json!({
            "path": "/a.txt", "status": status, "before": {"kind": "absent"}, "after": {"kind": "absent"}, "diff": diff,
            "added": 1, "removed": 1, "binary": false, "truncated": false, "reverted": false,
            "before_sha256": null, "after_sha256": null, "hunks": [], "changed_since": false,
        });
        whole(&serde_json::from_value(file).unwrap()).map(|text| (text.before, text.after))
    }

    #[test]
    fn a_diff_with_all_lines_is_both_texts() {
        let some = |text: &str| Some(text.to_owned());
        let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
        assert_eq!(texts("modified", diff), Some((some("one\ntwo\nthree\n"), some("one\n2\nthree\n"))));
        let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n";
        assert_eq!(texts("modified", diff), Some((some("old"), some("new\n"))));
        let diff = "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n";
        assert_eq!(texts("created", diff), Some((None, some("new"))));
        let cut = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n";
        assert_eq!(texts("modified", cut), None);
    }
}
