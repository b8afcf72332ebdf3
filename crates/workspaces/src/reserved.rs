//! Folders that can't be workspaces for any user: an agent there could read the server's keys, or change its own restrictions.

use planwright_tools::path::OWN;
use std::path::{Path, PathBuf};

/// The folders of this server.
#[derive(Clone, Debug, Default)]
pub struct ReservedFolders {
    /// The data folder, with chats and the token.
    data: PathBuf,
    /// The user's configuration: its folder, and its file if that is elsewhere.
    configuration: Vec<PathBuf>,
    home: Option<PathBuf>,
}

/// The folder of samples inside the data folder, with a folder per user: the only part of it that an agent may see.
pub const SAMPLES: &str = "samples";

/// The kernel's view of processes and devices, including the server's own environment.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl ReservedFolders {
    /// From the data folder, the user's configuration file, and the user's home; links are resolved as far as the path exists.
    #[must_use]
    pub fn new(data: &Path, configuration: Option<&Path>, home: Option<&Path>) -> Self {
        let folder = configuration.and_then(Path::parent);
        Self { data: real(data), configuration: folder.into_iter().chain(configuration).map(real).collect(), home: home.map(real) }
    }

    /// Folders that no command may see.
    #[must_use]
    pub fn private(&self) -> Vec<PathBuf> {
        [&self.data].into_iter().chain(&self.configuration).filter(|path| path.is_absolute()).cloned().collect()
    }

    /// Why a folder, by its real path, can't be a workspace; as the end of a sentence that begins with it.
    #[must_use]
    pub fn refusal(&self, folder: &Path) -> Option<&'static str> {
        let is_own = |name: &std::ffi::OsStr| OWN.iter().any(|own| name.eq_ignore_ascii_case(own));
        if folder.components().any(|part| is_own(part.as_os_str())) {
            return Some("belongs to git or to Planwright, which no agent may change");
        }
        if SYSTEM.iter().any(|system| folder.starts_with(system)) {
            return Some("belongs to the system, where the server's own keys can be read");
        }
        if folder.starts_with(&self.data) && !self.is_sample(folder) {
            return Some("is inside Planwright's data folder, where the agent could read all chats");
        }
        if self.data.starts_with(folder) {
            return Some("contains Planwright's data folder, where the agent could read all chats; choose a --data-dir elsewhere");
        }
        let holds = |own: &PathBuf| own.starts_with(folder) && !self.is_usual(own, folder);
        if self.configuration.iter().any(|own| folder.starts_with(own) || holds(own)) {
            return Some("contains Planwright's own configuration, or is inside it, and the agent could change its own restrictions");
        }
        None
    }

    fn is_sample(&self, folder: &Path) -> bool {
        folder.strip_prefix(self.data.join(SAMPLES)).is_ok_and(|below| below.components().count() == 2)
    }

    /// Whether it is the home folder that contains the configuration, which is the user's own choice.
    fn is_usual(&self, own: &Path, folder: &Path) -> bool {
        self.home.as_ref().is_some_and(|home| own.starts_with(home) && home.starts_with(folder))
    }
}

/// The path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|folder| Some((folder, std::fs::canonicalize(folder).ok()?)));
    match found.and_then(|(folder, found)| Some(found.join(path.strip_prefix(folder).ok()?))) {
        // Joining an empty path would add a slash.
        Some(real) => real.components().collect(),
        None => path.to_owned(),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "folders to be refused are made in a place of the test's own")]
mod tests {
    use super::*;

    #[test]
    fn what_is_gits_ours_or_the_systems_can_be_no_workspace_and_a_home_can() {
        let home = tempfile::tempdir().unwrap();
        let home = std::fs::canonicalize(home.path()).unwrap();
        let reserved = ReservedFolders::new(Path::new("/srv/data"), Some(&home.join(".config/planwright/config.toml")), Some(&home));
        let open = |folder: &str| reserved.refusal(Path::new(folder)).is_none();
        for folder in [
            "/proc",
            "/proc/1/fd",
            "/sys/kernel",
            "/dev/shm",
            "/srv/a/.git",
            "/srv/a/.GIT/hooks",
            "/srv/a/.planwright/chats",
            "/srv",
            "/srv/data",
            "/srv/data/commands",
            "/srv/data/samples",
            "/srv/data/samples/own",
            "/",
        ] {
            assert!(!open(folder), "{folder}");
        }
        for folder in ["/srv/a", "/srv/data/samples/own/greeter", "/srv/database", "/process", "/srv/.github", "/srv/a/.gitlab"] {
            assert!(open(folder), "{folder}");
        }
        let at = |below: &str| reserved.refusal(&home.join(below)).is_none();
        assert!(at("") && at("project") && at(".config/other"));
        assert!(!at(".config") && !at(".config/planwright") && !at(".config/planwright/roles"));
        // The exception is only for the home folder.
        let elsewhere = ReservedFolders::new(Path::new("/srv/data"), Some(Path::new("/conf/planwright/config.toml")), Some(&home));
        assert!(elsewhere.refusal(Path::new("/conf")).is_some() && elsewhere.refusal(&home).is_none());
    }

    #[test]
    fn a_configuration_behind_a_link_is_reserved_where_it_really_is() {
        let place = tempfile::tempdir().unwrap();
        let place = std::fs::canonicalize(place.path()).unwrap();
        std::fs::create_dir_all(place.join("conf/planwright")).unwrap();
        std::fs::create_dir(place.join("dotfiles")).unwrap();
        std::fs::write(place.join("dotfiles/own.toml"), "").unwrap();
        std::os::unix::fs::symlink(place.join("dotfiles/own.toml"), place.join("conf/planwright/config.toml")).unwrap();
        let reserved = ReservedFolders::new(Path::new("/srv/data"), Some(&place.join("conf/planwright/config.toml")), None);
        for folder in ["dotfiles", "conf/planwright", "conf"] {
            assert!(reserved.refusal(&place.join(folder)).is_some(), "{folder}");
        }
    }
}
