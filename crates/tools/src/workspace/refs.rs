//! Reads a repository's refs from its files: loose ones, packed ones, and their logs.

use super::Workspace;
use super::rules::REPOSITORY;
use crate::path::WorkspacePath;
use crate::version::Version;
use planwright_protocol::Image;
use rustix::fs::{Mode, OFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;

/// The files that name commits, by their paths in the repository: `HEAD`, `packed-refs`, refs and logs.
pub type Names = BTreeMap<String, Vec<u8>>;

const PACKED: &str = "packed-refs";

/// A ref before and after a command, as the content of its file, even if git had packed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    pub path: WorkspacePath,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

/// The value of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Commit(String),
    /// The name of another ref.
    Symbolic(String),
    Broken,
}

impl Value {
    fn read(text: &[u8]) -> Self {
        match std::str::from_utf8(text).map(str::trim) {
            Ok(id) if is_id(id) => Self::Commit(id.to_owned()),
            Ok(text) => match text.strip_prefix("ref:").map(str::trim_start) {
                Some(name) if name.starts_with("refs/") => Self::Symbolic(name.to_owned()),
                Some(_) | None => Self::Broken,
            },
            Err(_) => Self::Broken,
        }
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The refs, and their logs.
pub struct Refs<'n> {
    pub values: BTreeMap<String, Value>,
    pub logs: BTreeMap<&'n str, &'n [u8]>,
}

impl<'n> Refs<'n> {
    pub fn of(names: &'n Names) -> Self {
        let values = contents(names).into_iter().map(|(name, content)| (name, Value::read(&content))).collect();
        let logs = names.iter().filter_map(|(name, text)| Some((name.strip_prefix("logs/")?, text.as_slice()))).collect();
        Self { values, logs }
    }

    /// All commits with a name.
    pub fn commits(&self) -> BTreeSet<String> {
        let named = self.values.values().filter_map(|value| if let Value::Commit(id) = value { Some(id.clone()) } else { None });
        named.chain(self.logs.values().flat_map(|log| ids_of(log))).collect()
    }

    /// The values of the refs whose names `wanted` selects.
    pub fn tips(&self, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let tip = |(name, value): (&String, &Value)| match value {
            Value::Commit(id) if wanted(name) => Some(id.clone()),
            Value::Commit(_) | Value::Symbolic(_) | Value::Broken => None,
        };
        self.values.iter().filter_map(tip).collect()
    }
}

/// The content of each ref's file, or its content if git had not packed it.
fn contents(names: &Names) -> BTreeMap<String, Vec<u8>> {
    let mut found: BTreeMap<String, Vec<u8>> = names.get(PACKED).map(|text| packed(text)).unwrap_or_default();
    let loose = names.iter().filter(|(name, _)| is_ref_name(name) || *name == "HEAD");
    found.extend(loose.map(|(name, text)| (name.clone(), text.clone())));
    found
}

/// The refs that git finds in its packed file. Git searches a file that claims to be sorted by bisection, so it may miss any ref
/// in an unsorted one.
fn packed(text: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let lines: Vec<_> = text.split(|&byte| byte == b'\n').map(String::from_utf8_lossy).collect();
    let entry = |line: &std::borrow::Cow<'_, str>| {
        let (id, name) = line.split_once(' ').filter(|(id, name)| is_id(id) && is_ref_name(name))?;
        Some((name.to_owned(), format!("{id}\n").into_bytes()))
    };
    let found: Vec<(String, Vec<u8>)> = lines.iter().filter_map(entry).collect();
    let says_sorted = lines.first().is_some_and(|first| first.starts_with('#') && first.split(' ').any(|word| word == "sorted"));
    if says_sorted && !found.is_sorted_by(|(one, _), (next, _)| one < next) {
        return BTreeMap::new();
    }
    found.into_iter().collect()
}

/// Whether git accepts a name as that of a ref. Files with other names below `refs` keep no commit.
pub fn is_ref_name(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none();
    let is_odd = |letter: char| letter.is_ascii_control() || " ~^:?*[\\".contains(letter);
    name.starts_with("refs/")
        && name.split('/').all(is_part)
        && !name.contains(is_odd)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

/// The commits of a log: each line begins with the old one and the new one.
pub fn ids_of(log: &[u8]) -> Vec<String> {
    let lines = log.split(|&byte| byte == b'\n').map(String::from_utf8_lossy);
    let ids = lines.flat_map(|line| line.splitn(3, ' ').take(2).map(str::to_owned).collect::<Vec<_>>());
    // All zeros mean no commit.
    ids.filter(|id| is_id(id) && id.bytes().any(|byte| byte != b'0')).collect()
}

/// The refs with a new value, however git stores them.
pub fn changed(before: &Names, after: &Names) -> Vec<RefChange> {
    let (mut before, mut after) = (contents(before), contents(after));
    let names: BTreeSet<String> = before.keys().chain(after.keys()).cloned().collect();
    let all = names.into_iter().map(|name| RefChange {
        path: repository().join(&name),
        before: before.remove(&name),
        after: after.remove(&name),
    });
    all.filter(|one| one.before != one.after).collect()
}

pub fn repository() -> WorkspacePath {
    WorkspacePath::root().join(REPOSITORY)
}

/// The name of the ref whose file has this path.
pub fn ref_at(path: &WorkspacePath) -> Option<&str> {
    path.relative().strip_prefix(".git/").filter(|name| name.starts_with("refs/"))
}

impl Workspace {
    /// The image that a packed ref's file would have.
    pub(super) fn packed_image(&self, path: &WorkspacePath) -> Option<Image> {
        let name = ref_at(path)?;
        let text = self.read(&repository().join(PACKED)).ok()?.bytes;
        packed(&text).remove(name).map(|content| Version::file(content, None).image)
    }

    /// Removes a ref from git's packed refs, with git's own lock.
    pub(super) fn remove_packed(&self, name: &str) -> Result<(), String> {
        let Ok(snapshot) = self.read(&repository().join(PACKED)) else { return Ok(()) };
        if !packed(&snapshot.bytes).contains_key(name) {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(snapshot.bytes.len());
        let mut is_dropped = false;
        for line in snapshot.bytes.split_inclusive(|&byte| byte == b'\n') {
            // A line that begins so belongs to the ref before it.
            if !line.starts_with(b"^") {
                is_dropped =
                    std::str::from_utf8(line).is_ok_and(|line| line.split_once(' ').is_some_and(|(_, other)| other.trim() == name));
            }
            if !is_dropped {
                kept.extend_from_slice(line);
            }
        }
        let folder = self.folder(&repository()).map_err(|problem| problem.message)?;
        let lock = c"packed-refs.lock";
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, lock, flags, Mode::from_raw_mode(0o644))
            .map_err(|errno| format!("can't lock git's packed refs: {errno}"))?;
        let mut file = File::from(file);
        let written = file.write_all(&kept).and_then(|()| file.sync_all());
        let moved = written.and_then(|()| Ok(rustix::fs::renameat(&folder, lock, &folder, c"packed-refs")?));
        moved.map_err(|error| {
            let _ = rustix::fs::unlinkat(&folder, lock, rustix::fs::AtFlags::empty());
            error.to_string()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789012345678901234567890123456789";

    #[test]
    fn a_name_that_git_ignores_keeps_no_commit() {
        for name in ["refs/heads/main", "refs/heads/feat/a/b", "refs/stash", "refs/tags/v1.0", "refs/heads/主"] {
            assert!(is_ref_name(name), "{name}");
        }
        for name in [
            "refs/heads/kept.lock",
            "refs/heads/.kept",
            "refs/heads/a..b",
            "refs/heads/a b",
            "refs/heads/a.lock/b",
            "refs/heads/a@{1}",
            "refs/heads/a~",
            "refs/heads/a.",
            "refs/heads//a",
            "refs/heads/",
            "heads/a",
            "refs/heads/a\\b",
            "refs/heads/a\u{7f}",
        ] {
            assert!(!is_ref_name(name), "{name}");
        }
        let names = Names::from([("refs/heads/kept.lock".to_owned(), format!("{ID}\n").into_bytes())]);
        assert!(Refs::of(&names).values.is_empty());
    }

    #[test]
    fn packed_refs_that_say_they_are_sorted_and_are_not_are_found_by_nobody() {
        let file = |header: &str, names: [&str; 2]| format!("{header}\n{ID} {}\n^{ID}\n{ID} {}\n", names[0], names[1]);
        let (a, b) = ("refs/heads/a", "refs/tags/b");
        let count = |text: String| packed(text.as_bytes()).len();
        let sorted = "# pack-refs with: peeled fully-peeled sorted ";
        assert_eq!((count(file(sorted, [a, b])), count(file(sorted, [b, a])), count(file(sorted, [a, a]))), (2, 0, 0));
        assert_eq!(count(file("# pack-refs with: peeled ", [b, a])), 2, "git sorts it itself");
    }
}
