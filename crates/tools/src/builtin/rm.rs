use super::files;
use crate::effect::FileEffect;
use crate::path::WorkspacePath;
use crate::tool::{Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use crate::version::{FileChange, Version};
use crate::workspace::{Depth, Kind, State, Tree};
use planwright_protocol::{Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Delete a file or an empty folder; with `recursive`, all in it. No wildcards.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rm {
    path: String,
    recursive: Option<bool>,
}

impl Input for Rm {
    const SPEC: Spec<'static> =
        Spec::writing("rm", Risk::High, &[&[Permission::Delete]], &[r#"{"path": "/old.rs"}"#, r#"{"path": "/build", "recursive": true}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse(&self.path)?;
        let Some(entry) = cx.workspace.entry(&path)? else { return Err(files::is_missing(&path)) };
        let depth = if self.recursive.unwrap_or_default() { Depth::Whole } else { Depth::EmptyOnly };
        // The gate refuses to delete the workspace, so there is no need to read it.
        let state = if path.is_root() { State::default() } else { cx.workspace.state(&path)? };
        let tree = match entry.kind {
            Kind::Link => return Err(files::is_link(&path)),
            Kind::File => {
                cx.seen.check(&path, &entry.stamp)?;
                cx.workspace.tree(&path)?
            }
            Kind::Folder if path.is_root() => Tree::default(),
            Kind::Folder if depth == Depth::Whole => cx.workspace.tree(&path)?,
            // Refused immediately, so that the user is not asked about an impossible deletion.
            Kind::Folder if !cx.workspace.list(&path)?.is_empty() => return Err(files::is_not_empty(&path)),
            Kind::Folder | Kind::Other => cx.workspace.tree(&path)?,
        };
        let mut effects = vec![FileEffect::Delete(path.clone())];
        // Deleting a folder can't bypass the protection of paths inside it.
        effects.extend(tree.protected.clone().map(FileEffect::Delete));
        effects.extend(tree.repository.clone().map(FileEffect::ChangeRepository));
        let (count, left_out) = (tree.files(), tree.kept.left_out);
        let gone = |(path, before)| FileChange { path, before, after: Version::absent() };
        let changes = tree.entries.into_iter().map(gone).collect();
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |permit| {
            cx.workspace.remove(&permit.to_delete(&path)?, &path, depth, state)?;
            Ok(removed(&path, entry.kind, count, left_out))
        })
        .changing(changes))
    }
}

fn removed(path: &WorkspacePath, kind: Kind, count: u64, left_out: u64) -> Output {
    let mut text = match kind {
        Kind::Folder if count > 0 => format!("Deleted the folder {path} with {count} files."),
        Kind::Folder => format!("Deleted the folder {path}."),
        Kind::File | Kind::Link | Kind::Other => format!("Deleted {path}."),
    };
    if left_out > 0 {
        text.push_str(&format!(" {left_out} of them were too large to keep a copy of, and can't be restored."));
    }
    let output = Output::text(text).with("path", path.to_string()).with("files", count).with("without_copy", left_out);
    if path.is_plan() { output.signalling(Signal::PlanFileChanged(path.clone())) } else { output }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::tool::Signal;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_deleted_and_its_content_kept_for_taking_back() {
        let trial = Trial::new(&[("src/a.rs", "a\n"), ("src/b.rs", "b\n")]);
        let prepared = trial.prepare("rm", r#"{"path": "/src/a.rs"}"#).unwrap();
        assert_eq!(prepared.changes[0].before.bytes.as_deref(), Some(&b"a\n"[..]));
        assert!(prepared.changes[0].after.is_absent());
        trial.act("rm", r#"{"path": "/src/a.rs"}"#).unwrap();
        assert!(!trial.host("src/a.rs").exists() && trial.host("src/b.rs").exists());
    }

    #[test]
    fn a_folder_with_something_in_it_needs_the_word_recursive() {
        let trial = Trial::new(&[("d/a", "1"), ("d/e/b", "2"), ("keep/c", "3")]);
        let refused = trial.act("rm", r#"{"path": "/d"}"#).unwrap_err();
        assert_eq!(refused.code.as_str(), "PATH_EXISTS");
        assert!(refused.message.contains("recursive"));
        symlink("../keep", trial.host("d/link")).unwrap();
        let prepared = trial.prepare("rm", r#"{"path": "/d", "recursive": true}"#).unwrap();
        let mut paths: Vec<String> = prepared.changes.iter().map(|change| change.path.to_string()).collect();
        paths.sort();
        assert_eq!(paths, ["/d", "/d/a", "/d/e", "/d/e/b", "/d/link"]);
        let output = trial.act("rm", r#"{"path": "/d/", "recursive": true}"#).unwrap();
        assert_eq!(output.text, "Deleted the folder /d with 2 files.");
        assert!(!trial.host("d").exists());
        assert_eq!(trial.content("keep/c"), "3");
    }

    #[test]
    fn links_missing_files_and_the_workspace_are_refused() {
        let trial = Trial::new(&[("src/a.rs", "a\n")]);
        symlink("src", trial.host("link")).unwrap();
        for (path, code) in
            [("/link", "PATH_SYMLINK_REFUSED"), ("/link/a.rs", "PATH_SYMLINK_REFUSED"), ("/src/*", "PATH_NOT_FOUND"), ("/", "PATH_INVALID")]
        {
            assert_eq!(trial.refusal("rm", &format!(r#"{{"path": {path:?}, "recursive": true}}"#)), code, "{path}");
        }
        assert_eq!(trial.content("src/a.rs"), "a\n");
    }

    #[test]
    fn what_is_protected_stays_so_inside_a_folder() {
        let trial = Trial::new(&[("vendor/lib/.git/config", "x"), ("notes/a.chat", "x")]);
        assert_eq!(trial.refusal("rm", r#"{"path": "/vendor", "recursive": true}"#), "PROTECTED_PATH");
        assert_eq!(trial.refusal("rm", r#"{"path": "/notes", "recursive": true}"#), "PROTECTED_PATH");
        assert!(trial.host("vendor/lib/.git/config").exists());
    }

    #[test]
    fn more_than_can_be_kept_is_deleted_and_said() {
        let trial = Trial::new(&[("d/small", "1")]);
        trial.put("d/large", &vec![b'x'; 17 << 20]);
        let output = trial.act("rm", r#"{"path": "/d", "recursive": true}"#).unwrap();
        assert!(output.text.contains("with 2 files. 1 of them were too large"), "{}", output.text);
    }

    #[test]
    fn a_planner_deletes_its_plan_and_the_session_hears_of_it() {
        let trial = Trial::new(&[("plans/a.plan", "x")]);
        let output = trial.plan("rm", r#"{"path": "/plans/a.plan"}"#).unwrap();
        assert!(matches!(output.signal, Some(Signal::PlanFileChanged(path)) if path.is_plan()));
    }
}
