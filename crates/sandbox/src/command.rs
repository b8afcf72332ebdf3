//! Runs one command: starts it, reads its output, and ends it with all its descendants.

use crate::bubblewrap;
use crate::cgroup::{Groups, NAME};
use crate::descriptor_pass;
use crate::disk::{Space, Watch};
use crate::enter::{Outer, READY, inherit, variable_name};
use crate::host;
use crate::policy::{Limits, Policy, View};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, Signal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the loop checks for a stop and for the timeout.
const WATCH: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Stops a command from another thread.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn now(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandEnd {
    /// The exit code. A command that a signal ended has 128 plus the signal's number, as in shells.
    Exited(i32),
    TimedOut,
    Stopped,
    /// It printed more than its limit.
    Flooded,
    /// The disk was nearly full.
    DiskFull,
    /// It wrote more to the disk than its quota.
    DiskQuota,
}

impl CommandEnd {
    /// Whether the command filled the disk, so that the files it wrote must be removed.
    #[must_use]
    pub fn is_disk_limit(self) -> bool {
        matches!(self, Self::DiskFull | Self::DiskQuota)
    }
}

#[derive(Debug)]
pub struct Finished {
    pub ended: CommandEnd,
    pub took: Duration,
    /// The limits that the command reached, as far as the kernel reports them.
    pub reached: Vec<&'static str>,
    /// The in-memory folder with the command's changes, if they are staged in memory.
    pub in_memory: Option<OwnedFd>,
}

/// Why no command can run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub String);

/// Runs a command to its end. `on_output` receives stdout and stderr, interleaved, as they arrive. When this returns, no process
/// of the command is left.
///
/// # Errors
/// The sandbox can't be set up; nothing ran.
pub fn run(policy: &Policy, command: &str, stop: &Stop, on_output: impl FnMut(&[u8])) -> Result<Finished, Unavailable> {
    let disk = watch(policy)?;
    let groups = Groups::make(&group_name(), &policy.limits);
    let running = Running::start(policy, command, &groups, Streams::Heard).map_err(Unavailable)?;
    run_to_end(running, policy, &groups, disk, stop, on_output)
}

/// The streams of a program that the caller exchanges messages with.
pub struct Pipes {
    /// The program's stdin.
    pub input: OwnedFd,
    /// The program's stdout.
    pub output: OwnedFd,
}

/// Runs a program that the caller exchanges messages with. `on_start` receives the program's streams, `on_output` its stderr.
/// Like [`run`], this returns when no process of the program is left. The calling thread must not end earlier, because the kernel
/// kills the program with it. The values of the policy's variables come from `environment`.
///
/// # Errors
/// The sandbox can't be set up; nothing ran.
pub fn converse(
    policy: &Policy,
    command: &str,
    environment: &BTreeMap<String, String>,
    stop: &Stop,
    on_start: impl FnOnce(Pipes),
    on_output: impl FnMut(&[u8]),
) -> Result<Finished, Unavailable> {
    let disk = watch(policy)?;
    let groups = Groups::make(&group_name(), &policy.limits);
    let mut running = Running::start(policy, command, &groups, Streams::Own(environment)).map_err(Unavailable)?;
    if let Some(pipes) = running.pipes.take() {
        on_start(pipes);
    }
    run_to_end(running, policy, &groups, disk, stop, on_output)
}

/// Reads the output and enforces the limits until the command has ended.
fn run_to_end(
    mut running: Running,
    policy: &Policy,
    groups: &Groups,
    mut disk: Watch,
    stop: &Stop,
    mut on_output: impl FnMut(&[u8]),
) -> Result<Finished, Unavailable> {
    let begun = Instant::now();
    let mut printed = 0;
    let mut cut_off = None;
    loop {
        let over = running.wait(&mut |bytes| {
            printed += bytes.len() as u64;
            on_output(bytes);
        });
        if over {
            break;
        }
        let late = begun.elapsed() > policy.limits.time;
        cut_off = cut_off.or(reason(stop, late, printed, &policy.limits)).or_else(|| disk.look());
        if cut_off.is_some() {
            running.kill();
        }
    }
    let (code, status, in_memory) = running.finish(&mut on_output);
    let cut_off = cut_off.or_else(|| disk.last_look());
    if cut_off.is_none() && status != READY {
        return Err(Unavailable(String::from_utf8_lossy(&status).into_owned()));
    }
    let mut reached = groups.reached();
    let is_full = in_memory.as_ref().is_some_and(|memory| Space::on(memory).is_ok_and(|space| space.is_full()));
    if is_full || cut_off.is_some_and(CommandEnd::is_disk_limit) {
        reached.push("disk");
    }
    Ok(Finished { ended: cut_off.unwrap_or(CommandEnd::Exited(code)), took: begun.elapsed(), reached, in_memory })
}

fn watch(policy: &Policy) -> Result<Watch, Unavailable> {
    Watch::new(policy).map_err(|error| Unavailable(format!("the disk can't be watched: {error}")))
}

fn reason(stop: &Stop, late: bool, printed: u64, limits: &Limits) -> Option<CommandEnd> {
    if stop.is_set() {
        Some(CommandEnd::Stopped)
    } else if late {
        Some(CommandEnd::TimedOut)
    } else if printed > limits.output {
        Some(CommandEnd::Flooded)
    } else {
        None
    }
}

fn group_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{NAME}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// How a program's streams are connected.
#[derive(Clone, Copy)]
enum Streams<'e> {
    /// No stdin; stdout and stderr are captured as one.
    Heard,
    /// The caller has stdin and stdout; only stderr is captured. The program also gets these variables.
    Own(&'e BTreeMap<String, String>),
}

struct Running {
    child: Child,
    /// Set for a program that the caller exchanges messages with.
    pipes: Option<Pipes>,
    /// The process that we started, and, once known, the first process inside. When that one ends, the kernel ends all others.
    outside: OwnedFd,
    inside: Option<OwnedFd>,
    /// Held while a command without a sandbox may run; closing it ends the command.
    unconfined_input: Option<ChildStdin>,
    output: std::fs::File,
    /// Present until bubblewrap has reported the first process inside.
    info: Option<std::fs::File>,
    status: std::fs::File,
    /// Receives the in-memory folder with the command's changes.
    memory: Option<UnixDatagram>,
    report: Vec<u8>,
    is_output_closed: bool,
    /// Whether a command without a sandbox was told to end.
    is_unconfined_ended: bool,
}

impl Running {
    fn start(policy: &Policy, command: &str, groups: &Groups, streams: Streams<'_>) -> Result<Self, String> {
        let missing = || "bubblewrap (bwrap) is not installed".to_owned();
        let failed = |error: std::io::Error| format!("can't start a sandbox: {error}");
        let own_binary = std::env::current_exe().map_err(failed)?;
        let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed(errno.into()));
        let ((output, printed), (info, info_in), (status, status_in)) = (pipe()?, pipe()?, pipe()?);
        let memory = policy.memory.map(|_| UnixDatagram::pair()).transpose().map_err(failed)?;
        let (memory, memory_in) = memory.map(|(memory, other)| (memory, OwnedFd::from(other))).unzip();
        let shown = host::shown(policy.network);
        let is_confined = !matches!(policy.view, View::Unconfined);
        let outer = Outer {
            policy: policy.clone(),
            command: command.to_owned(),
            environment: host::environment(policy, &shown),
            shown,
            homes: host::homes().map_err(failed)?,
            bubblewrap: if is_confined { bubblewrap::find().ok_or_else(missing)? } else { PathBuf::new() },
            groups: groups.folders().to_vec(),
            info: info_in.as_raw_fd(),
            status: status_in.as_raw_fd(),
            memory: memory_in.as_ref().map(AsRawFd::as_raw_fd),
        };
        let description = outer.describe().map_err(|error| format!("the sandbox can't be described: {error}"))?;
        let mut line = Command::new(own_binary);
        line.args(Outer::arguments(&description)).env_clear().current_dir("/");
        let pipes = match streams {
            Streams::Heard => {
                line.stdin(if is_confined { Stdio::null() } else { Stdio::piped() });
                line.stdout(printed.try_clone().map_err(failed)?);
                None
            }
            Streams::Own(environment) => {
                let ((read, input), (output, written)) = (pipe()?, pipe()?);
                let values = policy.variables.iter().enumerate();
                line.envs(values.filter_map(|(place, name)| Some((variable_name(place), environment.get(name)?))));
                line.stdin(read).stdout(written);
                Some(Pipes { input, output })
            }
        };
        line.stderr(printed);
        let mut child = spawn_with(line, [info_in, status_in, description].into_iter().chain(memory_in).collect()).map_err(failed)?;
        let outside = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(|errno| failed(errno.into()))?;
        rustix::io::ioctl_fionbio(&output, true).map_err(|errno| failed(errno.into()))?;
        Ok(Self {
            unconfined_input: child.stdin.take(),
            child,
            pipes,
            outside,
            inside: None,
            output: output.into(),
            info: Some(info.into()),
            status: status.into(),
            memory,
            report: Vec::new(),
            is_output_closed: false,
            is_unconfined_ended: false,
        })
    }

    /// Waits briefly for an event. Returns whether the command has ended.
    fn wait(&mut self, on_output: &mut impl FnMut(&[u8])) -> bool {
        let mut events = vec![PollFd::new(&self.outside, PollFlags::IN)];
        if !self.is_output_closed {
            events.push(PollFd::new(&self.output, PollFlags::IN));
        }
        events.extend(self.info.as_ref().map(|info| PollFd::new(info, PollFlags::IN)));
        let _ = poll(&mut events, Some(&WATCH));
        let over = !events[0].revents().is_empty();
        if self.info.is_some() && events.last().is_some_and(|event| !event.revents().is_empty()) {
            self.read_first_process();
        }
        self.read_output(on_output);
        over
    }

    /// Reads the available output, up to a limit, so that a flood can't starve the loop's other checks.
    fn read_output(&mut self, on_output: &mut impl FnMut(&[u8])) {
        let mut buffer = vec![0; 64 << 10];
        for _ in 0..16 {
            match self.output.read(&mut buffer) {
                Ok(0) => {
                    self.is_output_closed = true;
                    return;
                }
                Ok(length) => on_output(&buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Reads bubblewrap's JSON report, which names the first process inside.
    fn read_first_process(&mut self) {
        let mut bytes = [0; 512];
        let length = self.info.as_mut().and_then(|info| info.read(&mut bytes).ok()).unwrap_or(0);
        self.report.extend_from_slice(&bytes[..length]);
        let report: Option<serde_json::Value> = serde_json::from_slice(&self.report).ok();
        let number = report.as_ref().and_then(|report| report.get("child-pid")?.as_i64()).and_then(|number| i32::try_from(number).ok());
        let process = number.and_then(Pid::from_raw);
        let held = process.and_then(|process| Some((process, rustix::process::pidfd_open(process, PidfdFlags::empty()).ok()?)));
        // Checked after opening its pidfd: by then, the id could belong to another process.
        self.inside = held.filter(|(process, _)| is_first_in_namespace(*process)).map(|(_, held)| held);
        if length == 0 || self.inside.is_some() {
            self.info = None;
        }
    }

    fn kill(&mut self) {
        if self.unconfined_input.take().is_some() || self.is_unconfined_ended {
            self.is_unconfined_ended = true;
            return;
        }
        let _ = match (&self.inside, &self.info) {
            // The kernel kills everything inside, then bubblewrap's outer process ends by itself.
            (Some(inside), _) => rustix::process::pidfd_send_signal(inside, Signal::KILL),
            // Bubblewrap is about to report the first process inside. If we killed it now, its child would wait for it forever.
            (None, Some(_)) => Ok(()),
            (None, None) => rustix::process::pidfd_send_signal(&self.outside, Signal::KILL),
        };
    }

    /// Bubblewrap's outer process may end shortly before the processes inside. When the first process there is gone, all are.
    fn clear_inside(&self) {
        let Some(inside) = &self.inside else { return };
        let _ = rustix::process::pidfd_send_signal(inside, Signal::KILL);
        let mut ended = [PollFd::new(inside, PollFlags::IN)];
        while !matches!(poll(&mut ended, None), Ok(1..)) {}
    }

    fn finish(mut self, on_output: &mut impl FnMut(&[u8])) -> (i32, Vec<u8>, Option<OwnedFd>) {
        if self.inside.is_none() && self.info.is_some() {
            self.read_first_process();
        }
        let code = self.child.wait().map_or(-1, |status| status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1));
        self.clear_inside();
        self.read_output(on_output);
        let mut status = Vec::new();
        let _ = (&mut self.status).take(4096).read_to_end(&mut status);
        let in_memory = self.memory.as_ref().and_then(|socket| descriptor_pass::receive(socket.as_fd()).ok());
        (code, status, in_memory)
    }
}

/// Whether a process is the first one of its own process namespace.
fn is_first_in_namespace(process: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    numbers.split_whitespace().count() > 1 && numbers.split_whitespace().next_back() == Some("1")
}

/// Starts a program that inherits these descriptors.
#[expect(unsafe_code, reason = "descriptors are handed down between fork and exec")]
fn spawn_with(mut line: Command, descriptors: Vec<OwnedFd>) -> std::io::Result<Child> {
    // SAFETY: only sets flags of descriptors, which is allowed there; nothing is allocated.
    unsafe {
        line.pre_exec(move || descriptors.iter().try_for_each(|descriptor| inherit(descriptor.as_fd())));
    }
    line.spawn()
}
