//! Folders of the machine that can be no workspace, whoever asks: an agent there could read the server's keys, or change what
//! it is held by.

use planwright_tools::path::OWN;
use std::path::{Path, PathBuf};

/// What belongs to this server.
#[derive(Clone, Debug, Default)]
pub struct Reserved {
    /// Where chats and the token are kept.
    data: PathBuf,
    /// The user's configuration: its folder, and its file if that is elsewhere.
    configuration: Vec<PathBuf>,
    home: Option<PathBuf>,
}

/// Where in the folder for data the samples are, each in a folder of its user: the only things there that an agent may see.
pub const SAMPLES: &str = "samples";

/// What the kernel shows of processes and devices, the server's own environment too.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Reserved {
    /// The folder for data, the file of the user's configuration, and the user's home; links are followed as far as there is
    /// something.
    #[must_use]
    pub fn new(data: &Path, configuration: Option<&Path>, home: Option<&Path>) -> Self {
        let folder = configuration.and_then(Path::parent);
        Self { data: real(data), configuration: folder.into_iter().chain(configuration).map(real).collect(), home: home.map(real) }
    }

    /// What no command may see.
    #[must_use]
    pub fn private(&self) -> Vec<PathBuf> {
        [&self.data].into_iter().chain(&self.configuration).filter(|path| path.is_absolute()).cloned().collect()
    }

    /// Why a folder, by its real path, can be no workspace; as the end of a sentence that begins with it.
    #[must_use]
    pub fn refusal(&self, folder: &Path) -> Option<&'static str> {
        let is_own = |name: &std::ffi::OsStr| OWN.iter().any(|own| name.eq_ignore_ascii_case(own));
        if folder.components().any(|part| is_own(part.as_os_str())) {
            return Some("is a folder of git's or of Planwright's own, or lies in one, and no agent may change those");
        }
        if SYSTEM.iter().any(|system| folder.starts_with(system)) {
            return Some("belongs to the system itself, where the server's own keys can be read");
        }
        if folder.starts_with(&self.data) && !self.is_sample(folder) {
            return Some("lies in the folder that Planwright keeps its chats in, where the agent could read them");
        }
        if self.data.starts_with(folder) {
            return Some(
                "has the folder in it that Planwright keeps its chats in, where the agent could read them; give a --data-dir elsewhere",
            );
        }
        let holds = |own: &PathBuf| own.starts_with(folder) && !self.is_usual(own, folder);
        if self.configuration.iter().any(|own| folder.starts_with(own) || holds(own)) {
            return Some("has Planwright's own configuration in it, or lies in it, and the agent could change what holds it back");
        }
        None
    }

    fn is_sample(&self, folder: &Path) -> bool {
        folder.strip_prefix(self.data.join(SAMPLES)).is_ok_and(|below| below.components().count() == 2)
    }

    /// Whether it is the home as a whole that has the configuration in it, which is the user's own choice.
    fn is_usual(&self, own: &Path, folder: &Path) -> bool {
        self.home.as_ref().is_some_and(|home| own.starts_with(home) && home.starts_with(folder))
    }
}

/// The path without links, as far as there is something at it.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|folder| Some((folder, std::fs::canonicalize(folder).ok()?)));
    match found.and_then(|(folder, found)| Some(found.join(path.strip_prefix(folder).ok()?))) {
        // Joined with nothing, a path ends in a slash.
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
        let reserved = Reserved::new(Path::new("/srv/data"), Some(&home.join(".config/planwright/config.toml")), Some(&home));
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
        // Elsewhere than in the home, nothing around it is usual.
        let elsewhere = Reserved::new(Path::new("/srv/data"), Some(Path::new("/conf/planwright/config.toml")), Some(&home));
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
        let reserved = Reserved::new(Path::new("/srv/data"), Some(&place.join("conf/planwright/config.toml")), None);
        for folder in ["dotfiles", "conf/planwright", "conf"] {
            assert!(reserved.refusal(&place.join(folder)).is_some(), "{folder}");
        }
    }
}
