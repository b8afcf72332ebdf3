//! Git's names for commits, before and after a command: what only they lead to must not be lost unasked.
//!
//! Objects are never deleted, so a commit is lost when nothing names it any more: no ref, no log, and no ref that has it
//! among its ancestors. Ids are compared as they are; git is only asked about those that are left over.

use super::change::{Change, Changes};
use super::rules::REPOSITORY;
use super::{Kind, Workspace};
use crate::path::WorkspacePath;
use planwright_protocol::Problem;
use planwright_sandbox::git_on;
use std::collections::{BTreeMap, BTreeSet};

/// The files that name commits, by their paths in the repository: `HEAD`, `packed-refs`, refs and logs.
pub type Names = BTreeMap<String, Vec<u8>>;

const PLACES: [&str; 4] = ["HEAD", "packed-refs", "refs", "logs"];
/// Git is asked about so many commits; more of them are lost without asking it.
const MOST_ASKED: usize = 16;

fn repository() -> WorkspacePath {
    WorkspacePath::root().join(REPOSITORY)
}

/// The path inside the repository, if it is a file or folder of names.
pub fn name_of(path: &WorkspacePath) -> Option<&str> {
    let inside = path.relative().strip_prefix(REPOSITORY)?.strip_prefix('/')?;
    PLACES.iter().any(|place| inside.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))).then_some(inside)
}

impl Workspace {
    /// The names of this workspace's repository.
    ///
    /// # Errors
    /// One of them can't be read.
    pub fn names(&self) -> Result<Names, Problem> {
        let mut names = Names::new();
        for place in PLACES {
            self.gather_names(&repository().join(place), &mut names)?;
        }
        Ok(names)
    }

    fn gather_names(&self, path: &WorkspacePath, names: &mut Names) -> Result<(), Problem> {
        match self.entry(path)?.map(|entry| entry.kind) {
            Some(Kind::File) => {
                if let Some(inside) = name_of(path) {
                    names.insert(inside.to_owned(), self.read(path)?.bytes);
                }
            }
            Some(Kind::Folder) => {
                for (name, _) in self.list(path)? {
                    self.gather_names(&path.join(&name), names)?;
                }
            }
            Some(Kind::Link | Kind::Other) | None => {}
        }
        Ok(())
    }

    /// Sets the changes of names apart, if commits would be lost by them. `before` is how they were;
    /// `now` has what the command left.
    pub fn judge_history(&self, changes: &mut Changes, before: Result<Names, Problem>, now: &Workspace) {
        let renamed: Vec<Change> = changes.unjudged.iter().filter(|change| name_of(&change.path).is_some()).cloned().collect();
        if renamed.is_empty() {
            return;
        }
        let compared = before.and_then(|before| Ok((after(&before, &renamed, now)?, before)));
        let lost = match &compared {
            Ok((after, before)) => Comparison::of(before, after).lost(|id| self.refs_with(id)),
            // What can't be compared may have lost anything.
            Err(_) => renamed.iter().filter_map(|change| name_of(&change.path)).map(str::to_owned).collect(),
        };
        if lost.is_empty() {
            return;
        }
        changes.lost = lost.iter().map(|name| repository().join(name)).collect();
        changes.unjudged.retain(|change| name_of(&change.path).is_none());
        let mut judged: BTreeMap<WorkspacePath, Change> = renamed.into_iter().map(|change| (change.path.clone(), change)).collect();
        if let Ok((after, before)) = &compared {
            // Of folders that came or went, each file is told by itself.
            for name in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
                let (was, is) = (before.get(name), after.get(name));
                let path = repository().join(name);
                if was != is {
                    let kind = |side: Option<&Vec<u8>>| side.map(|_| Kind::File);
                    judged.entry(path.clone()).or_insert(Change { path, was: kind(was), now: kind(is) });
                }
            }
        }
        changes.history = judged.into_values().collect();
    }

    /// The refs that have a commit among their ancestors, as git knows them before anything has landed.
    fn refs_with(&self, id: &str) -> BTreeSet<String> {
        let Ok(host) = self.host_path() else { return BTreeSet::new() };
        let found = git_on(&host.join(REPOSITORY), &["for-each-ref", "--contains", id, "--format=%(refname)"], Vec::new());
        found.map(|names| names.lines().map(str::to_owned).collect()).unwrap_or_default()
    }
}

/// The names once these changes are made.
fn after(before: &Names, changes: &[Change], now: &Workspace) -> Result<Names, Problem> {
    let mut names = before.clone();
    for change in changes {
        let Some(inside) = name_of(&change.path) else { continue };
        if change.now.is_none() || change.now != change.was {
            names.retain(|name, _| name != inside && !name.strip_prefix(inside).is_some_and(|rest| rest.starts_with('/')));
        }
        if change.now.is_some() {
            now.gather_names(&change.path, &mut names)?;
        }
    }
    Ok(names)
}

/// What a ref says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Commit(String),
    /// The name of another ref.
    Symbolic,
    Broken,
}

impl Value {
    fn read(text: &[u8]) -> Self {
        match std::str::from_utf8(text).map(str::trim) {
            Ok(id) if is_id(id) => Self::Commit(id.to_owned()),
            Ok(text) if text.strip_prefix("ref:").is_some_and(|name| name.trim_start().starts_with("refs/")) => Self::Symbolic,
            Ok(_) | Err(_) => Self::Broken,
        }
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The refs, and what logs say of them.
struct Repository<'n> {
    refs: BTreeMap<String, Value>,
    logs: BTreeMap<&'n str, &'n [u8]>,
}

impl<'n> Repository<'n> {
    fn of(names: &'n Names) -> Self {
        let mut refs = BTreeMap::new();
        for line in names.get("packed-refs").into_iter().flat_map(|text| text.split(|&byte| byte == b'\n')) {
            let line = String::from_utf8_lossy(line);
            if let Some((id, name)) = line.split_once(' ').filter(|(id, _)| is_id(id)) {
                refs.insert(name.trim().to_owned(), Value::Commit(id.to_owned()));
            }
        }
        let loose = names.iter().filter(|(name, _)| name.starts_with("refs/") || *name == "HEAD");
        refs.extend(loose.map(|(name, text)| (name.clone(), Value::read(text))));
        let logs = names.iter().filter_map(|(name, text)| Some((name.strip_prefix("logs/")?, text.as_slice()))).collect();
        Self { refs, logs }
    }

    /// Every commit that has a name.
    fn commits(&self) -> BTreeSet<String> {
        let named = self.refs.values().filter_map(|value| if let Value::Commit(id) = value { Some(id.clone()) } else { None });
        named.chain(self.logs.values().flat_map(|log| ids_of(log))).collect()
    }
}

/// The commits of a log: each line begins with the old one and the new one.
fn ids_of(log: &[u8]) -> Vec<String> {
    let lines = log.split(|&byte| byte == b'\n').map(String::from_utf8_lossy);
    let ids = lines.flat_map(|line| line.splitn(3, ' ').take(2).map(str::to_owned).collect::<Vec<_>>());
    // Nothing but zeros stands for no commit.
    ids.filter(|id| is_id(id) && id.bytes().any(|byte| byte != b'0')).collect()
}

struct Comparison<'n> {
    before: Repository<'n>,
    after: Repository<'n>,
    lost: BTreeSet<String>,
    /// Commits that are lost unless a ref that stays has them, with the name that led to them.
    doubtful: BTreeSet<(String, String)>,
}

impl<'n> Comparison<'n> {
    fn of(before: &'n Names, after: &'n Names) -> Self {
        let (before, after) = (Repository::of(before), Repository::of(after));
        let mut comparison = Self { before, after, lost: BTreeSet::new(), doubtful: BTreeSet::new() };
        comparison.compare_refs();
        comparison.compare_logs();
        comparison
    }

    fn compare_refs(&mut self) {
        let named = self.after.commits();
        for (name, was) in &self.before.refs {
            match (was, self.after.refs.get(name)) {
                (was, Some(is)) if was == is => {}
                (Value::Broken | Value::Symbolic, None) | (Value::Broken, Some(_)) => {}
                (Value::Commit(_) | Value::Symbolic, Some(Value::Broken)) => drop(self.lost.insert(name.clone())),
                (Value::Symbolic, Some(_)) => {}
                (Value::Commit(id), None) if !self.is_value_of_another(id) => drop(self.doubtful.insert((id.clone(), name.clone()))),
                (Value::Commit(_), None) => {}
                (Value::Commit(_), Some(Value::Commit(new))) if self.before.logs.contains_key(name.as_str()) => {
                    let log = self.after.logs.get(name.as_str()).map(|log| ids_of(log)).unwrap_or_default();
                    // Git writes down where it moves a ref; what it did not write down was not git's work.
                    if log.last() != Some(new) {
                        self.lost.insert(name.clone());
                    }
                }
                (Value::Commit(id), Some(_)) if !named.contains(id) => drop(self.doubtful.insert((id.clone(), name.clone()))),
                (Value::Commit(_), Some(_)) => {}
            }
        }
    }

    /// Whether a ref that stays had or has this value.
    fn is_value_of_another(&self, id: &str) -> bool {
        let is = |value: Option<&Value>| matches!(value, Some(Value::Commit(other)) if other == id);
        self.after.refs.keys().any(|name| name != "HEAD" && (is(self.after.refs.get(name)) || is(self.before.refs.get(name))))
    }

    fn compare_logs(&mut self) {
        let named = self.after.commits();
        for (name, was) in &self.before.logs {
            match self.after.logs.get(name) {
                Some(is) if is.starts_with(was) => {}
                None if !self.after.refs.contains_key(*name) => {
                    let ids = ids_of(was).into_iter().filter(|id| !named.contains(id));
                    self.doubtful.extend(ids.map(|id| (id, format!("logs/{name}"))));
                }
                Some(_) | None => drop(self.lost.insert(format!("logs/{name}"))),
            }
        }
    }

    /// The names that lead to commits which nothing leads to any more.
    fn lost(mut self, refs_with: impl Fn(&str) -> BTreeSet<String>) -> BTreeSet<String> {
        let mut known: BTreeMap<String, bool> = BTreeMap::new();
        for (id, name) in &self.doubtful {
            let is_asked = known.contains_key(id) || known.len() < MOST_ASKED;
            let mut stays = || refs_with(id).iter().any(|name| matches!(self.after.refs.get(name), Some(Value::Commit(_))));
            if !is_asked || !*known.entry(id.clone()).or_insert_with(&mut stays) {
                self.lost.insert(name.clone());
            }
        }
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    const C: &str = "cccccccccccccccccccccccccccccccccccccccc";

    fn names(files: &[(&str, String)]) -> Names {
        files.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into_bytes())).collect()
    }

    fn line(old: &str, new: &str) -> String {
        format!("{old} {new} Ann <ann@example.com> 1 +0000\tcommit\n")
    }

    fn before() -> Names {
        names(&[
            ("HEAD", "ref: refs/heads/main\n".to_owned()),
            ("refs/heads/main", format!("{A}\n")),
            ("packed-refs", format!("# pack-refs with: peeled\n{C} refs/heads/feature\n")),
            ("logs/HEAD", line(C, A)),
            ("logs/refs/heads/main", line(C, A)),
        ])
    }

    fn lost(change: impl Fn(&mut Names), contains: &[&str]) -> Vec<String> {
        let (before, mut after) = (before(), before());
        change(&mut after);
        let refs = |id: &str| if contains.contains(&id) { BTreeSet::from(["refs/heads/main".to_owned()]) } else { BTreeSet::new() };
        Comparison::of(&before, &after).lost(refs).into_iter().collect()
    }

    fn put(names: &mut Names, name: &str, text: &str) {
        names.insert(name.to_owned(), text.as_bytes().to_vec());
    }

    #[test]
    fn what_git_writes_down_loses_nothing() {
        let commit = |names: &mut Names| {
            put(names, "refs/heads/main", &format!("{B}\n"));
            put(names, "logs/HEAD", &(line(C, A) + &line(A, B)));
            put(names, "logs/refs/heads/main", &(line(C, A) + &line(A, B)));
        };
        assert_eq!(lost(commit, &[]), Vec::<String>::new());
        let packed = |names: &mut Names| {
            names.remove("refs/heads/main");
            put(names, "packed-refs", &format!("{C} refs/heads/feature\n{A} refs/heads/main\n"));
        };
        assert_eq!(lost(packed, &[]), Vec::<String>::new());
        let renamed = |names: &mut Names| put(names, "packed-refs", &format!("{C} refs/heads/other\n"));
        assert_eq!(lost(renamed, &[]), Vec::<String>::new());
    }

    #[test]
    fn a_ref_that_goes_is_lost_unless_another_has_its_commits() {
        let gone = |names: &mut Names| put(names, "packed-refs", "");
        assert_eq!(lost(gone, &[]), ["refs/heads/feature"]);
        assert_eq!(lost(gone, &[C]), Vec::<String>::new(), "it was merged");
        let moved = |names: &mut Names| put(names, "packed-refs", &format!("{A} refs/heads/feature\n"));
        assert_eq!(lost(moved, &[]), Vec::<String>::new(), "logs still have it");
    }

    #[test]
    fn logs_only_grow_and_refs_move_only_with_them() {
        let cut = |names: &mut Names| put(names, "logs/HEAD", "");
        assert_eq!(lost(cut, &[]), ["logs/HEAD"]);
        let gone = |names: &mut Names| drop(names.remove("logs/refs/heads/main"));
        assert_eq!(lost(gone, &[]), ["logs/refs/heads/main"]);
        let by_hand = |names: &mut Names| put(names, "refs/heads/main", &format!("{B}\n"));
        assert_eq!(lost(by_hand, &[]), ["refs/heads/main"]);
        let broken = |names: &mut Names| put(names, "HEAD", "nonsense");
        assert_eq!(lost(broken, &[]), ["HEAD"]);
    }
}
