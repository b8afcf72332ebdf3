//! A folder with everything a server needs, and a look at what it leaves there.

use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A workspace, a data folder, the user's configuration and a script for the model. Outlives the servers that use it.
pub struct HomeFolder {
    folder: TempDir,
}

impl HomeFolder {
    /// `script` is what the model will say.
    #[must_use]
    pub fn new(folder: TempDir, script: &Value) -> Self {
        let home = Self { folder };
        std::fs::create_dir(home.workspace()).unwrap();
        home.write_script(script);
        home
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// Where servers keep their chats.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The file with the model's script.
    #[must_use]
    pub fn script(&self) -> PathBuf {
        self.path().join("script.json")
    }

    pub fn write_script(&self, script: &Value) {
        std::fs::write(self.script(), script.to_string()).unwrap();
    }

    /// A file of the workspace, put there by hand.
    pub fn put(&self, path: &str, content: &str) {
        let file = self.workspace().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    /// The file of the user's configuration, whether or not it exists.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.path().join(".config/planwright/config.toml")
    }

    /// The user's configuration, for servers started from now on.
    pub fn put_config(&self, text: &str) {
        let file = self.config();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// The content of a file of the workspace, if it is there.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace().join(path)).ok()
    }
}
