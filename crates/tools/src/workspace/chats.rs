//! The server's own files in a workspace: one for each chat, in `/.planwright/chats`.
//!
//! They need no permit, because no tool can name them: the name consists of a chat's id and nothing else. As with every write, no
//! link is followed, and only regular files are written.

use super::{Kind, Links, Stamp, Workspace, atomic, kind_of, problem_of};
use crate::path::WorkspacePath;
use planwright_protocol::{ChatId, ErrorCode, Problem};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

const FOLDER: [&str; 2] = [".planwright", "chats"];
/// Keeps transcripts, and itself, out of `git status`.
const IGNORE_NAME: &str = ".gitignore";
const IGNORE_TEXT: &str = "# Written by Planwright: keeps transcripts out of git. To commit them, empty this file; it is not written again.\n/chats/\n/.gitignore\n";
/// How often a file is read again because another process wrote it meanwhile.
const TRIES: usize = 8;

impl Workspace {
    /// Reads a chat's whole file.
    ///
    /// # Errors
    /// The file is missing, or not a regular file.
    pub fn read_chat(&self, chat: ChatId) -> Result<Vec<u8>, Problem> {
        self.read(&path_of(chat)).map(|snapshot| snapshot.bytes)
    }

    /// The beginning and the end of a chat's file, at most `most` bytes each. They overlap in a short file.
    ///
    /// # Errors
    /// The file is missing, or not a regular file.
    pub fn chat_ends(&self, chat: ChatId, most: usize) -> Result<[Vec<u8>; 2], Problem> {
        let path = path_of(chat);
        let file = self.open_at(&path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Links::Refused)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, &path))?;
        if kind_of(&stat) != Kind::File {
            return Err(problem_of(Errno::NXIO, &path));
        }
        let (file, size) = (File::from(file), u64::try_from(stat.st_size).unwrap_or_default());
        let read_from = |begin: u64| {
            let mut bytes = vec![0; most.min(usize::try_from(size - begin).unwrap_or(most))];
            file.read_exact_at(&mut bytes, begin).map_err(|error| super::problem::problem_of_io(&error, &path))?;
            Ok(bytes)
        };
        Ok([read_from(0)?, read_from(size.saturating_sub(most as u64))?])
    }

    /// Appends to a chat's file.
    ///
    /// # Errors
    /// `PATH_NOT_FOUND` if the file is missing. Then, and if it is not a regular file with one name, rewrite it.
    pub fn append_chat(&self, chat: ChatId, text: &str) -> Result<(), Problem> {
        let path = path_of(chat);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open_at(&path, flags, Links::Refused)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| problem_of(errno, &path))?;
        if kind_of(&stat) != Kind::File {
            return Err(problem_of(Errno::NXIO, &path));
        }
        if stat.st_nlink != 1 {
            return Err(Problem::new(ErrorCode::PathHardlinkRefused, format!("{path} has another name as well.")));
        }
        File::from(file).write_all(text.as_bytes()).map_err(|error| super::problem::problem_of_io(&error, &path))
    }

    /// Rewrites a chat's file atomically; `edit` computes the new content from the old one, which may be empty.
    ///
    /// # Errors
    /// The file can't be read or written. It is unchanged.
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
        atomic::replace(folder, name, &new, stamp, path, || Ok(self.lock()))?;
        if stamp.is_none() {
            self.ignore_chats();
        }
        Ok(())
    }

    /// Writes `/.planwright/.gitignore`, unless it exists. Ignores errors, because a chat must not fail for this.
    fn ignore_chats(&self) {
        let [folder, _] = FOLDER;
        let folder = WorkspacePath::root().join(folder);
        let path = folder.join(IGNORE_NAME);
        let Ok(folder) = self.folder(&folder) else { return };
        if rustix::fs::statat(&folder, IGNORE_NAME, AtFlags::SYMLINK_NOFOLLOW).err() == Some(Errno::NOENT) {
            self.remove_leftovers(&path);
            // Another process created it, or the user has their own file.
            let _ = atomic::replace(&folder, IGNORE_NAME, IGNORE_TEXT.as_bytes(), None, &path, || Ok(self.lock()));
        }
    }

    /// Deletes a chat's file, if it exists.
    ///
    /// # Errors
    /// The file can't be deleted.
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

    /// The folder of these files, created if it is missing.
    fn chats_folder(&self) -> Result<OwnedFd, Problem> {
        let mut path = WorkspacePath::root();
        for name in FOLDER {
            let parent = self.folder(&path)?;
            path = path.join(name);
            match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                // On a read-only file system the folder may still exist.
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
        assert_eq!(workspace.chat_ends(chat, 5).unwrap(), [b"zero\n".to_vec(), b"\ntwo\n".to_vec()]);
        assert_eq!(workspace.chat_ends(chat, 100).unwrap(), [b"zero\none\ntwo\n".to_vec(), b"zero\none\ntwo\n".to_vec()]);
        let names: Vec<_> = std::fs::read_dir(folder.path().join(".planwright/chats")).unwrap().collect();
        assert_eq!(names.len(), 1, "nothing is left beside it: {names:?}");
        workspace.remove_chat(chat).unwrap();
        workspace.remove_chat(chat).unwrap();
        assert_eq!(workspace.read_chat(chat).unwrap_err().code, ErrorCode::PathNotFound);
    }

    #[test]
    fn the_first_chat_writes_a_gitignore_and_what_is_there_of_that_name_is_left_alone() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = Workspace::open(folder.path()).unwrap();
        let (own, file) = (folder.path().join(".planwright"), folder.path().join(".planwright/.gitignore"));
        let begin = || workspace.rewrite_chat(ChatId::generate(), |_| b"x".to_vec()).unwrap();
        begin();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), IGNORE_TEXT);
        for text in ["*.log\n", ""] {
            std::fs::write(&file, text).unwrap();
            begin();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "the user's own");
        }
        std::fs::remove_file(&file).unwrap();
        let victim = outside.path().join("victim");
        symlink(&victim, &file).unwrap();
        begin();
        assert!(!victim.exists() && file.is_symlink(), "no link is followed, nor replaced");
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        begin();
        assert!(file.is_dir());
        let names: Vec<_> = std::fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "nothing is left beside it: {names:?}");
    }

    #[test]
    fn chats_that_begin_side_by_side_write_one_whole_gitignore() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| workspace.rewrite_chat(ChatId::generate(), |_| b"x".to_vec()).unwrap());
            }
        });
        assert_eq!(std::fs::read_to_string(folder.path().join(".planwright/.gitignore")).unwrap(), IGNORE_TEXT);
        assert_eq!(std::fs::read_dir(folder.path().join(".planwright")).unwrap().count(), 2);
    }

    #[test]
    fn a_chats_file_written_during_a_command_is_not_the_commands_doing() {
        let (folder, own, chat) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), ChatId::generate());
        let workspace = Workspace::open(folder.path()).unwrap();
        workspace.rewrite_chat(chat, |_| b"one\n".to_vec()).unwrap();
        let copies = own.path().join("mirror");
        let mirror = super::super::Mirror { copies: &copies, stage: own.path(), baseline: None };
        workspace.mirror(&mirror).unwrap();
        workspace.append_chat(chat, "two\n").unwrap();
        workspace.rewrite_chat(ChatId::generate(), |_| b"new\n".to_vec()).unwrap();
        std::fs::write(folder.path().join(".planwright/config.toml"), "x").unwrap();
        assert_eq!(workspace.changes_since(&mirror).unwrap().judged.len(), 1);
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
            assert!(workspace.chat_ends(chat, 5).is_err());
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
