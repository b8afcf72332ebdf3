//! What a command may see, change and use.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// All that the sandbox of one command depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// The workspace on the host; the command sees it at the same place.
    pub workspace: PathBuf,
    pub view: View,
    /// The folder to begin in, relative to the workspace.
    pub cwd: PathBuf,
    /// What stays as it is even where the workspace can be changed, relative to it.
    pub fixed: Vec<PathBuf>,
    /// Files and folders that are empty for the command, relative to the workspace. Names need not be UTF-8.
    pub hidden: Vec<OsString>,
    /// Files and folders that the command can't open, relative to the workspace: empty, git would take them for changed or deleted.
    pub closed: Vec<OsString>,
    /// What belongs to the server: no command sees it, whatever else is shown.
    pub own: Vec<PathBuf>,
    /// Other workspaces: hidden in everything that is shown whole, but for what they have of this workspace.
    pub others: Vec<PathBuf>,
    /// A file of the host that tells git who commits, if the user told it so.
    pub identity: Option<PathBuf>,
    /// A folder of the host for caches and build output, seen as `/scratch`.
    pub scratch: PathBuf,
    /// Whether `/scratch` is in memory and ends with the command. The folder is then only the place where it is mounted.
    pub scratch_in_memory: bool,
    /// The bytes of memory in which a staged view keeps what the command changes; `None` where that is on the disk.
    pub memory: Option<u64>,
    /// Whether build tools are told to put what they make into `/scratch`.
    pub builds_in_scratch: bool,
    /// More folders of the host that can be changed, at the same place.
    pub writable: Vec<PathBuf>,
    /// More files and folders of the host that can be read, at the same place.
    pub readable: Vec<PathBuf>,
    /// Variables that are handed down; their values never stand on a command line.
    pub variables: Vec<String>,
    pub network: Network,
    pub limits: Limits,
}

impl Policy {
    /// Nothing but the workspace, from its root on, without a network.
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
    /// Through an overlay: what it changes lies in `folder/upper`, the workspace itself stays as it is.
    Staged { folder: PathBuf },
    /// Nothing can be changed. `folder` holds the place where an overlay is put, if the kernel has one.
    ReadOnly { folder: PathBuf },
    /// As it is; for kernels without overlays.
    Direct,
    /// No sandbox at all: only what the user's own configuration can ask for.
    Unconfined,
}

impl View {
    /// A staged view, with the folders that an overlay needs.
    ///
    /// # Errors
    /// They can't be made.
    pub fn staged(folder: PathBuf) -> std::io::Result<Self> {
        for name in ["upper", "work", "merged"] {
            make_closed(&folder.join(name))?;
        }
        Ok(Self::Staged { folder })
    }

    /// A read-only view. Through an overlay, sockets and pipes in the workspace lead nowhere.
    ///
    /// # Errors
    /// The folders that an overlay needs can't be made.
    pub fn read_only(folder: PathBuf) -> std::io::Result<Self> {
        for name in ["empty", "merged"] {
            make_closed(&folder.join(name))?;
        }
        Ok(Self::ReadOnly { folder })
    }
}

/// Makes a folder that nobody else on the machine can look into, whatever the umask says.
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
    /// Of one process; of all together where there are control groups.
    pub memory: u64,
    /// Of one file.
    pub file_size: u64,
    /// How much may be printed before the command is ended.
    pub output: u64,
    /// Bytes on disk that the command may write, and never more than half of what is free when it begins.
    pub disk: u64,
    /// Files and folders on disk that it may make, within the same bound.
    pub inodes: u64,
}

impl Limits {
    /// Bytes on disk that a command may write, unless the configuration says otherwise.
    pub const DISK: u64 = 10_000_000_000;

    /// The usual ones, for a command that may take this long.
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

impl Limits {
    /// For a program that serves others until it is told to end.
    #[must_use]
    pub fn of_service() -> Self {
        Self::within(Duration::MAX)
    }
}

fn host_memory() -> Option<u64> {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).checked_mul(u64::from(info.mem_unit))
}
