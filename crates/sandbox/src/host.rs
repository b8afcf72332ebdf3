//! The parts of the host that a command sees: programs, libraries and toolchains, all read-only.
//!
//! Each is listed by name. Neither `/etc` nor a home is visible as a whole, because credentials are stored there.

use crate::policy::{Network, Policy, View};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub const SCRATCH: &str = "/scratch";
pub const HOME: &str = "/home/agent";

/// Program folders that are the homes of system accounts.
pub const PROGRAMS: &[&str] = &[
    "/usr",
    "/usr/bin",
    "/usr/games",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/sbin",
    "/usr/sbin",
    "/usr/share",
    "/usr/src",
];
const SYSTEM: &[&str] = &["/usr", "/opt", "/nix/store"];
/// Folders on most systems; links into `/usr` on newer ones.
const MERGED: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "debian_version",
    "fonts",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
];
/// Toolchains in homes. `.cargo` also has credentials, so only parts of it are listed.
const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/git",
    ".cargo/registry",
    ".deno/bin",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".volta",
    "go/bin",
    "go/pkg/mod",
];
/// Variables that locate a toolchain or control how text is displayed. No other variable of the server is passed on.
const KEPT: &[&str] =
    &["LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "GOROOT", "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT", "VOLTA_HOME", "RUSTUP_TOOLCHAIN"];

/// One part of the host that is visible inside.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    Tree(PathBuf),
    Link { target: PathBuf, at: PathBuf },
}

/// Everything that is visible inside besides the workspace.
pub fn shown(network: Network) -> Vec<Shown> {
    let mut shown: Vec<Shown> = SYSTEM.iter().map(PathBuf::from).filter(|path| path.exists()).map(Shown::Tree).collect();
    for path in MERGED.iter().map(PathBuf::from) {
        match std::fs::read_link(&path) {
            Ok(target) => shown.push(Shown::Link { target, at: path }),
            Err(_) if path.is_dir() => shown.push(Shown::Tree(path)),
            Err(_) => {}
        }
    }
    let resolver = (network == Network::On).then_some("resolv.conf");
    let etc = ETC.iter().copied().chain(resolver).map(|name| Path::new("/etc").join(name));
    shown.extend(etc.filter(|path| path.exists()).map(Shown::Tree));
    shown.extend(toolchains().into_iter().map(Shown::Tree));
    shown
}

fn toolchains() -> Vec<PathBuf> {
    let Some(home) = home() else { return Vec::new() };
    let mut found: Vec<PathBuf> = TOOLCHAINS.iter().map(|name| home.join(name)).collect();
    if let Some(cargo) = folder_of("CARGO_HOME") {
        found.extend(["bin", "git", "registry"].map(|name| cargo.join(name)));
    }
    found.extend(folder_of("RUSTUP_HOME"));
    found.retain(|path| path.is_dir());
    found.sort();
    found.dedup();
    // Tells cargo where packages come from, which offline builds depend on. Left out if it may contain a token.
    let config = folder_of("CARGO_HOME").unwrap_or_else(|| home.join(".cargo")).join("config.toml");
    if std::fs::read_to_string(&config).is_ok_and(|text| !text.contains("token")) {
        found.push(config);
    }
    found
}

/// The folder that an environment variable names.
fn folder_of(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute() && folder.is_dir())
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute() && home != Path::new("/"))
}

/// The homes of all accounts in the system's list and of the server's user.
///
/// # Errors
/// The list of accounts can't be read.
pub fn homes() -> std::io::Result<Vec<PathBuf>> {
    let accounts = match std::fs::read("/etc/passwd") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    Ok(homes_in(&accounts).into_iter().chain(home()).collect())
}

fn homes_in(accounts: &[u8]) -> BTreeSet<PathBuf> {
    let lines = accounts.split(|&byte| byte == b'\n');
    let homes = lines.filter_map(|line| line.split(|&byte| byte == b':').nth(5)).map(|home| PathBuf::from(OsStr::from_bytes(home)));
    homes.filter(|home| home.is_absolute() && home.parent().is_some()).collect()
}

/// The environment of a command.
pub fn environment(policy: &Policy, shown: &[Shown]) -> BTreeMap<String, String> {
    let kept = |names: &[&str]| -> BTreeMap<String, String> {
        names.iter().filter_map(|&name| Some((name.to_owned(), std::env::var(name).ok()?))).collect()
    };
    if let View::Unconfined = policy.view {
        return kept(&[KEPT, &["HOME", "PATH", "USER", "SHELL"]].concat());
    }
    let mut environment = kept(KEPT);
    let mut set = |name: &str, value: &str| environment.insert(name.to_owned(), value.to_owned());
    set("PATH", &search_path(shown));
    set("HOME", HOME);
    for (name, value) in [
        ("TERM", "dumb"),
        ("TMPDIR", "/tmp"),
        ("PLANWRIGHT_SANDBOX", "1"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("npm_config_update_notifier", "false"),
    ] {
        set(name, value);
    }
    let mut scratch = vec![("XDG_CACHE_HOME", "cache"), ("npm_config_cache", "npm"), ("PIP_CACHE_DIR", "pip"), ("GOCACHE", "go")];
    if policy.builds_in_scratch {
        scratch.extend([("CARGO_TARGET_DIR", "target"), ("PYTHONPYCACHEPREFIX", "pycache")]);
        set("PYTEST_ADDOPTS", &format!("-o cache_dir={SCRATCH}/pytest"));
    }
    for (name, folder) in scratch {
        set(name, &format!("{SCRATCH}/{folder}"));
    }
    let toolchains = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv"), ("GOMODCACHE", "go/pkg/mod")];
    let home = home().unwrap_or_default();
    for (name, folder) in toolchains.map(|(name, folder)| (name, folder_of(name).unwrap_or_else(|| home.join(folder)))) {
        if let Some(folder) = folder.to_str().filter(|_| folder.is_dir()) {
            set(name, folder);
        }
    }
    environment
}

/// The server's search path, reduced to folders that are visible inside. It never includes the workspace.
fn search_path(shown: &[Shown]) -> String {
    let visible = |folder: &PathBuf| {
        folder.is_absolute()
            && shown.iter().any(|shown| match shown {
                Shown::Tree(path) | Shown::Link { at: path, .. } => folder.starts_with(path),
            })
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).filter(visible).collect();
    let is_of_home = |path: &&PathBuf| path.ends_with("bin") && !SYSTEM.iter().any(|system| path.starts_with(system));
    let toolchains = shown.iter().filter_map(|shown| match shown {
        Shown::Tree(path) => Some(path).filter(is_of_home).filter(|path| !MERGED.contains(&path.to_str().unwrap_or_default())),
        Shown::Link { .. } => None,
    });
    // A service's search path has no toolchains from homes. They come last, so that they override nothing.
    let toolchains: Vec<PathBuf> = toolchains.cloned().collect();
    let usual = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    for usual in usual.into_iter().chain(toolchains) {
        if !folders.contains(&usual) {
            folders.push(usual);
        }
    }
    folders.iter().filter_map(|folder| folder.to_str()).collect::<Vec<_>>().join(":")
}

/// The git identity for commits: the user's name and address, and nothing else of their configuration.
#[must_use]
pub fn identity() -> Option<String> {
    let home = home()?;
    let files = [home.join(".gitconfig"), folder_of("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("git/config")];
    let text: String = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect::<Vec<_>>().join("\n");
    let mut section = "";
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        if section == "[user]" && ["name", "email"].iter().any(|key| line.split('=').next().is_some_and(|word| word.trim() == *key)) {
            lines.push(format!("\t{line}\n"));
        }
    }
    (!lines.is_empty()).then(|| format!("[user]\n{}", lines.concat()))
}

/// The shell that runs the command.
pub fn shell() -> &'static str {
    if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_those_of_the_accounts_and_the_root_is_none() {
        let accounts =
            b"root:x:0:0:root:/root:/bin/sh\nmessagebus:x:1:1::/:/bin/false\nann:x:2:2:Ann:/opt/ann:/bin/sh\nbroken\nempty:x:3:3:::\n";
        assert_eq!(homes_in(accounts).into_iter().collect::<Vec<_>>(), [PathBuf::from("/opt/ann"), PathBuf::from("/root")]);
    }
}
