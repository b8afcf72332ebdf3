//! Creates, moves and removes entries, always through the descriptor of their parent folder.

use super::overlay::{entries, open_folder};
use super::staged_tree::DEEPEST;
use super::{Kind, Workspace, atomic, kind_of, problem_of};
use crate::gate::{DeletePermit, FolderPermit, MovePermit, Target, WritePermit};
use crate::path::WorkspacePath;
use crate::tool::file_changed;
use crate::workspace::Stamp;
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{ClosedFolder, remove_tree};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, Timestamps};
use rustix::io::Errno;
use rustix::path::Arg;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, OwnedFd};

/// Whether missing parent folders are created too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    Make,
    MustExist,
}

/// Whether a folder is removed with everything in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Whole,
    EmptyOnly,
}

/// Identifies one state of a whole folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State(u64);

impl State {
    /// Independent of the order in which a folder lists its entries.
    fn add(&mut self, folder: &OwnedFd, name: &CStr, stat: &Stat, (above, depth): (u64, usize)) -> Result<(), Errno> {
        if depth > DEEPEST {
            return Err(Errno::NAMETOOLONG);
        }
        let mut hasher = DefaultHasher::new();
        (above, name, stat.st_mode, stat.st_ino).hash(&mut hasher);
        if kind_of(stat) == Kind::Folder {
            let own = hasher.finish();
            let inside = open_folder(folder, name)?;
            for (name, stat) in entries(&inside)? {
                self.add(&inside, &name, &stat, (own, depth + 1))?;
            }
        } else {
            (stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec).hash(&mut hasher);
        }
        self.0 = self.0.wrapping_add(hasher.finish());
        Ok(())
    }
}

impl Workspace {
    /// # Errors
    /// Not permitted, or the path exists.
    pub fn make_folder(&self, permit: &FolderPermit, path: &WorkspacePath, parents: Parents) -> Result<(), Problem> {
        let (folder, name) = path.split().ok_or_else(|| problem_of(Errno::EXIST, path))?;
        let folder = match parents {
            Parents::Make => self.folder_made(&|| permit.enter(path), &folder)?,
            Parents::MustExist => self.folder(&folder)?,
        };
        let _guard = permit.enter(path)?;
        let _lock = self.lock();
        self.refuse_repository(path)?;
        rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)).map_err(|errno| problem_of(errno, path))
    }

    /// Sets a file's times to now.
    ///
    /// # Errors
    /// Not permitted, or not the file that was decided on.
    pub fn touch(&self, permit: &WritePermit, path: &WorkspacePath, expected: Stamp) -> Result<(), Problem> {
        let (folder, name) = path.split().ok_or_else(|| problem_of(Errno::ISDIR, path))?;
        let folder = self.folder(&folder)?;
        let _guard = permit.enter(path, Target::Existing)?;
        let _lock = self.lock();
        atomic::still(&folder, name, expected, path)?;
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        rustix::fs::utimensat(&folder, name, &Timestamps { last_access: now, last_modification: now }, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| problem_of(errno, path))
    }

    /// Moves an entry. `replaced` is the file at the target that is lost, if any.
    ///
    /// # Errors
    /// Not permitted, changed meanwhile, or something is in the way.
    pub fn rename(
        &self,
        permit: &MovePermit,
        from: &WorkspacePath,
        to: &WorkspacePath,
        moved: Stamp,
        replaced: Option<Stamp>,
    ) -> Result<(), Problem> {
        let enter = || permit.enter(from, to, Target::of(replaced.as_ref()));
        let (from_folder, from_name) = from.split().ok_or_else(|| problem_of(Errno::INVAL, from))?;
        let (to_folder, to_name) = to.split().ok_or_else(|| problem_of(Errno::EXIST, to))?;
        let from_folder = self.folder(&from_folder)?;
        let to_folder = if replaced.is_some() { self.folder(&to_folder)? } else { self.folder_made(&enter, &to_folder)? };
        let _guard = enter()?;
        let _lock = self.lock();
        self.refuse_repository(from).and_then(|()| self.refuse_repository(to))?;
        atomic::still(&from_folder, from_name, moved, from)?;
        let flags = match replaced {
            None => RenameFlags::NOREPLACE,
            Some(expected) => {
                atomic::still(&to_folder, to_name, expected, to)?;
                RenameFlags::empty()
            }
        };
        rustix::fs::renameat_with(&from_folder, from_name, &to_folder, to_name, flags).map_err(|errno| problem_of(errno, to))?;
        for folder in [&from_folder, &to_folder] {
            rustix::fs::fsync(folder).map_err(|errno| problem_of(errno, to))?;
        }
        Ok(())
    }

    /// Removes an entry; a link is removed itself. `expected` is the [state](Self::state) that was decided on.
    ///
    /// # Errors
    /// Not permitted, missing, changed meanwhile, or a folder that is not empty.
    pub fn remove(&self, permit: &DeletePermit, path: &WorkspacePath, depth: Depth, expected: State) -> Result<(), Problem> {
        let (folder, name) = path.split().ok_or_else(|| Problem::new(ErrorCode::PathInvalid, "The workspace itself can't be deleted."))?;
        let folder = self.folder(&folder)?;
        // Held to the end: a role switch waits for the removal, and none begins after it.
        let _guard = permit.enter(path)?;
        let _lock = self.lock();
        self.refuse_repository(path)?;
        if self.state(path)? != expected {
            return Err(file_changed(path));
        }
        remove_entry(&folder, name, depth).map_err(|errno| problem_of(errno, path))?;
        rustix::fs::fsync(&folder).map_err(|errno| problem_of(errno, path))
    }

    /// The state of an entry with everything in it, without reading contents.
    ///
    /// # Errors
    /// The entry is missing, or something in it can't be examined.
    pub fn state(&self, path: &WorkspacePath) -> Result<State, Problem> {
        let failed = |errno| problem_of(errno, path);
        let (folder, name) = path.split().ok_or_else(|| failed(Errno::INVAL))?;
        let (folder, name) = (self.folder(&folder)?, CString::new(name).map_err(|_| failed(Errno::INVAL))?);
        let stat = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        let mut state = State::default();
        state.add(&folder, &name, &stat, (0, 0)).map_err(failed)?;
        Ok(state)
    }

    /// Removes temporary files of ours that a killed write left beside a file. Recovery cleans up writes whose intent is stored;
    /// for plans and chats, their next write does.
    pub fn remove_leftovers(&self, beside: &WorkspacePath) {
        let Some((folder, _)) = beside.split() else { return };
        let (Ok(names), Ok(folder)) = (self.list(&folder), self.folder(&folder)) else { return };
        for (name, _) in &names {
            atomic::remove_leftover(&folder, name);
        }
    }

    /// The names in a folder and their types, without following links.
    ///
    /// # Errors
    /// The path is missing or not a folder.
    pub fn list(&self, path: &WorkspacePath) -> Result<Vec<(String, FileType)>, Problem> {
        self.list_first(path, usize::MAX).map(|(names, _)| names)
    }

    /// The first `most` names in a folder, and the number of the others. Uses no more memory than it returns.
    ///
    /// # Errors
    /// The path is missing or not a folder.
    pub fn list_first(&self, path: &WorkspacePath, most: usize) -> Result<(Vec<(String, FileType)>, usize), Problem> {
        let folder = self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY, super::Links::Inside)?;
        let failed = |errno| problem_of(errno, path);
        let (mut names, mut more) = (BTreeMap::new(), 0);
        for entry in Dir::new(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // A call can't contain a name that is not UTF-8; it is shown with replacement characters and can't be opened.
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                // Two names that differ only in invalid bytes are one here.
                names.insert(name, entry.file_type());
                if names.len() > most {
                    more += 1;
                    names.pop_last();
                }
            }
        }
        Ok((names.into_iter().collect(), more))
    }
}

/// Descends by descriptors, so that a folder replaced by a link is not followed.
pub fn remove_entry<P: Arg + Copy>(folder: &OwnedFd, name: P, depth: Depth) -> Result<(), Errno> {
    match depth {
        Depth::Whole => remove_tree(folder.as_fd(), &name.into_c_str()?, ClosedFolder::Respected),
        Depth::EmptyOnly => match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
            Err(Errno::ISDIR) => rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR),
            other => other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_a_killed_process_are_removed_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", ".planwright-0123456789abcdef-00000001.tmp", ".planwright-notes.md", "b.tmp"] {
            std::fs::File::create_new(folder.path().join(name)).unwrap();
        }
        let of_another = ".planwright-fedcba9876543210-00000001.tmp";
        let at_work = std::fs::File::create_new(folder.path().join(of_another)).unwrap();
        at_work.lock().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        workspace.remove_leftovers(&WorkspacePath::parse("/a.txt").unwrap());
        let names: Vec<String> = workspace.list(&WorkspacePath::root()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [of_another, ".planwright-notes.md", "a.txt", "b.tmp"]);
    }
}
