//! Files of the workspace that look like secrets, so that commands find them empty.
//!
//! Nothing is left out quietly: whatever can't be looked at is hidden, and where that is impossible no command runs.

use super::change::Sorter;
use super::tracked::Tracked;
use super::tree::file_type;
use super::{Workspace, beneath};
use crate::gate::Secrets;
use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Each of them costs a mount.
const MOST: usize = 4096;
/// A folder that has more of them is hidden as a whole.
const MOST_IN_FOLDER: usize = 256;

/// What commands must not see.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Files and folders of the workspace, relative to it. Names need not be UTF-8.
    pub inside: Vec<OsString>,
    /// Files and folders elsewhere on the machine that links of the workspace lead to.
    pub outside: Vec<PathBuf>,
}

impl Workspace {
    /// The files whose names are those of secrets, and the folders that have nothing else; outside of build output. Those that git keeps
    /// unchanged are in its history anyway, and empty they could be committed.
    ///
    /// # Errors
    /// The workspace can't be looked through, or has too many of them.
    pub fn secrets(&self, secrets: &Secrets) -> Result<Hidden, Problem> {
        let host = self.host_path()?;
        let wanted = |path: &[u8]| secrets.contains(&spelled(path));
        let tracked = Tracked::read(self, &host, wanted);
        let sorter = Sorter::new(self, host.clone());
        let mut search = Search { workspace: self, host, secrets, sorter, tracked, inside: BTreeSet::new(), outside: BTreeSet::new() };
        search.folder(b"")?;
        Ok(Hidden { inside: search.inside.into_iter().map(OsString::from_vec).collect(), outside: search.outside.into_iter().collect() })
    }
}

struct Search<'w> {
    workspace: &'w Workspace,
    host: PathBuf,
    secrets: &'w Secrets,
    sorter: Sorter<'w>,
    tracked: Tracked,
    inside: BTreeSet<Vec<u8>>,
    outside: BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn folder(&mut self, path: &[u8]) -> Result<(), Problem> {
        let before = self.inside.len();
        for (name, kind) in self.entries(path)? {
            let child = if path.is_empty() { name } else { [path, b"/", &name].concat() };
            let spelled = spelled(&child);
            if kind == FileType::Directory {
                let is_whole = self.secrets.hides_all_of(&spelled) && !self.tracked.has_below(&child);
                if is_whole {
                    self.hide(child)?;
                } else if !self.sorter.is_output(&spelled) {
                    self.folder(&child)?;
                }
            } else if self.secrets.hides(&spelled) {
                if kind == FileType::Symlink {
                    self.link(&child)?;
                } else if !self.is_kept(&child) {
                    self.hide(child)?;
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

    /// What is in a folder. It is opened for that alone, so that a deep or wide tree takes no more descriptors than another.
    fn entries(&mut self, path: &[u8]) -> Result<Vec<(Vec<u8>, FileType)>, Problem> {
        let opened = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW);
        let folder = match opened {
            Ok(folder) => folder,
            // Its owner could open it inside.
            Err(Errno::ACCESS) if !path.is_empty() => return self.hide(path.to_owned()).map(|()| Vec::new()),
            Err(Errno::NOENT) => return Ok(Vec::new()),
            Err(errno) => return Err(unknown(path, errno)),
        };
        let read = || -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
            let mut entries = Vec::new();
            for entry in Dir::read_from(folder.as_fd())? {
                let entry = entry?;
                let name: &CStr = entry.file_name();
                if name != c"." && name != c".." && name.to_bytes() != super::rules::REPOSITORY.as_bytes() {
                    entries.push((name.to_bytes().to_vec(), file_type(folder.as_fd(), name, entry.file_type())));
                }
            }
            Ok(entries)
        };
        read().map_err(|errno| unknown(path, errno))
    }

    /// A secret that is a link: where it leads is hidden, if there is something.
    fn link(&mut self, path: &[u8]) -> Result<(), Problem> {
        let followed = rustix::fs::openat(&self.workspace.root, OsStr::from_bytes(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let target = match followed {
            Ok(target) => target,
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
            Err(errno) => return Err(unknown(path, errno)),
        };
        let target =
            rustix::fs::readlink(format!("/proc/self/fd/{}", target.as_raw_fd()), Vec::new()).map_err(|errno| unknown(path, errno))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        match target.strip_prefix(&self.host) {
            Ok(inside) if inside.as_os_str().is_empty() || inside.starts_with(super::rules::REPOSITORY) => Ok(()),
            Ok(inside) if self.is_kept(inside.as_os_str().as_bytes()) => Ok(()),
            Ok(inside) => self.hide(inside.as_os_str().as_bytes().to_vec()),
            Err(_) if self.host.starts_with(&target) => Ok(()),
            Err(_) => {
                self.outside.insert(target);
                self.check_number()
            }
        }
    }

    fn hide(&mut self, path: Vec<u8>) -> Result<(), Problem> {
        self.inside.insert(path);
        self.check_number()
    }

    fn check_number(&self) -> Result<(), Problem> {
        if self.inside.len() + self.outside.len() <= MOST {
            return Ok(());
        }
        let text = format!(
            "No command was run: more than {MOST} files look like secrets, and all of them must be hidden. Narrow `secrets` under [files] in the configuration, or name the folder there that has them."
        );
        Err(Problem::new(ErrorCode::SandboxUnavailable, text))
    }

    fn is_kept(&self, path: &[u8]) -> bool {
        self.open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW)
            .is_ok_and(|file| self.tracked.holds(path, file))
    }

    fn open(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(path)) };
        let mut tries = 0;
        loop {
            match rustix::fs::openat2(&self.workspace.root, path, flags | OFlags::CLOEXEC, Mode::empty(), beneath()) {
                Err(Errno::AGAIN) if tries < 64 => tries += 1,
                other => return other,
            }
        }
    }
}

/// A path as patterns are compared with it.
fn spelled(path: &[u8]) -> WorkspacePath {
    path.split(|&byte| byte == b'/').fold(WorkspacePath::root(), |folder, name| folder.join(&String::from_utf8_lossy(name)))
}

fn unknown(path: &[u8], errno: Errno) -> Problem {
    let path = String::from_utf8_lossy(path);
    let text = format!(
        "No command was run: whether there are secrets to hide in /{path} can't be told ({errno}). Run it again; if that does not help, ask the user to look at that folder."
    );
    Problem::new(ErrorCode::SandboxUnavailable, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, path: &str) {
        let file = folder.join(path);
        std::fs::DirBuilder::new().recursive(true).create(file.parent().unwrap()).unwrap();
        std::fs::File::create_new(file).unwrap();
    }

    fn hidden(folder: &Path, secrets: &Secrets) -> Vec<String> {
        let found = Workspace::open(folder).unwrap().secrets(secrets).unwrap();
        found.inside.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn secrets_are_found_by_name_at_any_depth_and_source_is_none() {
        let folder = tempfile::tempdir().unwrap();
        for path in [".env", "deploy/key.pem", "src/id_map.rs", ".env.example", "node_modules/x/.env", "src/main.rs", "keys/id_ed25519"] {
            put(folder.path(), path);
        }
        assert_eq!(hidden(folder.path(), &Secrets::default()), [".env", "deploy/key.pem", "keys/id_ed25519"]);
        std::os::unix::fs::symlink("../src/main.rs", folder.path().join("deploy/id_link")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("deploy/.env")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("deploy/.env.gone")).unwrap();
        let found = Workspace::open(folder.path()).unwrap().secrets(&Secrets::default()).unwrap();
        assert!(found.inside.contains(&"src/main.rs".into()) && found.outside.len() <= 1, "where links lead: {found:?}");
    }

    #[test]
    fn folders_that_have_nothing_but_secrets_are_hidden_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..300 {
            put(folder.path(), &format!("private/{number}/a.py"));
            put(folder.path(), &format!(".env/lib/{number}.so"));
            put(folder.path(), &format!(".env/lib/{number}.py"));
        }
        put(folder.path(), "id_tool/mod.rs");
        put(folder.path(), "id_tool/table.bin");
        let secrets = Secrets::new(&["private".to_owned(), ".env*".to_owned(), "id_*".to_owned()]).unwrap();
        assert_eq!(hidden(folder.path(), &secrets), [".env/lib", "id_tool/table.bin", "private"]);
    }
}
