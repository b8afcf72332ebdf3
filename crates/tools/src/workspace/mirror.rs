//! For kernels without overlays: copies of a workspace's files from before a command, to tell what it changed and to take it back.
//!
//! The copies are kept from one command to the next; only what changed since is copied again. Build output and git's
//! objects are not copied. A file counts as unchanged only if the kernel's own time of its last change, which no
//! program can set, is the same.

use super::atomic::Durable;
use super::change::{Change, Changes, Sorter};
use super::entries::{Depth, remove_entry};
use super::overlay::{entries, open_folder};
use super::{Kept, Kind, Workspace, atomic, kind_of};
use crate::effect::Effect;
use crate::gate::Permit;
use crate::path::WorkspacePath;
use crate::version::Version;
use planwright_protocol::{ErrorCode, Image, Problem};
use rustix::fs::{CWD, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Larger files are not copied, and so can't be put back.
const LARGEST_COPY: i64 = 256 << 20;
/// Git keeps everything in its objects.
const OBJECTS: &str = ".git/objects";
/// The server writes the chats' files meanwhile, also those of workspaces inside this one.
const CHATS: &str = ".planwright/chats";
const INDEX: &str = "before.json";

fn is_unwatched(folder: &WorkspacePath) -> bool {
    let path = folder.relative();
    path == OBJECTS || path.strip_suffix(CHATS).is_some_and(|around| around.is_empty() || around.ends_with('/'))
}

/// Whether [`Workspace::mirror`] came to its end for this stage.
pub fn is_noted(stage: &Path) -> bool {
    load(&stage.join(INDEX)).is_some()
}

/// How an entry was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    kind: MarkKind,
    size: i64,
    mode: u32,
    inode: u64,
    changed: (i64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum MarkKind {
    File,
    Folder,
    Link,
    Other,
}

impl Mark {
    fn of(stat: &Stat) -> Self {
        let kind = match kind_of(stat) {
            Kind::File => MarkKind::File,
            Kind::Folder => MarkKind::Folder,
            Kind::Link => MarkKind::Link,
            Kind::Other => MarkKind::Other,
        };
        let is_folder = kind == MarkKind::Folder;
        // A folder changes with what is in it, which is seen there.
        let changed = if is_folder { (0, 0) } else { (stat.st_ctime, stat.st_ctime_nsec) };
        Self { kind, size: if is_folder { 0 } else { stat.st_size }, mode: stat.st_mode, inode: stat.st_ino, changed }
    }

    fn kind(self) -> Kind {
        match self.kind {
            MarkKind::File => Kind::File,
            MarkKind::Folder => Kind::Folder,
            MarkKind::Link => Kind::Link,
            MarkKind::Other => Kind::Other,
        }
    }
}

type Marks = BTreeMap<String, Mark>;

impl Workspace {
    /// Copies what is not copied yet into `mirror`, and notes in `stage` how everything is now.
    ///
    /// # Errors
    /// No room, or the folders can't be written.
    pub fn mirror(&self, mirror: &Path, stage: &Path) -> std::io::Result<()> {
        let known = load(&mirror.join(INDEX)).unwrap_or_default();
        let files = mirror.join("files");
        make(&files)?;
        let marks = self.marks().map_err(std::io::Error::other)?;
        for (path, mark) in &marks {
            if known.get(path) == Some(mark) {
                continue;
            }
            let copy = files.join(path);
            clear_for(&copy, mark.kind)?;
            match mark.kind {
                MarkKind::Folder => make(&copy)?,
                MarkKind::File if mark.size <= LARGEST_COPY => self.copy_out(path, &copy)?,
                MarkKind::Link => self.copy_link_out(path, &copy)?,
                MarkKind::File | MarkKind::Other => {}
            }
        }
        save(&mirror.join(INDEX), &marks)?;
        save(&stage.join(INDEX), &marks)
    }

    /// What is different from how it was when [`Self::mirror`] noted it in `stage`.
    ///
    /// # Errors
    /// The workspace can't be read.
    pub fn changes_since(&self, stage: &Path) -> Result<Changes, Problem> {
        // Without a record of what was there before, every file would count as new.
        let Some(before) = load(&stage.join(INDEX)) else { return Ok(Changes::default()) };
        let now = self.marks()?;
        let mut sorter = Sorter::new(self, self.host_path()?);
        let mut changes = Changes::default();
        let mut gone: Option<WorkspacePath> = None;
        let paths: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for text in paths {
            let (was, is) = (before.get(text), now.get(text));
            if was == is {
                continue;
            }
            let Ok(path) = WorkspacePath::parse(text) else {
                changes.unspellable += 1;
                continue;
            };
            if gone.as_ref().is_some_and(|folder| path.is_within(folder)) {
                continue;
            }
            let change = Change { path: path.clone(), was: was.map(|was| was.kind()), now: is.map(|is| is.kind()) };
            if sorter.is_unjudged(&path, change.was, change.now) {
                changes.unjudged.push(change);
                continue;
            }
            // A folder that was made anew has changed nothing by itself.
            if (change.was, change.now) == (Some(Kind::Folder), Some(Kind::Folder)) && was.map(|was| was.mode) == is.map(|is| is.mode) {
                continue;
            }
            if change.was == Some(Kind::Folder) && change.now.is_none() {
                gone = Some(path);
            }
            changes.judged.push(change);
        }
        Ok(changes)
    }

    /// Puts entries back as they were; gives those of which there is no copy.
    ///
    /// # Errors
    /// The permit does not cover it, or it can't be written.
    pub fn put_back(&self, permit: &Permit, mirror: &Path, stage: &Path, changes: &[Change]) -> Result<Vec<String>, Problem> {
        let _guard = permit.commit(&Effect::Keep)?;
        let Some(before) = load(&stage.join(INDEX)) else { return Ok(Vec::new()) };
        let mut lost = Vec::new();
        for change in changes.iter().rev().filter(|change| change.was.is_none() || change.was != change.now) {
            self.remove_new(change)?;
        }
        for change in changes {
            let inside = |path: &str| WorkspacePath::parse(path).is_ok_and(|path| path.is_within(&change.path));
            for (path, mark) in before.iter().filter(|(path, _)| inside(path)) {
                match mark.kind {
                    // What lies under its name is of an earlier day, if anything.
                    MarkKind::File if mark.size > LARGEST_COPY => lost.push(format!("/{path}")),
                    MarkKind::Other => lost.push(format!("/{path}")),
                    MarkKind::File | MarkKind::Folder | MarkKind::Link => {
                        self.copy_in(&mirror.join("files").join(path), path, mark.mode)?;
                    }
                }
            }
        }
        Ok(lost)
    }

    /// How a path was, as far as there is a copy, and with it all that was in it.
    #[must_use]
    pub fn versions_before(
        &self,
        mirror: &Path,
        stage: &Path,
        path: &WorkspacePath,
        depth: Depth,
        kept: &mut Kept,
    ) -> Vec<(WorkspacePath, Version)> {
        let (before, copies) = (load(&stage.join(INDEX)).unwrap_or_default(), Workspace::open(&mirror.join("files")).ok());
        let mut found = Vec::new();
        for (text, mark) in &before {
            let Ok(inside) = WorkspacePath::parse(text) else { continue };
            if inside != *path && !(depth == Depth::Whole && inside.is_within(path)) {
                continue;
            }
            let mode = Some(mark.mode & 0o7777);
            let copy = |kept: &mut Kept| copies.as_ref().map_or_else(|| Image::Unknown.into(), |copies| copies.version(&inside, kept));
            let mut version = match mark.kind {
                MarkKind::Folder => Image::Folder { mode }.into(),
                MarkKind::File if mark.size <= LARGEST_COPY => copy(kept),
                MarkKind::Link => copy(kept),
                MarkKind::File | MarkKind::Other => Image::Unknown.into(),
            };
            if let Image::File { mode: copied, .. } = &mut version.image {
                *copied = mode;
            }
            found.push((inside, version));
        }
        found
    }

    fn remove_new(&self, change: &Change) -> Result<(), Problem> {
        let Some((folder, name)) = change.path.split() else { return Ok(()) };
        let Ok(folder) = self.folder(&folder) else { return Ok(()) };
        match remove_entry(&folder, name, Depth::Whole) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(super::problem_of(errno, &change.path)),
        }
    }

    /// Every entry that is watched.
    fn marks(&self) -> Result<Marks, Problem> {
        let root = self.folder(&WorkspacePath::root())?;
        let mut sorter = Sorter::new(self, self.host_path()?);
        let mut marks = Marks::new();
        let mut folders = vec![(root, WorkspacePath::root())];
        while let Some((folder, path)) = folders.pop() {
            for (name, stat) in entries(&folder).map_err(|errno| super::problem_of(errno, &path))? {
                let Ok(text) = name.to_str() else { continue };
                let child = path.join(text);
                let is_folder = kind_of(&stat) == Kind::Folder;
                if is_folder && (sorter.is_output(&child) || is_unwatched(&child)) {
                    continue;
                }
                marks.insert(child.relative().to_owned(), Mark::of(&stat));
                if is_folder && let Ok(inside) = open_folder(&folder, &name) {
                    folders.push((inside, child));
                }
            }
        }
        Ok(marks)
    }

    fn parent(&self, path: &str) -> std::io::Result<(OwnedFd, CString)> {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let resolve = rustix::fs::ResolveFlags::BENEATH | rustix::fs::ResolveFlags::NO_SYMLINKS | rustix::fs::ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok((rustix::fs::openat2(&self.root, folder, flags, Mode::empty(), resolve)?, CString::new(name)?))
    }

    fn copy_out(&self, path: &str, copy: &Path) -> std::io::Result<()> {
        let (folder, name) = self.parent(path)?;
        Ok(atomic::copy(&folder, &own_folder(copy)?, &name, Durable::No)?)
    }

    fn copy_link_out(&self, path: &str, copy: &Path) -> std::io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let target = rustix::fs::readlinkat(&folder, &name, Vec::new())?;
        let own = own_folder(copy)?;
        let _ = remove_entry(&own, name.as_c_str(), Depth::Whole);
        Ok(rustix::fs::symlinkat(target, &own, &name)?)
    }

    fn copy_in(&self, copy: &Path, path: &str, mode: u32) -> Result<(), Problem> {
        let failed = |error: std::io::Error| {
            Problem::new(ErrorCode::Internal, format!("/{path} could not be put back: {error}. A copy of it is in {}.", copy.display()))
        };
        let (folder, name) = self.parent(path).map_err(failed)?;
        let own = own_folder(copy).map_err(failed)?;
        let stat = rustix::fs::statat(&own, &name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| failed(errno.into()))?;
        let done = match kind_of(&stat) {
            Kind::Folder => match rustix::fs::mkdirat(&folder, &name, Mode::from_raw_mode(0o777)) {
                Err(Errno::EXIST) => Ok(()),
                other => other,
            }
            .and_then(|()| rustix::fs::chmodat(&folder, &name, Mode::from_raw_mode(mode & 0o1777), rustix::fs::AtFlags::empty())),
            Kind::File => atomic::copy(&own, &folder, &name, Durable::Yes),
            Kind::Link => {
                let _ = remove_entry(&folder, name.as_c_str(), Depth::EmptyOnly);
                rustix::fs::readlinkat(&own, &name, Vec::new()).and_then(|target| rustix::fs::symlinkat(target, &folder, &name))
            }
            Kind::Other => Ok(()),
        };
        done.map_err(|errno| failed(errno.into()))
    }
}

/// Removes a copy of another kind from the place of a new one. A link that was left there would lead out of our folder.
#[expect(clippy::disallowed_methods, reason = "copies of our own, in the data folder")]
fn clear_for(copy: &Path, kind: MarkKind) -> std::io::Result<()> {
    match std::fs::symlink_metadata(copy) {
        Ok(old) if old.is_dir() && kind != MarkKind::Folder => std::fs::remove_dir_all(copy),
        Ok(old) if !old.is_dir() && kind != MarkKind::File => std::fs::remove_file(copy),
        Ok(old) if old.is_symlink() => std::fs::remove_file(copy),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn own_folder(copy: &Path) -> std::io::Result<OwnedFd> {
    let folder = copy.parent().unwrap_or(copy);
    make(folder)?;
    Ok(rustix::fs::openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

#[expect(clippy::disallowed_methods, reason = "a folder of our own, in the data folder")]
fn make(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
fn load(file: &Path) -> Option<Marks> {
    std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

#[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
fn save(file: &Path, marks: &Marks) -> std::io::Result<()> {
    std::fs::write(file, serde_json::to_vec(marks)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn put(file: &Path, text: &str) {
        std::fs::DirBuilder::new().recursive(true).create(file.parent().unwrap()).unwrap();
        std::fs::OpenOptions::new().create(true).write(true).truncate(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_copied_link_whose_place_a_folder_takes_leads_no_copy_out() {
        let folder = tempfile::tempdir().unwrap();
        let [workspace, outside, mirror, stage] = ["workspace", "outside", "mirror", "stage"].map(|name| folder.path().join(name));
        for folder in [&workspace, &outside, &stage] {
            make(folder).unwrap();
        }
        let held = Workspace::open(&workspace).unwrap();
        std::os::unix::fs::symlink(&outside, workspace.join("a")).unwrap();
        put(&workspace.join("b"), "a file");
        held.mirror(&mirror, &stage).unwrap();
        rustix::fs::unlink(workspace.join("a")).unwrap();
        rustix::fs::unlink(workspace.join("b")).unwrap();
        put(&workspace.join("a/inside"), "new");
        put(&workspace.join("b/inside"), "new");
        held.mirror(&mirror, &stage).unwrap();
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        assert!(mirror.join("files/a/inside").is_file() && mirror.join("files/b/inside").is_file());
    }

    #[test]
    fn what_there_is_no_copy_of_is_told_and_the_rest_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let [workspace, mirror, stage] = ["workspace", "mirror", "stage"].map(|name| folder.path().join(name));
        make(&stage).unwrap();
        put(&workspace.join("small"), "small");
        put(&workspace.join("huge"), "");
        std::fs::OpenOptions::new().write(true).open(workspace.join("huge")).unwrap().set_len(LARGEST_COPY.cast_unsigned() + 1).unwrap();
        let held = Workspace::open(&workspace).unwrap();
        held.mirror(&mirror, &stage).unwrap();
        put(&workspace.join("small"), "other");
        put(&workspace.join("huge"), "other");
        let changes = held.changes_since(&stage).unwrap().judged;
        assert_eq!(held.put_back(&Permit::to_take_back(), &mirror, &stage, &changes).unwrap(), ["/huge"]);
        assert_eq!(held.read(&WorkspacePath::parse("/small").unwrap()).unwrap().bytes, b"small");
    }
}
