//! Decides which parts of the host are visible inside. Hidden are the server's files, other workspaces and homes, under every
//! path that a mount gives them.

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
/// Each home inside a visible folder costs a mount.
const MOST_HOMES: usize = 4096;

/// The visible and the hidden paths of the host.
pub struct Sight<'p> {
    pub policy: &'p Policy,
    /// The server's own files.
    pub own: Vec<PathBuf>,
    /// Other workspaces, and additional paths of this one.
    others: Vec<PathBuf>,
    /// Homes. A folder that the configuration names may still show a home.
    homes: Vec<PathBuf>,
    /// Folders whose links are not followed, because commands can create them.
    untrusted: Vec<&'p Path>,
}

/// A part of the host, ready to be mounted inside.
pub struct VisibleTree {
    /// Its path on the host, without links.
    source: PathBuf,
    pub mount: OwnedFd,
    /// Whether the configuration or the workspace's repository names it.
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

    /// The homes inside visible folders. In a home among programs, such as `/usr/sbin`, only dot files are hidden. A mount that
    /// shows part of a home was made to show it.
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
        // A home that this user can't reach is out of reach for their commands too.
        let is_there = |home: &PathBuf| !matches!(mount::open(home), Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS));
        let homes = names(mounts, &private, Parts::Ignored)?.into_iter();
        let homes: Vec<PathBuf> = homes.filter(|home| is_shown(home) && is_there(home)).collect();
        if homes.len() > MOST_HOMES {
            return Err(format!("more than {MOST_HOMES} homes are in folders that commands can see, and each must be hidden").into());
        }
        Ok(homes)
    }

    pub fn is_in_workspace(&self, path: &Path) -> bool {
        path.starts_with(&self.policy.workspace)
    }

    /// Everything that is visible besides the workspace, by its path inside. Paths in the workspace are part of the workspace's
    /// view.
    pub fn trees(&self, shown: &[Shown]) -> Result<BTreeMap<PathBuf, VisibleTree>, Failure> {
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
                    trees.insert(path.clone(), VisibleTree { source, mount, is_named: false });
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
                let why = "contains Planwright's data or configuration, or is part of it";
                return Err(format!(
                    "`{setting}` names {}, which {why}; name another folder, or give a --data-dir elsewhere",
                    path.display()
                )
                .into());
            }
            let mount = copy_of(&source, access)?;
            trees.insert(path.clone(), VisibleTree { source, mount, is_named: true });
        }
        Ok(trees)
    }

    /// Whether a path is already visible as part of a tree, and not hidden there.
    fn is_seen(&self, trees: &BTreeMap<PathBuf, VisibleTree>, path: &Path, source: &Path) -> bool {
        trees.iter().any(|(place, tree)| {
            let is_hidden = |hidden: &PathBuf| source.starts_with(hidden) && hidden.starts_with(&tree.source);
            path.starts_with(place) && source.starts_with(&tree.source) && !self.others.iter().chain(&self.homes).any(is_hidden)
        })
    }

    /// The paths inside at which a part of a tree is hidden.
    pub fn hidden_in(&self, place: &Path, tree: &VisibleTree) -> Vec<PathBuf> {
        let homes = self.homes.iter().filter(|_| !tree.is_named);
        let below = self.own.iter().chain(&self.others).chain(homes).filter_map(|hidden| hidden.strip_prefix(&tree.source).ok());
        below.filter(|below| !below.as_os_str().is_empty()).map(|below| place.join(below)).collect()
    }

    /// Resolves a path of the host. Follows links, except those that commands can create.
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

/// All paths of these files and folders.
fn names(mounts: &MountsAround<'_>, paths: &[PathBuf], parts: Parts) -> Result<Vec<PathBuf>, Failure> {
    let mut names = Vec::new();
    for path in paths {
        names.extend(mounts.names_of(path, parts)?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// The entries of a folder whose names begin with a dot.
fn dotted(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: std::io::Error| format!("can't list the hidden files of the home {}: {error}", folder.display());
    let mut dotted = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied) => return Ok(dotted),
        other => other.map_err(cannot)?,
    };
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        // Links are followed, because their targets may be visible too.
        if entry.file_name().as_bytes().starts_with(b".")
            && let Ok(path) = entry.path().canonicalize()
        {
            dotted.push(path);
        }
    }
    Ok(dotted)
}
