//! Finds files that look like secrets, so that commands see them empty.
//!
//! Nothing is skipped silently: entries that can't be examined are hidden, and if that is impossible no command runs.

use super::change::Sorter;
use super::products::{is_product, is_record};
use super::repository::Repository;
use super::rules::REPOSITORY;
use super::staged_tree::DEEPEST;
use super::tracked::Tracked;
use super::tree::file_type;
use super::{Workspace, beneath};
use crate::gate::Secrets;
use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Each of them costs a mount.
const MOST: usize = 4096;
/// A folder with more of them is hidden as a whole.
const MOST_IN_FOLDER: usize = 256;
/// Maximum number of files and folders to examine.
const MOST_ENTRIES: usize = 5_000_000;

/// The files that commands must not see.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Files and folders of the workspace, relative to it. Names need not be UTF-8.
    pub inside: Vec<OsString>,
    /// Those that git tracks with another content, or whose content is unknown: if they were empty, they could be committed.
    pub closed: Vec<OsString>,
    /// Files and folders elsewhere on the machine that links in the workspace lead to.
    pub outside: Vec<PathBuf>,
    /// Those of `inside` that git does not track, and so must not begin to track empty.
    pub untracked: Vec<String>,
}

impl Workspace {
    /// The files with names of secrets, their other hard links, and the folders that contain nothing else. Tracked and unchanged
    /// ones are excluded, because git's history has them anyway.
    ///
    /// # Errors
    /// The workspace can't be searched, or has too many of them.
    pub fn secrets(&self, secrets: &Secrets) -> Result<Hidden, Problem> {
        let host = self.host_path()?;
        let tracked = Tracked::read(self, &host, |path| secrets.contains(&spelled(path)));
        let mut search = Search::new(self, host, self.root.as_fd(), secrets, tracked);
        search.folder(b"", Place::Source)?;
        search.find_hard_links()?;
        if let Some(Repository { whole, .. }) = Repository::of(self, &search.host) {
            search.in_repository(&whole)?;
        }
        Ok(search.found())
    }
}

/// The kind of folder that is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Source,
    Output,
    Repository,
}

struct Search<'w> {
    workspace: &'w Workspace,
    host: PathBuf,
    root: BorrowedFd<'w>,
    secrets: &'w Secrets,
    sorter: Sorter<'w>,
    tracked: Tracked,
    /// Everything that git tracks; read when a file is hidden for another reason than its name.
    all_tracked: Option<Tracked>,
    inside: BTreeSet<Vec<u8>>,
    closed: BTreeSet<Vec<u8>>,
    outside: BTreeSet<PathBuf>,
    /// Hidden files with several names, by device and inode.
    linked: BTreeSet<(u64, u64)>,
    entries: usize,
}

impl<'w> Search<'w> {
    fn new(workspace: &'w Workspace, host: PathBuf, root: BorrowedFd<'w>, secrets: &'w Secrets, tracked: Tracked) -> Self {
        Self {
            workspace,
            sorter: Sorter::new(workspace, host.clone()),
            host,
            root,
            secrets,
            tracked,
            all_tracked: None,
            inside: BTreeSet::new(),
            closed: BTreeSet::new(),
            outside: BTreeSet::new(),
            linked: BTreeSet::new(),
            entries: 0,
        }
    }

    fn found(self) -> Hidden {
        let names = |paths: BTreeSet<Vec<u8>>| paths.into_iter().map(OsString::from_vec).collect();
        let inside = self.inside.iter().filter(|path| !self.tracked.keeps(path));
        let untracked = inside.filter_map(|path| String::from_utf8(path.clone()).ok()).collect();
        Hidden { untracked, inside: names(self.inside), closed: names(self.closed), outside: self.outside.into_iter().collect() }
    }

    /// The hidden parts of a repository that is elsewhere.
    fn in_repository(&mut self, whole: &Path) -> Result<(), Problem> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, whole, flags, Mode::empty()).map_err(|errno| unknown(REPOSITORY.as_bytes(), errno))?;
        let mut search = Search::new(self.workspace, whole.to_owned(), root.as_fd(), self.secrets, Tracked::default());
        search.folder(b"", Place::Repository)?;
        self.outside.extend(search.inside.iter().chain(&search.closed).map(|path| whole.join(OsStr::from_bytes(path))));
        self.outside.extend(search.outside);
        self.check_number()
    }

    fn folder(&mut self, path: &[u8], place: Place) -> Result<(), Problem> {
        let before = self.inside.len();
        for (name, kind) in self.entries(path)? {
            let is_named = place == Place::Source || self.secrets.may_name(&String::from_utf8_lossy(&name));
            let is_repository = name == REPOSITORY.as_bytes();
            let child = below(path, &name);
            if kind == FileType::Directory {
                self.inner_folder(child, if is_repository { Place::Repository } else { place }, is_named && !is_repository)?;
            } else if is_named && !is_repository && self.is_hidden(&child, place) {
                if kind == FileType::Symlink {
                    self.link(&child, place)?;
                } else if !self.is_kept(&child) && !self.is_harmless(&child, place) {
                    self.hide_file(child)?;
                }
            }
        }
        let is_secret = self.secrets.contains(&spelled(path)) && !path.is_empty();
        if is_secret && self.inside.len() > before + MOST_IN_FOLDER && !self.tracked.has_below(path) {
            let prefix = [path, b"/"].concat();
            self.inside.retain(|hidden| !hidden.starts_with(&prefix));
            self.hide(path.to_owned())?;
        }
        Ok(())
    }

    fn inner_folder(&mut self, path: Vec<u8>, place: Place, is_named: bool) -> Result<(), Problem> {
        let is_whole = is_named && self.secrets.hides_all_of(&spelled(&path)) && !self.tracked.has_below(&path);
        if is_whole {
            self.note_links(&path)?;
            return self.hide(path);
        }
        let is_output = place == Place::Source && self.sorter.is_output(&spelled(&path));
        self.folder(&path, if is_output { Place::Output } else { place })
    }

    fn is_hidden(&self, path: &[u8], place: Place) -> bool {
        match place {
            Place::Source => self.secrets.hides(&spelled(path)),
            Place::Output | Place::Repository => self.secrets.hides_made(&spelled(path)),
        }
    }

    /// Whether a file only has the name of a secret, judging by its content.
    fn is_harmless(&self, path: &[u8], place: Place) -> bool {
        let test = match place {
            Place::Source => return false,
            Place::Output => is_product,
            Place::Repository => is_record,
        };
        self.open(path, READ).is_ok_and(|file| test(path, file))
    }

    /// The entries of a folder. It is closed afterwards, so that a deep or wide tree takes no more descriptors.
    fn entries(&mut self, path: &[u8]) -> Result<Vec<(Vec<u8>, FileType)>, Problem> {
        if path.iter().filter(|&&byte| byte == b'/').count() > DEEPEST {
            return Err(unknown(&path[..path.len().min(100)], Errno::NAMETOOLONG));
        }
        let opened = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW);
        let folder = match opened {
            Ok(folder) => folder,
            // Inside the sandbox, its owner could open it.
            Err(Errno::ACCESS) if !path.is_empty() => return self.close(path.to_owned()).map(|()| Vec::new()),
            Err(Errno::NOENT) => return Ok(Vec::new()),
            Err(errno) => return Err(unknown(path, errno)),
        };
        let read = || -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
            let mut entries = Vec::new();
            for entry in Dir::read_from(folder.as_fd())? {
                let entry = entry?;
                let name: &CStr = entry.file_name();
                if name != c"." && name != c".." {
                    entries.push((name.to_bytes().to_vec(), file_type(folder.as_fd(), name, entry.file_type())));
                }
            }
            Ok(entries)
        };
        let entries = read().map_err(|errno| unknown(path, errno))?;
        self.entries += entries.len();
        if self.entries > MOST_ENTRIES {
            let text = format!("No command was run: the workspace has more than {MOST_ENTRIES} files, too many to search for secrets.");
            return Err(Problem::new(ErrorCode::SandboxUnavailable, text));
        }
        Ok(entries)
    }

    /// A secret that is a link: its target is hidden, if it exists.
    fn link(&mut self, path: &[u8], place: Place) -> Result<(), Problem> {
        let followed = rustix::fs::openat(self.root, OsStr::from_bytes(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let target = match followed {
            Ok(target) => target,
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
            Err(errno) => return Err(unknown(path, errno)),
        };
        let target =
            rustix::fs::readlink(format!("/proc/self/fd/{}", target.as_raw_fd()), Vec::new()).map_err(|errno| unknown(path, errno))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if place != Place::Source && self.leads_to_product(path, &target) {
            return Ok(());
        }
        match target.strip_prefix(&self.host) {
            Ok(inside) if inside.as_os_str().is_empty() || inside.starts_with(REPOSITORY) => Ok(()),
            Ok(inside) => self.hide_other_name(inside.as_os_str().as_bytes()),
            Err(_) if self.host.starts_with(&target) => Ok(()),
            Err(_) => {
                self.outside.insert(target);
                self.check_number()
            }
        }
    }

    /// Whether a link in build output leads to a program or to certificates.
    fn leads_to_product(&self, path: &[u8], target: &Path) -> bool {
        let name = target.file_name().map(OsStr::as_bytes).unwrap_or_default();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(self.root, OsStr::from_bytes(path), flags, Mode::empty());
        Secrets::is_code(&String::from_utf8_lossy(name)) || opened.is_ok_and(|file| is_product(path, file))
    }

    /// Hides a file or folder whose own name is not that of a secret.
    fn hide_other_name(&mut self, path: &[u8]) -> Result<(), Problem> {
        let file = self.open(path, READ).ok();
        let (workspace, host) = (self.workspace, &self.host);
        let tracked = self.all_tracked.get_or_insert_with(|| Tracked::read(workspace, host, |_| true));
        if file.is_some_and(|file| tracked.holds(path, file)) {
            return Ok(());
        }
        if tracked.keeps_content(path) || tracked.has_below(path) {
            return self.close(path.to_owned());
        }
        self.note_links(path)?;
        self.hide(path.to_owned())
    }

    /// Hides a file by its own name.
    fn hide_file(&mut self, path: Vec<u8>) -> Result<(), Problem> {
        self.note_links(&path)?;
        if self.tracked.keeps_content(&path) { self.close(path) } else { self.hide(path) }
    }

    /// Records which hidden files, in a folder all of them, have other names.
    fn note_links(&mut self, path: &[u8]) -> Result<(), Problem> {
        let stat = match self.open(path, OFlags::PATH | OFlags::NOFOLLOW).and_then(rustix::fs::fstat) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(unknown(path, errno)),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Directory {
            return self.entries(path)?.into_iter().try_for_each(|(name, _)| self.note_links(&below(path, &name)));
        }
        if kind == FileType::RegularFile && stat.st_nlink > 1 {
            self.linked.insert((stat.st_dev, stat.st_ino));
        }
        Ok(())
    }

    /// Hides the other names of hidden files, anywhere in the workspace.
    fn find_hard_links(&mut self) -> Result<(), Problem> {
        let mut folders = if self.linked.is_empty() { Vec::new() } else { vec![Vec::new()] };
        while let Some(folder) = folders.pop() {
            for (name, kind) in self.entries(&folder)? {
                let path = below(&folder, &name);
                if self.inside.contains(&path) || self.closed.contains(&path) {
                    continue;
                }
                if kind == FileType::Directory {
                    folders.push(path);
                } else if kind == FileType::RegularFile && self.is_linked(&path)? {
                    self.hide_other_name(&path)?;
                }
            }
        }
        Ok(())
    }

    fn is_linked(&self, path: &[u8]) -> Result<bool, Problem> {
        match rustix::fs::statat(self.root, OsStr::from_bytes(path), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(self.linked.contains(&(stat.st_dev, stat.st_ino))),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(unknown(path, errno)),
        }
    }

    fn hide(&mut self, path: Vec<u8>) -> Result<(), Problem> {
        self.inside.insert(path);
        self.check_number()
    }

    fn close(&mut self, path: Vec<u8>) -> Result<(), Problem> {
        self.inside.remove(&path);
        self.closed.insert(path);
        self.check_number()
    }

    fn check_number(&self) -> Result<(), Problem> {
        if self.inside.len() + self.closed.len() + self.outside.len() <= MOST {
            return Ok(());
        }
        let text = format!(
            "No command was run: more than {MOST} files look like secrets, and each must be hidden. Narrow `secrets` in [files] of the configuration, or name the folder that contains them there."
        );
        Err(Problem::new(ErrorCode::SandboxUnavailable, text))
    }

    fn is_kept(&self, path: &[u8]) -> bool {
        self.open(path, READ).is_ok_and(|file| self.tracked.holds(path, file))
    }

    fn open(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(path)) };
        let mut tries = 0;
        loop {
            match rustix::fs::openat2(self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), beneath()) {
                Err(Errno::AGAIN) if tries < 64 => tries += 1,
                other => return other,
            }
        }
    }
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::NOFOLLOW);

fn below(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

/// A path in the form that patterns are compared with.
fn spelled(path: &[u8]) -> WorkspacePath {
    path.split(|&byte| byte == b'/').fold(WorkspacePath::root(), |folder, name| folder.join(&String::from_utf8_lossy(name)))
}

fn unknown(path: &[u8], errno: Errno) -> Problem {
    let path = String::from_utf8_lossy(path);
    let text = format!(
        "No command was run: can't search /{path} for secrets ({errno}). Run it again; if that does not help, ask the user to check that folder."
    );
    Problem::new(ErrorCode::SandboxUnavailable, text)
}

#[cfg(test)]
mod tests;
