//! For kernels without overlays: copies of a workspace's files from before a command, to detect and revert its changes.
//!
//! A copy is kept as long as the file is unchanged, or a command that saw it may have to be reverted. Build output is not copied,
//! except repositories in it. A file counts as unchanged only if the kernel's change time, which no program can set, is the same.

use super::atomic::Durable;
use super::baseline::Baseline;
use super::change::{CommandChanges, EntryChange, Sorter, is_object};
use super::entries::Depth;
use super::history;
use super::marks::{Mark, MarkKind, Marks, is_too_deep, key, load, path_of, save, spelled, within};
use super::noted_repositories::{Repositories, RepositoryPlace};
use super::overlay::same_content;
use super::refs::Names;
use super::{Kept, Kind, Workspace, atomic};
use crate::path::{WorkspacePath, is_own_name};
use crate::version::Version;
use planwright_protocol::{Image, Problem};
use planwright_sandbox::Space;
use rustix::fs::{CWD, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::ffi::CString;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

/// The state before a command, and after it had ended.
const BEFORE: &str = "before.json";
const AFTER: &str = "after.json";

/// Where a workspace's copies are, and one command's stage.
#[derive(Clone, Debug)]
pub struct Mirror<'m> {
    pub copies: &'m Path,
    pub stage: &'m Path,
    pub baseline: Option<Arc<Baseline>>,
}

/// Whether [`Workspace::mirror`] completed for this stage.
pub fn is_noted(stage: &Path) -> bool {
    load(&stage.join(BEFORE)).is_some()
}

impl Workspace {
    /// Copies files that have no copy yet, and records the current state.
    ///
    /// # Errors
    /// The disk is full, or the folders can't be written.
    pub fn mirror(&self, mirror: &Mirror<'_>) -> std::io::Result<()> {
        make(mirror.copies)?;
        let copies = rustix::fs::openat(CWD, mirror.copies, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut there: HashSet<String> = HashSet::new();
        for entry in Dir::read_from(&copies)? {
            there.extend(entry?.file_name().to_str().ok().filter(|name| !name.starts_with('.')).map(str::to_owned));
        }
        let marks = self.marks(mirror.baseline.clone()).map_err(std::io::Error::other)?;
        let mut needed = HashSet::new();
        if marks.keys().any(|key| is_too_deep(key)) {
            return Err(std::io::Error::other("the workspace's folders are nested too deep to be copied"));
        }
        for (key, mark) in &marks {
            let Some(name) = mark.copy(key) else { continue };
            if !there.contains(&name) {
                let done = find_room(mirror.copies, *mark).and_then(|()| self.copy_out(key, *mark, &copies, &name));
                if let Err(error) = done {
                    remove_copies(&copies, &needed, &there);
                    return Err(error);
                }
            }
            needed.insert(name);
        }
        save(&mirror.stage.join(BEFORE), &marks)?;
        let unneeded: Vec<&String> = there.iter().filter(|name| !needed.contains(*name)).collect();
        if !unneeded.is_empty() {
            let others = needed_by_others(mirror.stage);
            for name in unneeded.into_iter().filter(|name| !others.contains(*name)) {
                let _ = rustix::fs::unlinkat(&copies, name.as_str(), rustix::fs::AtFlags::empty());
            }
        }
        Ok(())
    }

    /// The changes since [`Self::mirror`] recorded the state. Changes after the first call of this method are not the command's.
    ///
    /// # Errors
    /// The workspace can't be read.
    pub fn changes_since(&self, mirror: &Mirror<'_>) -> Result<CommandChanges, Problem> {
        // Without a record of the previous state, every file would count as new.
        let Some(before) = load(&mirror.stage.join(BEFORE)) else { return Ok(CommandChanges::default()) };
        let now = self.after(mirror)?;
        let mut sorter = Sorter::as_of(self, self.host_path()?, mirror.baseline.clone());
        let mut changes = CommandChanges::default();
        let mut gone: Option<String> = None;
        let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let repositories = Repositories::of(&before, &now);
        for key in keys {
            let (was, is) = (before.get(key), now.get(key));
            if was == is || gone.as_ref().is_some_and(|folder| key.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))) {
                continue;
            }
            let (was, now) = (was.copied(), is.map(|is| is.kind()));
            let Some(path) = spelled(key) else {
                changes.odd.push(key.clone());
                continue;
            };
            let change = EntryChange { path: path.clone(), was: was.map(Mark::kind), now };
            let is_gone = change.was == Some(Kind::Folder) && now != Some(Kind::Folder);
            if is_gone {
                gone = Some(key.clone());
            }
            let place = repositories.place(key);
            if let RepositoryPlace::In(protected) = place {
                changes.repositories.insert(protected);
                changes.judge(change);
            } else if place == RepositoryPlace::Ignored {
            } else if is_object(&path) && was.is_some() && now != Some(Kind::Folder) {
                // Git sets a new time on an object that already exists.
                if !was.is_some_and(|was| self.is_as_copied(mirror, key, was, &path)) {
                    changes.left_out.push(change);
                }
            } else if sorter.is_unjudged(&path, change.was, now) {
                changes.unjudged.push(change);
            } else if (change.was, now) != (Some(Kind::Folder), Some(Kind::Folder)) || was.map(|was| was.mode) != is.map(|is| is.mode) {
                // The gate decides about a repository in a deleted folder.
                let is_own = |key: &str| key.rsplit('/').next().is_some_and(|name| is_own_name(name.as_bytes()));
                let mut inside = within(&before, key).map(|(key, _)| key);
                if is_gone && let Some(own) = inside.find(|inside| *inside != key && is_own(inside)).and_then(|own| spelled(own)) {
                    changes.judge(EntryChange { path: own, was: Some(Kind::Folder), now: None });
                }
                changes.repositories.extend(if is_gone { repositories.first_within(key) } else { None });
                changes.judge(change);
            }
        }
        changes.unspellable = changes.odd.len() as u64;
        self.judge_history(&mut changes, names_before(mirror, &before), self);
        Ok(changes)
    }

    /// Whether a file has the content and the mode of its copy.
    fn is_as_copied(&self, mirror: &Mirror<'_>, key: &str, was: Mark, path: &WorkspacePath) -> bool {
        let copy = || {
            let copy = Workspace::open(mirror.copies).ok()?.open_file(&WorkspacePath::root().join(&was.copy(key)?)).ok()?;
            let file = self.open_regular(path, super::Links::Refused).ok()?;
            Some((rustix::fs::fstat(&file).ok()?.st_mode, file, copy))
        };
        copy().is_some_and(|(mode, mut file, mut copy)| mode == was.mode && same_content(&mut file, &mut copy))
    }

    /// The state when the command had ended, recorded at the first call.
    pub(super) fn after(&self, mirror: &Mirror<'_>) -> Result<Marks, Problem> {
        let file = mirror.stage.join(AFTER);
        if let Some(after) = load(&file) {
            return Ok(after);
        }
        let marks = self.marks(mirror.baseline.clone())?;
        match save(&file, &marks) {
            // The command may have filled the disk. Then its files must be removed before anything can be recorded.
            Err(error) if error.kind() != std::io::ErrorKind::StorageFull => {
                Err(super::problem::problem_of_io(&error, &WorkspacePath::root()))
            }
            Ok(()) | Err(_) => Ok(marks),
        }
    }

    /// The previous state of a path, as far as there is a copy, with everything in it.
    #[must_use]
    pub fn versions_before(
        &self,
        mirror: &Mirror<'_>,
        path: &WorkspacePath,
        depth: Depth,
        kept: &mut Kept,
    ) -> Vec<(WorkspacePath, Version)> {
        let (before, copies) = (load(&mirror.stage.join(BEFORE)).unwrap_or_default(), Workspace::open(mirror.copies).ok());
        let own = key(path.relative().as_bytes());
        let mut found = Vec::new();
        for (key, mark) in within(&before, &own).filter(|(key, _)| depth == Depth::Whole || **key == own) {
            let Some(inside) = spelled(key) else { continue };
            let mode = Some(mark.mode & 0o7777);
            let copy = mark.copy(key).zip(copies.as_ref());
            let mut version = match (mark.kind, copy) {
                (MarkKind::Folder, _) => Image::Folder { mode }.into(),
                (_, Some((name, copies))) => copies.version(&WorkspacePath::root().join(&name), kept),
                (MarkKind::File | MarkKind::Link | MarkKind::Other | MarkKind::Output, None) => Image::Unknown.into(),
            };
            if let Image::File { mode: copied, .. } = &mut version.image {
                *copied = mode;
            }
            found.push((inside, version));
        }
        found
    }

    fn copy_out(&self, key: &str, mark: Mark, copies: &OwnedFd, copy: &str) -> std::io::Result<()> {
        let (folder, name) = self.parent(&path_of(key))?;
        let copy = CString::new(copy)?;
        if mark.kind == MarkKind::Link {
            let target = rustix::fs::readlinkat(&folder, &name, Vec::new())?;
            return Ok(rustix::fs::symlinkat(target, copies, &copy)?);
        }
        Ok(atomic::copy((&folder, &name), (copies, &copy), Durable::No)?)
    }
}

/// Whether the disk has space for a copy, and for others after it.
fn find_room(copies: &Path, mark: Mark) -> std::io::Result<()> {
    let space = Space::of(copies)?;
    let is_full = space.is_nearly_full() || space.free.bytes < u64::try_from(mark.size).unwrap_or(u64::MAX);
    if is_full { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
}

/// Removes the new copies if the disk has no space for all of them.
fn remove_copies(copies: &OwnedFd, made: &HashSet<String>, kept: &HashSet<String>) {
    for name in made.difference(kept) {
        let _ = rustix::fs::unlinkat(copies, name.as_str(), rustix::fs::AtFlags::empty());
    }
}

/// Git's refs and logs, in their previous state.
fn names_before(mirror: &Mirror<'_>, before: &Marks) -> Result<Names, Problem> {
    let copies = Workspace::open(mirror.copies).map_err(|error| super::problem::problem_of_io(&error, &WorkspacePath::root()))?;
    let (mut names, mut room) = (Names::new(), history::MOST_BYTES);
    for (key, mark) in before.iter().filter(|(_, mark)| mark.kind == MarkKind::File) {
        let Some(path) = spelled(key) else { continue };
        if let (Some(name), Some(copy)) = (history::name_of(&path), mark.copy(key)) {
            let bytes = copies.read(&WorkspacePath::root().join(&copy))?.bytes;
            room = room.checked_sub(bytes.len() + name.len()).ok_or_else(|| super::problem_of(Errno::FBIG, &path))?;
            names.insert(name.to_owned(), bytes);
        }
    }
    Ok(names)
}

/// The copies that are needed to revert other commands.
fn needed_by_others(stage: &Path) -> HashSet<String> {
    let stages = stage.parent().and_then(|stages| std::fs::read_dir(stages).ok());
    let noted = stages.into_iter().flatten().flatten().filter_map(|other| load(&other.path().join(BEFORE)));
    noted.flat_map(|marks| marks.iter().filter_map(|(key, mark)| mark.copy(key)).collect::<Vec<_>>()).collect()
}

fn make(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

pub(super) fn load_before(mirror: &Mirror<'_>) -> Option<Marks> {
    load(&mirror.stage.join(BEFORE))
}

pub(super) fn save_after(mirror: &Mirror<'_>, marks: &Marks) -> std::io::Result<()> {
    save(&mirror.stage.join(AFTER), marks)
}

#[cfg(test)]
mod tests {
    use super::super::marks::LARGEST_COPY;
    use super::*;
    use crate::gate::{PutBackPermit, permit_put_back};
    use planwright_protocol::ErrorCode;
    use std::io::Write;

    fn put(file: &Path, text: &str) {
        std::fs::DirBuilder::new().recursive(true).create(file.parent().unwrap()).unwrap();
        std::fs::OpenOptions::new().create(true).write(true).truncate(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn permit(changes: &[EntryChange]) -> PutBackPermit {
        permit_put_back(changes.iter().map(|change| &change.path), &[])
    }

    #[test]
    fn a_copy_outlives_the_next_command_as_long_as_one_may_have_to_be_taken_back_by_it() {
        let folder = tempfile::tempdir().unwrap();
        let [workspace, copies, one, other] = ["workspace", "copies", "stages/one", "stages/other"].map(|name| folder.path().join(name));
        make(&one).unwrap();
        make(&other).unwrap();
        put(&workspace.join("a"), "first");
        let held = Workspace::open(&workspace).unwrap();
        let mirror = |stage| Mirror { copies: &copies, stage, baseline: None };
        held.mirror(&mirror(&one)).unwrap();
        put(&workspace.join("a"), "second");
        let changes = held.changes_since(&mirror(&one)).unwrap().judged;
        held.mirror(&mirror(&other)).unwrap();
        held.put_back(&permit(&changes), &mirror(&one), &changes, &[]).unwrap();
        assert_eq!(held.read(&WorkspacePath::parse("/a").unwrap()).unwrap().bytes, b"first");
    }

    #[test]
    fn what_there_is_no_copy_of_is_told_and_the_rest_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let [workspace, copies, stage] = ["workspace", "copies", "stages/one"].map(|name| folder.path().join(name));
        make(&stage).unwrap();
        put(&workspace.join("small"), "small");
        put(&workspace.join("huge"), "");
        std::fs::OpenOptions::new().write(true).open(workspace.join("huge")).unwrap().set_len(LARGEST_COPY.cast_unsigned() + 1).unwrap();
        let held = Workspace::open(&workspace).unwrap();
        let mirror = Mirror { copies: &copies, stage: &stage, baseline: None };
        held.mirror(&mirror).unwrap();
        put(&workspace.join("small"), "other");
        put(&workspace.join("huge"), "other");
        let changes = held.changes_since(&mirror).unwrap().judged;
        assert_eq!(held.put_back(&permit(&changes), &mirror, &changes, &[]).unwrap().lost, ["/huge"]);
        assert_eq!(held.read(&WorkspacePath::parse("/small").unwrap()).unwrap().bytes, b"small");
    }

    #[test]
    fn nothing_is_put_back_but_what_the_permit_names() {
        let folder = tempfile::tempdir().unwrap();
        let [workspace, copies, stage] = ["workspace", "copies", "stages/one"].map(|name| folder.path().join(name));
        make(&stage).unwrap();
        put(&workspace.join("a"), "before");
        let held = Workspace::open(&workspace).unwrap();
        let mirror = Mirror { copies: &copies, stage: &stage, baseline: None };
        held.mirror(&mirror).unwrap();
        put(&workspace.join("a"), "after");
        let changes = held.changes_since(&mirror).unwrap().judged;
        let for_another = permit_put_back(&[WorkspacePath::parse("/b").unwrap()], &[]);
        for (permit, odd) in [(&for_another, vec![]), (&permit(&changes), vec!["odd".to_owned()])] {
            assert_eq!(held.put_back(permit, &mirror, &changes, &odd).unwrap_err().code, ErrorCode::ToolNotPermitted);
        }
        assert_eq!(held.read(&WorkspacePath::parse("/a").unwrap()).unwrap().bytes, b"after");
    }
}
