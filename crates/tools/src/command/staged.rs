//! What a command changed, between its end and the word on it.
//!
//! It lies in a folder of ours named after the call, so that it waits for an answer over any restart.

use super::outcome::Outcome;
use super::{CommandContext, Commands};
use crate::effect::Effect;
use crate::gate::Permit;
use crate::path::WorkspacePath;
use crate::tool::{Output, ToolContext};
use crate::workspace::{Change, Changes, Kind, Landing, Workspace, is_noted};
use planwright_protocol::{ErrorCode, Problem};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A command that has ended, and what it changed.
pub struct Staged {
    pub(super) workspace: Arc<Workspace>,
    pub(super) folder: PathBuf,
    pub(super) mirror: PathBuf,
    outcome: Outcome,
    changes: Changes,
    /// Whether git's records are left out, because they would be wrong.
    half_done: bool,
    moves: Vec<(WorkspacePath, WorkspacePath)>,
}

/// What came of keeping it.
pub struct Landed {
    /// What the command did, for the model.
    pub told: Result<Output, Problem>,
    /// What did not land, because somebody else changed it meanwhile or it could not be deleted.
    pub left: Vec<WorkspacePath>,
}

impl Staged {
    /// What the call's command left, if it ran to its end.
    ///
    /// # Errors
    /// It can't be read.
    pub fn load(cx: &ToolContext) -> Result<Option<Self>, Problem> {
        let Some((folder, mirror)) = places(cx)? else { return Ok(None) };
        let Some(outcome) = Outcome::load(&folder).filter(|_| is_whole(&folder)) else { return Ok(None) };
        let upper = folder.join("upper");
        let mut changes = if upper.is_dir() { cx.workspace.changes_in(&upper)? } else { cx.workspace.changes_since(&folder)? };
        let half_done = changes.leave_half_done_git();
        let moves = if upper.is_dir() { cx.workspace.moves(&upper, &changes.judged) } else { Vec::new() };
        Ok(Some(Self { workspace: cx.workspace.clone(), folder, mirror, outcome, changes, half_done, moves }))
    }

    /// Forgets a command that was cut off. What it changed is not kept.
    ///
    /// # Errors
    /// What it changed in place can't be put back.
    pub fn discard(cx: &ToolContext) -> Result<(), Problem> {
        let Some((folder, mirror)) = places(cx)? else { return Ok(()) };
        if !folder.join("upper").is_dir() && is_whole(&folder) {
            let Changes { judged, unjudged, .. } = cx.workspace.changes_since(&folder)?;
            cx.workspace.put_back(&Permit::to_take_back(), &mirror, &folder, &[judged, unjudged].concat())?;
        }
        planwright_sandbox::clear(&folder);
        Ok(())
    }

    /// What the gate is to decide on.
    #[must_use]
    pub fn effects(&self) -> Vec<Effect> {
        let moved: BTreeSet<&WorkspacePath> = self.moves.iter().flat_map(|(from, to)| [from, to]).collect();
        let on_the_way = self.folders_on_the_way();
        let mut effects = vec![Effect::Keep];
        effects.extend(self.moves.iter().map(|(from, to)| Effect::Move { from: from.clone(), to: to.clone() }));
        let judged = self.changes.judged.iter().filter(|change| !moved.contains(&change.path) && !on_the_way.contains(&change.path));
        effects.extend(judged.flat_map(effects_of));
        effects
    }

    /// Lets everything land that is not withheld, and tells what the command did.
    ///
    /// # Errors
    /// The permit does not hold any more; then nothing is kept.
    pub fn keep(self, permit: &Permit, withheld: &[Effect]) -> Result<Landed, Problem> {
        if self.effects().iter().any(|effect| !permit.covers(effect) && !withheld.contains(effect)) {
            let text = "The files changed once more after they were judged; nothing of what the command did was kept. Run it again.";
            return Err(Problem::new(ErrorCode::FileChanged, text));
        }
        if let Err(problem) = permit.commit(&Effect::Keep).map(drop) {
            self.undo()?;
            return Err(problem);
        }
        let (mut held, kept) = self.sorted(withheld);
        let paths = |wanted: fn(&Change) -> bool| kept.iter().filter(move |change| wanted(change)).map(|change| change.path.clone());
        let mut landing = Landing {
            permit,
            kept: paths(|change| change.now.is_some()).collect(),
            new_folders: paths(|change| change.was.is_none() && change.now == Some(Kind::Folder)).collect(),
            gone: paths(|change| change.now.is_none()).collect(),
            whole: self.changes.unjudged.iter().map(|change| change.path.clone()).collect(),
            begun: self.outcome.begun,
            conflicts: Vec::new(),
            stuck: Vec::new(),
        };
        if self.upper().is_dir() {
            self.workspace.land(&self.upper(), &mut landing).map_err(|problem| self.unfinished(problem))?;
        } else {
            held.extend_from_slice(&self.changes.left_out);
            self.workspace.put_back(permit, &self.mirror, &self.folder, &held)?;
        }
        planwright_sandbox::clear(&self.folder);
        let Landing { conflicts, stuck, .. } = landing;
        let landed = |change: &Change| !conflicts.contains(&change.path) && !stuck.iter().any(|(path, _)| *path == change.path);
        let kept: Vec<Change> = kept.into_iter().filter(landed).collect();
        let mut told = self.outcome.report(&kept, withheld);
        if let Some(first) = conflicts.first() {
            let count = conflicts.len();
            let text = format!("[not kept: {count} changes where somebody else made some meanwhile, such as {first}. Look there again.]");
            add(&mut told, &text);
        }
        if let Some((path, why)) = stuck.first() {
            add(&mut told, &format!("[not deleted: {} entries, such as {path}: {why}]", stuck.len()));
        }
        if let Some(first) = self.changes.unjudged.iter().find(|change| !change.path.is_protected()) {
            let text = format!(
                "[changed as build output, so not among this chat's changes: {} folders, such as {}]",
                self.output_folders(),
                first.path
            );
            add(&mut told, &text);
        }
        if self.half_done {
            add(
                &mut told,
                "[git's own records are as before: the command left a rebase or the like half done, which can't be kept. Do all of it in one command.]",
            );
        }
        if self.changes.unspellable > 0 {
            add(&mut told, &format!("[not kept: {} changes of files whose names can't be spelled]", self.changes.unspellable));
        }
        let left = conflicts.into_iter().chain(stuck.into_iter().map(|(path, _)| path)).collect();
        Ok(Landed { told, left })
    }

    fn output_folders(&self) -> usize {
        self.changes.unjudged.iter().filter(|change| !change.path.is_protected()).count()
    }

    /// What would be kept.
    pub(super) fn kept(&self, withheld: &[Effect]) -> Vec<Change> {
        self.sorted(withheld).1
    }

    /// What is not kept, and what is.
    fn sorted(&self, withheld: &[Effect]) -> (Vec<Change>, Vec<Change>) {
        let is_withheld = |path: &WorkspacePath| withheld.iter().flat_map(Effect::changed_paths).any(|held| path.is_within(held));
        self.changes.judged.iter().cloned().partition(|change| is_withheld(&change.path))
    }

    /// Why not everything landed, where the rest is, and what the command printed.
    fn unfinished(&self, problem: Problem) -> Problem {
        let printed = self.outcome.report(&[], &[]).map_or_else(|problem| problem.message, |output| output.text);
        let text = format!(
            "{} Not everything that the command changed could be kept; nothing was deleted. The rest lies in {}; tell the user. It printed:\n{printed}",
            problem.message,
            self.upper().display()
        );
        Problem::new(problem.code, text)
    }

    /// Takes back what the command changed, and tells what it did.
    ///
    /// # Errors
    /// What it changed in place can't be put back.
    pub fn take_back(self, why: &str) -> Result<Output, Problem> {
        let lost = self.undo()?;
        let count = self.changes.judged.len();
        let mut told = self.outcome.report(&[], &[]);
        add(&mut told, &format!("[{why} Nothing the command changed was kept: {count} changes were taken back.]"));
        if let Some(first) = lost.first() {
            add(
                &mut told,
                &format!("[could not be put back, because there is no copy: {} files, such as {first}. Tell the user.]", lost.len()),
            );
        }
        told.map(|output| output.with("taken_back", count))
    }

    /// Forgets what the command changed, putting it back where it was changed in place; gives what can't be.
    fn undo(&self) -> Result<Vec<String>, Problem> {
        let Changes { judged, unjudged, left_out, .. } = &self.changes;
        let lost = if self.upper().is_dir() {
            Vec::new()
        } else {
            let all = [judged.as_slice(), unjudged, left_out].concat();
            self.workspace.put_back(&Permit::to_take_back(), &self.mirror, &self.folder, &all)?
        };
        planwright_sandbox::clear(&self.folder);
        Ok(lost)
    }

    /// New folders that are only there for what was put into them, as `write` makes them too.
    fn folders_on_the_way(&self) -> BTreeSet<WorkspacePath> {
        let mut holders = BTreeSet::new();
        for change in self.changes.judged.iter().filter(|change| change.now.is_some_and(|now| now != Kind::Folder)) {
            let mut folder = change.path.split().map(|(folder, _)| folder);
            while let Some(path) = folder.take_if(|path| !holders.contains(path)) {
                folder = path.split().map(|(folder, _)| folder);
                holders.insert(path);
            }
        }
        let is_new = |change: &&Change| (change.was, change.now) == (None, Some(Kind::Folder)) && !change.path.is_protected();
        self.changes.judged.iter().filter(is_new).map(|change| change.path.clone()).filter(|path| holders.contains(path)).collect()
    }

    pub(super) fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }
}

/// One more line for the model, whether the command did well or not.
fn add(told: &mut Result<Output, Problem>, line: &str) {
    let text = match told {
        Ok(output) => &mut output.text,
        Err(problem) => &mut problem.message,
    };
    text.push('\n');
    text.push_str(line);
}

/// Where a call's changes lie, and the copies of the files as they were.
fn places(cx: &ToolContext) -> Result<Option<(PathBuf, PathBuf)>, Problem> {
    let CommandContext { commands: Some(commands), call: Some(call), .. } = &cx.command else { return Ok(None) };
    let commands: &Commands = commands;
    Ok(Some((commands.stage(*call), commands.mirror(&cx.workspace.host_path()?))))
}

/// Whether a stage can tell what the command changed. It can't if the server ended while it was being made or removed, or if
/// the command could change nothing.
fn is_whole(stage: &Path) -> bool {
    stage.join("upper").is_dir() || is_noted(stage)
}

fn effects_of(change: &Change) -> Vec<Effect> {
    let path = || change.path.clone();
    let lost = matches!(
        (change.was, change.now),
        (Some(_), None) | (Some(Kind::Folder), Some(Kind::File | Kind::Link)) | (Some(Kind::File | Kind::Link), Some(Kind::Folder))
    );
    let mut effects = Vec::new();
    if lost {
        effects.push(Effect::Delete(path()));
    }
    match (change.was, change.now) {
        (Some(Kind::Folder), Some(Kind::Folder)) => effects.push(Effect::Write(path())),
        (_, Some(Kind::Folder)) => effects.push(Effect::CreateFolder(path())),
        (Some(_), Some(_)) if !lost => effects.push(Effect::Write(path())),
        (_, Some(_)) => effects.push(Effect::Create(path())),
        (_, None) => {}
    }
    effects
}
