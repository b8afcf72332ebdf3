//! Runs a program that exchanges messages over its streams, in the sandbox: an MCP server.
//!
//! It either stays running and sees the workspace read-only; or it runs for one call, and its changes are staged and decided like
//! a command's.

use super::{CommandRequest, Commands, Covers, Reach, SandboxMode, Scratch, Staged, bring_to_disk, name_of, unavailable, unwritable};
use crate::command::Outcome;
use crate::gate::Secrets;
use crate::tool::{Output, Signal, ToolContext};
use crate::workspace::{Begun, Workspace};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{Finished, Limits, Network, Pipes, Policy, Stop, Unavailable, View, converse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of its cache folder.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<String>,
    pub variables: BTreeMap<String, String>,
    /// Additional paths of the machine that it must see.
    pub readable: Vec<PathBuf>,
    pub network: bool,
}

/// A prepared program.
#[derive(Debug)]
pub struct Post {
    policy: Policy,
    covers: Covers,
    line: String,
    variables: BTreeMap<String, String>,
    /// Where its changes are staged.
    stage: Option<PathBuf>,
    /// Set if it was ended because it filled the disk.
    filled_disk: AtomicBool,
}

impl Post {
    /// Runs it to its end. The calling thread must not end earlier.
    ///
    /// # Errors
    /// There is no sandbox.
    pub fn run(&self, stop: &Stop, on_start: impl FnOnce(Pipes), on_output: impl FnMut(&[u8])) -> Result<Finished, Problem> {
        let scratch = Scratch::hold(&self.policy.scratch).map_err(|error| unwritable(&self.policy.scratch, &error))?;
        let finished = converse(&self.policy, &self.line, &self.variables, stop, on_start, on_output);
        if finished.as_ref().is_ok_and(|finished| finished.ended.is_disk_limit()) {
            scratch.spoil();
            self.filled_disk.store(true, Ordering::SeqCst);
        }
        let finished = finished.map_err(|Unavailable(why)| unavailable(&why))?;
        if let Some(stage) = &self.stage
            && !self.filled_disk.load(Ordering::SeqCst)
        {
            bring_to_disk(&finished, stage).inspect_err(|_| self.filled_disk.store(true, Ordering::SeqCst))?;
        }
        Ok(finished)
    }

    /// Why none of the program's changes may be kept, if it was ended because it filled the disk.
    #[must_use]
    pub fn overflow(&self) -> Option<Problem> {
        let text = "The program exceeded its disk limit and was ended. None of its changes in the workspace was kept, and its caches were cleared. Tell the user.";
        self.filled_disk.load(Ordering::SeqCst).then(|| Problem::new(ErrorCode::LimitReached, text))
    }

    /// Passes on the changes of a call's program for a decision, with its answer.
    ///
    /// # Errors
    /// They can't be stored.
    pub fn hand_over(&self, answer: &Result<String, Problem>, begun: Begun, took: Duration) -> Result<Output, Problem> {
        let Some(stage) = &self.stage else { return answer.clone().map(Output::text) };
        Outcome::of_answer(answer, begun, took).covering(self.covers.clone()).save(stage)?;
        Ok(Output::default().signalling(Signal::Staged))
    }

    /// Discards the changes of a call's program.
    ///
    /// # Errors
    /// Changes that it made in place can't be restored.
    pub fn forget(&self, cx: &ToolContext) -> Result<(), Problem> {
        if self.stage.is_some() { Staged::discard(cx) } else { Ok(()) }
    }
}

impl Commands {
    /// Prepares a program that stays running. It sees the workspace read-only.
    ///
    /// # Errors
    /// A folder of ours can't be created.
    pub fn keep(&self, program: &Program, workspace: &Workspace, secrets: &Secrets, neighbours: &[PathBuf]) -> Result<Post, Problem> {
        self.find_room()?;
        let path = workspace.host_path()?;
        let scratch = self.scratch_of(program, &path)?;
        // Not through an overlay, which would not show later changes of the workspace.
        let view = View::ReadOnly { folder: self.place.join("servers") };
        let writable = self.sandbox.writable.clone();
        let limits = Limits::of_service();
        let place = self.stage_place(&limits)?;
        let policy = Policy {
            builds_in_scratch: true,
            scratch_in_memory: place.is_memory(),
            writable,
            ..Policy::plain(path, view, scratch, place.limits(limits, self.sandbox.disk_bytes()))
        };
        let sight = self.limit_sight(policy, workspace, secrets, neighbours)?;
        Ok(self.post(program, sight, None))
    }

    /// Prepares a program that runs for one call. Its changes of the workspace are staged.
    ///
    /// # Errors
    /// A folder of ours can't be created.
    pub fn stage_for(&self, program: &Program, cx: &ToolContext) -> Result<Post, Problem> {
        let Some(call) = cx.command.call else { return Err(unavailable("there is no call to stage changes for")) };
        let request =
            CommandRequest { command: String::new(), folder: crate::WorkspacePath::root(), time: Duration::MAX, network: program.network };
        let ready = self.prepare(cx, &request, call, Reach::Source, SandboxMode::Enforce)?;
        if let View::Staged { folder } = &ready.policy.view {
            cx.workspace.record_files(cx.command.baseline.clone(), folder)?;
        }
        let scratch = self.scratch_of(program, &ready.policy.workspace)?;
        Ok(self.post(program, (Policy { scratch, ..ready.policy }, ready.covers), Some(ready.folder)))
    }

    fn post(&self, program: &Program, (policy, covers): (Policy, Covers), stage: Option<PathBuf>) -> Post {
        let is_on = program.network || self.sandbox.network;
        let named = program.readable.iter().filter(|path| self.may_show(path)).cloned();
        let readable = named.chain(policy.readable).collect();
        let policy = Policy {
            readable,
            variables: program.variables.keys().cloned().collect(),
            network: if is_on { Network::On } else { Network::Off },
            ..policy
        };
        let words: Vec<String> = program.words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        Post {
            policy,
            covers,
            line: format!("exec {}", words.join(" ")),
            variables: program.variables.clone(),
            stage,
            filled_disk: AtomicBool::new(false),
        }
    }

    fn scratch_of(&self, program: &Program, workspace: &Path) -> Result<PathBuf, Problem> {
        let scratch = self.place.join("scratch").join(name_of(workspace)).join("servers").join(&program.name);
        self.make_folder(&scratch).map_err(|error| unwritable(&scratch, &error))?;
        Ok(scratch)
    }
}
