//! Records the workspace's files when a command begins, to detect changes by others whatever the clocks say: those of file
//! servers, and our own, if it is set back and forward.
//!
//! A file is identified by inode, size, mode and the kernel's change time. Only two numbers are stored for each, so that a large
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

/// The files that a command found. Without this record, as in the stage of an earlier version, only times can be compared.
#[derive(Debug, Default)]
pub struct RecordedFiles(Option<HashMap<u64, u64>>);

impl RecordedFiles {
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn load(stage: &Path) -> Self {
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
        let pairs = |bytes: Vec<u8>| bytes.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect();
        Self(std::fs::read(stage.join(FILE)).ok().map(pairs))
    }

    /// Whether a file is not the one that the command found at this path, or it found none there. Unknown in folders whose files
    /// were not recorded.
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
    /// Records the current files, in a command's stage.
    ///
    /// # Errors
    /// The workspace can't be searched, or the disk is full.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn record_files(&self, baseline: Option<Arc<Baseline>>, stage: &Path) -> Result<(), Problem> {
        let mut bytes = Vec::new();
        let may_look_everywhere = rustix::process::geteuid().is_root();
        for (key, mark) in self.marks(baseline)? {
            // The command may open a folder that is closed to us, and whose files were not recorded.
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
