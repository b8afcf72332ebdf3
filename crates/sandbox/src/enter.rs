//! The two stages of a sandbox: our own binary, started again. The outer one prepares the boundary, the inner one closes the
//! remaining gaps.
//!
//! Each stage is a process with a single thread, because a server with many threads can do neither safely.

use crate::bubblewrap::Wrap;
use crate::host::{self, HOME, SCRATCH, Shown};
use crate::policy::{Limits, Network, Policy, View};
use crate::{cgroup, descriptor_pass, keeper, landlock, mount, root, seccomp};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::process::{Resource, Rlimit};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Failure = Box<dyn std::error::Error>;

/// How much a command yields to other programs.
const NICENESS: i32 = 5;
const OUTER: &str = "__sandbox-outer";
const INNER: &str = "__sandbox-inner";
/// The inner stage writes this when everything is in place, right before it becomes the command.
pub const READY: &[u8] = b"ready";

/// The input of the outer stage.
#[derive(Serialize, Deserialize)]
pub struct Outer {
    pub policy: Policy,
    pub command: String,
    pub environment: BTreeMap<String, String>,
    pub shown: Vec<Shown>,
    /// The users' homes, which are hidden in everything that is visible.
    pub homes: Vec<PathBuf>,
    pub bubblewrap: PathBuf,
    pub groups: Vec<PathBuf>,
    pub info: RawFd,
    /// Descriptor on which a stage reports its failure, and the last stage reports [`READY`].
    pub status: RawFd,
    /// Socket that passes the in-memory folder with the command's changes to the server.
    pub memory: Option<RawFd>,
}

/// The input of the inner stage.
#[derive(Serialize, Deserialize)]
pub struct Inner {
    command: String,
    writable: Vec<PathBuf>,
    network: Network,
    limits: Limits,
    variables: Vec<String>,
    status: RawFd,
}

/// The name under which the value of a policy's variable travels to the inner stage. Under its own name it could influence a
/// program outside of the boundary.
pub fn variable_name(place: usize) -> String {
    format!("PLANWRIGHT_HANDED_{place}")
}

impl Outer {
    /// Writes the input to an in-memory file, because a policy can be too long for a command line.
    pub fn describe(&self) -> std::io::Result<OwnedFd> {
        let mut file = File::from(rustix::fs::memfd_create(c"sandbox", rustix::fs::MemfdFlags::CLOEXEC)?);
        serde_json::to_writer(&mut file, self)?;
        file.rewind()?;
        Ok(file.into())
    }

    pub fn arguments(description: &OwnedFd) -> [String; 2] {
        [OUTER.to_owned(), description.as_raw_fd().to_string()]
    }

    fn described(number: &str) -> Option<Self> {
        let mut text = String::new();
        described_by(number.parse().ok()?).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }
}

#[expect(unsafe_code, reason = "the number of the descriptor comes from the command line")]
fn described_by(number: RawFd) -> File {
    // SAFETY: the descriptor was handed down for this alone; an invalid number fails when it is read.
    unsafe { File::from_raw_fd(number) }
}

impl Inner {
    pub fn arguments(&self) -> [OsString; 2] {
        [INNER.into(), serde_json::to_string(self).unwrap_or_default().into()]
    }
}

/// Every program that uses this crate calls this first. If the program was started as a stage of a sandbox, this runs the stage
/// and returns only if that failed.
#[must_use]
pub fn enter_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let stage = arguments.next()?;
    let input = arguments.next();
    let input = input.as_deref().and_then(|input| input.to_str()).unwrap_or_default();
    let (status, failure) = if stage == OUTER {
        let outer = Outer::described(input)?;
        (outer.status, prepare(&outer))
    } else if stage == INNER {
        let inner: Inner = serde_json::from_str(input).ok()?;
        (inner.status, close(&inner))
    } else {
        return None;
    };
    if let Err(failure) = failure {
        write_status(status, failure.to_string().as_bytes());
    }
    Some(ExitCode::FAILURE)
}

/// The outer stage: sets limits on everything that follows, mounts the overlay over the workspace, then becomes bubblewrap.
fn prepare(outer: &Outer) -> Result<(), Failure> {
    cgroup::join(&outer.groups).map_err(|error| format!("can't join the control group: {error}"))?;
    if let View::Unconfined = outer.policy.view {
        keeper::run_unconfined(outer);
    }
    // If memory runs out, the kernel kills the command before the server.
    let _ = std::fs::write("/proc/self/oom_score_adj", "800");
    // Held open: the tree assembled below hides its path, and it may be a script.
    let bubblewrap = rustix::fs::openat(CWD, &outer.bubblewrap, OFlags::PATH, Mode::empty())
        .map_err(|errno| format!("can't open {}: {errno}", outer.bubblewrap.display()))?;
    own_mounts().map_err(|error| format!("can't make a mount namespace: {error}"))?;
    let workspace = match &outer.policy.view {
        View::Staged { folder } | View::ReadOnly { folder } if folder.join("merged").is_dir() => {
            overlay(&outer.policy, folder, outer.memory).map_err(|error| format!("can't put an overlay over the workspace: {error}"))?
        }
        View::Staged { .. } | View::ReadOnly { .. } | View::Direct | View::Unconfined => open_workspace(&outer.policy)?,
    };
    root::assemble(&outer.policy, &outer.shown, &outer.homes, &workspace)?;
    drop(workspace);
    let wrap = Wrap { policy: &outer.policy, info: outer.info };
    let inner = Inner {
        command: outer.command.clone(),
        writable: writable(&outer.policy),
        network: outer.policy.network,
        limits: outer.policy.limits,
        variables: outer.policy.variables.clone(),
        status: outer.status,
    };
    let values =
        (0..outer.policy.variables.len()).filter_map(|place| Some((variable_name(place), std::env::var_os(variable_name(place))?)));
    let mut line = Command::new(format!("/proc/self/fd/{}", bubblewrap.as_raw_fd()));
    line.arg0(&outer.bubblewrap);
    let error = line.args(wrap.arguments(&inner)).env_clear().envs(&outer.environment).envs(values).exec();
    Err(format!("can't start {}: {error}", outer.bubblewrap.display()).into())
}

fn writable(policy: &Policy) -> Vec<PathBuf> {
    let mut writable: Vec<PathBuf> = ["/tmp", "/var/tmp", "/run", "/dev", HOME, SCRATCH].map(PathBuf::from).into();
    writable.extend(policy.writable.iter().cloned());
    match policy.view {
        View::Staged { .. } | View::Direct | View::Unconfined => writable.push(policy.workspace.clone()),
        View::ReadOnly { .. } => {}
    }
    writable
}

fn open_workspace(policy: &Policy) -> Result<OwnedFd, Failure> {
    mount::open(&policy.workspace).map_err(|errno| format!("can't open the workspace {}: {errno}", policy.workspace.display()).into())
}

/// Mounts the workspace at `folder/merged`, in a mount namespace that nobody else sees.
fn overlay(policy: &Policy, folder: &Path, memory: Option<RawFd>) -> Result<OwnedFd, Failure> {
    let open = |path: &Path| rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    // Paths are passed as descriptors, so that no character in them can be read as a mount option.
    let name = |descriptor: &OwnedFd| format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let workspace = open_workspace(policy)?;
    let (options, _kept) = match &policy.view {
        View::Staged { .. } => {
            let (upper, work) = match policy.memory.zip(memory) {
                Some((bytes, socket)) => stage_in_memory(&open(&folder.join("work"))?, bytes, socket)?,
                None => (open(&folder.join("upper"))?, open(&folder.join("work"))?),
            };
            (
                format!("lowerdir={},upperdir={},workdir={},userxattr,volatile", name(&workspace), name(&upper), name(&work)),
                vec![upper, work],
            )
        }
        View::ReadOnly { .. } | View::Direct | View::Unconfined => {
            let empty = open(&folder.join("empty"))?;
            (format!("lowerdir={}:{},userxattr", name(&workspace), name(&empty)), vec![empty])
        }
    };
    let options = CString::new(options)?;
    rustix::mount::mount("overlay", folder.join("merged"), "overlay", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?;
    Ok(open(&folder.join("merged"))?)
}

/// Mounts an in-memory folder on an empty folder, with one folder for the command's changes and one for the overlay's own use.
/// Passes the first to the server. The mount ends when its last descriptor is closed.
#[expect(unsafe_code, reason = "the number of the descriptor was handed down")]
fn stage_in_memory(place: &OwnedFd, bytes: u64, socket: RawFd) -> Result<(OwnedFd, OwnedFd), Failure> {
    // SAFETY: the descriptor was handed down for this alone. We close it here, before any code of the command runs.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let memory = mount::memory(bytes)?;
    mount::attach(&memory, place)?;
    let folder = |name: &str| -> Result<OwnedFd, Failure> {
        rustix::fs::mkdirat(&memory, name, Mode::RWXU)?;
        Ok(rustix::fs::openat(&memory, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    };
    let (upper, work) = (folder("upper")?, folder("work")?);
    descriptor_pass::send(socket.as_fd(), upper.as_fd())?;
    Ok((upper, work))
}

/// Creates a mount namespace, whose mounts no other process sees. Root may do this directly; other users need a user namespace.
fn own_mounts() -> Result<(), Failure> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if !user.is_root() || unshare(UnshareFlags::NEWNS).is_err() {
        unshare(UnshareFlags::NEWNS | UnshareFlags::NEWUSER)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
        std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
    }
    rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    Ok(())
}

#[expect(unsafe_code, reason = "the call has no safe form")]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: no descriptors are unshared, and this process has a single thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// The inner stage: drops inherited descriptors, sets limits, applies Landlock and seccomp, then becomes the command.
fn close(inner: &Inner) -> Result<(), Failure> {
    close_descriptors()?;
    let Limits { processes, memory, file_size, .. } = inner.limits;
    let both = |limit| Rlimit { current: Some(limit), maximum: Some(limit) };
    for (resource, limit) in [
        (Resource::Core, 0),
        (Resource::Nproc, processes),
        (Resource::Data, memory),
        (Resource::Fsize, file_size),
        (Resource::Nofile, 16_384),
    ] {
        // Setting a limit fails if a lower one already applies. Then that one stays.
        let _ = rustix::process::setrlimit(resource, both(limit));
    }
    // The server must still get processor time to watch the disk and to end the command.
    let _ = rustix::process::nice(NICENESS);
    rustix::thread::set_no_new_privs(true)?;
    landlock::apply(&inner.writable).map_err(|error| format!("Landlock: {error}"))?;
    seccomp::apply(inner.network).map_err(|error| format!("seccomp: {error}"))?;
    write_status(inner.status, READY);
    let mut shell = Command::new(host::shell());
    for (place, name) in inner.variables.iter().enumerate() {
        if let Some(value) = std::env::var_os(variable_name(place)) {
            shell.env_remove(variable_name(place)).env(name, value);
        }
    }
    let error = shell.arg("-c").arg(&inner.command).exec();
    Err(format!("can't start {}: {error}", host::shell()).into())
}

/// Marks every descriptor except the first three to be closed when the command starts.
#[expect(unsafe_code, reason = "the call has no safe form")]
fn close_descriptors() -> Result<(), Failure> {
    // SAFETY: sets flags only; closes no descriptor that Rust still owns.
    let done = unsafe { libc::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC.cast_signed()) };
    if done == 0 { Ok(()) } else { Err(format!("can't close descriptors: {}", std::io::Error::last_os_error()).into()) }
}

#[expect(unsafe_code, reason = "the number of the descriptor comes from the command line")]
pub fn write_status(status: RawFd, text: &[u8]) {
    // SAFETY: the descriptor was handed down for this alone, and is not used again.
    let mut pipe = unsafe { std::fs::File::from_raw_fd(status) };
    let _ = pipe.write_all(text);
    // Left open until the command replaces this process: closing it marks the end of the report.
    std::mem::forget(pipe);
}

/// Lets the next program that is started inherit a descriptor.
pub fn inherit(descriptor: BorrowedFd<'_>) -> std::io::Result<()> {
    Ok(rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?)
}
