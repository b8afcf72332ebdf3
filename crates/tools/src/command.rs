//! Runs commands, and handles their changes.
//!
//! A command needs two decisions. Before it runs, the gate decides whether it may run. Its changes are staged outside the
//! workspace. When it has ended, the gate decides on them like on any others; then they land or are reverted. See [`Staged`].

mod hints;
mod lines;
mod outcome;
mod room;
mod service;
mod sight;
mod stage_place;
mod staged;
mod staged_effects;
mod terminal;
mod versions;

pub use outcome::{Outcome, TERMINAL, for_model};
pub use planwright_sandbox::Stop;
pub use service::{Post, Program};
pub use sight::Covers;
pub use staged::{Landed, Staged};

use crate::effect::RunEffect;
use crate::gate::RunPermit;
use crate::path::WorkspacePath;
use crate::tool::{Output, Signal, ToolContext};
use crate::workspace::{Baseline, Begun, Mirror};
use outcome::Capture;
use planwright_protocol::settings::{Inspect, SandboxMode, SandboxSettings};
use planwright_protocol::{CallId, ChatId, ErrorCode, Mode, Permission, Problem, Role};
use planwright_sandbox::{Finished, Limits, Network, Policy, Unavailable, View, has_overlay, probe};
use room::Scratch;
use std::fs::{OpenOptions, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How this process runs commands.
#[derive(Clone, Debug)]
pub struct Commands {
    /// Our folder for staged changes and caches, in the data folder.
    pub place: PathBuf,
    pub sandbox: SandboxSettings,
    /// The server's own data and configuration, which no command sees.
    pub own: Vec<PathBuf>,
    /// Where users with accounts may have workspaces; `None` without accounts.
    pub team: Option<Vec<PathBuf>>,
    /// Folders that contain workspaces. A command sees only its own workspace in them.
    pub roots: Vec<PathBuf>,
}

/// What the commands of a role may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    #[default]
    Nothing,
    /// Nothing, but commands may run for their output.
    Inspection,
    /// Build output, in a separate folder.
    Scratch,
    Source,
}

impl Reach {
    #[must_use]
    pub fn of(role: Role) -> Self {
        match (role.has(Permission::Execute), role.has(Permission::Write), role.mode()) {
            (true, true, _) => Self::Source,
            (true, false, _) => Self::Scratch,
            (false, _, Mode::Plan) => Self::Inspection,
            (false, _, Mode::Act) => Self::Nothing,
        }
    }
}

/// Receives a command's output while it runs.
#[derive(Clone, Default)]
pub struct Live(Option<Arc<OnOutput>>);

type OnOutput = dyn Fn(&str) + Send + Sync;

impl Live {
    pub fn new(on_output: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(on_output)))
    }

    /// Passes on complete characters. The bytes of an incomplete one stay in `rest`.
    fn pass_on(&self, rest: &mut Vec<u8>, bytes: &[u8]) {
        let Some(on_output) = &self.0 else { return };
        rest.extend_from_slice(bytes);
        let end = match std::str::from_utf8(rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => rest.len(),
        };
        if end > 0 {
            on_output(&String::from_utf8_lossy(&rest[..end]));
            rest.drain(..end);
        }
    }
}

/// The context of a command besides its arguments.
#[derive(Clone, Default)]
pub struct CommandContext {
    pub call: Option<CallId>,
    /// `None` if this process runs no commands.
    pub commands: Option<Arc<Commands>>,
    pub reach: Reach,
    /// The folders of the other workspaces.
    pub neighbours: Arc<[PathBuf]>,
    pub stop: Stop,
    pub live: Live,
    /// The state that defines build output; the current one if there is none.
    pub baseline: Option<Arc<Baseline>>,
}

/// A requested command.
#[derive(Debug)]
pub struct CommandRequest {
    pub command: String,
    pub folder: WorkspacePath,
    pub time: Duration,
    pub network: bool,
}

impl CommandContext {
    fn settings(&self) -> SandboxSettings {
        self.commands.as_ref().map(|commands| commands.sandbox.clone()).unwrap_or_default()
    }

    /// The effects of running it, before its changes are known.
    pub fn effects(&self, request: &CommandRequest) -> Vec<RunEffect> {
        let SandboxSettings { mode, network, inspect, .. } = self.settings();
        let mut effects = Vec::new();
        if self.reach == Reach::Inspection && inspect == Inspect::On {
            effects.push(RunEffect::Inspect);
        } else {
            effects.push(RunEffect::Execute { command: request.command.clone(), folder: request.folder.clone() });
        }
        if request.network && !network {
            effects.push(RunEffect::Network);
        }
        if mode == SandboxMode::Off && self.reach == Reach::Source {
            effects.push(RunEffect::Unconfined);
        }
        effects
    }

    /// Runs it to its end, in its role's sandbox.
    ///
    /// # Errors
    /// It is not permitted, there is no sandbox, or the role was switched meanwhile.
    pub fn run(&self, cx: &ToolContext, request: &CommandRequest, permit: &RunPermit) -> Result<Output, Problem> {
        // Not held while the command runs: a role switch does not wait for a command, but ends it.
        drop(permit.enter(&self.effects(request))?);
        let (Some(commands), Some(call)) = (&self.commands, self.call) else {
            return Err(unavailable("commands are not set up in this process"));
        };
        let prepared = commands.prepare(cx, request, call, self.reach, commands.sandbox.mode)?;
        let scratch = Scratch::hold(&prepared.policy.scratch).map_err(|error| unwritable(&prepared.policy.scratch, &error))?;
        let begun = Begun::now();
        if let View::Staged { folder } = &prepared.policy.view {
            cx.workspace.record_files(cx.command.baseline.clone(), folder).inspect_err(|_| planwright_sandbox::remove_folder(folder))?;
        }
        let (mut capture, mut rest) = (Capture::default(), Vec::new());
        let on_output = |bytes: &[u8]| {
            if capture.is_worth_showing() {
                self.live.pass_on(&mut rest, bytes);
            }
            capture.take(bytes);
        };
        let finished = planwright_sandbox::run(&prepared.policy, &request.command, &self.stop, on_output);
        let finished = match finished {
            Ok(finished) => finished,
            Err(Unavailable(why)) => {
                planwright_sandbox::remove_folder(&prepared.folder);
                return Err(unavailable(&why));
            }
        };
        let filled_disk = finished.ended.is_disk_limit();
        if filled_disk {
            scratch.spoil();
        }
        let outcome = Outcome::new(&request.command, begun, &finished, capture).covering(prepared.covers.clone());
        match prepared.policy.view {
            View::ReadOnly { .. } => {
                planwright_sandbox::remove_folder(&prepared.folder);
                outcome.report(&[], &[])
            }
            View::Staged { .. } | View::Direct | View::Unconfined if self.stop.is_set() => {
                Staged::discard(cx)?;
                Err(Problem::new(ErrorCode::Cancelled, "The command was stopped. None of its changes was kept."))
            }
            View::Staged { .. } | View::Direct | View::Unconfined if filled_disk => {
                Staged::discard(cx)?;
                let mut output = outcome.report(&[], &[])?;
                if !matches!(prepared.policy.view, View::Staged { .. }) {
                    output.text.push_str("\n[can't restore build output that it wrote into the workspace; delete large files with `rm`]");
                }
                Ok(output)
            }
            View::Staged { .. } | View::Direct | View::Unconfined => {
                let kept = bring_to_disk(&finished, &prepared.folder).and_then(|()| outcome.save(&prepared.folder));
                if let Err(problem) = kept {
                    Staged::discard(cx)?;
                    return Err(problem);
                }
                Ok(Output::default().signalling(Signal::Staged))
            }
        }
    }
}

/// A prepared command.
struct Ready {
    folder: PathBuf,
    policy: Policy,
    covers: Covers,
}

impl Commands {
    /// Where the changes of a call's command are staged.
    #[must_use]
    pub fn stage(&self, call: CallId) -> PathBuf {
        self.place.join("stage").join(call.to_string())
    }

    /// Where the state at the beginning of a chat's run is stored.
    #[must_use]
    pub fn baseline_file(&self, chat: ChatId) -> PathBuf {
        self.place.join("baselines").join(format!("{chat}.json"))
    }

    /// Where copies of a workspace's files are stored, for kernels without overlays.
    #[must_use]
    pub fn mirror(&self, workspace: &Path) -> PathBuf {
        self.place.join("mirror").join(name_of(workspace))
    }

    fn prepare(&self, cx: &ToolContext, request: &CommandRequest, call: CallId, reach: Reach, mode: SandboxMode) -> Result<Ready, Problem> {
        let failed = |error: std::io::Error| unwritable(&self.place, &error);
        self.find_room()?;
        let limits = Limits::within(request.time);
        let place = self.stage_place(&limits)?;
        let workspace = cx.workspace.host_path()?;
        let kind = match reach {
            Reach::Source => "source",
            Reach::Scratch => "scratch",
            Reach::Inspection | Reach::Nothing => "inspection",
        };
        let scratch = self.place.join("scratch").join(name_of(&workspace)).join(kind);
        let folder = self.stage(call);
        for folder in [&scratch, &folder] {
            self.make_folder(folder).map_err(failed)?;
        }
        let view = match reach {
            Reach::Source if mode == SandboxMode::Off => View::Unconfined,
            Reach::Source if has_overlay(&self.place) => View::staged(folder.clone()).map_err(failed)?,
            Reach::Source => View::Direct,
            Reach::Scratch | Reach::Inspection | Reach::Nothing if has_overlay(&self.place) => {
                View::read_only(folder.clone()).map_err(failed)?
            }
            Reach::Scratch | Reach::Inspection | Reach::Nothing => View::ReadOnly { folder: folder.clone() },
        };
        if matches!(view, View::Direct | View::Unconfined) {
            let (copies, baseline) = (self.mirror(&workspace), cx.command.baseline.clone());
            cx.workspace.mirror(&Mirror { copies: &copies, stage: &folder, baseline }).map_err(failed)?;
        }
        let identity = planwright_sandbox::identity().map(|text| (self.place.join("identity"), text));
        if let Some((file, text)) = &identity {
            make_file(file, text).map_err(failed)?;
        }
        let is_inspection = reach == Reach::Inspection;
        let policy = Policy {
            cwd: if request.folder.is_root() { PathBuf::new() } else { request.folder.relative().into() },
            fixed: FIXED.iter().map(PathBuf::from).collect(),
            identity: identity.map(|(file, _)| file),
            scratch_in_memory: place.is_memory() || matches!(reach, Reach::Inspection | Reach::Nothing),
            memory: place.memory().filter(|_| reach == Reach::Source),
            builds_in_scratch: reach != Reach::Source,
            writable: if is_inspection { Vec::new() } else { self.sandbox.writable.clone() },
            network: if request.network || (self.sandbox.network && !is_inspection) { Network::On } else { Network::Off },
            ..Policy::plain(workspace, view, scratch, place.limits(limits, self.sandbox.disk_bytes()))
        };
        let (policy, covers) = match policy.view {
            View::Unconfined => (policy, Covers::default()),
            View::Staged { .. } | View::ReadOnly { .. } | View::Direct => {
                self.limit_sight(policy, &cx.workspace, &cx.config.secrets, &cx.command.neighbours)?
            }
        };
        Ok(Ready { folder, policy, covers })
    }

    /// Creates one of our folders, closed to all other users.
    fn make_folder(&self, folder: &Path) -> std::io::Result<()> {
        make_folder(folder)?;
        // An earlier version or a user may have created it.
        std::fs::set_permissions(&self.place, Permissions::from_mode(0o700))
    }
}

/// Copies changes that a command staged in memory to the disk, where they wait for a decision.
fn bring_to_disk(finished: &Finished, stage: &Path) -> Result<(), Problem> {
    let Some(memory) = &finished.in_memory else { return Ok(()) };
    planwright_sandbox::spill(memory, &stage.join("upper"), &stage.join("work")).map_err(|errno| {
        let text = format!("Can't store the command's changes: {errno}. None of them was kept. Tell the user to free disk space.");
        Problem::new(ErrorCode::StorageFull, text)
    })
}

/// Paths that no command may change even in a writable workspace: each of them can make the user's own tools run something.
const FIXED: [&str; 6] = [".git/hooks", ".git/config", ".git/config.worktree", ".git/info", ".git/modules", ".planwright"];

fn make_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn make_file(file: &Path, text: &str) -> std::io::Result<()> {
    let mut out = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(file)?;
    out.write_all(text.as_bytes())
}

/// A folder name for a workspace's caches.
fn name_of(workspace: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The error for a folder of ours that can't be written, perhaps because the disk is full.
fn unwritable(folder: &Path, error: &std::io::Error) -> Problem {
    if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        let text = format!("The disk is full, so no command was started. Tell the user to free space on the disk of {}.", folder.display());
        return Problem::new(ErrorCode::StorageFull, text);
    }
    unavailable(&format!("can't write to {}: {error}", folder.display()))
}

fn unavailable(why: &str) -> Problem {
    let text = format!("Can't run commands, because there is no sandbox: {}. {}", why.trim().trim_end_matches('.'), probe::HOW_TO_FIX);
    Problem::new(ErrorCode::SandboxUnavailable, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_character_that_comes_in_two_pieces_is_heard_whole() {
        let on_output = Arc::new(Mutex::new(Vec::new()));
        let ear = on_output.clone();
        let live = Live::new(move |text| ear.lock().unwrap().push(text.to_owned()));
        let (text, mut rest) = ("测试".as_bytes(), Vec::new());
        live.pass_on(&mut rest, &text[..4]);
        live.pass_on(&mut rest, &text[4..]);
        live.pass_on(&mut rest, b"\xff!");
        assert_eq!(*on_output.lock().unwrap(), ["测", "试", "\u{fffd}!"]);
    }
}
