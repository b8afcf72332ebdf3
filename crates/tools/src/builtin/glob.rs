use super::pattern::Pattern;
use crate::effect::FileEffect;
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use crate::workspace::{FoundFile, Kind, Walked};
use planwright_protocol::{ErrorCode, Problem};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Find files by path; without a slash, names at any depth.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Glob {
    /// *.rs, src/**/*.{ts,tsx}
    pattern: String,
    path: Option<String>,
}

/// Maximum number of files in the result.
const SHOWN: usize = 1000;
const LONGEST_SEARCH: Duration = Duration::from_secs(10);

impl Input for Glob {
    const SPEC: Spec<'static> =
        Spec::reading("glob", Category::Search, &[r#"{"pattern": "*.rs"}"#, r#"{"pattern": "**/*.test.ts", "path": "/web"}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = self.path.as_deref().map_or_else(|| Ok(WorkspacePath::root()), WorkspacePath::parse)?;
        cx.workspace.host_path()?;
        let (folder, kind) = cx.workspace.resolve(&path)?;
        if kind != Kind::Folder {
            return Err(Problem::new(ErrorCode::InvalidArguments, format!("{path} is not a folder. Give a folder as `path`.")));
        }
        let pattern = Pattern::parse(&self.pattern, &folder)?;
        let mut effects = vec![FileEffect::Read(path.clone())];
        if folder != path {
            effects.push(FileEffect::Read(folder.clone()));
        }
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |_| {
            let files = Mutex::new(First::default());
            let walked = cx.workspace.walk(&folder, Instant::now() + LONGEST_SEARCH, || {
                |found: &FoundFile<'_>| {
                    if pattern.means(&found.path) {
                        files.lock().unwrap_or_else(PoisonError::into_inner).add(found.path.clone());
                    }
                }
            })?;
            Ok(report(files.into_inner().unwrap_or_else(PoisonError::into_inner), &walked))
        }))
    }
}

/// The first files, up to the maximum, and the number of other matches.
#[derive(Default)]
struct First {
    files: BTreeSet<WorkspacePath>,
    left_out: usize,
}

impl First {
    fn add(&mut self, path: WorkspacePath) {
        self.files.insert(path);
        if self.files.len() > SHOWN {
            self.files.pop_last();
            self.left_out += 1;
        }
    }
}

fn report(First { files, left_out }: First, walked: &Walked) -> Output {
    let mut text = String::new();
    for path in &files {
        text.push_str(&format!("{path}\n"));
    }
    if files.is_empty() {
        text.push_str("[no files match; files in .gitignore are skipped unless `path` is one of them]\n");
    }
    if left_out > 0 {
        text.push_str(&format!("[{left_out} more files match: narrow `pattern` or `path`]\n"));
    }
    if walked.late {
        text.push_str(&format!("[stopped after {} seconds, there may be more: narrow `path`]\n", LONGEST_SEARCH.as_secs()));
    }
    if walked.passed_over > 0 {
        text.push_str(&format!(
            "[{} files or folders were skipped: they are unreadable, too deep, or have names that a call can't contain]\n",
            walked.passed_over
        ));
    }
    Output::text(text)
        .with("files", files.len() + left_out)
        .with("truncated", left_out > 0 || walked.late)
        .with("passed_over", walked.passed_over)
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;

    fn found(trial: &Trial, args: &str) -> String {
        trial.plan("glob", args).unwrap().text
    }

    #[test]
    fn files_are_found_at_any_depth_and_sorted() {
        let trial =
            Trial::new(&[("b.rs", ""), ("a/c.rs", ""), ("a/.hidden.rs", ""), ("a/d.txt", ""), (".git/x.rs", ""), (".planwright/y.rs", "")]);
        assert_eq!(found(&trial, r#"{"pattern": "*.rs"}"#), "/a/.hidden.rs\n/a/c.rs\n/b.rs\n");
        assert_eq!(found(&trial, r#"{"pattern": "**/*.rs", "path": "/a"}"#), "/a/.hidden.rs\n/a/c.rs\n");
        assert!(found(&trial, r#"{"pattern": "*.py"}"#).starts_with("[no files match"));
    }

    #[test]
    fn names_that_cannot_be_written_in_a_call_are_counted() {
        let trial = Trial::new(&[("a.txt", ""), ("new\nline.txt", "")]);
        let text = found(&trial, r#"{"pattern": "*.txt"}"#);
        assert!(text.starts_with("/a.txt\n[1 files or folders were skipped"), "{text}");
    }

    #[test]
    fn rules_of_gitignore_hold_without_a_repository_and_in_folders() {
        let trial = Trial::new(&[
            (".gitignore", "target/\n*.log\n/top.txt\nsrc/out/\n"),
            ("target/a.rs", ""),
            ("x.log", ""),
            ("top.txt", ""),
            ("src/top.txt", ""),
            ("src/.gitignore", "!keep.log\ngen/\n"),
            ("src/keep.log", ""),
            ("src/gen/a.rs", ""),
            ("src/out/a.rs", ""),
            ("own/.git/HEAD", ""),
            ("own/z.log", ""),
        ]);
        let all = "/.gitignore\n/own/z.log\n/src/.gitignore\n/src/keep.log\n/src/top.txt\n";
        assert_eq!(found(&trial, r#"{"pattern": "*"}"#), all);
        assert_eq!(found(&trial, r#"{"pattern": "*", "path": "/src"}"#), "/src/.gitignore\n/src/keep.log\n/src/top.txt\n");
        assert_eq!(found(&trial, r#"{"pattern": "*", "path": "/target"}"#), "/target/a.rs\n");
    }

    #[test]
    fn the_rules_of_the_repository_around_the_workspace_hold_too() {
        let outer = Trial::new(&[(".gitignore", "node_modules/\n"), (".git/HEAD", ""), ("web/a.ts", ""), ("web/node_modules/b.ts", "")]);
        let mut inner = Trial::new(&[]);
        inner.cx.workspace = std::sync::Arc::new(crate::workspace::Workspace::open(&outer.host("web")).unwrap());
        assert_eq!(found(&inner, r#"{"pattern": "*"}"#), "/a.ts\n");
    }

    #[test]
    fn a_strange_file_of_rules_does_no_harm() {
        let trial = Trial::new(&[("a.rs", ""), ("b/a.rs", "")]);
        std::os::unix::fs::symlink("/dev/zero", trial.host(".gitignore")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, trial.host("b/.gitignore"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(found(&trial, r#"{"pattern": "*.rs"}"#), "/a.rs\n/b/a.rs\n");
    }

    #[test]
    fn links_are_not_followed_and_patterns_do_not_climb() {
        let trial = Trial::new(&[("src/a.rs", "")]);
        std::os::unix::fs::symlink("..", trial.host("src/loop")).unwrap();
        std::os::unix::fs::symlink("src", trial.host("link")).unwrap();
        assert_eq!(found(&trial, r#"{"pattern": "*.rs"}"#), "/src/a.rs\n");
        assert_eq!(found(&trial, r#"{"pattern": "*.rs", "path": "/link"}"#), "/src/a.rs\n");
        assert_eq!(trial.refusal("glob", r#"{"pattern": "../*"}"#), "INVALID_ARGUMENTS");
        assert_eq!(trial.refusal("glob", r#"{"pattern": "*", "path": "/src/a.rs"}"#), "INVALID_ARGUMENTS");
        assert_eq!(trial.refusal("glob", r#"{"pattern": "*", "path": "/src/loop/.."}"#), "PATH_INVALID");
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let trial = Trial::new(&[]);
        for number in 0..1005 {
            trial.put(&format!("many/{number:04}"), b"");
        }
        let output = trial.plan("glob", r#"{"pattern": "many/*"}"#).unwrap();
        assert!(output.text.ends_with("/many/0999\n[5 more files match: narrow `pattern` or `path`]\n"));
        assert_eq!(output.data["files"], 1005);
    }
}
