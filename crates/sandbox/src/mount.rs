//! Mounts by descriptor. Nothing here resolves a path through a link, so replacing a path component can't redirect a mount.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags};
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// Whether a change applies to one mount, or also to all mounts below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountDepth {
    Itself,
    All,
}

/// Opens a path of the host that contains no link.
pub fn open(path: &Path) -> Result<OwnedFd, Errno> {
    resolve(CWD, path, ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS)
}

/// Opens a relative path below a folder. Opens a final link itself, and follows none.
pub fn open_beneath(folder: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    resolve(folder, path, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS)
}

fn resolve(folder: BorrowedFd<'_>, path: &Path, how: ResolveFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(folder, path, flags, Mode::empty(), how) {
            // Another process renamed something during the lookup.
            Err(Errno::AGAIN) if tries < 64 => tries += 1,
            other => return other,
        }
    }
}

pub fn kind(entry: &OwnedFd) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(entry)?.st_mode))
}

/// Clones the mount of an open file or folder, with all mounts below it. [`attach`] puts the clone in place.
pub fn copy(entry: &OwnedFd, access: Access) -> Result<OwnedFd, Errno> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH | OpenTreeFlags::AT_RECURSIVE;
    let mount = rustix::mount::open_tree(entry, c"", flags)?;
    restrict(mount.as_fd(), access, MountDepth::All)?;
    Ok(mount)
}

/// Maximum number of files and folders in an in-memory folder.
const MEMORY_INODES: &CStr = c"200000";

/// Creates an in-memory folder. The kernel enforces its size and [`MEMORY_INODES`].
pub fn memory(bytes: u64) -> Result<OwnedFd, Errno> {
    let system = rustix::mount::fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(&system, c"mode", c"0755")?;
    rustix::mount::fsconfig_set_string(&system, c"size", bytes.to_string())?;
    rustix::mount::fsconfig_set_string(&system, c"nr_inodes", MEMORY_INODES)?;
    rustix::mount::fsconfig_create(&system)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Attaches a mount to an open file or folder.
pub fn attach(mount: &OwnedFd, on: &OwnedFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", on, c"", flags)
}

/// Restricts a mount: it grants no privileges and receives no mount events; with [`Access::Read`] it is read-only.
#[expect(unsafe_code, reason = "the call has no safe form")]
pub fn restrict(mount: BorrowedFd<'_>, access: Access, depth: MountDepth) -> Result<(), Errno> {
    let write = match access {
        Access::Read => libc::MOUNT_ATTR_RDONLY,
        Access::Write => 0,
    };
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | write,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    let recursive = match depth {
        MountDepth::All => AT_RECURSIVE,
        MountDepth::Itself => 0,
    };
    let flags = (AtFlags::EMPTY_PATH.bits() | recursive).cast_signed();
    // SAFETY: the descriptor is open, the name is an empty C string, and the size matches the structure.
    let done = unsafe {
        libc::syscall(libc::SYS_mount_setattr, mount.as_raw_fd(), c"".as_ptr(), flags, &raw const attributes, size_of::<libc::mount_attr>())
    };
    if done == 0 { Ok(()) } else { Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}

const AT_RECURSIVE: u32 = 0x8000;
