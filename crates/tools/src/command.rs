//! Running a command, and what becomes of what it changed.
//!
//! A command has two decisions. Before it runs, the gate decides on the running itself. What it changes is not in the
//! workspace then, but staged; when it has ended, the gate decides on those changes like on any others, and they land or
//! are taken back. See [`Staged`].

mod hints;
mod lines;
mod outcome;
mod room;
mod service;
mod sight;
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
use planwright_protocol::settings::{Inspect, SandboxMode, SandboxSettings, Staging};
use planwright_protocol::{CallId, ChatId, ErrorCode, Mode, Permission, Problem, Role};
use planwright_sandbox::{Finished, Limits, Network, Policy, Unavailable, View, has_memory_overlay, has_overlay, probe};
use room::Scratch;
use std::fs::{OpenOptions, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How commands are run in this process.
#[derive(Clone, Debug)]
pub struct Commands {
    /// A folder of ours for what is staged, and for caches. It lies in the data folder.
    pub place: PathBuf,
    pub sandbox: SandboxSettings,
    /// What belongs to the server, its data and its configuration: no command sees it.
    pub own: Vec<PathBuf>,
    /// Where people with accounts may have workspaces; `None` where there are no accounts.
    pub team: Option<Vec<PathBuf>>,
    /// Folders that hold workspaces, with accounts or without: no command sees more of them than its own workspace.
    pub roots: Vec<PathBuf>,
}

/// What commands of a role may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    #[default]
    Nothing,
    /// Nothing either, but commands may be run for what they show.
    Inspection,
    /// Build output, in a folder of its own.
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

/// Hears what a command prints, while it runs.
#[derive(Clone, Default)]
pub struct Live(Option<Arc<Heard>>);

type Heard = dyn Fn(&str) + Send + Sync;

impl Live {
    pub fn new(heard: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(heard)))
    }

    /// Passes on what has come, but for a character of which the end is still to come; that stays in `rest`.
    fn hear(&self, rest: &mut Vec<u8>, bytes: &[u8]) {
        let Some(heard) = &self.0 else { return };
        rest.extend_from_slice(bytes);
        let end = match std::str::from_utf8(rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => rest.len(),
        };
        if end > 0 {
            heard(&String::from_utf8_lossy(&rest[..end]));
            rest.drain(..end);
        }
    }
}

/// What a command needs to know besides its arguments.
#[derive(Clone, Default)]
pub struct CommandContext {
    pub call: Option<CallId>,
    /// `None` where no commands are run at all.
    pub commands: Option<Arc<Commands>>,
    pub reach: Reach,
    /// The folders of the other workspaces.
    pub neighbours: Arc<[PathBuf]>,
    pub stop: Stop,
    pub live: Live,
    /// The state by which it is told what is build output; the present one if there is none.
    pub baseline: Option<Arc<Baseline>>,
}

/// A command as it was asked for.
#[derive(Debug)]
pub struct Request {
    pub command: String,
    pub folder: WorkspacePath,
    pub time: Duration,
    pub network: bool,
}

impl CommandContext {
    fn settings(&self) -> SandboxSettings {
        self.commands.as_ref().map(|commands| commands.sandbox.clone()).unwrap_or_default()
    }

    /// What running it would be, before it is known what it changes.
    pub fn effects(&self, request: &Request) -> Vec<RunEffect> {
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

    /// Runs it to its end, in the sandbox that its role has.
    ///
    /// # Errors
    /// Not permitted, no sandbox, or the role was switched meanwhile.
    pub fn run(&self, cx: &ToolContext, request: &Request, permit: &RunPermit) -> Result<Output, Problem> {
        // Not held while it runs: a switch of role must not wait for a command, it ends it.
        drop(permit.enter(&self.effects(request))?);
        let (Some(commands), Some(call)) = (&self.commands, self.call) else {
            return Err(unavailable("commands are not set up in this process"));
        };
        let prepared = commands.prepare(cx, request, call, self.reach, commands.sandbox.mode)?;
        let scratch = Scratch::hold(&prepared.policy.scratch).map_err(|error| unwritable(&prepared.policy.scratch, &error))?;
        let begun = Begun::now();
        if let View::Staged { folder } = &prepared.policy.view {
            cx.workspace.note_seen(cx.command.baseline.clone(), folder).inspect_err(|_| planwright_sandbox::clear(folder))?;
        }
        let (mut capture, mut rest) = (Capture::default(), Vec::new());
        let heard = |bytes: &[u8]| {
            if capture.is_worth_showing() {
                self.live.hear(&mut rest, bytes);
            }
            capture.take(bytes);
        };
        let finished = planwright_sandbox::run(&prepared.policy, &request.command, &self.stop, heard);
        let finished = match finished {
            Ok(finished) => finished,
            Err(Unavailable(why)) => {
                planwright_sandbox::clear(&prepared.folder);
                return Err(unavailable(&why));
            }
        };
        let filled_disk = finished.ended.is_for_disk();
        if filled_disk {
            scratch.spoil();
        }
        let outcome = Outcome::new(&request.command, begun, &finished, capture).covering(prepared.covers.clone());
        match prepared.policy.view {
            View::ReadOnly { .. } => {
                planwright_sandbox::clear(&prepared.folder);
                outcome.report(&[], &[])
            }
            View::Staged { .. } | View::Direct | View::Unconfined if self.stop.is_set() => {
                Staged::discard(cx)?;
                Err(Problem::new(ErrorCode::Cancelled, "The command was stopped. Nothing it changed was kept."))
            }
            View::Staged { .. } | View::Direct | View::Unconfined if filled_disk => {
                Staged::discard(cx)?;
                let mut output = outcome.report(&[], &[])?;
                if !matches!(prepared.policy.view, View::Staged { .. }) {
                    output.text.push_str(
                        "\n[build output that it wrote into the workspace could not be put back; delete with `rm` what is too large]",
                    );
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

/// Everything in place for one command.
struct Ready {
    folder: PathBuf,
    policy: Policy,
    covers: Covers,
}

impl Commands {
    /// Where what a call's command changes is staged.
    #[must_use]
    pub fn stage(&self, call: CallId) -> PathBuf {
        self.place.join("stage").join(call.to_string())
    }

    /// Where the state at the beginning of a chat's run is kept.
    #[must_use]
    pub fn baseline_file(&self, chat: ChatId) -> PathBuf {
        self.place.join("baselines").join(format!("{chat}.json"))
    }

    /// Where copies of a workspace's files are kept, for kernels without overlays.
    #[must_use]
    pub fn mirror(&self, workspace: &Path) -> PathBuf {
        self.place.join("mirror").join(name_of(workspace))
    }

    fn prepare(&self, cx: &ToolContext, request: &Request, call: CallId, reach: Reach, mode: SandboxMode) -> Result<Ready, Problem> {
        let failed = |error: std::io::Error| unwritable(&self.place, &error);
        self.find_room()?;
        let in_memory = self.sandbox.staging == Staging::Memory;
        if in_memory && !has_memory_overlay(&self.place) {
            let text = "`staging = \"memory\"` of [sandbox] needs overlays over memory, which Linux has since 6.6";
            return Err(unavailable(text));
        }
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
        let limits = Limits { disk: self.sandbox.disk_bytes(), ..Limits::within(request.time) };
        let policy = Policy {
            cwd: if request.folder.is_root() { PathBuf::new() } else { request.folder.relative().into() },
            fixed: FIXED.iter().map(PathBuf::from).collect(),
            identity: identity.map(|(file, _)| file),
            scratch_in_memory: in_memory || matches!(reach, Reach::Inspection | Reach::Nothing),
            memory: (in_memory && reach == Reach::Source).then(|| self.sandbox.disk_bytes().min(limits.memory / 2)),
            builds_in_scratch: reach != Reach::Source,
            writable: if is_inspection { Vec::new() } else { self.sandbox.writable.clone() },
            network: if request.network || (self.sandbox.network && !is_inspection) { Network::On } else { Network::Off },
            ..Policy::plain(workspace, view, scratch, limits)
        };
        let (policy, covers) = match policy.view {
            View::Unconfined => (policy, Covers::default()),
            View::Staged { .. } | View::ReadOnly { .. } | View::Direct => {
                self.limit_sight(policy, &cx.workspace, &cx.config.secrets, &cx.command.neighbours)?
            }
        };
        Ok(Ready { folder, policy, covers })
    }

    /// Makes a folder of ours, closed to all others on the machine.
    fn make_folder(&self, folder: &Path) -> std::io::Result<()> {
        make_folder(folder)?;
        // It may have been made by an earlier version, or by hand.
        std::fs::set_permissions(&self.place, Permissions::from_mode(0o700))
    }
}

/// Brings what a command changed in memory to the disk, where it waits to be judged.
fn bring_to_disk(finished: &Finished, stage: &Path) -> Result<(), Problem> {
    let Some(memory) = &finished.in_memory else { return Ok(()) };
    planwright_sandbox::spill(memory, &stage.join("upper"), &stage.join("work")).map_err(|errno| {
        let text = format!(
            "What the command changed can't be stored: {errno}. Nothing of it was kept. Tell the user to free some space on the disk."
        );
        Problem::new(ErrorCode::StorageFull, text)
    })
}

/// What no command may change even where it may change the source: each of these can make the user's own tools run something.
const FIXED: [&str; 6] = [".git/hooks", ".git/config", ".git/config.worktree", ".git/info", ".git/modules", ".planwright"];

fn make_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn make_file(file: &Path, text: &str) -> std::io::Result<()> {
    let mut out = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(file)?;
    out.write_all(text.as_bytes())
}

/// A name for a workspace's caches.
fn name_of(workspace: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A folder of ours can't be written, perhaps because the disk is full.
fn unwritable(folder: &Path, error: &std::io::Error) -> Problem {
    if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        let text = format!(
            "No command was started, because the disk is full. Tell the user to free some space on the disk of {}.",
            folder.display()
        );
        return Problem::new(ErrorCode::StorageFull, text);
    }
    unavailable(&format!("{} can't be written: {error}", folder.display()))
}

fn unavailable(why: &str) -> Problem {
    let text = format!("No command can be run, because there is no sandbox: {}. {}", why.trim().trim_end_matches('.'), probe::MEND);
    Problem::new(ErrorCode::SandboxUnavailable, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_character_that_comes_in_two_pieces_is_heard_whole() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = heard.clone();
        let live = Live::new(move |text| ear.lock().unwrap().push(text.to_owned()));
        let (text, mut rest) = ("测试".as_bytes(), Vec::new());
        live.hear(&mut rest, &text[..4]);
        live.hear(&mut rest, &text[4..]);
        live.hear(&mut rest, b"\xff!");
        assert_eq!(*heard.lock().unwrap(), ["测", "试", "\u{fffd}!"]);
    }
}
