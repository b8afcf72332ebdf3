use crate::effect::FileEffect;
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use crate::workspace::{Kind, Workspace};
use planwright_protocol::Problem;
use rustix::fs::FileType;
use schemars::JsonSchema;
use serde::Deserialize;

/// List a folder, hidden and ignored files too.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ls {
    path: Option<String>,
    /// 1 to 5.
    depth: Option<u32>,
}

const DEEPEST: u32 = 5;
/// Maximum number of entries in the result.
const ENTRIES: usize = 2000;
/// Maximum number in each subfolder, so that none of them can fill the result.
const ENTRIES_OF_A_SUBFOLDER: usize = 100;

impl Input for Ls {
    const SPEC: Spec<'static> = Spec::reading("ls", Category::Read, &[r"{}", r#"{"path": "/src", "depth": 2}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = self.path.as_deref().map_or_else(|| Ok(WorkspacePath::root()), WorkspacePath::parse)?;
        let depth = self.depth.unwrap_or(1).clamp(1, DEEPEST);
        cx.workspace.host_path()?;
        let (real, kind) = cx.workspace.resolve(&path)?;
        let mut effects = vec![FileEffect::Read(path.clone())];
        if real != path {
            effects.push(FileEffect::Read(real));
        }
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |_| {
            let mut listing = Listing::default();
            match kind {
                Kind::Folder => listing.folder(&cx.workspace, &path, depth)?,
                Kind::File | Kind::Link | Kind::Other => listing.line(0, path.split().map_or("", |(_, name)| name), mark_of_kind(kind)),
            }
            Ok(listing.into_output(&path))
        }))
    }
}

#[derive(Default)]
struct Listing {
    text: String,
    entries: usize,
    /// Entries that are not shown, as far as they were counted.
    left_out: usize,
}

impl Listing {
    fn folder(&mut self, workspace: &Workspace, path: &WorkspacePath, depth: u32) -> Result<(), Problem> {
        self.names(workspace.list_first(path, ENTRIES)?, workspace, path, 0, depth);
        Ok(())
    }

    fn names(
        &mut self,
        (names, more): (Vec<(String, FileType)>, usize),
        workspace: &Workspace,
        path: &WorkspacePath,
        level: usize,
        depth: u32,
    ) {
        let room = if level == 0 { ENTRIES } else { ENTRIES_OF_A_SUBFOLDER };
        let shown = names.len().min(room).min(ENTRIES - self.entries.min(ENTRIES));
        let left_out = names.len() - shown + more;
        for (name, file_type) in names.into_iter().take(shown) {
            if self.entries == ENTRIES {
                self.left_out += 1;
                continue;
            }
            let child = path.join(&name);
            let mark = mark_of(workspace, file_type, &child);
            self.line(level, &name, mark);
            if mark == "/" && depth > 1 && !child.is_protected() {
                // An unreadable folder is listed like an empty one.
                let below = workspace.list_first(&child, ENTRIES_OF_A_SUBFOLDER).unwrap_or_default();
                self.names(below, workspace, &child, level + 1, depth - 1);
            }
        }
        if left_out > 0 {
            self.left_out += left_out;
            self.text.push_str(&format!("{}[{left_out} more in {path}]\n", "  ".repeat(level)));
        }
    }

    fn line(&mut self, level: usize, name: &str, mark: &str) {
        self.entries += 1;
        let indent = "  ".repeat(level);
        // A name may contain line breaks, which would make it look like several names.
        if name.chars().any(char::is_control) {
            self.text.push_str(&format!("{indent}{}{mark}\n", name.escape_debug()));
        } else {
            self.text.push_str(&format!("{indent}{name}{mark}\n"));
        }
    }

    fn into_output(mut self, path: &WorkspacePath) -> Output {
        if self.entries == 0 {
            self.text.push_str("[the folder is empty]\n");
        }
        if self.left_out > 0 {
            self.text.push_str(&format!("[{} entries are not shown: list a folder further down, or use `glob`]\n", self.left_out));
        }
        Output::text(self.text).with("path", path.to_string()).with("entries", self.entries).with("truncated", self.left_out > 0)
    }
}

fn mark_of(workspace: &Workspace, file_type: FileType, path: &WorkspacePath) -> &'static str {
    if file_type == FileType::RegularFile {
        ""
    } else if file_type == FileType::Directory {
        "/"
    } else if file_type == FileType::Symlink {
        "@"
    } else if file_type == FileType::Unknown {
        // Some file systems don't report it in listings.
        workspace.entry(path).ok().flatten().map_or("", |entry| mark_of_kind(entry.kind))
    } else {
        "|"
    }
}

fn mark_of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "",
        Kind::Folder => "/",
        Kind::Link => "@",
        Kind::Other => "|",
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;

    #[test]
    fn folders_links_and_files_are_told_apart() {
        let trial = Trial::new(&[("src/main.rs", ""), ("src/parser/lex.rs", ""), (".git/config", ""), ("a\nb", "")]);
        std::os::unix::fs::symlink("src", trial.host("link")).unwrap();
        assert_eq!(trial.plan("ls", "{}").unwrap().text, ".git/\na\\nb\nlink@\nsrc/\n");
        let deep = trial.plan("ls", r#"{"path": "/", "depth": 9}"#).unwrap().text;
        assert_eq!(deep, ".git/\na\\nb\nlink@\nsrc/\n  main.rs\n  parser/\n    lex.rs\n");
        assert_eq!(trial.plan("ls", r#"{"path": "link"}"#).unwrap().text, "main.rs\nparser/\n");
        assert_eq!(trial.plan("ls", r#"{"path": "/src/main.rs"}"#).unwrap().text, "main.rs\n");
    }

    #[test]
    fn a_crowded_folder_is_cut_and_says_so() {
        let trial = Trial::new(&[("z.txt", "")]);
        for number in 0..250 {
            trial.put(&format!("many/{number:03}"), b"");
        }
        let output = trial.plan("ls", r#"{"depth": 2}"#).unwrap();
        assert!(output.text.contains("  099\n") && !output.text.contains("  100\n"));
        assert!(output.text.contains("  [150 more in /many]\nz.txt\n"), "{}", output.text);
        assert_eq!(output.data["truncated"], true);
        assert_eq!(trial.plan("ls", r#"{"path": "/many"}"#).unwrap().data["entries"], 250);
    }

    #[test]
    fn nothing_outside_is_listed() {
        let trial = Trial::new(&[]);
        std::os::unix::fs::symlink("/etc", trial.host("etc")).unwrap();
        assert_eq!(trial.refusal("ls", r#"{"path": "/etc"}"#), "PATH_OUTSIDE_WORKSPACE");
        assert_eq!(trial.refusal("ls", r#"{"path": "/.."}"#), "PATH_INVALID");
        assert_eq!(trial.refusal("ls", r#"{"path": "/none"}"#), "PATH_NOT_FOUND");
    }

    #[test]
    fn a_removed_workspace_is_said_to_be_gone() {
        let trial = Trial::new(&[]);
        std::fs::remove_dir(trial.host("")).unwrap();
        assert_eq!(trial.refusal("ls", "{}"), "NOT_FOUND");
    }
}
