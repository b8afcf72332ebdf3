//! Runs git on the objects of a repository, without the rest of the repository.
//!
//! A repository's configuration, attributes, hooks, index and working tree can make git run programs or read files. Git gets a
//! folder of ours instead, which has only refs, and the repository's objects.

use crate::repository::{GitOutput, run};
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What git needs from a repository to read its history.
#[derive(Debug, Default)]
pub struct ReaderRefs {
    /// The content of `HEAD`: a commit id, or `ref: ` and a name.
    pub head: String,
    /// Names that git allows, and their commit ids.
    pub refs: Vec<(String, String)>,
    /// The commits at which a shallow clone's history ends.
    pub shallow: Vec<u8>,
}

/// Reads the history of one repository. Dropping this removes its temporary folder.
#[derive(Debug)]
pub struct HistoryReader {
    folder: PathBuf,
    objects: PathBuf,
}

impl HistoryReader {
    /// # Errors
    /// The temporary folder can't be created.
    pub fn new(objects: &Path, refs: &ReaderRefs) -> std::io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = format!("planwright-history-{}-{now}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let reader = Self { folder: std::env::temp_dir().join(name), objects: objects.to_owned() };
        // Fails if the name is taken, even by a link.
        DirBuilder::new().mode(0o700).create(&reader.folder)?;
        let is_sha256 = refs.refs.iter().map(|(_, id)| id).chain([&refs.head]).any(|id| id.trim().len() == 64);
        let config = if is_sha256 {
            "[core]\nrepositoryformatversion = 1\nbare = true\n[extensions]\nobjectformat = sha256\n"
        } else {
            "[core]\nrepositoryformatversion = 0\nbare = true\n"
        };
        let mut packed: Vec<String> = refs.refs.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
        packed.sort_unstable();
        std::fs::create_dir(reader.folder.join("refs"))?;
        let files = [("config", config.as_bytes()), ("HEAD", refs.head.as_bytes()), ("packed-refs", packed.concat().as_bytes())]
            .map(|(name, content)| std::fs::write(reader.folder.join(name), content));
        files.into_iter().collect::<std::io::Result<()>>()?;
        if !refs.shallow.is_empty() {
            std::fs::write(reader.folder.join("shallow"), &refs.shallow)?;
        }
        Ok(reader)
    }

    /// Runs git. Returns at most `most` bytes of its output.
    ///
    /// # Errors
    /// Git's error message, or a timeout.
    pub fn git(&self, args: &[&str], limit: Duration, most: usize) -> Result<GitOutput, String> {
        let environment = [
            ("GIT_OBJECT_DIRECTORY", self.objects.as_os_str()),
            ("GIT_NO_REPLACE_OBJECTS", OsStr::new("1")),
            ("GIT_GRAFT_FILE", OsStr::new("/dev/null")),
            ("GIT_LITERAL_PATHSPECS", OsStr::new("1")),
            ("GIT_OPTIONAL_LOCKS", OsStr::new("0")),
        ];
        let settings = ["-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", "-c", "core.quotePath=false", "--no-pager"];
        let args: Vec<&str> = settings.into_iter().chain(args.iter().copied()).collect();
        run(&self.folder, &args, &environment, Vec::new(), limit, most)
    }
}

impl Drop for HistoryReader {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
