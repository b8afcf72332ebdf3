use crate::effect::FileEffect;
use crate::gate::Secrets;
use crate::path::WorkspacePath;
use crate::text_file::shown;
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use crate::workspace::Commits;
use planwright_protocol::{ErrorCode, Problem};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use working_tree::changes_since;

mod working_tree;

/// Git history; `diff` of A..B, or from a revision to the files.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct History {
    action: Action,
    path: Option<String>,
    revision: Option<String>,
    /// 10-40, for blame.
    lines: Option<String>,
    limit: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    Log,
    Show,
    Diff,
    Blame,
}

const COMMITS: usize = 20;
const MOST_COMMITS: usize = 200;
const LINES: usize = 300;
const MOST_LINES: usize = 2000;
const MOST_BYTES: usize = 100_000;
const LONGEST_REVISION: usize = 200;
/// Larger changes list only the file names.
const MOST_FILES: usize = 200;
const MOST_NAMES: usize = 4 << 20;

impl Input for History {
    const SPEC: Spec<'static> = Spec::reading(
        "history",
        Category::Read,
        &[
            r#"{"action": "log"}"#,
            r#"{"action": "show", "revision": "HEAD~2"}"#,
            r#"{"action": "blame", "path": "/src/main.rs", "lines": "10-40"}"#,
        ],
    );

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = self.path.as_deref().map_or_else(|| Ok(WorkspacePath::root()), WorkspacePath::parse)?;
        let revision = self.revision.as_deref().map(Revision::parse).transpose()?;
        let lines = self.lines.as_deref().map(line_range).transpose()?;
        if self.action == Action::Blame && path.is_root() {
            return Err(invalid("`blame` requires the `path` of a file".to_owned()));
        }
        if self.action != Action::Diff && matches!(revision, Some(Revision::Between { .. })) && self.action != Action::Log {
            return Err(invalid("Only `log` and `diff` accept a range of revisions".to_owned()));
        }
        let asked = HistoryCall {
            action: self.action,
            limit: match self.action {
                Action::Log => self.limit.unwrap_or(COMMITS).clamp(1, MOST_COMMITS),
                Action::Show | Action::Diff | Action::Blame => self.limit.unwrap_or(LINES).clamp(1, MOST_LINES),
            },
            // The gate has asked about a path that itself looks like a secret.
            secrets: (!cx.config.secrets.contains(&path)).then(|| cx.config.secrets.clone()),
            path,
            revision,
            lines,
        };
        let cx = cx.clone();
        Ok(Prepared::new(vec![FileEffect::Read(asked.path.clone())], move |_| {
            let commits = cx.workspace.commits(&asked.path, |folder| cx.command.may_show_repository(folder))?;
            match asked.action {
                Action::Log => asked.log(&commits),
                Action::Show => asked.show(&commits),
                Action::Diff => asked.diff(&cx, &commits),
                Action::Blame => asked.blame(&commits),
            }
        }))
    }
}

fn invalid(why: String) -> Problem {
    Problem::new(ErrorCode::InvalidArguments, format!("{why}."))
}

/// A parsed `revision`.
enum Revision {
    One(String),
    Between {
        from: String,
        to: String,
        /// Whether to compare from the merge base.
        parted: bool,
    },
}

impl Revision {
    /// Accepts nothing that git could parse as an option, a path or a search.
    fn parse(text: &str) -> Result<Self, Problem> {
        let one = |name: &str| {
            let name = if name.is_empty() { "HEAD" } else { name };
            let is_plain = |c: char| c.is_alphanumeric() || "_-./+#@~^".contains(c);
            if name.len() > LONGEST_REVISION || name.starts_with('-') || name.contains("..") || !name.chars().all(is_plain) {
                return Err(invalid(format!("{name:?} is not a revision. Give a commit, branch or tag, such as HEAD~2, or A..B")));
            }
            Ok(name.to_owned())
        };
        let text = text.trim();
        match text.split_once("...").map(|sides| (sides, true)).or_else(|| text.split_once("..").map(|sides| (sides, false))) {
            Some(((from, to), parted)) => Ok(Revision::Between { from: one(from)?, to: one(to)?, parted }),
            None => one(text).map(Revision::One),
        }
    }
}

/// Parses `10-40` or `10` into git's form.
fn line_range(text: &str) -> Result<String, Problem> {
    let (first, last) = text.split_once(['-', ',']).unwrap_or((text, text));
    match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
        (Ok(first), Ok(last)) if first > 0 && last >= first => Ok(format!("{first},{last}")),
        _ => Err(invalid(format!("{text:?} is not a range of lines such as 10-40"))),
    }
}

/// A parsed call.
struct HistoryCall {
    action: Action,
    path: WorkspacePath,
    revision: Option<Revision>,
    lines: Option<String>,
    limit: usize,
    /// Files to skip; `None` if the user allowed reading a secret.
    secrets: Option<Arc<Secrets>>,
}

/// The files that differ between two trees.
struct Changed {
    names: Vec<String>,
    /// How many were left out because they are secrets or no call can name them.
    left_out: usize,
}

impl HistoryCall {
    fn revision(&self) -> &str {
        match &self.revision {
            Some(Revision::One(name)) => name,
            Some(Revision::Between { to, .. }) => to,
            None => "HEAD",
        }
    }

    fn log(&self, commits: &Commits) -> Result<Output, Problem> {
        let range = match &self.revision {
            Some(Revision::Between { from, to, parted }) => format!("{from}{}{to}", if *parted { "..." } else { ".." }),
            Some(Revision::One(_)) | None => self.revision().to_owned(),
        };
        let count = format!("--max-count={}", self.limit + 1);
        let mut args = vec![
            "log",
            "--no-color",
            "--no-decorate",
            "--no-mailmap",
            "--no-show-signature",
            "--date=short",
            "--format=%h %ad %an: %s",
            &count,
            "--end-of-options",
            &range,
            "--",
        ];
        args.extend(commits.inside(&self.path));
        let (bytes, _) = commits.git(&args, MOST_BYTES)?;
        let text = shown(&bytes);
        let mut report: String = text.split_inclusive('\n').take(self.limit).collect();
        let is_cut = text.lines().nth(self.limit).is_some();
        if report.is_empty() {
            report.push_str("[no commits]\n");
        }
        if is_cut {
            report.push_str(&format!("[more follow: raise `limit` (at most {MOST_COMMITS}), or name the last one as `revision`]\n"));
        }
        Ok(Output::text(report).with("truncated", is_cut))
    }

    fn show(&self, commits: &Commits) -> Result<Output, Problem> {
        let revision = self.revision();
        let format = "--format=commit %H%nauthor %an%ndate %ad%n%n%B";
        let head = [
            "log",
            "-1",
            "--no-color",
            "--no-decorate",
            "--no-mailmap",
            "--no-show-signature",
            "--date=iso",
            format,
            "--end-of-options",
            revision,
            "--",
        ];
        let (bytes, _) = commits.git(&head, MOST_BYTES)?;
        let head = shown(&bytes).trim_end().to_owned();
        let tree = format!("{revision}^{{commit}}");
        let between = ["--root", "--no-commit-id", "--diff-merges=first-parent", "--end-of-options", &tree];
        self.differences(commits, &between, format!("{head}\n\n"))
    }

    fn diff(&self, cx: &ToolContext, commits: &Commits) -> Result<Output, Problem> {
        let Some(Revision::Between { from, to, parted }) = &self.revision else {
            let changes = changes_since(cx, commits, self.revision(), &self.path, self.secrets.as_deref())?;
            return Ok(self.cut(changes.text, changes.left_out));
        };
        let from = if *parted {
            let (base, _) = commits.git(&["merge-base", "--end-of-options", from, to], MOST_BYTES)?;
            shown(&base).trim().to_owned()
        } else {
            from.clone()
        };
        let (from, to) = (format!("{from}^{{tree}}"), format!("{to}^{{tree}}"));
        self.differences(commits, &["--end-of-options", &from, &to], String::new())
    }

    /// The changes between two trees, without secrets.
    fn differences(&self, commits: &Commits, between: &[&str], head: String) -> Result<Output, Problem> {
        let changed = self.changed(commits, between)?;
        if changed.names.len() > MOST_FILES {
            let names = changed.names.join("\n");
            let text = format!("{head}[{} files changed, too many to show: narrow `path`]\n{names}", changed.names.len());
            return Ok(self.cut(text, changed.left_out));
        }
        let mut text = head;
        if !changed.names.is_empty() {
            let options =
                ["diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=none"];
            let names = changed.names.iter().map(String::as_str);
            let args: Vec<&str> = options.into_iter().chain(between.iter().copied()).chain(["--"]).chain(names).collect();
            text.push_str(&shown(&commits.git(&args, MOST_NAMES)?.0));
        } else if changed.left_out == 0 {
            text.push_str("[no differences]\n");
        }
        Ok(self.cut(text, changed.left_out))
    }

    fn changed(&self, commits: &Commits, between: &[&str]) -> Result<Changed, Problem> {
        let options = ["diff-tree", "-r", "-z", "--name-only", "--no-ext-diff", "--no-renames"];
        let args: Vec<&str> = options.into_iter().chain(between.iter().copied()).chain(["--"]).chain(commits.inside(&self.path)).collect();
        let (bytes, is_cut) = commits.git(&args, MOST_NAMES)?;
        let mut changed = Changed { names: Vec::new(), left_out: usize::from(is_cut) };
        for name in bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            match std::str::from_utf8(name).ok().filter(|name| self.may_show(commits, name)) {
                Some(name) => changed.names.push(name.to_owned()),
                None => changed.left_out += 1,
            }
        }
        Ok(changed)
    }

    fn may_show(&self, commits: &Commits, name: &str) -> bool {
        let path = commits.outside(name);
        path.is_some_and(|path| self.secrets.as_ref().is_none_or(|secrets| !secrets.contains(&path)))
    }

    fn blame(&self, commits: &Commits) -> Result<Output, Problem> {
        let name = commits.inside(&self.path).ok_or_else(|| invalid("`blame` requires the `path` of a file".to_owned()))?;
        let range = format!("-L{}", self.lines.clone().unwrap_or_else(|| format!("1,{}", self.limit + 1)));
        let mut args = vec!["blame", "--date=short", "--no-progress", "--no-textconv"];
        args.extend([range.as_str(), self.revision(), "--", name]);
        let (bytes, _) = commits.git(&args, MOST_NAMES)?;
        Ok(self.cut(shown(&bytes).into_owned(), 0))
    }

    /// The text within its limits, with notes about what was left out.
    fn cut(&self, text: String, left_out: usize) -> Output {
        let lines = text.lines().count();
        let mut report: String = text.split_inclusive('\n').take(self.limit).collect();
        let is_cut = lines > self.limit || report.len() > MOST_BYTES;
        report.truncate(report.floor_char_boundary(MOST_BYTES));
        if !report.ends_with('\n') {
            report.push('\n');
        }
        if is_cut {
            report.push_str(&format!(
                "[cut at {} of {lines} lines: raise `limit` (at most {MOST_LINES}), or give `path` or `lines`]\n",
                self.limit
            ));
        }
        if left_out > 0 {
            report
                .push_str(&format!("[{left_out} files that look like secrets are left out; name one as `path` to ask the user for it]\n"));
        }
        Output::text(report).with("truncated", is_cut)
    }
}

#[cfg(test)]
mod tests;
