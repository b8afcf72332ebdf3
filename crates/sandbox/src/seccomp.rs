//! Refuses system calls that no build or test needs and that have been used to escape sandboxes.

use crate::policy::Network;
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, sock_filter};
use std::collections::BTreeMap;

type Failure = Box<dyn std::error::Error>;

/// Applies the filters to this process and all its descendants.
pub fn apply(network: Network) -> Result<(), Failure> {
    // The kernel runs the filters from last to first; each of them must allow a call.
    seccompiler::apply_filter(&refused(network)?)?;
    seccompiler::apply_filter(&missing()?)?;
    seccompiler::apply_filter(&unsupported()?)?;
    #[cfg(target_arch = "x86_64")]
    seccompiler::apply_filter(&NO_X32)?;
    Ok(())
}

const EPERM: u32 = libc::EPERM.cast_unsigned();
const ENOSYS: u32 = libc::ENOSYS.cast_unsigned();
const EOPNOTSUPP: u32 = libc::EOPNOTSUPP.cast_unsigned();

/// Calls that fail with "not permitted".
fn refused(network: Network) -> Result<BpfProgram, Failure> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, vec![foreign_family(network)?]);
    rules.insert(libc::SYS_clone, NAMESPACES.iter().map(|&flag| has_bit(0, flag)).collect::<Result<_, _>>()?);
    for (call, argument) in MODES {
        rules.insert(*call, OWNERS_RIGHTS.iter().map(|&bit| has_bit(*argument, bit)).collect::<Result<_, _>>()?);
    }
    for (call, flags) in OPENS {
        let pairs = OWNERS_RIGHTS.iter().flat_map(|&bit| MAKING.map(|flag| (bit, flag)));
        // The mode argument follows the flags and matters only if the call creates a file.
        rules.insert(*call, pairs.map(|(bit, flag)| have_bits([(*flags, flag), (*flags + 1, bit)])).collect::<Result<_, _>>()?);
    }
    let requests = TERMINAL_TRICKS.iter().chain(&PREALLOCATIONS);
    rules.insert(libc::SYS_ioctl, requests.map(|&request| equals(1, request)).collect::<Result<_, _>>()?);
    program(rules, EPERM)
}

/// Calls that fail with "no such call"; programs then use an older call. The flags of `clone3` and the mode of `openat2` are
/// behind a pointer, which a filter can't read.
fn missing() -> Result<BpfProgram, Failure> {
    program([libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new())).into(), ENOSYS)
}

/// `fallocate` fails with "not supported", unless it frees space: a single call can take the whole disk, faster than the watch.
/// The C library then writes the bytes instead.
fn unsupported() -> Result<BpfProgram, Failure> {
    const PUNCH_HOLE: u64 = 2;
    let allocates = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(PUNCH_HOLE), 0)?;
    program([(libc::SYS_fallocate, vec![SeccompRule::new(vec![allocates])?])].into(), EOPNOTSUPP)
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: u32) -> Result<BpfProgram, Failure> {
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), std::env::consts::ARCH.try_into()?)?;
    Ok(filter.try_into()?)
}

/// Socket families other than local ones and, if the network is allowed, internet ones. They reach services of the kernel or the
/// host.
fn foreign_family(network: Network) -> Result<SeccompRule, Failure> {
    const UNIX: u64 = 1;
    const INET: u64 = 2;
    const INET6: u64 = 10;
    const NETLINK: u64 = 16;
    let resolver: &[u64] = match network {
        Network::On => &[NETLINK],
        Network::Off => &[],
    };
    let others = [UNIX, INET, INET6].iter().chain(resolver);
    let conditions = others.map(|&family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family));
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}

fn has_bit(argument: u8, bit: u64) -> Result<SeccompRule, Failure> {
    have_bits([(argument, bit)])
}

/// Matches if each of these arguments has its bit set.
fn have_bits<const N: usize>(bits: [(u8, u64); N]) -> Result<SeccompRule, Failure> {
    let has = |(argument, bit)| SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), bit);
    Ok(SeccompRule::new(bits.into_iter().map(has).collect::<Result<_, _>>()?)?)
}

fn equals(argument: u8, value: u64) -> Result<SeccompRule, Failure> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

/// `CLONE_NEWTIME`, `NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`.
const NAMESPACES: [u64; 8] = [0x80, 0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
/// `TIOCSTI` types into a terminal, `TIOCLINUX` into a console.
const TERMINAL_TRICKS: [u64; 2] = [0x5412, 0x541C];
/// `FS_IOC_RESVSP`, `FS_IOC_RESVSP64` and `FS_IOC_ZERO_RANGE` do the same as `fallocate`, on every file system.
const PREALLOCATIONS: [u64; 3] = [0x4030_5828, 0x4030_582A, 0x4030_5839];

/// The setuid and setgid bits (a program with them runs as its owner, which could be root), and the calls that can set them, with
/// the number of their mode argument.
const OWNERS_RIGHTS: [u64; 2] = [0o4000, 0o2000];
const MODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
/// The calls that open files, with the number of their flags argument.
const OPENS: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];
/// `O_CREAT`, and the bit that `O_TMPFILE` has besides `O_DIRECTORY`.
const MAKING: [u64; 2] = [0o100, 0o20_000_000];

/// The x32 call numbers are other names for the same calls, which the lists don't contain.
#[cfg(target_arch = "x86_64")]
const NO_X32: [sock_filter; 4] = [
    sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
    sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 },
    sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | ENOSYS },
    sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x7FFF_0000 },
];

#[rustfmt::skip]
const REFUSED: &[i64] = &[
    libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_ptrace, libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev, libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key, libc::SYS_mount, libc::SYS_umount2,
    libc::SYS_move_mount, libc::SYS_open_tree, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick,
    libc::SYS_mount_setattr, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_unshare, libc::SYS_setns, libc::SYS_bpf,
    libc::SYS_userfaultfd, libc::SYS_perf_event_open, libc::SYS_kexec_load, libc::SYS_kexec_file_load, libc::SYS_init_module,
    libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_open_by_handle_at, libc::SYS_name_to_handle_at, libc::SYS_acct,
    libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_reboot, libc::SYS_quotactl, libc::SYS_settimeofday, libc::SYS_clock_settime,
    libc::SYS_adjtimex, libc::SYS_kcmp, libc::SYS_pidfd_getfd, libc::SYS_fanotify_init, libc::SYS_syslog, libc::SYS_sethostname,
    libc::SYS_setdomainname, libc::SYS_vhangup,
];
