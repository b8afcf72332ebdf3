//! The boundary: bubblewrap's command line.

use crate::enter::Inner;
use crate::host::{HOME, SCRATCH, Shown};
use crate::policy::{Network, Policy, View};
use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

/// Our own binary, inside.
const SELF: &str = "/run/planwright";
/// Where the kernel takes orders.
const KERNEL: &[&str] =
    &["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/mtrr"];
/// How much can be put into the private folders that live in memory.
const MEMORY_FOLDER: &str = "1073741824";

pub struct Wrap<'p> {
    pub policy: &'p Policy,
    pub shown: &'p [Shown],
    /// Where the workspace's overlay is, if it has one.
    pub merged: Option<&'p Path>,
    /// Where bubblewrap tells the number of the sandbox's first process.
    pub info: RawFd,
    pub own_binary: &'p Path,
}

impl Wrap<'_> {
    pub fn arguments(&self, inner: &Inner) -> Vec<OsString> {
        let mut line = Line::default();
        line.flags(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        if self.policy.network == Network::Off {
            line.flags(&["--unshare-net"]);
        }
        line.flags(&["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "planwright"]);
        line.flags(&["--info-fd", &self.info.to_string()]);
        line.flags(&["--proc", "/proc", "--dev", "/dev"]);
        // A server that runs as root would hand its rights to these on, with all capabilities gone.
        for settings in KERNEL.iter().map(Path::new).filter(|path| path.exists()) {
            line.bind("--ro-bind", settings, settings);
        }
        for folder in ["/tmp", "/var/tmp", "/run", HOME] {
            line.flags(&["--size", MEMORY_FOLDER, "--tmpfs", folder]);
        }
        line.flags(&["--symlink", "../run", "/var/run"]);
        for shown in self.shown {
            match shown {
                Shown::Tree(path) => line.bind("--ro-bind", path, path),
                Shown::Link { target, at } => line.bind("--symlink", target, at),
            }
        }
        line.bind("--ro-bind", self.own_binary, Path::new(SELF));
        if let Some(identity) = &self.policy.identity {
            line.bind("--ro-bind", identity, &Path::new(HOME).join(".gitconfig"));
        }
        line.bind("--bind", &self.policy.scratch, Path::new(SCRATCH));
        for folder in &self.policy.writable {
            line.bind("--bind", folder, folder);
        }
        for path in &self.policy.readable {
            line.bind("--ro-bind", path, path);
        }
        self.workspace(&mut line);
        line.flags(&["--remount-ro", "/", "--chdir"]);
        let Policy { workspace, cwd, .. } = self.policy;
        line.0.push(if cwd.as_os_str().is_empty() { workspace.into() } else { workspace.join(cwd).into() });
        line.flags(&["--", SELF]);
        line.0.extend(inner.arguments());
        line.0
    }

    fn workspace(&self, line: &mut Line) {
        let Policy { workspace, view, fixed, hidden, nothing, .. } = self.policy;
        let source = self.merged.unwrap_or(workspace);
        match view {
            View::ReadOnly { .. } => line.bind("--ro-bind", source, workspace),
            View::Staged { .. } | View::Direct | View::Unconfined => {
                line.bind("--bind", source, workspace);
                for path in fixed {
                    line.bind("--ro-bind", &source.join(path), &workspace.join(path));
                }
            }
        }
        for path in hidden {
            line.bind("--ro-bind", nothing, &workspace.join(path));
        }
    }
}

#[derive(Default)]
struct Line(Vec<OsString>);

impl Line {
    fn flags(&mut self, flags: &[&str]) {
        self.0.extend(flags.iter().map(OsString::from));
    }

    fn bind(&mut self, how: &str, from: &Path, to: &Path) {
        self.0.extend([OsStr::new(how).to_owned(), from.as_os_str().to_owned(), to.as_os_str().to_owned()]);
    }
}

/// Where bubblewrap is: where `PLANWRIGHT_BUBBLEWRAP` says, or on the search path.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PLANWRIGHT_BUBBLEWRAP") {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/bin", "/bin", "/usr/local/bin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .chain(usual)
        .map(|folder| folder.join("bwrap"))
        .find(|path| path.is_file())
}
