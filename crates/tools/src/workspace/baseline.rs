//! The state of a workspace when a run began: its ignore files, tagged folders and git index.
//!
//! It defines what is build output. A chat's own change of an ignore file, a tag or git's index must not turn a folder into build
//! output, about which the user is not asked.

use super::Workspace;
use super::change::{OUTPUT, OUTPUT_IF_IGNORED, Sorter};
use super::rules::{self, FILE, REPOSITORY};
use super::tree::file_type;
use crate::path::WorkspacePath;
use memchr::memmem;
use planwright_protocol::{ErrorCode, Problem};
use rustix::fs::{Dir, FileType};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Maximum size of all ignore files. Without the rest, less counts as build output.
const MOST_RULES: usize = 64 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The reason for this state: a plan's approval, or none for a run without one.
    pub anchor: Option<String>,
    /// The ignore files, by folder.
    pub(super) rules: BTreeMap<String, String>,
    /// Folders that are a repository.
    pub(super) repositories: BTreeSet<String>,
    /// Folders that a program marked as build output.
    pub(super) tagged: BTreeSet<String>,
    pub(super) index: GitIndex,
}

/// Git's list of tracked files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GitIndex {
    /// There is none, or it has no file in a folder that is named like build output.
    #[default]
    Empty,
    /// As git wrote it, with complete paths.
    Paths(Vec<u8>),
    /// It is unreliable.
    Unreadable,
}

impl GitIndex {
    pub fn read(workspace: &Workspace) -> Self {
        match workspace.read(&WorkspacePath::root().join(REPOSITORY).join("index")) {
            // Up to version 3 the index has complete paths.
            Ok(snapshot) if matches!(snapshot.bytes.get(..8), Some([b'D', b'I', b'R', b'C', 0, 0, 0, 2 | 3])) => {
                let has = |name: &&str| memmem::find(&snapshot.bytes, format!("{name}/").as_bytes()).is_some();
                if OUTPUT.iter().chain(OUTPUT_IF_IGNORED).any(has) { Self::Paths(snapshot.bytes) } else { Self::Empty }
            }
            // Nothing was ever added.
            Err(problem) if problem.code == ErrorCode::PathNotFound => Self::Empty,
            Ok(_) | Err(_) => Self::Unreadable,
        }
    }

    /// Whether git tracks files in this folder.
    pub fn has_within(&self, folder: &WorkspacePath) -> bool {
        match self {
            Self::Empty => false,
            Self::Paths(bytes) => memmem::find(bytes, format!("{}/", folder.relative()).as_bytes()).is_some(),
            Self::Unreadable => true,
        }
    }
}

impl Workspace {
    /// The current state.
    ///
    /// # Errors
    /// The workspace is missing.
    pub fn baseline(&self) -> Result<Baseline, Problem> {
        let mut sorter = Sorter::new(self, self.host_path()?);
        let mut baseline = Baseline { index: GitIndex::read(self), ..Baseline::default() };
        let mut room = MOST_RULES;
        // By path, so that only one folder is open at a time.
        let mut folders = vec![WorkspacePath::root()];
        while let Some(path) = folders.pop() {
            // A folder that can't be read has no rules, so nothing in it counts as build output.
            let Ok(folder) = self.folder(&path) else { continue };
            let Ok(entries) = Dir::read_from(folder.as_fd()) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().to_str() else { continue };
                if matches!(name, "." | "..") {
                    continue;
                }
                if name == REPOSITORY {
                    baseline.repositories.insert(path.relative().to_owned());
                } else if name == FILE {
                    let text = rules::text_in(folder.as_fd()).filter(|text| text.len() <= room);
                    room -= text.as_ref().map_or(0, String::len);
                    baseline.rules.extend(text.map(|text| (path.relative().to_owned(), text)));
                } else if file_type(folder.as_fd(), entry.file_name(), entry.file_type()) == FileType::Directory {
                    let child = path.join(name);
                    if sorter.is_tagged(&child) {
                        baseline.tagged.insert(child.relative().to_owned());
                    }
                    if !sorter.is_output(&child) {
                        folders.push(child);
                    }
                }
            }
        }
        Ok(baseline)
    }
}

impl Baseline {
    /// Loads a saved baseline.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn load(file: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    /// Deletes a saved baseline.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn remove(file: &Path) {
        // A leftover belongs to a state that no later run uses.
        let _ = std::fs::remove_file(file);
    }

    /// # Errors
    /// It can't be written.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn save(&self, file: &Path) -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let new = file.with_extension("new");
        std::fs::write(&new, serde_json::to_vec(self)?)?;
        std::fs::rename(new, file)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files themselves")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_workspace_of_any_width_takes_few_descriptors_and_what_is_noted_is_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("workspace");
        for number in 0..2000 {
            std::fs::create_dir_all(root.join(format!("d{number}"))).unwrap();
        }
        std::fs::create_dir_all(root.join("d7/.git")).unwrap();
        std::fs::write(root.join("d1999/.gitignore"), "target\n").unwrap();
        // Descriptors that were open before count too, and other tests open some.
        let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let (before, workspace) = (open(), Workspace::open(&root).unwrap());
        let (baseline, most) = std::thread::scope(|scope| {
            let made = scope.spawn(|| workspace.baseline().unwrap());
            let mut most = before;
            while !made.is_finished() {
                most = most.max(open());
            }
            (made.join().unwrap(), most)
        });
        assert!(most < before + 500, "{before}, then {most}");
        assert_eq!((baseline.rules.len(), baseline.repositories.len()), (1, 1));
        let file = folder.path().join("baselines/x.json");
        baseline.save(&file).unwrap();
        assert_eq!(std::fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(Baseline::load(&file), Some(baseline));
    }

    #[test]
    fn rules_that_are_too_long_to_be_read_whole_say_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let rules = format!("/target\n{}\n!/target\n", "# \n".repeat(400_000));
        std::fs::write(folder.path().join(".gitignore"), rules).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        assert!(workspace.baseline().unwrap().rules.is_empty(), "the end that was not read may take back the beginning");
        assert!(!workspace.is_output(&WorkspacePath::parse("/target").unwrap()));
    }
}
