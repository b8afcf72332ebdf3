//! Compares git's refs and logs before and after a command, so that none of them loses commits without a question.
//!
//! A ref that moves must still have its old commit as an ancestor, and a deleted ref must leave its commits to another branch or
//! tag; a log with them is not enough. Unchanged ids need no check. Git counts the others, within limits; if it can't, they count
//! as lost.

use super::change::{CommandChanges, EntryChange};
use super::overlay::{entries, open_folder, staged_kind};
use super::refs::{self, Names, Refs, Value, ids_of, repository};
use super::rules::REPOSITORY;
use super::staged_tree::DEEPEST;
use super::{Kind, Workspace};
use crate::effect::Loss;
use crate::path::WorkspacePath;
use planwright_protocol::Problem;
use planwright_sandbox::count_commits;
use rustix::fs::Stat;
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

const PLACES: [&str; 4] = ["HEAD", "packed-refs", "refs", "logs"];
/// Maximum number of git calls, and their total time limit.
const MOST_ASKED: usize = 64;
const LONGEST: Duration = Duration::from_secs(10);
/// Maximum size of refs and logs; beyond it, everything counts as lost.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// With these files git takes objects from elsewhere, which don't land.
const ALTERNATES: [&str; 2] = ["/.git/objects/info/alternates", "/.git/objects/info/http-alternates"];

/// The path inside the repository, if it names commits.
pub fn name_of(path: &WorkspacePath) -> Option<&str> {
    let inside = path.relative().strip_prefix(REPOSITORY)?.strip_prefix('/')?;
    PLACES.iter().any(|place| inside.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))).then_some(inside)
}

impl Workspace {
    /// The refs and logs of this workspace's repository.
    ///
    /// # Errors
    /// One of them can't be read.
    pub fn names(&self) -> Result<Names, Problem> {
        let mut names = Names::new();
        let mut room = MOST_BYTES;
        for place in PLACES {
            self.gather_names(&repository().join(place), &mut names, &mut room)?;
        }
        Ok(names)
    }

    fn gather_names(&self, path: &WorkspacePath, names: &mut Names, room: &mut usize) -> Result<(), Problem> {
        if path.names().count() > DEEPEST {
            return Err(super::problem_of(Errno::NAMETOOLONG, path));
        }
        match self.entry(path)?.map(|entry| entry.kind) {
            Some(Kind::File) => {
                if let Some(inside) = name_of(path) {
                    let bytes = self.read(path)?.bytes;
                    *room = room.checked_sub(bytes.len() + inside.len()).ok_or_else(|| super::problem_of(Errno::FBIG, path))?;
                    names.insert(inside.to_owned(), bytes);
                }
            }
            Some(Kind::Folder) => {
                for (name, _) in self.list(path)? {
                    self.gather_names(&path.join(&name), names, room)?;
                }
            }
            Some(Kind::Link | Kind::Other) | None => {}
        }
        Ok(())
    }

    /// Separates the changes of refs and logs, with git's index, if they would lose commits. `before` is their previous state;
    /// `now` has what the command left.
    pub fn judge_history(&self, changes: &mut CommandChanges, before: Result<Names, Problem>, now: &Workspace) {
        let renamed: Vec<EntryChange> = changes.unjudged.iter().filter(|change| name_of(&change.path).is_some()).cloned().collect();
        if renamed.is_empty() {
            return;
        }
        let compared = before.and_then(|before| Ok((after(&before, &renamed, now)?, before)));
        let has_alternates = changes.judged.iter().any(|change| ALTERNATES.contains(&change.path.to_string().as_str()));
        let lost: BTreeMap<String, Option<u64>> = match &compared {
            Ok((after, before)) => {
                let counter = Counter::new(self, now);
                Comparison::of(before, after).lost(|doubt| if has_alternates { None } else { counter.count(doubt) })
            }
            // If they can't be compared, anything may be lost.
            Err(_) => renamed.iter().filter_map(|change| name_of(&change.path)).map(|name| (name.to_owned(), None)).collect(),
        };
        if lost.is_empty() {
            return;
        }
        changes.lost = lost.into_iter().map(|(name, commits)| Loss { path: repository().join(&name), commits }).collect();
        let index = repository().join("index");
        let is_history = |change: &mut EntryChange| name_of(&change.path).is_some() || change.path == index;
        let set_apart = changes.unjudged.extract_if(.., is_history);
        let mut judged: BTreeMap<WorkspacePath, EntryChange> = set_apart.map(|change| (change.path.clone(), change)).collect();
        if let Ok((after, before)) = &compared {
            // For created or deleted folders, each file is listed.
            for name in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
                let (was, is) = (before.get(name), after.get(name));
                let path = repository().join(name);
                if was != is {
                    let kind = |side: Option<&Vec<u8>>| side.map(|_| Kind::File);
                    judged.entry(path.clone()).or_insert(EntryChange { path, was: kind(was), now: kind(is) });
                }
            }
            changes.refs = refs::changed(before, after);
        }
        changes.history = judged.into_values().collect();
    }
}

/// The refs and logs after these changes.
fn after(before: &Names, changes: &[EntryChange], now: &Workspace) -> Result<Names, Problem> {
    let mut names = before.clone();
    let mut room = MOST_BYTES;
    for change in changes {
        let Some(inside) = name_of(&change.path) else { continue };
        if change.now.is_none() || change.now != change.was {
            names.remove(inside);
            let below = format!("{inside}/");
            let gone: Vec<String> =
                names.range(below.clone()..).map(|(name, _)| name).take_while(|name| name.starts_with(&below)).cloned().collect();
            for name in &gone {
                names.remove(name);
            }
        }
        if change.now.is_some() {
            now.gather_names(&change.path, &mut names, &mut room)?;
        }
    }
    Ok(names)
}

/// Counts commits with git, before anything has landed.
struct Counter {
    repository: Option<PathBuf>,
    /// The folder of the command's new objects, if it is elsewhere.
    staged: Option<PathBuf>,
    /// Whether all of them can land.
    is_plain: bool,
    deadline: Instant,
}

impl Counter {
    fn new(workspace: &Workspace, now: &Workspace) -> Self {
        let repository = workspace.host_path().ok().map(|host| host.join(REPOSITORY));
        let staged = now.host_path().ok().map(|host| host.join(REPOSITORY));
        let staged = staged.filter(|staged| Some(staged) != repository.as_ref()).map(|staged| staged.join("objects"));
        let found = now.folder(&repository_objects()).ok();
        let is_plain = staged.is_none() || found.as_ref().is_none_or(has_no_links);
        Self { repository, staged: staged.filter(|_| found.is_some()), is_plain, deadline: Instant::now() + LONGEST }
    }

    /// The number of commits that would be lost; `None` if it is unknown.
    fn count(&self, doubt: &Doubt) -> Option<u64> {
        let left = self.deadline.checked_duration_since(Instant::now()).filter(|_| self.is_plain)?;
        let tips = doubt.tips.iter().chain(&doubt.own_tip).map(|tip| format!("^{tip}\n"));
        let input: String = doubt.commits.iter().map(|id| format!("{id}\n")).chain(tips).collect();
        count_commits(self.repository.as_ref()?, self.staged.as_deref(), input.into_bytes(), left).ok()
    }
}

fn repository_objects() -> WorkspacePath {
    repository().join("objects")
}

/// Whether a folder of objects contains no links, through which git would find objects that don't land.
pub(super) fn has_no_links(folder: &OwnedFd) -> bool {
    let is_plain = |(name, stat): &(CString, Stat)| match staged_kind(stat) {
        Some(Kind::File) | None => true,
        Some(Kind::Folder) => open_folder(folder, name).is_ok_and(|inside| has_no_links(&inside)),
        Some(Kind::Link | Kind::Other) => false,
    };
    entries(folder).is_ok_and(|found| found.iter().all(is_plain))
}

/// Commits that a ref or log loses, unless one of the tips has them as ancestors.
struct Doubt {
    name: String,
    commits: Vec<String>,
    /// Shared, because there may be as many of these as refs, and as many tips.
    tips: Rc<BTreeSet<String>>,
    /// The ref's own new value.
    own_tip: Option<String>,
}

struct Comparison<'n> {
    before: Refs<'n>,
    after: Refs<'n>,
    lost: BTreeMap<String, Option<u64>>,
    doubts: Vec<Doubt>,
}

/// Git stores older stashes in the log of the newest one.
const STASH: &str = "refs/stash";

impl<'n> Comparison<'n> {
    fn of(before: &'n Names, after: &'n Names) -> Self {
        let (before, after) = (Refs::of(before), Refs::of(after));
        let mut comparison = Self { before, after, lost: BTreeMap::new(), doubts: Vec::new() };
        comparison.compare_refs();
        comparison.compare_logs();
        comparison
    }

    fn compare_refs(&mut self) {
        let named = self.after.commits();
        let is_kept = |name: &str| ["refs/heads/", "refs/tags/", "refs/remotes/"].iter().any(|folder| name.starts_with(folder));
        let (tips, none) = (Rc::new(self.after.tips(is_kept)), Rc::default());
        for (name, was) in &self.before.values {
            let is = self.after.values.get(name);
            let log = self.before.logs.contains_key(name.as_str()).then(|| self.after.logs.get(name.as_str()).copied().unwrap_or_default());
            let doubt = |id: &String, tips: &Rc<BTreeSet<String>>, own_tip: Option<&String>| Doubt {
                name: name.clone(),
                commits: vec![id.clone()],
                tips: tips.clone(),
                own_tip: own_tip.cloned(),
            };
            match (was, is) {
                (was, Some(is)) if was == is => {}
                (Value::Broken | Value::Symbolic(_), None) | (Value::Broken, Some(_)) => {}
                (Value::Commit(_) | Value::Symbolic(_), Some(Value::Broken)) => drop(self.lost.insert(name.clone(), None)),
                // Git can't commit on what is no branch.
                (_, Some(Value::Symbolic(target))) if name == "HEAD" && !target.starts_with("refs/heads/") => {
                    self.lost.insert(name.clone(), None);
                }
                (Value::Symbolic(_), Some(_)) => {}
                // The branch is not gone, it now shows another one's commits. No git command does this to a branch unasked.
                (Value::Commit(_), Some(Value::Symbolic(_))) if name != "HEAD" => drop(self.lost.insert(name.clone(), None)),
                // Git logs every move of a ref; a move without a log entry was not made by git.
                (Value::Commit(_), Some(Value::Commit(new))) if log.is_some_and(|log| ids_of(log).last() != Some(new)) => {
                    self.lost.insert(name.clone(), None);
                }
                (Value::Commit(id), Some(Value::Commit(_))) if name == STASH && named.contains(id) => {}
                (Value::Commit(id), Some(Value::Commit(new))) if name == "HEAD" => {
                    self.doubts.push(doubt(id, &tips, Some(new)));
                }
                (Value::Commit(id), Some(Value::Commit(new))) => self.doubts.push(doubt(id, &none, Some(new))),
                (Value::Commit(id), Some(Value::Symbolic(_)) | None) => self.doubts.push(doubt(id, &tips, None)),
            }
        }
    }

    fn compare_logs(&mut self) {
        let named = self.after.commits();
        let tips = Rc::new(self.after.tips(|name| name != "HEAD"));
        for (name, was) in &self.before.logs {
            match self.after.logs.get(name) {
                Some(is) if is.starts_with(was) => {}
                None if !self.after.values.contains_key(*name) => {
                    let commits = ids_of(was).into_iter().filter(|id| !named.contains(id)).collect();
                    self.doubts.push(Doubt { name: format!("logs/{name}"), commits, tips: tips.clone(), own_tip: None });
                }
                Some(_) | None => drop(self.lost.insert(format!("logs/{name}"), None)),
            }
        }
    }

    /// The refs and logs that lose commits, each with the maximum number. `count` returns how many of the commits no tip has.
    fn lost(mut self, count: impl Fn(&Doubt) -> Option<u64>) -> BTreeMap<String, Option<u64>> {
        let is_open = |doubt: &Doubt| !doubt.commits.iter().all(|id| doubt.tips.contains(id) || doubt.own_tip.as_ref() == Some(id));
        for (asked, doubt) in self.doubts.into_iter().filter(is_open).enumerate() {
            let lost = if asked < MOST_ASKED { count(&doubt) } else { None };
            if lost != Some(0) {
                self.lost.insert(doubt.name, lost);
            }
        }
        self.lost
    }
}

#[cfg(test)]
mod tests;
