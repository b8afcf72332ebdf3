//! What a command may see, change and use.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything that the sandbox of one command depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// The workspace on the host; the command sees it at the same path.
    pub workspace: PathBuf,
    pub view: View,
    /// The working directory, relative to the workspace.
    pub cwd: PathBuf,
    /// Paths that stay read-only even in a writable workspace, relative to it.
    pub fixed: Vec<PathBuf>,
    /// Files and folders that the command sees as empty, relative to the workspace. Names need not be UTF-8.
    pub hidden: Vec<OsString>,
    /// Files and folders that the command can't open, relative to the workspace. If they were empty, git would report them as
    /// changed or deleted.
    pub closed: Vec<OsString>,
    /// The server's own files, which no command sees, whatever else is visible.
    pub own: Vec<PathBuf>,
    /// Other workspaces. They are hidden in everything else that is visible, except for their parts of this workspace.
    pub others: Vec<PathBuf>,
    /// A file on the host with the git identity for commits, if the user set one.
    pub identity: Option<PathBuf>,
    /// A folder on the host for caches and build output, visible as `/scratch`.
    pub scratch: PathBuf,
    /// Whether `/scratch` is in memory and is discarded with the command. The folder is then only the mount point.
    pub scratch_in_memory: bool,
    /// Size of the memory in which a staged view holds the command's changes, in bytes. `None` if it holds them on the disk.
    pub memory: Option<u64>,
    /// Whether build tools are configured to write their output to `/scratch`.
    pub builds_in_scratch: bool,
    /// Additional writable folders of the host, visible at the same path.
    pub writable: Vec<PathBuf>,
    /// Additional readable files and folders of the host, visible at the same path.
    pub readable: Vec<PathBuf>,
    /// Variables that are passed on; their values never appear on a command line.
    pub variables: Vec<String>,
    pub network: Network,
    pub limits: Limits,
}

impl Policy {
    /// A policy with only the workspace, starting at its root, without a network.
    #[must_use]
    pub fn plain(workspace: PathBuf, view: View, scratch: PathBuf, limits: Limits) -> Self {
        Self {
            workspace,
            view,
            cwd: PathBuf::new(),
            fixed: Vec::new(),
            hidden: Vec::new(),
            closed: Vec::new(),
            own: Vec::new(),
            others: Vec::new(),
            identity: None,
            scratch,
            scratch_in_memory: false,
            memory: None,
            builds_in_scratch: false,
            writable: Vec::new(),
            readable: Vec::new(),
            variables: Vec::new(),
            network: Network::Off,
            limits,
        }
    }
}

/// How a command sees the workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum View {
    /// Through an overlay: changes go to `folder/upper`, and the workspace stays unchanged.
    Staged { folder: PathBuf },
    /// Read-only. `folder` holds the overlay's mount point, if the kernel supports overlays.
    ReadOnly { folder: PathBuf },
    /// Writable directly; for kernels without overlays.
    Direct,
    /// No sandbox at all. Only the user's own configuration can request this.
    Unconfined,
}

impl View {
    /// A staged view. Creates the folders that an overlay needs.
    ///
    /// # Errors
    /// The folders can't be created.
    pub fn staged(folder: PathBuf) -> std::io::Result<Self> {
        for name in ["upper", "work", "merged"] {
            make_closed(&folder.join(name))?;
        }
        Ok(Self::Staged { folder })
    }

    /// A read-only view. Through an overlay, sockets and pipes in the workspace are not connected to anything.
    ///
    /// # Errors
    /// The folders that an overlay needs can't be created.
    pub fn read_only(folder: PathBuf) -> std::io::Result<Self> {
        for name in ["empty", "merged"] {
            make_closed(&folder.join(name))?;
        }
        Ok(Self::ReadOnly { folder })
    }
}

/// Creates a folder that no other user can open, whatever the umask.
fn make_closed(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    Off,
    On,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    pub time: Duration,
    pub processes: u64,
    /// Bytes for each process; for all processes together if control groups are available.
    pub memory: u64,
    /// Maximum size of one file.
    pub file_size: u64,
    /// Bytes that the command may print before it is ended.
    pub output: u64,
    /// Bytes that the command may write to the disk; at most half of the free space at its start.
    pub disk: u64,
    /// Files and folders that the command may create on the disk, with the same bound.
    pub inodes: u64,
}

impl Limits {
    /// Default limit on the bytes that a command may write to the disk.
    pub const DISK: u64 = 10_000_000_000;

    /// The default limits, with this timeout.
    #[must_use]
    pub fn within(time: Duration) -> Self {
        let physical = host_memory().unwrap_or(4 << 30);
        Self {
            time,
            processes: 512,
            memory: (physical / 2).clamp(1 << 30, 16 << 30),
            file_size: 2_000_000_000,
            output: 64 << 20,
            disk: Self::DISK,
            inodes: 1_000_000,
        }
    }
}

/// A file may exceed the share a little, so that the command that wrote it is recognised.
const ABOVE_SHARE: u64 = 1 << 20;

impl Limits {
    /// The same limits for a command with this share of the disk: no single file outgrows it.
    #[must_use]
    pub fn with_share(self, disk: u64) -> Self {
        Self { disk, file_size: self.file_size.min(disk.saturating_add(ABOVE_SHARE)), ..self }
    }

    /// Limits for a program that serves requests until it is stopped.
    #[must_use]
    pub fn of_service() -> Self {
        Self::within(Duration::MAX)
    }
}

/// The memory that programs can take without displacing others, in bytes.
#[must_use]
pub fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes: Option<u64> = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.map_or(0, |kilobytes| kilobytes << 10)
}

fn host_memory() -> Option<u64> {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).checked_mul(u64::from(info.mem_unit))
}
