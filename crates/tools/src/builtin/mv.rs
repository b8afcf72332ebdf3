use super::files;
use crate::effect::FileEffect;
use crate::path::WorkspacePath;
use crate::tool::{Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use crate::version::{FileChange, Version};
use crate::workspace::{Entry, Kind, Tree};
use planwright_protocol::{ErrorCode, Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Move or rename; `to` is the whole new path. Creates missing folders.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mv {
    from: String,
    to: String,
}

impl Input for Mv {
    const SPEC: Spec<'static> =
        Spec::writing("mv", Risk::Medium, &[&[Permission::Create, Permission::Delete]], &[r#"{"from": "/a.rs", "to": "/b/c.rs"}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let from = WorkspacePath::parse(&self.from)?;
        let to = WorkspacePath::parse(&self.to)?;
        if from == to {
            return Err(Problem::new(ErrorCode::InvalidArguments, "`from` and `to` are the same path, so nothing would move."));
        }
        if to.is_within(&from) {
            return Err(Problem::new(ErrorCode::PathInvalid, "A folder can't be moved into itself. Choose a path outside it."));
        }
        let moved = source(cx, &from, &to)?;
        if moved.kind == Kind::File {
            WorkspacePath::parse_file(&self.from)?;
            WorkspacePath::parse_file(&self.to)?;
        }
        let replaced = target(cx, &to, moved)?;
        let tree = cx.workspace.tree(&from)?;
        let lost = if replaced.is_some() { cx.workspace.tree(&to)? } else { Tree::default() };
        let effects = effects(&from, &to, &tree, replaced);
        let left_out = tree.kept.left_out + lost.kept.left_out;
        let changes = changes(&from, &to, tree, lost);
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |permit| {
            cx.workspace.rename(&permit.to_move(&from, &to)?, &from, &to, moved.stamp, replaced.map(|entry| entry.stamp))?;
            // The content is unchanged, so the model still knows the file under its new name.
            cx.seen.note(&to, moved.stamp);
            Ok(done(&from, &to, left_out))
        })
        .changing(changes))
    }
}

/// The file or folder to move.
fn source(cx: &ToolContext, from: &WorkspacePath, to: &WorkspacePath) -> Result<Entry, Problem> {
    let Some(entry) = cx.workspace.entry(from)? else { return Err(files::is_missing(from)) };
    match entry.kind {
        Kind::Link => return Err(files::is_link(from)),
        // A folder with the name of a plan would put its files under the rules for plans.
        Kind::Folder | Kind::Other if from.is_plan() || to.is_plan() => {
            return Err(Problem::new(ErrorCode::NotRegularFile, format!("{from} is not a file, and only a file can be a plan.")));
        }
        Kind::Folder | Kind::Other => {}
        Kind::File => cx.seen.check(from, &entry.stamp)?,
    }
    files::refuse_hard_linked_plan(from, entry.links)?;
    files::refuse_hard_linked_plan(to, entry.links)?;
    Ok(entry)
}

/// The file at the new path that would be lost, if any.
fn target(cx: &ToolContext, to: &WorkspacePath, moved: Entry) -> Result<Option<Entry>, Problem> {
    let Some(entry) = cx.workspace.entry(to)? else {
        refuse_below_file(cx, to)?;
        return Ok(None);
    };
    match (entry.kind, moved.kind) {
        (Kind::Link, _) => Err(files::is_link(to)),
        (Kind::File, Kind::File) => {
            files::refuse_hard_linked_plan(to, entry.links)?;
            cx.seen.check(to, &entry.stamp)?;
            Ok(Some(entry))
        }
        (Kind::Folder, _) => Err(Problem::new(
            ErrorCode::PathExists,
            format!("The folder {to} already exists. Give the complete new path, with an unused name."),
        )),
        (Kind::File | Kind::Other, _) => {
            Err(Problem::new(ErrorCode::PathExists, format!("{to} already exists. Choose another name, or delete it first.")))
        }
    }
}

/// Parent folders can only be created below a folder.
fn refuse_below_file(cx: &ToolContext, to: &WorkspacePath) -> Result<(), Problem> {
    let mut path = to.clone();
    while let Some((parent, _)) = path.split() {
        match cx.workspace.entry(&parent)? {
            Some(entry) if entry.kind == Kind::Folder => return Ok(()),
            Some(_) => {
                return Err(Problem::new(
                    ErrorCode::PathNotFound,
                    format!("{parent} is not a folder, so {to} can't be created. Choose another path."),
                ));
            }
            None => path = parent,
        }
    }
    Ok(())
}

fn effects(from: &WorkspacePath, to: &WorkspacePath, tree: &Tree, replaced: Option<Entry>) -> Vec<FileEffect> {
    let mut effects = vec![FileEffect::Move { from: from.clone(), to: to.clone() }];
    effects.extend(replaced.map(|_| FileEffect::Replace(to.clone())));
    // Moving a folder can't bypass the protection of paths inside it.
    effects.extend(tree.protected.as_ref().map(|path| FileEffect::Move { from: path.clone(), to: moved_path(path, from, to) }));
    effects.extend(tree.repository.clone().map(FileEffect::ChangeRepository));
    effects
}

fn changes(from: &WorkspacePath, to: &WorkspacePath, tree: Tree, lost: Tree) -> Vec<FileChange> {
    let mut lost = lost.entries.into_iter().map(|(_, version)| version);
    let mut changes = Vec::new();
    for (path, version) in tree.entries {
        let before = lost.next().unwrap_or_else(Version::absent);
        changes.push(FileChange { path: moved_path(&path, from, to), before, after: version.clone() });
        changes.push(FileChange { path, before: version, after: Version::absent() });
    }
    changes
}

/// The new path of an entry in the moved folder, or of the folder itself.
fn moved_path(path: &WorkspacePath, from: &WorkspacePath, to: &WorkspacePath) -> WorkspacePath {
    path.names().skip(from.names().count()).fold(to.clone(), |path, name| path.join(name))
}

fn done(from: &WorkspacePath, to: &WorkspacePath, left_out: u64) -> Output {
    let mut text = format!("Moved {from} to {to}.");
    if left_out > 0 {
        text.push_str(&format!(" {left_out} files were too large to keep a copy of."));
    }
    let output = Output::text(text).with("from", from.to_string()).with("to", to.to_string());
    match [to, from].into_iter().find(|path| path.is_plan()) {
        Some(plan) => output.signalling(Signal::PlanFileChanged(plan.clone())),
        None => output,
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::gate::{Consent, Verdict};
    use crate::tool::Signal;
    use planwright_protocol::Role;
    use serde_json::json;

    fn args(from: &str, to: &str) -> String {
        json!({"from": from, "to": to}).to_string()
    }

    #[test]
    fn a_file_and_a_folder_get_their_new_paths() {
        let trial = Trial::new(&[("src/a.rs", "a\n"), ("src/deep/b.rs", "b\n")]);
        let prepared = trial.prepare("mv", &args("/src", "/lib/source")).unwrap();
        let mut paths: Vec<String> = prepared.changes.iter().map(|change| change.path.to_string()).collect();
        paths.sort();
        assert_eq!(
            paths,
            [
                "/lib",
                "/lib/source",
                "/lib/source/a.rs",
                "/lib/source/deep",
                "/lib/source/deep/b.rs",
                "/src",
                "/src/a.rs",
                "/src/deep",
                "/src/deep/b.rs"
            ]
        );
        trial.act("mv", &args("/src/", "/lib/source")).unwrap();
        trial.act("mv", &args("lib/source/a.rs", "/b.rs")).unwrap();
        assert_eq!((trial.content("b.rs"), trial.content("lib/source/deep/b.rs")), ("a\n".to_owned(), "b\n".to_owned()));
        assert!(!trial.host("src").exists());
    }

    #[test]
    fn a_file_that_would_be_lost_is_announced_and_kept_for_taking_back() {
        let trial = Trial::new(&[("a", "new\n"), ("b", "old\n")]);
        let prepared = trial.prepare("mv", &args("/a", "/b")).unwrap();
        assert_eq!(prepared.changes[0].before.bytes.as_deref(), Some(&b"old\n"[..]));
        assert!(matches!(trial.verdict(Role::Actor, "mv", &prepared.effects, Consent::Needed), Verdict::Ask(_)));
        trial.act("mv", &args("/a", "/b")).unwrap();
        assert_eq!(trial.content("b"), "new\n");
        assert!(!trial.host("a").exists());
    }

    #[test]
    fn a_planner_moves_plans_to_free_names_only() {
        let trial = Trial::new(&[("plans/a.plan", "A\n"), ("plans/b.plan", "B\n"), ("src/a.rs", "a\n"), ("dir.plan/x", "x\n")]);
        let refused = |from: &str, to: &str| trial.plan("mv", &args(from, to)).unwrap_err().code.as_str();
        assert_eq!(refused("/plans/a.plan", "/plans/b.plan"), "PATH_EXISTS");
        assert_eq!(refused("/plans/a.plan", "/plans/b.md"), "TOOL_BLOCKED_BY_MODE");
        assert_eq!(refused("/src/a.rs", "/plans/c.plan"), "TOOL_BLOCKED_BY_MODE");
        assert_eq!(refused("/dir.plan", "/plans/dir.plan"), "NOT_REGULAR_FILE");
        assert_eq!(refused("/plans/a.plan", "/src/a.rs/b.plan"), "PATH_NOT_FOUND");
        let output = trial.plan("mv", &args("/plans/a.plan", "/plans/q3/c.plan")).unwrap();
        assert!(matches!(output.signal, Some(Signal::PlanFileChanged(path)) if path.to_string() == "/plans/q3/c.plan"));
        assert_eq!(trial.content("plans/q3/c.plan"), "A\n");
    }

    #[test]
    fn senseless_and_dangerous_moves_are_refused() {
        let trial = Trial::new(&[("plans/a.plan", "A\n"), ("src/a.rs", "a\n"), ("vendor/lib/.git/config", "x")]);
        std::os::unix::fs::symlink("../src/a.rs", trial.host("plans/s.plan")).unwrap();
        std::fs::hard_link(trial.host("src/a.rs"), trial.host("plans/h.plan")).unwrap();
        for (from, to, code) in [
            ("/src/a.rs", "src/a.rs", "INVALID_ARGUMENTS"),
            ("/src", "/src/sub", "PATH_INVALID"),
            ("/", "/x", "PATH_INVALID"),
            ("/plans/a.plan", "/src/", "PATH_INVALID"),
            ("/plans/a.plan", "/src", "PATH_EXISTS"),
            ("/plans/s.plan", "/plans/t.plan", "PATH_SYMLINK_REFUSED"),
            ("/plans/a.plan", "/plans/s.plan", "PATH_SYMLINK_REFUSED"),
            ("/plans/h.plan", "/plans/g.plan", "PATH_HARDLINK_REFUSED"),
            ("/src/a.rs", "/plans/g.plan", "PATH_HARDLINK_REFUSED"),
            ("/none", "/some", "PATH_NOT_FOUND"),
            ("/vendor", "/third-party", "PROTECTED_PATH"),
        ] {
            assert_eq!(trial.refusal("mv", &args(from, to)), code, "{from} {to}");
        }
        assert_eq!(trial.content("src/a.rs"), "a\n");
    }

    #[test]
    fn a_moved_file_is_still_known_to_the_model() {
        let trial = Trial::new(&[("a", "one\n")]);
        trial.act("read", r#"{"path": "/a"}"#).unwrap();
        trial.act("mv", &args("/a", "/b")).unwrap();
        trial.put("b", b"changed by somebody else\n");
        assert_eq!(trial.refusal("write", r#"{"path": "/b", "content": "two\n"}"#), "FILE_CHANGED");
    }
}
