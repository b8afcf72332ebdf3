//! How a workspace was when a run began: which ignore files it had, which folders were tagged, what git kept.
//!
//! By this it is told what is build output. What the chat itself writes into an ignore file, a tag or git's index must not
//! make a folder one that nobody is asked about.

use super::change::{OUTPUT, OUTPUT_IF_IGNORED, Sorter};
use super::rules::{self, FILE, REPOSITORY};
use super::tree::file_type;
use super::{Workspace, overlay};
use crate::path::WorkspacePath;
use memchr::memmem;
use planwright_protocol::{ErrorCode, Problem};
use rustix::fs::{Dir, FileType};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// What it is the state at; a plan's approval, or nothing for a run without one.
    pub anchor: Option<String>,
    /// The ignore files, by the folders that have them.
    pub(super) rules: BTreeMap<String, String>,
    /// Folders that are a repository.
    pub(super) repositories: BTreeSet<String>,
    /// Folders that a program marked as build output.
    pub(super) tagged: BTreeSet<String>,
    pub(super) index: Index,
}

/// Git's list of the files it keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Index {
    /// There is none, or no file in it lies in a folder that is named like build output.
    #[default]
    Empty,
    /// As git wrote it, with every path in full.
    Paths(Vec<u8>),
    /// It says nothing that can be relied on.
    Unreadable,
}

impl Index {
    pub fn read(workspace: &Workspace) -> Self {
        match workspace.read(&WorkspacePath::root().join(REPOSITORY).join("index")) {
            // Up to its third version the index has every path in full.
            Ok(snapshot) if matches!(snapshot.bytes.get(..8), Some([b'D', b'I', b'R', b'C', 0, 0, 0, 2 | 3])) => {
                let has = |name: &&str| memmem::find(&snapshot.bytes, format!("{name}/").as_bytes()).is_some();
                if OUTPUT.iter().chain(OUTPUT_IF_IGNORED).any(has) { Self::Paths(snapshot.bytes) } else { Self::Empty }
            }
            // Nothing was ever added.
            Err(problem) if problem.code == ErrorCode::PathNotFound => Self::Empty,
            Ok(_) | Err(_) => Self::Unreadable,
        }
    }

    /// Whether git keeps files of this folder.
    pub fn has_within(&self, folder: &WorkspacePath) -> bool {
        match self {
            Self::Empty => false,
            Self::Paths(bytes) => memmem::find(bytes, format!("{}/", folder.relative()).as_bytes()).is_some(),
            Self::Unreadable => true,
        }
    }
}

impl Workspace {
    /// The present state.
    ///
    /// # Errors
    /// The workspace is gone.
    pub fn baseline(&self) -> Result<Baseline, Problem> {
        let mut sorter = Sorter::new(self, self.host_path()?);
        let mut baseline = Baseline { index: Index::read(self), ..Baseline::default() };
        let mut folders = vec![(self.folder(&WorkspacePath::root())?, WorkspacePath::root())];
        while let Some((folder, path)) = folders.pop() {
            // A folder that can't be read has no rules, so that nothing in it counts as build output.
            let Ok(entries) = Dir::read_from(folder.as_fd()) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().to_str() else { continue };
                if matches!(name, "." | "..") {
                    continue;
                }
                if name == REPOSITORY {
                    baseline.repositories.insert(path.relative().to_owned());
                } else if name == FILE {
                    baseline.rules.extend(rules::text_in(folder.as_fd()).map(|text| (path.relative().to_owned(), text)));
                } else if file_type(folder.as_fd(), entry.file_name(), entry.file_type()) == FileType::Directory {
                    let child = path.join(name);
                    if sorter.is_tagged(&child) {
                        baseline.tagged.insert(child.relative().to_owned());
                    }
                    if !sorter.is_output(&child)
                        && let Ok(inside) = overlay::open_folder(&folder, entry.file_name())
                    {
                        folders.push((inside, child));
                    }
                }
            }
        }
        Ok(baseline)
    }
}

impl Baseline {
    /// What was saved in a folder of ours.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn load(file: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    /// Forgets what was saved.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn remove(file: &Path) {
        // One that stays is of a state that no later run asks for.
        let _ = std::fs::remove_file(file);
    }

    /// # Errors
    /// It can't be written.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn save(&self, file: &Path) -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let new = file.with_extension("new");
        std::fs::write(&new, serde_json::to_vec(self)?)?;
        std::fs::rename(new, file)
    }
}
