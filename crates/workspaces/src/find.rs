//! Finds files by letters of their paths.

use crate::registry::{Workspaces, broken};
use planwright_protocol::{Problem, WorkspaceId};
use planwright_tools::WorkspacePath;
use planwright_tools::workspace::FoundFile;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum search time; the user is typing.
const PATIENCE: Duration = Duration::from_secs(2);

impl Workspaces {
    /// The files whose paths contain the letters in this order, ignoring case; the best matches first. Skips files that `.gitignore`
    /// names.
    ///
    /// # Errors
    /// No such workspace.
    pub async fn find_files(&self, workspace: WorkspaceId, typed: &str, most: usize) -> Result<Vec<String>, Problem> {
        let folder = self.open(workspace).await?;
        let sought = typed.to_lowercase();
        let find = move || {
            let found = Mutex::new(BTreeSet::new());
            folder.walk(&WorkspacePath::root(), Instant::now() + PATIENCE, || {
                |file: &FoundFile<'_>| {
                    let path = file.path.to_string();
                    if let Some(place) = place(&path.to_lowercase(), &sought) {
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.insert((place, path));
                        if found.len() > most {
                            found.pop_last();
                        }
                    }
                }
            })?;
            let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok(found.into_iter().map(|(_, path)| path).collect())
        };
        tokio::task::spawn_blocking(find).await.map_err(broken)?
    }
}

/// The rank of a match: by its kind, then by its length. `None` if it does not match.
fn place(path: &str, sought: &str) -> Option<(u8, usize)> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let way = if name.starts_with(sought) {
        0
    } else if name.contains(sought) {
        1
    } else if path.contains(sought) {
        2
    } else if is_within(path, sought) {
        3
    } else {
        return None;
    };
    Some((way, path.len()))
}

/// Whether the letters occur in this order.
fn is_within(path: &str, sought: &str) -> bool {
    let mut letters = path.chars();
    sought.chars().all(|letter| letters.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_paths_and_whole_words_before_scattered_letters() {
        let mut paths = vec!["/src/model/view.rs", "/src/lib.rs", "/docs/models.md", "/m/o/d/e/l.txt", "/src/a_model.rs"];
        paths.retain(|path| place(path, "model").is_some());
        paths.sort_by_key(|path| place(path, "model"));
        assert_eq!(paths, ["/docs/models.md", "/src/a_model.rs", "/src/model/view.rs", "/m/o/d/e/l.txt"]);
        assert!(place("/src/lib.rs", "slb").is_some() && place("/src/lib.rs", "bls").is_none());
    }
}
