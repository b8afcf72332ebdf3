//! The server's own files in a workspace: one for each chat, in `/.planwright/chats`.
//!
//! They need no permit, because no tool has a way to them: a name here is made of a chat's id and nothing else. As for
//! every other write, no link is followed, and what is not a plain file is not written to.

use super::{Kind, Links, Stamp, Workspace, atomic, kind_of, problem_of};
use crate::path::WorkspacePath;
use planwright_protocol::{ChatId, ErrorCode, Problem};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

const FOLDER: [&str; 2] = [".planwright", "chats"];
/// How often a file is read again because somebody else wrote it meanwhile.
const TRIES: usize = 8;

impl Workspace {
    /// The whole file of a chat.
    ///
    /// # Errors
    /// Not there, or not a plain file.
    pub fn read_chat(&self, chat: ChatId) -> Result<Vec<u8>, Problem> {
        self.read(&path_of(chat)).map(|snapshot| snapshot.bytes)
    }

    /// Adds to the end of a chat's file.
    ///
    /// # Errors
    /// `PATH_NOT_FOUND` when there is none; then, and when it is more than a plain file with one name, write it whole.
    pub fn append_chat(&self, chat: ChatId, text: &str) -> Result<(), Problem> {
        let path = path_of(chat);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open_at(&path, flags, Links::Refused)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, &path))?;
        if kind_of(&stat) != Kind::File {
            return Err(problem_of(Errno::NXIO, &path));
        }
        if stat.st_nlink != 1 {
            return Err(Problem::new(ErrorCode::PathHardlinkRefused, format!("{path} is also the file of another name.")));
        }
        File::from(file).write_all(text.as_bytes()).map_err(|error| super::problem::problem_of_io(&error, &path))
    }

    /// Writes a chat's file in one step; `edit` makes the new content of the old one, or of nothing.
    ///
    /// # Errors
    /// It can't be read or written. It is as it was then.
    pub fn rewrite_chat(&self, chat: ChatId, edit: impl Fn(&[u8]) -> Vec<u8>) -> Result<(), Problem> {
        let path = path_of(chat);
        let (Some((_, name)), folder) = (path.split(), self.chats_folder()?) else { return Err(problem_of(Errno::INVAL, &path)) };
        self.remove_leftovers(&path);
        let mut outcome = Ok(());
        for _ in 0..TRIES {
            outcome = self.rewrite_once(&folder, name, &path, &edit);
            match &outcome {
                Err(problem) if matches!(problem.code, ErrorCode::FileChanged | ErrorCode::PathExists) => {}
                Ok(()) | Err(_) => break,
            }
        }
        outcome
    }

    fn rewrite_once(&self, folder: &OwnedFd, name: &str, path: &WorkspacePath, edit: &impl Fn(&[u8]) -> Vec<u8>) -> Result<(), Problem> {
        let (old, stamp): (Vec<u8>, Option<Stamp>) = match self.read(path) {
            Ok(snapshot) => (snapshot.bytes, Some(snapshot.stamp)),
            Err(problem) if problem.code == ErrorCode::PathNotFound => (Vec::new(), None),
            Err(problem) => return Err(problem),
        };
        let new = edit(&old);
        if stamp.is_some() && new == old {
            return Ok(());
        }
        atomic::replace(folder, name, &new, stamp, path, || Ok(())).map(|_| ())
    }

    /// Removes a chat's file, if it is there.
    ///
    /// # Errors
    /// It can't be removed.
    pub fn remove_chat(&self, chat: ChatId) -> Result<(), Problem> {
        let path = path_of(chat);
        let Some((folder, name)) = path.split() else { return Ok(()) };
        let folder = match self.folder(&folder) {
            Err(problem) if problem.code == ErrorCode::PathNotFound => return Ok(()),
            other => other?,
        };
        match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(problem_of(errno, &path)),
        }
    }

    /// The folder of these files, made where it is missing.
    fn chats_folder(&self) -> Result<OwnedFd, Problem> {
        let mut path = WorkspacePath::root();
        for name in FOLDER {
            let parent = self.folder(&path)?;
            path = path.join(name);
            match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                // On a file system that is read-only the folder may be there all the same.
                Err(Errno::ROFS | Errno::ACCESS) => {}
                Err(errno) => return Err(problem_of(errno, &path)),
            }
        }
        self.folder(&path)
    }
}

fn path_of(chat: ChatId) -> WorkspacePath {
    FOLDER.iter().fold(WorkspacePath::root(), |path, name| path.join(name)).join(&format!("{chat}.chat"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at files themselves")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_chats_file_is_made_added_to_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (workspace, chat) = (Workspace::open(folder.path()).unwrap(), ChatId::generate());
        assert_eq!(workspace.append_chat(chat, "x").unwrap_err().code, ErrorCode::PathNotFound);
        workspace.rewrite_chat(chat, |old| [old, b"one\n"].concat()).unwrap();
        workspace.append_chat(chat, "two\n").unwrap();
        workspace.rewrite_chat(chat, |old| [b"zero\n", old].concat()).unwrap();
        assert_eq!(workspace.read_chat(chat).unwrap(), b"zero\none\ntwo\n");
        let names: Vec<_> = std::fs::read_dir(folder.path().join(".planwright/chats")).unwrap().collect();
        assert_eq!(names.len(), 1, "nothing is left beside it: {names:?}");
        workspace.remove_chat(chat).unwrap();
        workspace.remove_chat(chat).unwrap();
        assert_eq!(workspace.read_chat(chat).unwrap_err().code, ErrorCode::PathNotFound);
    }

    #[test]
    fn no_link_pipe_or_second_name_leads_a_chats_file_elsewhere() {
        let (folder, outside, chat) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), ChatId::generate());
        let workspace = Workspace::open(folder.path()).unwrap();
        let own = folder.path().join(".planwright");
        let file = own.join(format!("chats/{chat}.chat"));
        let victim = outside.path().join("victim");
        let refused = |workspace: &Workspace| {
            assert!(workspace.rewrite_chat(chat, |_| b"x".to_vec()).is_err() && workspace.append_chat(chat, "x").is_err());
            assert!(std::fs::read_dir(outside.path()).unwrap().all(|entry| std::fs::read(entry.unwrap().path()).unwrap() == b"mine"));
        };
        std::fs::write(&own, "a file").unwrap();
        refused(&workspace);
        std::fs::remove_file(&own).unwrap();
        symlink(outside.path(), &own).unwrap();
        refused(&workspace);
        std::fs::remove_file(&own).unwrap();
        std::fs::create_dir_all(own.join("chats")).unwrap();
        std::fs::write(&victim, "mine").unwrap();
        symlink(&victim, &file).unwrap();
        refused(&workspace);
        std::fs::remove_file(&file).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, Mode::from_raw_mode(0o600)).unwrap();
        refused(&workspace);
        std::fs::remove_file(&file).unwrap();
        std::fs::hard_link(&victim, &file).unwrap();
        assert!(workspace.append_chat(chat, "x").is_err());
        workspace.rewrite_chat(chat, |old| [old, b" and more"].concat()).unwrap();
        assert_eq!((std::fs::read(&victim).unwrap(), std::fs::read(&file).unwrap()), (b"mine".to_vec(), b"mine and more".to_vec()));
    }
}
