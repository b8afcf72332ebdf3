//! Assembles the file tree that a command sees; bubblewrap then uses it as a whole.
//!
//! Every source and every mount point is opened first and mounted by its descriptor (see [`mount`]). So no link in a workspace
//! redirects a mount, not even one created at that very moment.

use crate::host::{HOME, SCRATCH, Shown};
use crate::mount::{self, Access, MountDepth};
use crate::policy::{Policy, View};
use crate::sight::{Sight, VisibleTree};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

pub type Failure = Box<dyn std::error::Error>;

/// Where the tree is assembled: an in-memory folder in our mount namespace, over a folder that bubblewrap also needs.
pub const STAGE: &str = "/tmp";
/// The root of the tree.
pub const ROOT: &str = "/tmp/root";
/// Our own binary, inside. Mounted last, directly below the root, where no other mount can hide it.
pub const SELF: &str = "/.planwright-inner";
/// Size limit of each private in-memory folder.
const MEMORY_FOLDER: u64 = 1 << 30;
/// Size limit of the stage, which holds only folders and empty files.
const MEMORY_STAGE: u64 = 16 << 20;

/// Assembles the tree at [`ROOT`]. `workspace` is the view of the workspace that the command gets; `homes` are hidden.
pub fn assemble(policy: &Policy, shown: &[Shown], homes: &[PathBuf], workspace: &OwnedFd) -> Result<(), Failure> {
    let sight = Sight::new(policy, shown, homes)?;
    let trees = sight.trees(shown)?;
    let access = match policy.view {
        View::ReadOnly { .. } => Access::Read,
        View::Staged { .. } | View::Direct | View::Unconfined => Access::Write,
    };
    let workspace = mount::copy(workspace, access).map_err(|errno| cannot("show", &policy.workspace, errno))?;
    let own_binary = own_binary()?;
    let identity = policy.identity.as_deref().filter(|_| !sight.is_in_workspace(&Path::new(HOME).join(".gitconfig")));
    let identity = identity.map(|file| copy_of(file, Access::Read)).transpose()?;
    let scratch = if policy.scratch_in_memory {
        mount::memory((policy.limits.memory / 4).clamp(256 << 20, 4 << 30))?
    } else {
        copy_of(&policy.scratch, Access::Write)?
    };

    let mut stage = Stage::new()?;
    for folder in ["/tmp", "/var/tmp", "/run", HOME] {
        stage.mount_at(Path::new(folder), &mount::memory(MEMORY_FOLDER)?, Made::Folder)?;
    }
    for folder in ["/proc", "/dev"] {
        stage.place(Path::new(folder), Made::Folder)?;
    }
    stage.link(Path::new("../run"), Path::new("/var/run"))?;
    for shown in shown {
        if let Shown::Link { target, at } = shown {
            stage.link(target, at)?;
        }
    }
    stage.mount_at(Path::new(SCRATCH), &scratch, Made::Folder)?;
    if let Some(identity) = identity {
        stage.mount_at(&Path::new(HOME).join(".gitconfig"), &identity, Made::File)?;
    }
    let covers = stage.show(&sight, trees)?;
    stage.mount_at(&policy.workspace, &workspace, Made::Folder)?;
    stage.close(policy, &sight, &workspace)?;
    stage.mount_at(Path::new(SELF), &own_binary, Made::File)?;
    for cover in covers {
        mount::restrict(cover.as_fd(), Access::Read, MountDepth::Itself)?;
    }
    Ok(())
}

pub fn copy_of(source: &Path, access: Access) -> Result<OwnedFd, Failure> {
    mount::open(source).and_then(|entry| mount::copy(&entry, access)).map_err(|errno| cannot("show", source, errno))
}

/// Opens the running program's own file.
fn own_binary() -> Result<OwnedFd, Failure> {
    let path = std::env::current_exe()?;
    let file = mount::open(&path).map_err(|errno| cannot("open", &path, errno))?;
    let (found, running) = (rustix::fs::fstat(&file)?, rustix::fs::stat("/proc/self/exe")?);
    if (found.st_dev, found.st_ino) != (running.st_dev, running.st_ino) {
        return Err(format!("{} was replaced; restart the server", path.display()).into());
    }
    Ok(mount::copy(&file, Access::Read)?)
}

pub fn cannot(what: &str, path: &Path, errno: Errno) -> Failure {
    if errno == Errno::NOSYS {
        return "this kernel is too old: commands need Linux 5.12 or newer".into();
    }
    format!("can't {what} {}: {errno}", path.display()).into()
}

/// What to create at a mount point that does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Folder,
    File,
}

struct Stage {
    root: OwnedFd,
    /// Covers for a file and for a folder: `empty` ones have no content, `closed` ones can't be opened.
    empty: (OwnedFd, OwnedFd),
    closed: (OwnedFd, OwnedFd),
    /// Links at the root, and their targets.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Stage {
    fn new() -> Result<Self, Failure> {
        let memory = mount::memory(MEMORY_STAGE)?;
        let place = rustix::fs::openat(CWD, STAGE, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        mount::attach(&memory, &place).map_err(|errno| cannot("mount on", Path::new(STAGE), errno))?;
        for (name, mode) in [("root", 0o755), ("empty", 0o555), ("shut", 0)] {
            rustix::fs::mkdirat(&memory, name, Mode::from_raw_mode(mode))?;
        }
        for (name, mode) in [("nothing", 0o444), ("closed", 0)] {
            make_file(&memory, OsStr::new(name), Mode::from_raw_mode(mode))?;
        }
        let open = |name: &str| mount::open_beneath(memory.as_fd(), Path::new(name));
        let (empty, closed) = ((open("nothing")?, open("empty")?), (open("closed")?, open("shut")?));
        Ok(Self { root: open("root")?, empty, closed, links: Vec::new() })
    }

    fn link(&mut self, target: &Path, at: &Path) -> Result<(), Failure> {
        let (Some(around), Some(name)) = (at.parent(), at.file_name()) else { return Ok(()) };
        let folder = self.place(around, Made::Folder)?;
        rustix::fs::symlinkat(target, &folder, name).map_err(|errno| cannot("link", at, errno))?;
        let mut real = PathBuf::new();
        for part in around.join(target).components() {
            if part == Component::ParentDir {
                real.pop();
            } else {
                real.push(part);
            }
        }
        self.links.push((at.to_owned(), real));
        Ok(())
    }

    /// Resolves the root's links in a path.
    fn unlinked(&self, at: &Path) -> PathBuf {
        let below = |(link, real): &(PathBuf, PathBuf)| at.strip_prefix(link).ok().map(|below| real.join(below));
        self.links.iter().find_map(below).unwrap_or_else(|| at.to_owned())
    }

    /// Mounts something at a path inside.
    fn mount_at(&self, at: &Path, mount: &OwnedFd, made: Made) -> Result<(), Failure> {
        mount::attach(mount, &self.place(at, made)?).map_err(|errno| cannot("show", at, errno))
    }

    /// Opens a path inside, and creates it if it is missing. Follows only the root's links, which are ours.
    fn place(&self, at: &Path, made: Made) -> Result<OwnedFd, Failure> {
        let at = &self.unlinked(at);
        let names: Vec<&OsStr> = at.iter().skip(1).collect();
        let mut here = mount::open_beneath(self.root.as_fd(), Path::new(""))?;
        for (number, name) in names.iter().enumerate() {
            let made = if number + 1 == names.len() { made } else { Made::Folder };
            here = match mount::open_beneath(here.as_fd(), Path::new(name)) {
                Err(Errno::NOENT) => make(&here, name, made),
                other => other,
            }
            .map_err(|errno| cannot("make a place for", at, errno))?;
        }
        Ok(here)
    }

    /// Mounts the trees, outer ones first, and covers the hidden paths in each. Returns the covers that contain mount points for
    /// visible paths.
    fn show(&self, sight: &Sight<'_>, trees: BTreeMap<PathBuf, VisibleTree>) -> Result<Vec<OwnedFd>, Failure> {
        let hidden: Vec<PathBuf> = trees.iter().flat_map(|(place, tree)| sight.hidden_in(place, tree)).collect();
        let mut steps: BTreeMap<PathBuf, Option<OwnedFd>> = hidden.into_iter().map(|place| (place, None)).collect();
        let mut places: Vec<PathBuf> = trees.keys().cloned().collect();
        places.push(sight.policy.workspace.clone());
        steps.extend(trees.into_iter().map(|(place, tree)| (place, Some(tree.mount))));
        let mut covers = Vec::new();
        for (at, mount) in steps {
            match mount {
                Some(mount) => {
                    let made = if mount::kind(&mount)? == FileType::Directory { Made::Folder } else { Made::File };
                    self.mount_at(&at, &mount, made)?;
                }
                None if places.iter().any(|place| place.starts_with(&at)) => covers.extend(self.cover_around(&at)?),
                None => cover(&self.empty, self.root.as_fd(), at.strip_prefix("/")?)?,
            }
        }
        Ok(covers)
    }

    /// Covers a folder that contains a mount point.
    fn cover_around(&self, at: &Path) -> Result<Option<OwnedFd>, Failure> {
        match mount::open_beneath(self.root.as_fd(), at.strip_prefix("/")?) {
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(cannot("hide", at, errno)),
            Ok(entry) => {
                let cover = mount::memory(MEMORY_STAGE)?;
                mount::attach(&cover, &entry).map_err(|errno| cannot("hide", at, errno))?;
                Ok(Some(cover))
            }
        }
    }

    /// Makes the fixed paths of the workspace read-only, and covers the hidden ones.
    fn close(&self, policy: &Policy, sight: &Sight<'_>, workspace: &OwnedFd) -> Result<(), Failure> {
        if !matches!(policy.view, View::ReadOnly { .. }) {
            for path in &policy.fixed {
                let entry = match mount::open_beneath(workspace.as_fd(), path) {
                    // A link in the workspace leads only to files that are visible inside anyway.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                    other => other.map_err(|errno| cannot("close", path, errno))?,
                };
                if matches!(mount::kind(&entry)?, FileType::Directory | FileType::RegularFile) {
                    let fixed = mount::copy(&entry, Access::Read).map_err(|errno| cannot("close", path, errno))?;
                    mount::attach(&fixed, &entry).map_err(|errno| cannot("close", path, errno))?;
                }
            }
        }
        let own = sight.own.iter().filter_map(|own| own.strip_prefix(&policy.workspace).ok());
        for path in own.chain(policy.hidden.iter().map(Path::new)) {
            cover(&self.empty, workspace.as_fd(), path)?;
        }
        for path in &policy.closed {
            cover(&self.closed, workspace.as_fd(), Path::new(path))?;
        }
        Ok(())
    }
}

/// Covers a file or folder, if it exists. A link can't be covered; no list of hidden paths contains one.
fn cover((file, empty): &(OwnedFd, OwnedFd), folder: BorrowedFd<'_>, path: &Path) -> Result<(), Failure> {
    let entry = match mount::open_beneath(folder, path) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        other => other.map_err(|errno| cannot("hide", path, errno))?,
    };
    let kind = mount::kind(&entry)?;
    if kind == FileType::Symlink {
        return Err(format!("{} has become a link; run the command again", path.display()).into());
    }
    let cover = if kind == FileType::Directory { empty } else { file };
    let cover = mount::copy(cover, Access::Read)?;
    mount::attach(&cover, &entry).map_err(|errno| cannot("hide", path, errno))
}

fn make(folder: &OwnedFd, name: &OsStr, made: Made) -> Result<OwnedFd, Errno> {
    match made {
        Made::Folder => rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o755))?,
        Made::File => make_file(folder, name, Mode::from_raw_mode(0o444))?,
    }
    mount::open_beneath(folder.as_fd(), Path::new(name))
}

fn make_file(folder: &OwnedFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, mode).map(drop)
}
