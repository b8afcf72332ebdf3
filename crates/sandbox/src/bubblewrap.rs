//! The boundary: bubblewrap's command line.

use crate::enter::Inner;
use crate::policy::{Network, Policy};
use crate::root::{ROOT, SELF};
use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

/// How much can be put into the folder for shared memory.
const SHARED_MEMORY: &str = "1073741824";
/// Where the kernel takes orders.
const KERNEL: &[&str] =
    &["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/mtrr"];

pub struct Wrap<'p> {
    pub policy: &'p Policy,
    /// Where bubblewrap tells the number of the sandbox's first process.
    pub info: RawFd,
}

impl Wrap<'_> {
    /// The file tree is put together already (see [`crate::root`]); bubblewrap mounts nothing by a name that a workspace has a say in.
    pub fn arguments(&self, inner: &Inner) -> Vec<OsString> {
        let mut line = Line::default();
        line.flags(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        if self.policy.network == Network::Off {
            line.flags(&["--unshare-net"]);
        }
        line.flags(&["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "planwright"]);
        line.flags(&["--info-fd", &self.info.to_string()]);
        line.flags(&["--bind", ROOT, "/", "--proc", "/proc", "--dev", "/dev", "--size", SHARED_MEMORY, "--tmpfs", "/dev/shm"]);
        // A server that runs as root would hand its rights to these on, with all capabilities gone.
        for settings in KERNEL.iter().map(Path::new).filter(|path| path.exists()) {
            line.bind("--ro-bind", settings, settings);
        }
        line.flags(&["--remount-ro", "/dev", "--remount-ro", "/", "--chdir"]);
        let Policy { workspace, cwd, .. } = self.policy;
        line.0.push(if cwd.as_os_str().is_empty() { workspace.into() } else { workspace.join(cwd).into() });
        line.flags(&["--", SELF]);
        line.0.extend(inner.arguments());
        line.0
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
    if let Some(named) = std::env::var_os("PLANWRIGHT_BUBBLEWRAP").filter(|named| !named.is_empty()) {
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
