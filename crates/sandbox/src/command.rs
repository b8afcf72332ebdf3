//! One command: started, listened to, and ended with all it started.

use crate::bubblewrap;
use crate::cgroup::{Groups, NAME};
use crate::descriptor_pass;
use crate::disk::{Space, Watch};
use crate::enter::{Outer, READY, handed, inherit};
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

/// How soon a stop or the end of the time is noticed.
const WATCH: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Ends a command from outside.
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
pub enum Ended {
    /// By itself; by a signal as shells count it, 128 and its number.
    Exited(i32),
    TimedOut,
    Stopped,
    /// It printed more than was allowed.
    Flooded,
    /// There was hardly room left on the disk.
    DiskFull,
    /// It wrote more to the disk than it may.
    DiskQuota,
}

impl Ended {
    /// Whether the command filled the disk, so that what it wrote has to go.
    #[must_use]
    pub fn is_for_disk(self) -> bool {
        matches!(self, Self::DiskFull | Self::DiskQuota)
    }
}

#[derive(Debug)]
pub struct Finished {
    pub ended: Ended,
    pub took: Duration,
    /// The limits it ran into, as far as the kernel tells.
    pub reached: Vec<&'static str>,
    /// The folder in memory that has what it changed, if that is staged there.
    pub in_memory: Option<OwnedFd>,
}

/// Why nothing can be run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub String);

/// Runs a command to its end. `heard` gets what it prints, both streams as one, as it comes.
/// When this returns, no process of it is left.
///
/// # Errors
/// The sandbox can't be set up; then nothing was run.
pub fn run(policy: &Policy, command: &str, stop: &Stop, heard: impl FnMut(&[u8])) -> Result<Finished, Unavailable> {
    let disk = watch(policy)?;
    let groups = Groups::make(&group_name(), &policy.limits);
    let running = Running::start(policy, command, &groups, Streams::Heard).map_err(Unavailable)?;
    attend(running, policy, &groups, disk, stop, heard)
}

/// The streams of a program that is talked to.
pub struct Pipes {
    /// What it reads.
    pub input: OwnedFd,
    /// What it writes.
    pub output: OwnedFd,
}

/// Runs a program that is talked to over its streams, which `met` gets. `heard` gets what it writes to stderr. Like [`run`], this
/// returns when no process of it is left; the thread must live as long, because the kernel ends the program with it.
/// The values of the policy's variables are taken from `environment`.
///
/// # Errors
/// The sandbox can't be set up; then nothing was run.
pub fn converse(
    policy: &Policy,
    command: &str,
    environment: &BTreeMap<String, String>,
    stop: &Stop,
    met: impl FnOnce(Pipes),
    heard: impl FnMut(&[u8]),
) -> Result<Finished, Unavailable> {
    let disk = watch(policy)?;
    let groups = Groups::make(&group_name(), &policy.limits);
    let mut running = Running::start(policy, command, &groups, Streams::Own(environment)).map_err(Unavailable)?;
    if let Some(pipes) = running.pipes.take() {
        met(pipes);
    }
    attend(running, policy, &groups, disk, stop, heard)
}

/// Listens to what was started until its end.
fn attend(
    mut running: Running,
    policy: &Policy,
    groups: &Groups,
    mut disk: Watch,
    stop: &Stop,
    mut heard: impl FnMut(&[u8]),
) -> Result<Finished, Unavailable> {
    let begun = Instant::now();
    let mut seen = 0;
    let mut cut_off = None;
    loop {
        let over = running.wait(&mut |bytes| {
            seen += bytes.len() as u64;
            heard(bytes);
        });
        if over {
            break;
        }
        let late = begun.elapsed() > policy.limits.time;
        cut_off = cut_off.or(reason(stop, late, seen, &policy.limits)).or_else(|| disk.look());
        if cut_off.is_some() {
            running.kill();
        }
    }
    let (code, status, in_memory) = running.finish(&mut heard);
    let cut_off = cut_off.or_else(|| disk.last_look());
    if cut_off.is_none() && status != READY {
        return Err(Unavailable(String::from_utf8_lossy(&status).into_owned()));
    }
    let mut reached = groups.reached();
    let is_full = in_memory.as_ref().is_some_and(|memory| Space::on(memory).is_ok_and(|space| space.is_full()));
    if is_full || cut_off.is_some_and(Ended::is_for_disk) {
        reached.push("disk");
    }
    Ok(Finished { ended: cut_off.unwrap_or(Ended::Exited(code)), took: begun.elapsed(), reached, in_memory })
}

fn watch(policy: &Policy) -> Result<Watch, Unavailable> {
    Watch::new(policy).map_err(|error| Unavailable(format!("the disk can't be watched: {error}")))
}

fn reason(stop: &Stop, late: bool, seen: u64, limits: &Limits) -> Option<Ended> {
    if stop.is_set() {
        Some(Ended::Stopped)
    } else if late {
        Some(Ended::TimedOut)
    } else if seen > limits.output {
        Some(Ended::Flooded)
    } else {
        None
    }
}

fn group_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{NAME}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// What becomes of the streams of a program.
#[derive(Clone, Copy)]
enum Streams<'e> {
    /// It reads nothing, and what it prints is heard as one.
    Heard,
    /// Somebody else talks to it, and only its stderr is heard. It has these variables besides.
    Own(&'e BTreeMap<String, String>),
}

struct Running {
    child: Child,
    /// Of a program that is talked to.
    pipes: Option<Pipes>,
    /// The process that was started, and the first one inside once it is known: when that one ends, the kernel ends all others.
    outside: OwnedFd,
    inside: Option<OwnedFd>,
    /// Held as long as a command without a sandbox may run.
    leash: Option<ChildStdin>,
    output: std::fs::File,
    /// Until it has told what it has to tell.
    info: Option<std::fs::File>,
    status: std::fs::File,
    /// By this comes the folder that has what the command changes in memory.
    memory: Option<UnixDatagram>,
    told: Vec<u8>,
    silent: bool,
    /// Whether a command without a sandbox has been told to end.
    is_unleashed: bool,
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
                line.envs(values.filter_map(|(place, name)| Some((handed(place), environment.get(name)?))));
                line.stdin(read).stdout(written);
                Some(Pipes { input, output })
            }
        };
        line.stderr(printed);
        let mut child = spawn_with(line, [info_in, status_in, description].into_iter().chain(memory_in).collect()).map_err(failed)?;
        let outside = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(|errno| failed(errno.into()))?;
        rustix::io::ioctl_fionbio(&output, true).map_err(|errno| failed(errno.into()))?;
        Ok(Self {
            leash: child.stdin.take(),
            child,
            pipes,
            outside,
            inside: None,
            output: output.into(),
            info: Some(info.into()),
            status: status.into(),
            memory,
            told: Vec::new(),
            silent: false,
            is_unleashed: false,
        })
    }

    /// Waits a moment for something to happen; whether the command has ended.
    fn wait(&mut self, heard: &mut impl FnMut(&[u8])) -> bool {
        let mut events = vec![PollFd::new(&self.outside, PollFlags::IN)];
        if !self.silent {
            events.push(PollFd::new(&self.output, PollFlags::IN));
        }
        events.extend(self.info.as_ref().map(|info| PollFd::new(info, PollFlags::IN)));
        let _ = poll(&mut events, Some(&WATCH));
        let over = !events[0].revents().is_empty();
        if self.info.is_some() && events.last().is_some_and(|event| !event.revents().is_empty()) {
            self.meet_first_process();
        }
        self.hear(heard);
        over
    }

    /// Reads what has been printed, up to a bound, so that a flood can't keep this loop from its other duties.
    fn hear(&mut self, heard: &mut impl FnMut(&[u8])) {
        let mut buffer = vec![0; 64 << 10];
        for _ in 0..16 {
            match self.output.read(&mut buffer) {
                Ok(0) => {
                    self.silent = true;
                    return;
                }
                Ok(length) => heard(&buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Bubblewrap tells, in JSON, which process is the first one inside.
    fn meet_first_process(&mut self) {
        let mut bytes = [0; 512];
        let length = self.info.as_mut().and_then(|info| info.read(&mut bytes).ok()).unwrap_or(0);
        self.told.extend_from_slice(&bytes[..length]);
        let told: Option<serde_json::Value> = serde_json::from_slice(&self.told).ok();
        let number = told.as_ref().and_then(|told| told.get("child-pid")?.as_i64()).and_then(|number| i32::try_from(number).ok());
        let process = number.and_then(Pid::from_raw);
        let held = process.and_then(|process| Some((process, rustix::process::pidfd_open(process, PidfdFlags::empty()).ok()?)));
        // Looked at while it is held: the number may have gone to somebody else meanwhile.
        self.inside = held.filter(|(process, _)| is_first_of_its_kind(*process)).map(|(_, held)| held);
        if length == 0 || self.inside.is_some() {
            self.info = None;
        }
    }

    fn kill(&mut self) {
        if self.leash.take().is_some() || self.is_unleashed {
            self.is_unleashed = true;
            return;
        }
        let _ = match (&self.inside, &self.info) {
            // Bubblewrap outside then ends by itself, when the kernel has cleared the inside.
            (Some(inside), _) => rustix::process::pidfd_send_signal(inside, Signal::KILL),
            // It tells of its inside in a moment. Killed before that, it would leave a child that waits for it for ever.
            (None, Some(_)) => Ok(()),
            (None, None) => rustix::process::pidfd_send_signal(&self.outside, Signal::KILL),
        };
    }

    /// Bubblewrap's outer process may end a moment before what is inside. When the first process there is gone, all are.
    fn clear_inside(&self) {
        let Some(inside) = &self.inside else { return };
        let _ = rustix::process::pidfd_send_signal(inside, Signal::KILL);
        let mut ended = [PollFd::new(inside, PollFlags::IN)];
        while !matches!(poll(&mut ended, None), Ok(1..)) {}
    }

    fn finish(mut self, heard: &mut impl FnMut(&[u8])) -> (i32, Vec<u8>, Option<OwnedFd>) {
        if self.inside.is_none() && self.info.is_some() {
            self.meet_first_process();
        }
        let code = self.child.wait().map_or(-1, |status| status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1));
        self.clear_inside();
        self.hear(heard);
        let mut status = Vec::new();
        let _ = (&mut self.status).take(4096).read_to_end(&mut status);
        let in_memory = self.memory.as_ref().and_then(|socket| descriptor_pass::receive(socket.as_fd()).ok());
        (code, status, in_memory)
    }
}

/// Whether a process is the first one of a namespace of its own.
fn is_first_of_its_kind(process: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    numbers.split_whitespace().count() > 1 && numbers.split_whitespace().next_back() == Some("1")
}

/// Starts a program that gets these descriptors too.
#[expect(unsafe_code, reason = "descriptors are handed down between fork and exec")]
fn spawn_with(mut line: Command, descriptors: Vec<OwnedFd>) -> std::io::Result<Child> {
    // SAFETY: only sets flags of descriptors, which is allowed there; nothing is allocated.
    unsafe {
        line.pre_exec(move || descriptors.iter().try_for_each(|descriptor| inherit(descriptor.as_fd())));
    }
    line.spawn()
}
