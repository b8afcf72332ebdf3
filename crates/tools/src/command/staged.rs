//! What a command changed, between its end and the word on it.
//!
//! It lies in a folder of ours named after the call, so that it waits for an answer over any restart.

use super::lines::{emptied_line, left_lines, list, objects_line, odd_line, output_line, refs_line};
use super::outcome::Outcome;
use super::staged_effects::is_gone;
use super::{CommandContext, Commands};
use crate::effect::{Effect, LandingEffect};
use crate::gate::{LandPermit, Permit, permit_put_back};
use crate::path::WorkspacePath;
use crate::tool::{Output, ToolContext};
use crate::version::Version;
use crate::workspace::{
    Baseline, Change, Changes, Depth, Kept, Kind, Landing, Mirror, OutputConflicts, PutBack, RefChange, Seen, Since, Workspace,
    is_in_repository, is_named_record, is_noted, is_object, refusal,
};
use planwright_protocol::Problem;
use planwright_sandbox::Space;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A command that has ended, and what it changed.
pub struct Staged {
    pub(super) workspace: Arc<Workspace>,
    pub(super) folder: PathBuf,
    copies: PathBuf,
    baseline: Option<Arc<Baseline>>,
    outcome: Outcome,
    pub(super) changes: Changes,
    /// Since when a change counts as somebody else's, as it was known when the changes were read.
    since: Since,
    /// Secrets that git would keep as the empty files that the command saw; its records are left out.
    emptied: Vec<String>,
    pub(super) moves: Vec<(WorkspacePath, WorkspacePath)>,
    /// Files that the command moved into a repository under another name than `.git`.
    pub(super) stays: BTreeSet<WorkspacePath>,
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
        let Some((folder, copies)) = places(cx)? else { return Ok(None) };
        let baseline = cx.command.baseline.clone();
        let Some(outcome) = Outcome::load(&folder).filter(|_| is_whole(&folder)) else { return Ok(None) };
        let upper = folder.join("upper");
        let since = outcome.begun.since();
        let refused = if upper.is_dir() { refusal(&upper, room_for_copies(cx, &folder))? } else { None };
        let mut changes = if refused.is_some() {
            Changes::refused(refused)
        } else if upper.is_dir() {
            cx.workspace.changes_in(&upper, since, baseline.clone())?
        } else {
            cx.workspace.changes_since(&Mirror { copies: &copies, stage: &folder, baseline: baseline.clone() })?
        };
        let emptied = cx.workspace.emptied(if upper.is_dir() { Some(&upper) } else { None }, &outcome.covers.untracked);
        if !emptied.is_empty() {
            changes.leave_records();
        }
        let mut moves = if upper.is_dir() { cx.workspace.moves(&upper, &changes.judged) } else { Vec::new() };
        // What is moved into a repository does not arrive there, so it stays where it was.
        let stays: BTreeSet<WorkspacePath> = moves.extract_if(.., |(_, to)| changes.is_in_repository(to)).map(|(from, _)| from).collect();
        moves.retain(|(from, _)| !changes.is_in_repository(from));
        Ok(Some(Self { workspace: cx.workspace.clone(), folder, copies, baseline, outcome, changes, since, emptied, moves, stays }))
    }

    /// Forgets a command that was cut off. What it changed is not kept.
    ///
    /// # Errors
    /// What it changed in place can't be put back.
    pub fn discard(cx: &ToolContext) -> Result<(), Problem> {
        let Some((folder, copies)) = places(cx)? else { return Ok(()) };
        if !folder.join("upper").is_dir() && is_whole(&folder) {
            let mirror = Mirror { copies: &copies, stage: &folder, baseline: cx.command.baseline.clone() };
            let changes = cx.workspace.changes_since(&mirror)?;
            put_back(&cx.workspace, &mirror, &changes.all(), &changes.odd)?;
        }
        planwright_sandbox::clear(&folder);
        Ok(())
    }

    /// Why nothing of it can be kept, whatever the gate says.
    #[must_use]
    pub fn half_done(&self) -> Option<&'static str> {
        self.changes.half_done()
    }

    /// Where files were changed in place, puts back at once what is withheld, and gives what is still to be told of it. Nothing
    /// that no command may do is there while somebody is asked.
    ///
    /// # Errors
    /// It can't be put back.
    pub fn put_back_withheld(mut self, withheld: Vec<Effect>) -> Result<(Self, Vec<Effect>), Problem> {
        if withheld.iter().any(|effect| matches!(effect, Effect::Landing(LandingEffect::LoseCommits(_)))) {
            self.changes.leave_records();
        }
        if self.upper().is_dir() {
            return Ok((self, withheld));
        }
        let (mut held, _) = self.sorted(&withheld);
        let objects = self.changes.left_out.iter().filter(|change| is_object(&change.path)).count();
        held.append(&mut self.changes.left_out);
        let odd = std::mem::take(&mut self.changes.odd);
        if held.is_empty() && odd.is_empty() {
            return Ok((self, withheld));
        }
        let done = put_back(&self.workspace, &self.mirror(), &held, &odd)?;
        let lines = [emptied_line(&std::mem::take(&mut self.emptied)), odd_line(odd.len() as u64), objects_line(objects)];
        self.outcome.notes.extend(lines.into_iter().flatten().chain(left_lines(&done)));
        self.outcome.put_back.extend(withheld.iter().filter_map(|effect| serde_json::to_value(effect).ok()));
        self.changes.unspellable = 0;
        self.changes.judged.retain(|change| !held.contains(change));
        self.changes.repositories.clear();
        self.outcome.save(&self.folder)?;
        Ok((self, Vec::new()))
    }

    /// Lets everything land that is not withheld, and tells what the command did. What is withheld in place was
    /// [put back](Self::put_back_withheld) before.
    ///
    /// # Errors
    /// The permit does not hold any more; then nothing is kept.
    pub fn keep(self, permit: &Permit, withheld: &[Effect]) -> Result<Landed, Problem> {
        let permit = permit.to_land(&self.effects(), withheld)?;
        if let Err(problem) = permit.enter([]).map(drop) {
            self.undo()?;
            return Err(problem);
        }
        let kept = self.sorted(withheld).1;
        let mut landing = self.landing(&permit, &kept);
        if self.upper().is_dir() {
            self.workspace.land(&self.upper(), &mut landing).map_err(|problem| self.unfinished(problem))?;
        }
        planwright_sandbox::clear(&self.folder);
        let Landing { conflicts, stuck, own, since, output, .. } = landing;
        let missing: BTreeSet<&WorkspacePath> = conflicts.iter().chain(stuck.iter().map(|(path, _)| path)).collect();
        let kept: Vec<Change> = kept.into_iter().filter(|change| !missing.contains(&change.path)).collect();
        let mut told = self.outcome.report(&kept, withheld);
        let why = match since {
            Since::Moment(_) => "somebody else changed it meanwhile",
            Since::Unknown => {
                "the machine's clock was set back since the command began, and nobody can tell whether somebody else changed it"
            }
        };
        for line in self.lines(&conflicts, why, &stuck, &own).into_iter().chain(output_line(&output, why)) {
            add(&mut told, &line);
        }
        let conflicting: Vec<String> = conflicts.iter().chain(&output.named).take(MOST_NAMED).map(ToString::to_string).collect();
        if !conflicting.is_empty() {
            told = told.map(|output| output.with("conflicts", conflicting));
        }
        // Records land together or not at all, and so do the refs that are noted by their values.
        let refs = if conflicts.iter().any(is_named_record) { self.refs() } else { &[] };
        let refs = refs.iter().map(|change| change.path.clone()).collect::<Vec<_>>();
        let left = conflicts.into_iter().chain(stuck.into_iter().map(|(path, _)| path)).chain(refs).collect();
        Ok(Landed { told, left })
    }

    fn landing<'p>(&self, permit: &'p LandPermit, kept: &[Change]) -> Landing<'p> {
        let paths = |wanted: fn(&Change) -> bool| kept.iter().filter(move |change| wanted(change)).map(|change| change.path.clone());
        let Changes { judged, unjudged, left_out, .. } = &self.changes;
        let whole: BTreeSet<WorkspacePath> = unjudged.iter().map(|change| change.path.clone()).collect();
        let adds = |change: &Change| change.now.is_some();
        Landing {
            permit,
            kept: paths(|change| change.now.is_some()).collect(),
            new_folders: paths(|change| change.was.is_none() && change.now == Some(Kind::Folder)).collect(),
            gone: paths(|change| change.now.is_none()).collect(),
            records: whole.iter().cloned().chain(paths(|_| true)).filter(is_named_record).collect(),
            only_adds: left_out.is_empty()
                && judged.iter().all(adds)
                && unjudged.iter().all(|change| adds(change) && is_in_repository(&change.path)),
            whole,
            // The clock may have been set back since the changes were read, and set right again.
            seen: Seen::load(&self.folder),
            since: if self.since == Since::Unknown { Since::Unknown } else { self.outcome.begun.since() },
            conflicts: Vec::new(),
            stuck: Vec::new(),
            own: Vec::new(),
            output: OutputConflicts::default(),
            released: HashSet::new(),
            compared: 0,
        }
    }

    /// What of the command's changes is not as the command left it, and why.
    fn lines(&self, conflicts: &[WorkspacePath], why: &str, stuck: &[(WorkspacePath, String)], own: &[WorkspacePath]) -> Vec<String> {
        let (records, files): (Vec<_>, Vec<_>) = conflicts.iter().partition(|path| is_named_record(path));
        let mut lines = Vec::new();
        if !files.is_empty() {
            lines.push(format!("[not kept, because {why}: {}. Look there again.]", list(&files)));
        }
        if !records.is_empty() {
            lines.push(format!(
                "[not kept: git's records (refs, logs, index), because {why}. The command's commits are in no branch; make them again.]"
            ));
        }
        if records.is_empty() {
            lines.extend(refs_line(self.refs()));
        }
        if let Some((path, why)) = stuck.first() {
            lines.push(format!("[not deleted: {} entries, such as {path}: {why}]", stuck.len()));
        }
        if !own.is_empty() {
            let own: Vec<&WorkspacePath> = own.iter().collect();
            lines.push(format!("[not kept: changes of repositories and of Planwright's files in build output: {}]", list(&own)));
        }
        let output: Vec<&WorkspacePath> =
            self.changes.unjudged.iter().map(|change| &change.path).filter(|path| !path.is_protected()).collect();
        if let Some(first) = output.first() {
            lines.push(format!("[changed as build output, so not among this chat's changes: {} folders, such as {first}]", output.len()));
        }
        let objects = self.changes.left_out.iter().filter(|change| is_object(&change.path)).count();
        lines.extend([emptied_line(&self.emptied), odd_line(self.changes.unspellable), objects_line(objects)].into_iter().flatten());
        lines
    }

    fn mirror(&self) -> Mirror<'_> {
        Mirror { copies: &self.copies, stage: &self.folder, baseline: self.baseline.clone() }
    }

    /// What a path was before, where files were changed in place.
    pub(super) fn versions_before(&self, path: &WorkspacePath, depth: Depth, kept: &mut Kept) -> Vec<(WorkspacePath, Version)> {
        self.workspace.versions_before(&self.mirror(), path, depth, kept)
    }

    /// Refs with another value, if commits are lost by the change of one.
    pub(super) fn refs(&self) -> &[RefChange] {
        &self.changes.refs
    }

    /// What would be kept.
    pub(super) fn kept(&self, withheld: &[Effect]) -> Vec<Change> {
        self.sorted(withheld).1
    }

    /// What is not kept, and what is.
    fn sorted(&self, withheld: &[Effect]) -> (Vec<Change>, Vec<Change>) {
        let held: BTreeSet<WorkspacePath> = withheld.iter().flat_map(Effect::changed_paths).chain(&self.stays).cloned().collect();
        let is_within_held = |change: &Change| {
            let mut path = Some(change.path.clone());
            while let Some(folder) = path.take().filter(|folder| !held.contains(folder)) {
                path = folder.split().map(|(around, _)| around);
                if path.is_none() {
                    return false;
                }
            }
            true
        };
        let is_withheld = |change: &Change| is_within_held(change) || (is_gone(change) && change.path.all_within(&held).next().is_some());
        let (held, mut kept): (Vec<Change>, Vec<Change>) = self.changes.judged.iter().cloned().partition(is_withheld);
        kept.extend_from_slice(&self.changes.history);
        (held, kept)
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
        let done = self.undo()?;
        let count = self.changes.judged.len() + self.changes.history.len();
        let mut told = self.outcome.report(&[], &[]);
        add(&mut told, &format!("[{why} Nothing the command changed was kept: {count} changes were taken back.]"));
        for line in left_lines(&done) {
            add(&mut told, &line);
        }
        told.map(|output| output.with("taken_back", count))
    }

    /// Forgets what the command changed, putting it back where it was changed in place; gives what can't be.
    fn undo(&self) -> Result<PutBack, Problem> {
        let done = if self.upper().is_dir() {
            PutBack::default()
        } else {
            put_back(&self.workspace, &self.mirror(), &self.changes.all(), &self.changes.odd)?
        };
        planwright_sandbox::clear(&self.folder);
        Ok(done)
    }

    pub(super) fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }
}

/// How many paths are named.
const MOST_NAMED: usize = 100;

/// One more line for the model, whether the command did well or not.
fn add(told: &mut Result<Output, Problem>, line: &str) {
    let text = match told {
        Ok(output) => &mut output.text,
        Err(problem) => &mut problem.message,
    };
    text.push('\n');
    text.push_str(line);
}

/// How much copies of hard links may take of the disk: what one command may write, and never more than half of what is free.
fn room_for_copies(cx: &ToolContext, folder: &Path) -> u64 {
    let free = Space::of(folder).map_or(0, |space| space.free.bytes / 2);
    cx.command.settings().disk_bytes().min(free)
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

/// Puts back what a command changed in place, and nothing else.
fn put_back(workspace: &Workspace, mirror: &Mirror<'_>, changes: &[Change], odd: &[String]) -> Result<PutBack, Problem> {
    let permit = permit_put_back(changes.iter().map(|change| &change.path), odd);
    workspace.put_back(&permit, mirror, changes, odd)
}
