//! What of the machine may be seen inside, and what of it is hidden: what is the server's, other workspaces and homes, under
//! every name that a mount gives them.

use crate::host::{PROGRAMS, Shown};
use crate::mount::{self, Access};
use crate::mounts::{MountTable, MountsAround, Parts};
use crate::policy::Policy;
use crate::root::{Failure, SELF, cannot, copy_of};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const MOST_LINKS: usize = 40;
/// Each home that lies in something shown costs a mount.
const MOST_HOMES: usize = 4096;

/// What may be seen, and what not.
pub struct Sight<'p> {
    pub policy: &'p Policy,
    /// What belongs to the server.
    pub own: Vec<PathBuf>,
    /// Other workspaces, and further names of this one.
    others: Vec<PathBuf>,
    /// Homes, which folders that the configuration names may show all the same.
    homes: Vec<PathBuf>,
    /// Folders whose links are not followed, because commands can make them.
    untrusted: Vec<&'p Path>,
}

/// A part of the host, ready to be mounted inside.
pub struct Tree {
    /// Where it is on the host, without links.
    source: PathBuf,
    pub mount: OwnedFd,
    /// Whether the configuration names it, or the workspace's repository does.
    is_named: bool,
}

impl<'p> Sight<'p> {
    pub fn new(policy: &'p Policy, shown: &[Shown], homes: &[PathBuf]) -> Result<Self, Failure> {
        let Policy { workspace, others, writable, readable, .. } = policy;
        for path in [workspace].into_iter().chain(writable).chain(readable) {
            let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
            if !path.is_absolute() || !is_plain || path.parent().is_none() || path.starts_with(SELF) {
                return Err(format!("{} can't be shown to commands; name a folder by its full path", path.display()).into());
            }
        }
        let untrusted = [workspace].into_iter().chain(others).chain(writable).map(PathBuf::as_path).collect();
        let mut sight = Self { policy, own: Vec::new(), others: Vec::new(), homes: Vec::new(), untrusted };
        let trees = shown.iter().filter_map(|shown| match shown {
            Shown::Tree(path) => sight.real(path),
            Shown::Link { .. } => None,
        });
        let sources: Vec<PathBuf> = trees.collect();
        let named = writable.iter().chain(readable).filter_map(|path| sight.real(path)).chain([workspace.clone()]);
        let (table, places) = (MountTable::read()?, [sources.clone(), named.collect()].concat());
        let mounts = table.around(&places);
        sight.own = names(&mounts, &policy.own, Parts::Counted)?;
        if sight.own.iter().any(|own| own == workspace) {
            return Err(format!("the workspace {} is the server's own folder", workspace.display()).into());
        }
        let twins = mounts.names_of(workspace, Parts::Counted)?.into_iter().filter(|name| !name.starts_with(workspace));
        sight.others = names(&mounts, others, Parts::Counted)?.into_iter().chain(twins).collect();
        sight.homes = sight.hidden_homes(&mounts, &sources, homes)?;
        Ok(sight)
    }

    /// What of homes lies in something that is shown whole. A home among programs, such as `/usr/sbin`, is only hidden as far as
    /// its names begin with a dot; a mount that shows a part of a home was made to show it.
    fn hidden_homes(&self, mounts: &MountsAround<'_>, sources: &[PathBuf], homes: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let mut private = Vec::new();
        for home in homes.iter().filter_map(|home| self.real(home)).filter(|home| home.parent().is_some()) {
            if sources.contains(&home) || PROGRAMS.iter().any(|folder| home == Path::new(folder)) {
                private.extend(dotted(&home)?);
            } else {
                private.push(home);
            }
        }
        let is_shown = |home: &PathBuf| sources.iter().any(|source| home.starts_with(source));
        // What this user can't reach no command of theirs can.
        let is_there = |home: &PathBuf| !matches!(mount::open(home), Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS));
        let homes = names(mounts, &private, Parts::Ignored)?.into_iter();
        let homes: Vec<PathBuf> = homes.filter(|home| is_shown(home) && is_there(home)).collect();
        if homes.len() > MOST_HOMES {
            return Err(
                format!("more than {MOST_HOMES} homes lie in folders that are shown to commands, and all of them must be hidden").into()
            );
        }
        Ok(homes)
    }

    pub fn is_in_workspace(&self, path: &Path) -> bool {
        path.starts_with(&self.policy.workspace)
    }

    /// All that is shown besides the workspace, by its place inside. What lies in the workspace is seen as a part of that.
    pub fn trees(&self, shown: &[Shown]) -> Result<BTreeMap<PathBuf, Tree>, Failure> {
        let mut trees = BTreeMap::new();
        for shown in shown {
            let Shown::Tree(path) = shown else { continue };
            let Some(source) = self.real(path) else { continue };
            let is_own = self.own.iter().any(|own| source.starts_with(own));
            if self.is_in_workspace(path) || self.is_in_workspace(&source) || is_own || self.is_seen(&trees, path, &source) {
                continue;
            }
            match mount::open(&source) {
                Ok(entry) => {
                    let mount = mount::copy(&entry, Access::Read).map_err(|errno| cannot("show", path, errno))?;
                    trees.insert(path.clone(), Tree { source, mount, is_named: false });
                }
                Err(Errno::NOENT | Errno::ACCESS) => {}
                Err(errno) => return Err(cannot("show", path, errno)),
            }
        }
        let Policy { writable, readable, .. } = self.policy;
        let named = writable.iter().map(|path| (path, Access::Write, "writable"));
        for (path, access, setting) in named.chain(readable.iter().map(|path| (path, Access::Read, "readable"))) {
            let follows = || format!("`{setting}` names {}, which is behind a link that commands can change", path.display());
            let source = self.real(path).ok_or_else(follows)?;
            let is_seen = access == Access::Read && self.is_seen(&trees, path, &source);
            if self.is_in_workspace(path) || self.is_in_workspace(&source) || is_seen {
                continue;
            }
            let holds = |own: &PathBuf| source.starts_with(own) || (access == Access::Write && own.starts_with(&source));
            if self.own.iter().any(holds) {
                let why = "has Planwright's own data or configuration in it, or lies in it";
                return Err(format!(
                    "`{setting}` names {}, which {why}; name another folder, or give a --data-dir elsewhere",
                    path.display()
                )
                .into());
            }
            let mount = copy_of(&source, access)?;
            trees.insert(path.clone(), Tree { source, mount, is_named: true });
        }
        Ok(trees)
    }

    /// Whether it is a part of what is shown already, and not of something in there that is hidden.
    fn is_seen(&self, trees: &BTreeMap<PathBuf, Tree>, path: &Path, source: &Path) -> bool {
        trees.iter().any(|(place, tree)| {
            let is_hidden = |hidden: &PathBuf| source.starts_with(hidden) && hidden.starts_with(&tree.source);
            path.starts_with(place) && source.starts_with(&tree.source) && !self.others.iter().chain(&self.homes).any(is_hidden)
        })
    }

    /// The places inside at which something of a tree is hidden.
    pub fn hidden_in(&self, place: &Path, tree: &Tree) -> Vec<PathBuf> {
        let homes = self.homes.iter().filter(|_| !tree.is_named);
        let below = self.own.iter().chain(&self.others).chain(homes).filter_map(|hidden| hidden.strip_prefix(&tree.source).ok());
        below.filter(|below| !below.as_os_str().is_empty()).map(|below| place.join(below)).collect()
    }

    /// Where a path of the host leads. Links are followed, but none that commands can make.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let parts = |path: &Path| -> Vec<OsString> { path.components().rev().map(|part| part.as_os_str().to_owned()).collect() };
        let (mut left, mut real, mut links) = (parts(path), PathBuf::new(), 0);
        while let Some(part) = left.pop() {
            if part == OsStr::new("..") {
                real.pop();
                continue;
            }
            let next = real.join(part);
            match std::fs::read_link(&next) {
                Ok(target) => {
                    links += 1;
                    if links > MOST_LINKS || self.untrusted.iter().any(|folder| next.starts_with(folder)) {
                        return None;
                    }
                    left.extend(parts(&target));
                }
                Err(_) => real = next,
            }
        }
        Some(real)
    }
}

/// All names of these files and folders.
fn names(mounts: &MountsAround<'_>, paths: &[PathBuf], parts: Parts) -> Result<Vec<PathBuf>, Failure> {
    let mut names = Vec::new();
    for path in paths {
        names.extend(mounts.names_of(path, parts)?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// What of a folder has a name that begins with a dot.
fn dotted(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: std::io::Error| format!("can't tell what to hide in the home {}: {error}", folder.display());
    let mut dotted = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied) => return Ok(dotted),
        other => other.map_err(cannot)?,
    };
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        // A link is followed: what it leads to may be shown as well.
        if entry.file_name().as_bytes().starts_with(b".")
            && let Ok(path) = entry.path().canonicalize()
        {
            dotted.push(path);
        }
    }
    Ok(dotted)
}
