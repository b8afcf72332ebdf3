use super::{files, nearest};
use crate::effect::FileEffect;
use crate::gate::Target;
use crate::path::WorkspacePath;
use crate::text_file::{self, Text};
use crate::tool::{Input, Prepared, Risk, Spec, ToolContext};
use crate::workspace::FileSnapshot;
use memchr::memmem::Finder;
use planwright_protocol::{ErrorCode, Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;

/// Replace text in a file. `old_string`, without line numbers, must occur exactly once: add lines until it does, or set
/// `replace_all`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    path: String,
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

/// How many places are listed if there are too many.
const PLACES_NAMED: usize = 10;

impl Input for Edit {
    const SPEC: Spec<'static> =
        Spec::writing("edit", Risk::Medium, &[&[Permission::Write]], &[r#"{"path": "/a.rs", "old_string": "f(1)", "new_string": "f(2)"}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse_file(&self.path)?;
        self.check()?;
        let Some(before) = files::present(cx, &path)? else { return Err(files::is_missing(&path)) };
        // The diff shows lines around the change, so the call also reads the file.
        let effects = vec![FileEffect::Write(path.clone()), FileEffect::Read(path.clone())];
        let after = match self.apply(&path, &before) {
            Ok(after) => files::revised(cx, &path, Some(&before), after),
            // The file's content is not revealed before the gate has allowed reading it.
            Err(problem) => return Ok(Prepared::new(effects, move |_| Err(problem))),
        };
        files::check_size(&path, after.len())?;
        let change = files::change(&path, Some(&before), Some(&after));
        let changes = vec![change.clone()];
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |permit| {
            let stamp = cx.workspace.write(&permit.to_write(&path, Target::Existing)?, &path, &after, Some(before.stamp))?;
            Ok(files::written(&cx, &path, stamp, &change, "Edited"))
        })
        .changing(changes))
    }
}

impl Edit {
    fn check(&self) -> Result<(), Problem> {
        if self.old_string.is_empty() {
            return Err(Problem::new(
                ErrorCode::InvalidArguments,
                "`old_string` is empty. Give the text to replace, or use `write` for the whole file.",
            ));
        }
        if self.old_string == self.new_string {
            return Err(changes_nothing());
        }
        Ok(())
    }

    /// The file's new content. Works on bytes, so everything else stays unchanged in any encoding.
    fn apply(&self, path: &WorkspacePath, before: &FileSnapshot) -> Result<Vec<u8>, Problem> {
        let text = Text::of(&before.bytes).ok_or_else(|| text_file::not_text(path))?;
        let bytes = text.bytes.as_ref();
        if !self.new_string.is_ascii() && std::str::from_utf8(bytes).is_err() {
            return Err(not_utf8(path));
        }
        let (old, new, count) = self.places(bytes);
        if old == new {
            return Err(changes_nothing());
        }
        let finder = Finder::new(old.as_bytes());
        match count {
            0 => return Err(not_found(path, bytes, &self.old_string)),
            1 => {}
            _ if self.replace_all.unwrap_or_default() => {}
            count => return Err(not_unique(path, bytes, finder.find_iter(bytes).take(PLACES_NAMED), count)),
        }
        // Checked before replacing: a short text with a million occurrences can become as many long ones.
        let length = (bytes.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
        files::check_size(path, length)?;
        let mut after = Vec::with_capacity(length);
        let mut rest = 0;
        for place in finder.find_iter(bytes) {
            after.extend_from_slice(&bytes[rest..place]);
            after.extend_from_slice(new.as_bytes());
            rest = place + old.len();
        }
        after.extend_from_slice(&bytes[rest..]);
        Ok(text.encoded(after))
    }

    /// Old and new text with the file's line endings, and the number of occurrences of the old one. Models write `\n`, whatever
    /// the file has.
    fn places(&self, bytes: &[u8]) -> (Cow<'_, str>, Cow<'_, str>, usize) {
        let crlf = || (with_crlf(&self.old_string), with_crlf(&self.new_string));
        let find = |old: &str| Finder::new(old).find_iter(bytes).count();
        match LineEnds::of(bytes) {
            LineEnds::Crlf => {
                let (old, new) = crlf();
                let places = find(&old);
                (old, new, places)
            }
            LineEnds::Lf => (Cow::Borrowed(&self.old_string), Cow::Borrowed(&self.new_string), find(&self.old_string)),
            LineEnds::Mixed => {
                let places = find(&self.old_string);
                if places == 0 && self.old_string.contains('\n') {
                    let (old, new) = crlf();
                    let places = find(&old);
                    return (old, new, places);
                }
                (Cow::Borrowed(&self.old_string), Cow::Borrowed(&self.new_string), places)
            }
        }
    }
}

enum LineEnds {
    Lf,
    Crlf,
    Mixed,
}

impl LineEnds {
    fn of(bytes: &[u8]) -> LineEnds {
        let (mut crlf, mut all) = (0_usize, 0_usize);
        for end in memchr::memchr_iter(b'\n', bytes) {
            all += 1;
            crlf += usize::from(end > 0 && bytes[end - 1] == b'\r');
        }
        match crlf {
            0 => LineEnds::Lf,
            _ if crlf == all => LineEnds::Crlf,
            _ => LineEnds::Mixed,
        }
    }
}

fn with_crlf(text: &str) -> Cow<'_, str> {
    if text.contains('\n') { Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n")) } else { Cow::Borrowed(text) }
}

/// A file with two encodings would be readable in neither.
fn not_utf8(path: &WorkspacePath) -> Problem {
    let text =
        format!("{path} is not UTF-8, so `edit` can only insert ASCII. Write `new_string` in ASCII, or ask the user to convert the file.");
    Problem::new(ErrorCode::NotATextFile, text)
}

fn changes_nothing() -> Problem {
    Problem::new(
        ErrorCode::InvalidArguments,
        "`old_string` and `new_string` are the same, so nothing would change. The file keeps its line endings.",
    )
}

fn not_found(path: &WorkspacePath, bytes: &[u8], old: &str) -> Problem {
    let advice = match nearest::find(bytes, old) {
        Some(nearest) => nearest.to_string(),
        None => "It contains nothing similar. Read the file, and copy the text from there.".to_owned(),
    };
    Problem::new(ErrorCode::EditNotFound, format!("`old_string` is not in {path}. {advice}"))
}

fn not_unique(path: &WorkspacePath, bytes: &[u8], first: impl Iterator<Item = usize>, count: usize) -> Problem {
    let mut lines = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for place in first {
        line += memchr::memchr_iter(b'\n', &bytes[counted..place]).count();
        counted = place;
        lines.push(line.to_string());
    }
    let more = if count > PLACES_NAMED { " and more" } else { "" };
    Problem::new(
        ErrorCode::EditNotUnique,
        format!(
            "`old_string` is in {path} {count} times, on lines {}{more}. Include more surrounding lines, or set `replace_all`.",
            lines.join(", ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use planwright_protocol::Role;
    use serde_json::json;

    fn edited(content: &[u8], old: &str, new: &str) -> Vec<u8> {
        let trial = Trial::new(&[]);
        trial.put("f", content);
        trial.act("edit", &json!({"path": "/f", "old_string": old, "new_string": new, "replace_all": true}).to_string()).unwrap();
        trial.bytes("f")
    }

    #[test]
    fn whatever_is_not_replaced_stays_byte_for_byte() {
        assert_eq!(edited(b"caf\xe9 AAA caf\xe9\n", "AAA", "BBB"), b"caf\xe9 BBB caf\xe9\n");
        assert_eq!(edited(b"\xef\xbb\xbfa\r\nb\r\nc", "b", "B"), b"\xef\xbb\xbfa\r\nB\r\nc");
        assert_eq!(edited(b"a\0a", "a", ""), b"\0");
    }

    #[test]
    fn line_ends_are_those_of_the_file() {
        assert_eq!(edited(b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), b"x\r\ny\r\nz\r\nc\r\n");
        assert_eq!(edited(b"a\r\nb\r\n", "b", "b\nc"), b"a\r\nb\r\nc\r\n");
        assert_eq!(edited(b"a\r\nb\r\n", "\nb", "\nc"), b"a\r\nc\r\n");
        assert_eq!(edited(b"a\nb\r\nc\r\n", "b\nc", "d\nc"), b"a\nd\r\nc\r\n");
        assert_eq!(edited(b"a\nb\r\n", "a\nb", "c\nb"), b"c\nb\r\n");
    }

    #[test]
    fn mode_bits_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let trial = Trial::new(&[("run.sh", "echo a\n")]);
        std::fs::set_permissions(trial.host("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        trial.act("edit", r#"{"path": "/run.sh", "old_string": "a", "new_string": "b"}"#).unwrap();
        assert_eq!(std::fs::metadata(trial.host("run.sh")).unwrap().permissions().mode() & 0o7777, 0o755);
    }

    #[test]
    fn text_that_is_there_several_times_is_refused_with_its_lines() {
        let trial = Trial::new(&[("a.txt", "x = 1\ny = 2\nx = 1\n")]);
        let args = r#"{"path": "/a.txt", "old_string": "x = 1", "new_string": "x = 3"}"#;
        let problem = trial.act("edit", args).unwrap_err();
        assert_eq!(problem.code.as_str(), "EDIT_NOT_UNIQUE");
        assert!(problem.message.contains("2 times, on lines 1, 3."), "{}", problem.message);
        trial.act("edit", r#"{"path": "/a.txt", "old_string": "x = 1", "new_string": "x = 3", "replace_all": true}"#).unwrap();
        assert_eq!(trial.content("a.txt"), "x = 3\ny = 2\nx = 3\n");
    }

    #[test]
    fn text_that_is_not_there_is_refused_with_the_nearest() {
        let trial = Trial::new(&[("a.rs", "fn main() {\n    let total = count(1);\n}\n")]);
        let problem = trial.act("edit", r#"{"path": "/a.rs", "old_string": "let total = count(2);", "new_string": "x"}"#).unwrap_err();
        assert_eq!(problem.code.as_str(), "EDIT_NOT_FOUND");
        assert!(problem.message.contains("line 2") && problem.message.contains("    let total = count(1);"), "{}", problem.message);
    }

    #[test]
    fn nothing_of_a_file_is_told_before_the_gate_has_decided() {
        let trial = Trial::new(&[(".env", "API_KEY=sk-1\n"), ("a.rs", "x\n")]);
        let args = r#"{"path": "/.env", "old_string": "API_KEY=sk-0", "new_string": "x"}"#;
        assert!(trial.prepare("edit", args).is_ok());
        assert_eq!(trial.refusal("edit", args), "EDIT_NOT_FOUND");
        let blocked = trial.call(Role::Planner, "edit", r#"{"path": "/a.rs", "old_string": "none", "new_string": "y"}"#).unwrap_err();
        assert_eq!(blocked.code.as_str(), "TOOL_BLOCKED_BY_MODE");
    }

    #[test]
    fn a_short_text_in_a_million_places_is_not_replaced_by_as_many_long_ones() {
        let trial = Trial::new(&[("a.txt", &"a".repeat(1 << 20))]);
        let args = json!({"path": "/a.txt", "old_string": "a", "new_string": "b".repeat(1 << 20), "replace_all": true}).to_string();
        assert_eq!(trial.refusal("edit", &args), "FILE_TOO_LARGE", "a tebibyte would end the server");
        let blocked = trial.call(Role::Planner, "edit", &args).unwrap_err();
        assert_eq!(blocked.code.as_str(), "TOOL_BLOCKED_BY_MODE");
        let args = json!({"path": "/a.txt", "old_string": "a", "new_string": "bc", "replace_all": true}).to_string();
        trial.act("edit", &args).unwrap();
        assert_eq!(trial.bytes("a.txt").len(), 2 << 20);
    }

    #[test]
    fn senseless_edits_are_refused() {
        let trial = Trial::new(&[("a.txt", "a\r\nb\r\n")]);
        for (old, new) in [("", "x"), ("a", "a"), ("a\nb", "a\r\nb")] {
            let args = json!({"path": "/a.txt", "old_string": old, "new_string": new}).to_string();
            assert_eq!(trial.refusal("edit", &args), "INVALID_ARGUMENTS", "{old:?} {new:?}");
        }
        assert_eq!(trial.refusal("edit", r#"{"path": "/none", "old_string": "a", "new_string": "b"}"#), "PATH_NOT_FOUND");
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let trial = Trial::new(&[("a.txt", "one\n")]);
        trial.act("read", r#"{"path": "/a.txt"}"#).unwrap();
        trial.put("a.txt", b"one, and more\n");
        assert_eq!(trial.refusal("edit", r#"{"path": "/a.txt", "old_string": "one", "new_string": "two"}"#), "FILE_CHANGED");
    }
}
