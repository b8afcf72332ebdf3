//! Builds bubblewrap's command line, which sets up the namespaces.

use crate::enter::Inner;
use crate::policy::{Network, Policy};
use crate::root::{ROOT, SELF};
use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

/// Size limit of `/dev/shm`, in bytes.
const SHARED_MEMORY: &str = "1073741824";
/// Files and folders in `/proc` that write to the kernel; mounted read-only.
const KERNEL: &[&str] =
    &["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/mtrr"];

pub struct Wrap<'p> {
    pub policy: &'p Policy,
    /// Descriptor on which bubblewrap reports the id of the sandbox's first process.
    pub info: RawFd,
}

impl Wrap<'_> {
    /// [`crate::root`] has already assembled the file tree; bubblewrap mounts nothing by a name that a workspace controls.
    pub fn arguments(&self, inner: &Inner) -> Vec<OsString> {
        let mut line = Line::default();
        line.flags(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        if self.policy.network == Network::Off {
            line.flags(&["--unshare-net"]);
        }
        line.flags(&["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "planwright"]);
        line.flags(&["--info-fd", &self.info.to_string()]);
        line.flags(&["--bind", ROOT, "/", "--proc", "/proc", "--dev", "/dev", "--size", SHARED_MEMORY, "--tmpfs", "/dev/shm"]);
        // Without this, a server that runs as root would leave these writable even though all capabilities are dropped.
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

/// Finds bubblewrap: the path in `PLANWRIGHT_BUBBLEWRAP`, otherwise `bwrap` on the search path.
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
