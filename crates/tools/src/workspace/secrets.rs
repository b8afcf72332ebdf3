//! Files of the workspace that look like secrets, so that commands can be kept from them.

use super::change::Sorter;
use super::tree::file_type;
use super::{Workspace, overlay};
use crate::gate::Secrets;
use crate::path::WorkspacePath;
use rustix::fs::{Dir, FileType};
use std::os::fd::AsFd;

/// More of them are not looked for.
const MOST: usize = 200;
/// Source code is no secret, whatever its name: without it nothing could be built.
const SOURCE: &[&str] = &[
    "c", "cc", "cpp", "cs", "css", "ex", "go", "h", "hpp", "html", "java", "js", "jsx", "kt", "lua", "md", "mjs", "php", "py", "rb", "rs",
    "scala", "sh", "sql", "swift", "ts", "tsx", "vue",
];
/// Nor are files that show what a secret one would look like.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist"];

impl Workspace {
    /// The regular files whose names are those of secrets, outside of build output. By names alone: nothing is opened but folders.
    #[must_use]
    pub fn secret_files(&self, secrets: &Secrets) -> Vec<WorkspacePath> {
        let (Ok(host), Ok(root)) = (self.host_path(), self.folder(&WorkspacePath::root())) else { return Vec::new() };
        let mut sorter = Sorter::new(self, host);
        let mut found = Vec::new();
        let mut folders = vec![(root, WorkspacePath::root())];
        while let Some((folder, path)) = folders.pop() {
            let Ok(entries) = Dir::read_from(folder.as_fd()) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let Ok(text) = name.to_str() else { continue };
                if matches!(text, "." | ".." | super::rules::REPOSITORY) {
                    continue;
                }
                let kind = file_type(folder.as_fd(), name, entry.file_type());
                let child = path.join(text);
                if kind == FileType::RegularFile && is_secret(secrets, text) && found.len() < MOST {
                    found.push(child);
                } else if kind == FileType::Directory
                    && !sorter.is_output(&child)
                    && let Ok(inside) = overlay::open_folder(&folder, name)
                {
                    folders.push((inside, child));
                }
            }
        }
        found
    }
}

fn is_secret(secrets: &Secrets, name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    secrets.contains(&WorkspacePath::root().join(name)) && !SOURCE.contains(&ending) && !EXAMPLES.contains(&ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_name_at_any_depth_and_source_is_none() {
        let folder = tempfile::tempdir().unwrap();
        for path in [".env", "deploy/key.pem", "src/id_map.rs", ".env.example", "node_modules/x/.env", "src/main.rs", "keys/id_ed25519"] {
            let file = folder.path().join(path);
            std::fs::DirBuilder::new().recursive(true).create(file.parent().unwrap()).unwrap();
            std::fs::File::create_new(file).unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let mut found: Vec<String> = workspace.secret_files(&Secrets::default()).iter().map(ToString::to_string).collect();
        found.sort();
        assert_eq!(found, ["/.env", "/deploy/key.pem", "/keys/id_ed25519"]);
    }
}
