//! A command's changes, entry by entry, and which of them the gate decides on.

use super::baseline::{Baseline, GitIndex};
use super::refs::RefChange;
use super::rules::{self, Rules};
use super::{Kind, Workspace};
use crate::effect::Loss;
use crate::path::WorkspacePath;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// One entry that a command changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    pub path: WorkspacePath,
    pub was: Option<Kind>,
    /// `None` if it was deleted.
    pub now: Option<Kind>,
}

impl EntryChange {
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (self.was, self.now) {
            (None, _) => "created",
            (Some(_), None) => "deleted",
            (Some(_), Some(_)) => "changed",
        }
    }
}

/// Everything that a command changed.
#[derive(Debug, Default)]
pub struct CommandChanges {
    /// The changes that the gate decides on.
    pub judged: Vec<EntryChange>,
    /// Files and folders that are kept without a decision, with everything in them.
    pub unjudged: Vec<EntryChange>,
    /// Those of them that are discarded after all.
    pub left_out: Vec<EntryChange>,
    /// Entries that no call could name, which are always discarded.
    pub unspellable: u64,
    /// The same, if they must be restored.
    pub odd: Vec<String>,
    /// Repositories with other names than `.git` that the command created or changed, as far as they are protected. Nothing in
    /// them is kept.
    pub repositories: BTreeSet<WorkspacePath>,
    /// Refs and logs that would lose commits.
    pub lost: Vec<Loss>,
    /// All changes of refs, logs and index, if there are any: they are kept or reverted together.
    pub history: Vec<EntryChange>,
    /// The resulting change of each ref.
    pub refs: Vec<RefChange>,
    /// Why none of it can be kept.
    pub refused: Option<&'static str>,
    /// Total length of the paths that the gate decides on.
    pub(super) path_bytes: usize,
}

/// Folders that contain only build output, in every project.
pub const OUTPUT: &[&str] =
    &["node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".gradle", ".nyc_output"];
/// Folders that contain only build output if git ignores them.
pub const OUTPUT_IF_IGNORED: &[&str] = &["target", "build", "dist", "out", "coverage", ".next", ".cache", ".venv", "venv", "bin", "obj"];
/// With this file a program marks a folder that it can create again.
const TAG: &str = "CACHEDIR.TAG";

/// Git's records. Everything else in `.git` can make the user's own git run something.
const RECORDS: &[&str] = &["objects", "refs", "logs"];
const RECORD_FILES: &[&str] = &[
    "HEAD",
    "index",
    "packed-refs",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "COMMIT_EDITMSG",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "AUTO_MERGE",
];
/// Records that git itself removes after a merge.
const PASSING: &[&str] = &["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE"];

/// State of an unfinished git operation: its files can run something, and without them files and records would be inconsistent.
const HALF_DONE: &[&str] = &["rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG", "BISECT_START"];
/// The part of a repository that belongs to a linked worktree, and must match its files and branches.
const OF_WORKTREE: &[&str] = &["HEAD", "index"];

/// Maximum number of files and folders that a command may change, besides build output. Each is recorded with its path, which may
/// be long.
const MOST_CHANGES: usize = 200_000;
const MOST_PATH_BYTES: usize = 64 << 20;
const TOO_MANY: &str = "The command changed more than 200000 files and folders, besides build output. Change fewer at once, or have git ignore the folder that they are in and ask the user to approve that first.";

impl CommandChanges {
    /// Why none of it can be kept: the command stopped during a rebase or similar, continued one, worked in a linked worktree, or
    /// changed too much.
    #[must_use]
    pub fn half_done(&self) -> Option<&'static str> {
        if self.refused.is_some() {
            return self.refused;
        }
        let why = |change: &EntryChange| {
            let names: Vec<&str> = change.path.names().collect();
            match names.as_slice() {
                [rules::REPOSITORY, name, ..] if HALF_DONE.contains(name) => Some(
                    "The command left a rebase, a bisection or a similar operation half done, or continued one. No command may change git's state of it (such as .git/rebase-merge), and without that state files and branches would be inconsistent. Do all of it in one command, from its beginning to its end or its `--abort`.",
                ),
                [rules::REPOSITORY, "worktrees", _, name] if OF_WORKTREE.contains(name) && change.was.is_some() && change.now.is_some() => {
                    Some(
                        "The command used git in a linked worktree, whose index and HEAD no command may change (.git/worktrees). Use git in the workspace's own folder, or ask the user to do it there.",
                    )
                }
                _ => None,
            }
        };
        self.judged.iter().find_map(why)
    }

    /// No changes, for this reason.
    #[must_use]
    pub fn refused(why: Option<&'static str>) -> Self {
        Self { refused: why, ..Self::default() }
    }

    /// Refuses everything if there are too many changes to decide on. Returns whether that is so.
    pub fn limit_amount(&mut self) -> bool {
        if self.judged.len() + self.unjudged.len() > MOST_CHANGES || self.path_bytes > MOST_PATH_BYTES {
            self.refused = Some(TOO_MANY);
        }
        self.refused.is_some()
    }

    /// Whether a path is inside a repository with another name than `.git`.
    #[must_use]
    pub fn is_in_repository(&self, path: &WorkspacePath) -> bool {
        let mut path = (!self.repositories.is_empty()).then(|| path.clone());
        while let Some(folder) = path {
            if self.repositories.contains(&folder) {
                return true;
            }
            path = folder.split().map(|(around, _)| around);
        }
        false
    }

    /// Adds a change that the gate decides on.
    pub fn judge(&mut self, change: EntryChange) {
        self.path_bytes += change.path.relative().len();
        self.judged.push(change);
    }

    /// All changes, except those with names that a call can't contain.
    #[must_use]
    pub fn all(&self) -> Vec<EntryChange> {
        [self.judged.as_slice(), &self.unjudged, &self.left_out, &self.history].concat()
    }

    /// Drops all changes of git's records, except objects.
    pub fn leave_records(&mut self) {
        self.left_out.append(&mut self.history);
        self.lost.clear();
        self.refs.clear();
        self.left_out.extend(self.unjudged.extract_if(.., |change| is_named_record(&change.path)));
    }
}

/// Whether a path is in the workspace's own repository.
pub fn is_in_repository(path: &WorkspacePath) -> bool {
    path.is_in_repository()
}

/// Whether it is a git object, which never changes once it exists.
pub fn is_object(path: &WorkspacePath) -> bool {
    path.relative().starts_with(".git/objects/")
}

/// Whether it is a record other than an object. They must be consistent, so they land together or not at all.
pub fn is_named_record(path: &WorkspacePath) -> bool {
    is_in_repository(path) && !is_object(path)
}

impl Workspace {
    /// Whether this is a folder of build output, in which changes are not recorded.
    #[must_use]
    pub fn is_output(&self, path: &WorkspacePath) -> bool {
        self.host_path().is_ok_and(|host| Sorter::new(self, host).is_output(path))
    }
}

/// Separates the changes that the gate decides on from the others.
pub struct Sorter<'w> {
    workspace: &'w Workspace,
    host: PathBuf,
    pub has_repository: bool,
    known: HashMap<WorkspacePath, bool>,
    /// Git's list of tracked files; `None` until it is needed.
    index: Option<GitIndex>,
    /// The state that defines build output; the current one if there is none.
    baseline: Option<Arc<Baseline>>,
}

impl<'w> Sorter<'w> {
    pub fn new(workspace: &'w Workspace, host: PathBuf) -> Self {
        let repository = WorkspacePath::root().join(rules::REPOSITORY);
        let has_repository = matches!(workspace.entry(&repository), Ok(Some(entry)) if entry.kind == Kind::Folder);
        Self { workspace, host, has_repository, known: HashMap::new(), index: None, baseline: None }
    }

    /// The same, with an earlier state.
    pub fn as_of(workspace: &'w Workspace, host: PathBuf, baseline: Option<Arc<Baseline>>) -> Self {
        Self { baseline, ..Self::new(workspace, host) }
    }

    /// Whether this entry, with everything in it, is kept without a question.
    pub fn is_unjudged(&mut self, path: &WorkspacePath, was: Option<Kind>, now: Option<Kind>) -> bool {
        self.is_record(path, was, now) || (now == Some(Kind::Folder) && self.is_output(path))
    }

    /// Whether this is a record of the workspace's own repository.
    fn is_record(&self, path: &WorkspacePath, was: Option<Kind>, now: Option<Kind>) -> bool {
        let names: Vec<&str> = path.names().collect();
        let [repository, inside @ ..] = names.as_slice() else { return false };
        if *repository != rules::REPOSITORY || !self.has_repository {
            return false;
        }
        match (inside, now) {
            // Alternates and replacements make git use other objects.
            (["objects"] | ["objects" | "refs", "info" | "replace", ..], _) => false,
            // An existing folder is examined entry by entry: deletions in it are not let through.
            ([folder, ..], Some(Kind::Folder)) => was.is_none() && RECORDS.contains(folder),
            (["objects", ..], Some(Kind::File)) => was.is_none(),
            ([folder, _, ..], Some(Kind::File)) => RECORDS.contains(folder),
            ([file], Some(Kind::File)) => RECORD_FILES.contains(file),
            ([file], None) => PASSING.contains(file),
            // A deleted branch, tag or stash: its objects stay, and it asks if nothing else contains its commits.
            (["refs" | "logs", _, ..], None) => true,
            _ => false,
        }
    }

    /// Whether this is a folder of build output.
    pub fn is_output(&mut self, path: &WorkspacePath) -> bool {
        let Some((parent, name)) = path.split() else { return false };
        if path.is_protected() {
            return false;
        }
        let always = OUTPUT.contains(&name);
        if !always && !OUTPUT_IF_IGNORED.contains(&name) {
            return false;
        }
        if let Some(&known) = self.known.get(path) {
            return known;
        }
        let is_output = (always || self.is_tagged(path) || self.is_ignored(&parent, path, Kind::Folder)) && !self.is_tracked(path);
        self.known.insert(path.clone(), is_output);
        is_output
    }

    /// Whether git tracks files in this folder. Then they are the user's, whatever its name.
    fn is_tracked(&mut self, folder: &WorkspacePath) -> bool {
        if !self.has_repository {
            return false;
        }
        let is_kept_now = self.index.get_or_insert_with(|| GitIndex::read(self.workspace)).has_within(folder);
        is_kept_now || self.baseline.as_ref().is_some_and(|baseline| baseline.index.has_within(folder))
    }

    /// Whether a program marked this folder as one that it can create again.
    pub fn is_tagged(&self, path: &WorkspacePath) -> bool {
        let is_tagged = || matches!(self.workspace.entry(&path.join(TAG)), Ok(Some(_)));
        match &self.baseline {
            Some(baseline) => baseline.tagged.contains(path.relative()),
            None => path.split().is_some_and(|(_, name)| OUTPUT_IF_IGNORED.contains(&name)) && is_tagged(),
        }
    }

    /// Whether git ignores it.
    pub fn is_ignored(&self, parent: &WorkspacePath, path: &WorkspacePath, kind: Kind) -> bool {
        // The folder's own rules count too: they apply to everything in it.
        let inside = parent.join("_");
        let rules = match &self.baseline {
            Some(baseline) => Rules::at(baseline, &self.host, &inside),
            None => Rules::around(self.workspace, &self.host, &inside),
        };
        rules.is_some_and(|rules| rules.ignore(&rules::host_of(&self.host, path), kind == Kind::Folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(folder: &std::path::Path, path: &str, now: Option<Kind>) -> bool {
        let workspace = Workspace::open(folder).unwrap();
        Sorter::new(&workspace, folder.to_owned()).is_unjudged(&WorkspacePath::parse(path).unwrap(), None, now)
    }

    #[test]
    fn build_output_is_what_is_named_so_and_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::DirBuilder::new().recursive(true).create(folder.path().join(name)).unwrap();
        make(".git");
        make("tagged/target");
        std::fs::File::create_new(folder.path().join("tagged/target/CACHEDIR.TAG")).unwrap();
        assert!(!sort(folder.path(), "/target", Some(Kind::Folder)));
        std::io::Write::write_all(&mut std::fs::File::create_new(folder.path().join(".gitignore")).unwrap(), b"/target\n").unwrap();
        assert!(sort(folder.path(), "/target", Some(Kind::Folder)));
        assert!(sort(folder.path(), "/tagged/target", Some(Kind::Folder)));
        assert!(sort(folder.path(), "/web/node_modules", Some(Kind::Folder)));
        let index = b"DIRC\0\0\0\x02\0\0\0\x01 web/node_modules/own.js\0";
        std::io::Write::write_all(&mut std::fs::File::create_new(folder.path().join(".git/index")).unwrap(), index).unwrap();
        assert!(!sort(folder.path(), "/web/node_modules", Some(Kind::Folder)), "what git keeps is the user's");
        assert!(sort(folder.path(), "/other/node_modules", Some(Kind::Folder)));
        for (path, now) in
            [("/target", Some(Kind::Link)), ("/dist", Some(Kind::Folder)), ("/src", Some(Kind::Folder)), ("/node_modules", None)]
        {
            assert!(!sort(folder.path(), path, now), "{path}");
        }
    }

    #[test]
    fn more_changes_than_anybody_could_decide_on_are_refused_as_a_whole() {
        let change = |path: &str| EntryChange { path: WorkspacePath::parse(path).unwrap(), was: None, now: Some(Kind::File) };
        let mut changes = CommandChanges::default();
        (0..MOST_CHANGES).for_each(|_| changes.judge(change("/a")));
        assert!(!changes.limit_amount() && changes.half_done().is_none());
        changes.judge(change("/b"));
        assert!(changes.limit_amount() && changes.half_done() == Some(TOO_MANY));
        let (mut changes, long) = (CommandChanges::default(), format!("/{}", ["x".repeat(200).as_str(); 20].join("/")));
        (0..=MOST_PATH_BYTES / 4000).for_each(|_| changes.judge(change(&long)));
        assert!(changes.limit_amount(), "long paths count for more");
    }

    #[test]
    fn of_git_only_its_records_pass_and_nothing_that_it_would_run() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::DirBuilder::new().create(folder.path().join(".git")).unwrap();
        for path in ["/.git/objects/ab/cdef", "/.git/refs/heads/x", "/.git/HEAD", "/.git/index", "/.git/logs/HEAD"] {
            assert!(sort(folder.path(), path, Some(Kind::File)), "{path}");
        }
        for path in [
            "/.git/config",
            "/.git/hooks/pre-commit",
            "/.git/commondir",
            "/.git/info/attributes",
            "/.git/objects/info/alternates",
            "/.git/refs/replace/ab",
            "/sub/.git/HEAD",
        ] {
            assert!(!sort(folder.path(), path, Some(Kind::File)), "{path}");
        }
        assert!(sort(folder.path(), "/.git/refs/heads/x", None), "a branch can be given up");
        assert!(!sort(folder.path(), "/.git/HEAD", Some(Kind::Link)) && !sort(folder.path(), "/.git/HEAD", None));
        let change = |path: &str| EntryChange { path: WorkspacePath::parse(path).unwrap(), was: None, now: Some(Kind::File) };
        let unjudged = vec![change("/.git/HEAD"), change("/target")];
        let mut changes = CommandChanges { judged: vec![change("/.git/rebase-merge/onto")], unjudged, ..CommandChanges::default() };
        assert!(changes.half_done().is_some_and(|why| why.contains("half done")));
        changes.judged = vec![change("/.git/worktrees/new/HEAD"), change("/.git/worktrees/old/logs/HEAD")];
        assert_eq!(changes.half_done(), None, "a worktree that is made or looked after");
        changes.judged = vec![EntryChange { was: Some(Kind::File), ..change("/.git/worktrees/old/index") }];
        assert!(changes.half_done().is_some_and(|why| why.contains("worktree")));
        changes.leave_records();
        assert_eq!(changes.unjudged.len(), 1);
    }
}
