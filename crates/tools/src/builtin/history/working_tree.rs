//! Uncommitted changes: compares the workspace's files with a commit, without git's index or filters.

use crate::builtin::files::unified_diff;
use crate::gate::Secrets;
use crate::path::WorkspacePath;
use crate::tool::ToolContext;
use crate::version::{FileChange, Version};
use crate::workspace::{Commits, Kind};
use planwright_protocol::Problem;
use sha1::{Digest, Sha1};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_secs(10);
const MOST_LISTED: usize = 32 << 20;
const MOST_OF_ONE: usize = 16 << 20;
/// Maximum number of changed files in the result; the others are counted.
const MOST_SHOWN: usize = 200;

pub struct UncommittedChanges {
    pub text: String,
    /// Skipped files that look like secrets.
    pub left_out: usize,
}

/// The differences below `path` between a revision and the current files.
pub fn changes_since(
    cx: &ToolContext,
    commits: &Commits,
    revision: &str,
    path: &WorkspacePath,
    secrets: Option<&Secrets>,
) -> Result<UncommittedChanges, Problem> {
    let until = Instant::now() + LONGEST;
    let mut known = tree(commits, revision, path)?;
    let mut present = files(cx, commits, path, until)?;
    let is_secret = |path: &&WorkspacePath| secrets.is_some_and(|secrets| secrets.contains(path));
    let hidden: BTreeSet<WorkspacePath> = known.keys().chain(&present).filter(is_secret).cloned().collect();
    known.retain(|path, _| !hidden.contains(path));
    present.retain(|path| !hidden.contains(path));
    let mut text = String::new();
    let mut changed = 0;
    for (path, id) in &known {
        let now = cx.workspace.read(path).ok().map(|snapshot| snapshot.bytes);
        if now.as_ref().is_some_and(|bytes| blob_id(bytes, id.len()) == *id) || Instant::now() > until {
            continue;
        }
        changed += 1;
        if changed <= MOST_SHOWN {
            let before = commits.git(&["cat-file", "blob", id], MOST_OF_ONE)?.0;
            let after = now.map_or_else(Version::absent, |bytes| Version::file(bytes.as_slice(), None));
            text.push_str(&unified_diff(&FileChange { path: path.clone(), before: Version::file(before.as_slice(), None), after }));
        }
    }
    if changed > MOST_SHOWN {
        text.push_str(&format!("[{} more changed files: narrow `path`]\n", changed - MOST_SHOWN));
    }
    for path in present.iter().filter(|path| !known.contains_key(*path)) {
        text.push_str(&format!("[new, not in {revision}: {path}]\n"));
    }
    if text.is_empty() {
        text.push_str("[no differences]\n");
    }
    if Instant::now() > until {
        text.push_str(&format!("[stopped after {} seconds, there may be more: narrow `path`]\n", LONGEST.as_secs()));
    }
    Ok(UncommittedChanges { text, left_out: hidden.len() })
}

/// The regular files of a commit, with their object ids.
fn tree(commits: &Commits, revision: &str, path: &WorkspacePath) -> Result<BTreeMap<WorkspacePath, String>, Problem> {
    let tree = format!("{revision}^{{tree}}");
    let mut args = vec!["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", &tree];
    args.extend(commits.inside(path));
    let (bytes, _) = commits.git(&args, MOST_LISTED)?;
    let entry = |entry: &[u8]| {
        // Each entry is a mode, a kind, an id, a tab and the name.
        let (facts, name) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
        let mut facts = facts.split(' ');
        let (mode, id) = (facts.next()?, facts.nth(1)?);
        mode.starts_with("100").then(|| Some((commits.outside(name)?, id.to_owned()))).flatten()
    };
    Ok(bytes.split(|byte| *byte == 0).filter_map(entry).collect())
}

/// The files below a path that git does not ignore.
fn files(cx: &ToolContext, commits: &Commits, path: &WorkspacePath, until: Instant) -> Result<BTreeSet<WorkspacePath>, Problem> {
    let found = Mutex::new(BTreeSet::new());
    match cx.workspace.entry(path)?.map(|entry| entry.kind) {
        Some(Kind::Folder) => {
            cx.workspace.walk(path, until, || {
                |file| {
                    found.lock().unwrap_or_else(PoisonError::into_inner).insert(file.path.clone());
                }
            })?;
        }
        Some(Kind::File) => {
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        }
        Some(Kind::Link | Kind::Other) | None => {}
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Skips the files of nested repositories.
    let mut own: HashMap<WorkspacePath, bool> = HashMap::new();
    found.retain(|path| {
        let Some((folder, _)) = path.split() else { return false };
        let is_own = |folder: &WorkspacePath| cx.workspace.repository_of(folder).is_ok_and(|(of, _)| of == commits.folder);
        *own.entry(folder).or_insert_with_key(is_own)
    });
    Ok(found)
}

/// Git's id of a content.
fn blob_id(bytes: &[u8], digits: usize) -> String {
    let head = format!("blob {}\0", bytes.len());
    let hex = |digest: &[u8]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    if digits == 64 {
        hex(&Sha256::new().chain_update(&head).chain_update(bytes).finalize())
    } else {
        hex(&Sha1::new().chain_update(&head).chain_update(bytes).finalize())
    }
}
