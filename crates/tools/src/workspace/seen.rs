//! How the files of a workspace were when a command began. By this it is known that somebody changed one since, whatever the clocks
//! say: those of other machines, whose files are mounted here, and our own, if it is set back and right again.
//!
//! A file is known by inode, size, mode and the kernel's time of its last change. Two numbers are kept of each, so that a large
//! workspace costs little.

use super::Workspace;
use super::baseline::Baseline;
use super::change::is_object;
use super::marks::{Mark, MarkKind, key, spelled};
use crate::path::WorkspacePath;
use planwright_protocol::Problem;
use rustix::fs::Stat;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "seen";

/// The files that a command found. Without a note of them, as in a stage of an earlier version, only times can be compared.
#[derive(Debug, Default)]
pub struct Seen(Option<HashMap<u64, u64>>);

impl Seen {
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn load(stage: &Path) -> Self {
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
        let pairs = |bytes: Vec<u8>| bytes.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect();
        Self(std::fs::read(stage.join(FILE)).ok().map(pairs))
    }

    /// Whether a file is not the one that the command found at this path, or it found none there. In folders whose files were not
    /// noted, nobody can say.
    pub fn is_other(&self, path: &[u8], stat: &Stat) -> bool {
        let Some(seen) = &self.0 else { return false };
        match seen.get(&number_of(&key(path))) {
            Some(noted) => *noted != number_of(&Mark::of(stat)),
            None => !self.is_in_unnoted(path),
        }
    }

    fn is_in_unnoted(&self, path: &[u8]) -> bool {
        let is_unnoted =
            |folder: &[u8]| self.0.as_ref().is_some_and(|seen| seen.get(&number_of(&key(folder))) == Some(&number_of(&Mark::OUTPUT)));
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        slashes.map(|(place, _)| &path[..place]).any(is_unnoted)
    }

    /// Whether the command found a file at this path.
    pub fn has(&self, path: &WorkspacePath) -> bool {
        self.0.as_ref().is_some_and(|seen| seen.contains_key(&number_of(&key(path.relative().as_bytes()))))
    }
}

impl Workspace {
    /// Notes how the files are now, in a command's stage.
    ///
    /// # Errors
    /// The workspace can't be looked through, or there is no room for the note.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn note_seen(&self, baseline: Option<Arc<Baseline>>, stage: &Path) -> Result<(), Problem> {
        let mut bytes = Vec::new();
        let may_look_everywhere = rustix::process::geteuid().is_root();
        for (key, mark) in self.marks(baseline)? {
            // A folder that is shut to us may be opened by the command, and has files that nobody noted.
            let is_shut = mark.kind == MarkKind::Folder && mark.mode & 0o500 != 0o500 && !may_look_everywhere;
            let mark = if is_shut { Mark::OUTPUT } else { mark };
            let is_noted = mark.kind != MarkKind::Folder && !spelled(&key).is_some_and(|path| is_object(&path));
            if is_noted {
                bytes.extend(number_of(&key).to_le_bytes());
                bytes.extend(number_of(&mark).to_le_bytes());
            }
        }
        std::fs::write(stage.join(FILE), bytes).map_err(|error| super::problem::problem_of_io(&error, &WorkspacePath::root()))
    }
}

fn number_of<T: Hash>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
