//! A server's command line, and which parts of the machine it must see.

use planwright_protocol::settings::ServerConfig;
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::command::Program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The program of a server, with the present values of its variables.
///
/// # Errors
/// A variable is not set, or the program is missing.
pub fn program(name: &str, config: &ServerConfig, workspace: &Path) -> Result<Program, Problem> {
    let mut words = config.command_line().unwrap_or_default();
    if let Some(first) = words.first_mut() {
        *first = found(name, first, workspace)?;
    }
    let mut variables = config.env.clone();
    for variable in &config.env_from {
        variables.insert(variable.clone(), value_of(name, variable)?);
    }
    let named = named_paths(&words, workspace);
    let readable = config.readable.iter().cloned().chain(named).collect();
    Ok(Program { name: name.to_owned(), words, variables, readable, network: config.network })
}

/// # Errors
/// It is not set.
pub fn value_of(server: &str, variable: &str) -> Result<String, Problem> {
    let unset = || {
        let text = format!(
            "The MCP server `{server}` needs the environment variable {variable}, which is not set. Set it where Planwright is started."
        );
        Problem::new(ErrorCode::McpFailed, text)
    };
    std::env::var(variable).ok().filter(|value| !value.is_empty()).ok_or_else(unset)
}

/// Looks up a bare program name as the user's shell would.
fn found(server: &str, word: &str, workspace: &Path) -> Result<String, Problem> {
    let missing = || {
        let text =
            format!("Can't find the program {word:?} of the MCP server `{server}`. Install it, or fix `command` in the configuration.");
        Problem::new(ErrorCode::McpFailed, text)
    };
    if word.contains('/') {
        let path = workspace.join(word);
        return if path.is_file() { Ok(path.to_string_lossy().into_owned()) } else { Err(missing()) };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A program of the workspace must be named with its path.
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute() && !folder.starts_with(workspace));
    let file = folders.map(|folder| folder.join(word)).find(|file| file.is_file()).ok_or_else(missing)?;
    Ok(file.to_string_lossy().into_owned())
}

/// The full paths in the command line, with the folders they belong to. The workspace is visible anyway, and its links are not followed.
fn named_paths(words: &[String], workspace: &Path) -> Vec<PathBuf> {
    let mut paths = BTreeSet::new();
    for path in words.iter().map(Path::new).filter(|path| path.is_absolute() && !path.starts_with(workspace)) {
        for path in [Some(path.to_owned()), std::fs::canonicalize(path).ok()].into_iter().flatten() {
            if path.is_dir() {
                paths.extend(Some(path).filter(|path| !is_too_wide(path)));
            } else if path.is_file() {
                paths.insert(home_of(&path));
            }
        }
    }
    paths.into_iter().filter(|path| !path.starts_with(workspace)).collect()
}

/// The folder that a program's file needs: its package or installation. Only the file itself if that folder is shared.
fn home_of(file: &Path) -> PathBuf {
    let packages = file.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules"));
    if let Some(packages) = packages.last() {
        return packages.to_owned();
    }
    let Some(folder) = file.parent() else { return file.to_owned() };
    let installed = folder.parent().filter(|above| {
        folder.file_name().is_some_and(|name| name == "bin") && (above.join("pyvenv.cfg").is_file() || above.join("lib").is_dir())
    });
    [installed, Some(folder)].into_iter().flatten().find(|folder| !is_too_wide(folder)).unwrap_or(file).to_owned()
}

/// Folders that contain everything, including credentials.
fn is_too_wide(folder: &Path) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let holds_home = home.is_some_and(|home| home.starts_with(folder));
    holds_home || folder.components().count() <= 2 || ["/var/tmp", "/run/user"].iter().any(|wide| Path::new(wide) == folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn put(folder: &TempDir, path: &str) -> PathBuf {
        let file = folder.path().join(path);
        #[expect(clippy::disallowed_methods, reason = "files of the test")]
        {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
        }
        file
    }

    #[test]
    fn a_program_sees_the_package_it_lies_in_and_the_folders_it_is_given() {
        let folder = TempDir::new().unwrap();
        let script = put(&folder, "tools/node_modules/server/dist/index.js");
        let plain = put(&folder, "own/server.py");
        let python = put(&folder, "venv/bin/python");
        put(&folder, "venv/pyvenv.cfg");
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let words =
            ["node".to_owned(), text(&script), text(&plain), text(&python), "--root=/etc".to_owned(), text(&folder.path().join("own"))];
        let wanted = ["own", "tools/node_modules", "venv"].map(|name| folder.path().join(name));
        assert_eq!(named_paths(&words, Path::new("/nowhere")), wanted);
    }

    #[test]
    fn no_link_of_the_workspace_shows_a_program_more_of_the_machine() {
        let folder = TempDir::new().unwrap();
        let workspace = folder.path().join("workspace");
        put(&folder, "keys/key");
        put(&folder, "workspace/server.py");
        std::os::unix::fs::symlink(folder.path().join("keys"), workspace.join("data")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("keys/key"), workspace.join("other.py")).unwrap();
        let words = ["server.py", "data", "other.py"].map(|name| workspace.join(name).to_str().unwrap().to_owned());
        assert_eq!(named_paths(&words, &workspace), Vec::<PathBuf>::new());
    }

    #[test]
    fn folders_in_which_everything_lies_are_not_shown_because_they_are_named() {
        for wide in ["/", "/home", "/etc", "/tmp", "/var/tmp"] {
            assert!(is_too_wide(Path::new(wide)), "{wide}");
        }
        assert!(named_paths(&["/".to_owned(), "/etc".to_owned()], Path::new("/nowhere")).is_empty());
    }
}
