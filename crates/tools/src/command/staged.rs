//! A command's changes between its end and the decision about them.
//!
//! They are in a folder of ours named after the call, so that they can wait for an answer across restarts.

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
    Baseline, CommandChanges, Depth, EntryChange, Kept, Kind, Landing, Mirror, OutputConflicts, PutBack, RecordedFiles, RefChange, Since,
    Workspace, is_in_repository, is_named_record, is_noted, is_object, refusal,
};
use planwright_protocol::Problem;
use planwright_sandbox::Space;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An ended command and its changes.
pub struct Staged {
    pub(super) workspace: Arc<Workspace>,
    pub(super) folder: PathBuf,
    copies: PathBuf,
    baseline: Option<Arc<Baseline>>,
    outcome: Outcome,
    pub(super) changes: CommandChanges,
    /// The time from which a change counts as made by others, as known when the changes were read.
    since: Since,
    /// Secrets that git would track as the empty files that the command saw; the command's git records are discarded.
    emptied: Vec<String>,
    pub(super) moves: Vec<(WorkspacePath, WorkspacePath)>,
    /// Files that the command moved into a repository with another name than `.git`.
    pub(super) stays: BTreeSet<WorkspacePath>,
}

/// The result of keeping the changes.
pub struct Landed {
    /// The report to the model.
    pub report: Result<Output, Problem>,
    /// Changes that did not land, because others changed the path or it could not be deleted.
    pub left: Vec<WorkspacePath>,
}

impl Staged {
    /// The changes of the call's command, if it ran to its end.
    ///
    /// # Errors
    /// They can't be read.
    pub fn load(cx: &ToolContext) -> Result<Option<Self>, Problem> {
        let Some((folder, copies)) = places(cx)? else { return Ok(None) };
        let baseline = cx.command.baseline.clone();
        let Some(outcome) = Outcome::load(&folder).filter(|_| is_whole(&folder)) else { return Ok(None) };
        let upper = folder.join("upper");
        let since = outcome.begun.since();
        let refused = if upper.is_dir() { refusal(&upper, room_for_copies(cx, &folder))? } else { None };
        let mut changes = if refused.is_some() {
            CommandChanges::refused(refused)
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
        // A file moved into a repository does not arrive there, so it stays at its old path.
        let stays: BTreeSet<WorkspacePath> = moves.extract_if(.., |(_, to)| changes.is_in_repository(to)).map(|(from, _)| from).collect();
        moves.retain(|(from, _)| !changes.is_in_repository(from));
        Ok(Some(Self { workspace: cx.workspace.clone(), folder, copies, baseline, outcome, changes, since, emptied, moves, stays }))
    }

    /// Discards an interrupted command and its changes.
    ///
    /// # Errors
    /// Changes that it made in place can't be restored.
    pub fn discard(cx: &ToolContext) -> Result<(), Problem> {
        let Some((folder, copies)) = places(cx)? else { return Ok(()) };
        if !folder.join("upper").is_dir() && is_whole(&folder) {
            let mirror = Mirror { copies: &copies, stage: &folder, baseline: cx.command.baseline.clone() };
            let changes = cx.workspace.changes_since(&mirror)?;
            put_back(&cx.workspace, &mirror, &changes.all(), &changes.odd)?;
        }
        planwright_sandbox::remove_folder(&folder);
        Ok(())
    }

    /// Why none of it can be kept, whatever the gate decides.
    #[must_use]
    pub fn half_done(&self) -> Option<&'static str> {
        self.changes.half_done()
    }

    /// If files were changed in place, restores withheld changes immediately, and returns those still to be reported. So no
    /// forbidden change exists while the user is asked.
    ///
    /// # Errors
    /// They can't be restored.
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

    /// Lands everything that is not withheld, and reports the command's result. Changes withheld in place were
    /// [restored](Self::put_back_withheld) before.
    ///
    /// # Errors
    /// The permit is no longer valid; nothing is kept.
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
        planwright_sandbox::remove_folder(&self.folder);
        let Landing { conflicts, stuck, own, since, output, .. } = landing;
        let missing: BTreeSet<&WorkspacePath> = conflicts.iter().chain(stuck.iter().map(|(path, _)| path)).collect();
        let kept: Vec<EntryChange> = kept.into_iter().filter(|change| !missing.contains(&change.path)).collect();
        let mut report = self.outcome.report(&kept, withheld);
        let why = match since {
            Since::Moment(_) => "others changed it meanwhile",
            Since::Unknown => "the machine's clock was set back since the command began, so changes by others can't be detected",
        };
        for line in self.lines(&conflicts, why, &stuck, &own).into_iter().chain(output_line(&output, why)) {
            add(&mut report, &line);
        }
        let conflicting: Vec<String> = conflicts.iter().chain(&output.named).take(MOST_NAMED).map(ToString::to_string).collect();
        if !conflicting.is_empty() {
            report = report.map(|output| output.with("conflicts", conflicting));
        }
        // Git's records land together or not at all, and so do the refs recorded by value.
        let refs = if conflicts.iter().any(is_named_record) { self.refs() } else { &[] };
        let refs = refs.iter().map(|change| change.path.clone()).collect::<Vec<_>>();
        let left = conflicts.into_iter().chain(stuck.into_iter().map(|(path, _)| path)).chain(refs).collect();
        Ok(Landed { report, left })
    }

    fn landing<'p>(&self, permit: &'p LandPermit, kept: &[EntryChange]) -> Landing<'p> {
        let paths = |wanted: fn(&EntryChange) -> bool| kept.iter().filter(move |change| wanted(change)).map(|change| change.path.clone());
        let CommandChanges { judged, unjudged, left_out, .. } = &self.changes;
        let whole: BTreeSet<WorkspacePath> = unjudged.iter().map(|change| change.path.clone()).collect();
        let adds = |change: &EntryChange| change.now.is_some();
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
            // The clock may have been set back and forward since the changes were read.
            seen: RecordedFiles::load(&self.folder),
            since: if self.since == Since::Unknown { Since::Unknown } else { self.outcome.begun.since() },
            conflicts: Vec::new(),
            stuck: Vec::new(),
            own: Vec::new(),
            output: OutputConflicts::default(),
            released: HashSet::new(),
            compared: 0,
        }
    }

    /// The command's changes that were not kept, and why.
    fn lines(&self, conflicts: &[WorkspacePath], why: &str, stuck: &[(WorkspacePath, String)], own: &[WorkspacePath]) -> Vec<String> {
        let (records, files): (Vec<_>, Vec<_>) = conflicts.iter().partition(|path| is_named_record(path));
        let mut lines = Vec::new();
        if !files.is_empty() {
            lines.push(format!("[not kept, because {why}: {}. Read them again.]", list(&files)));
        }
        if !records.is_empty() {
            lines.push(format!(
                "[not kept: git's records (refs, logs, index), because {why}. The command's commits are on no branch; make them again.]"
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

    /// The previous state of a path, if files were changed in place.
    pub(super) fn versions_before(&self, path: &WorkspacePath, depth: Depth, kept: &mut Kept) -> Vec<(WorkspacePath, Version)> {
        self.workspace.versions_before(&self.mirror(), path, depth, kept)
    }

    /// Refs with a new value, if the change of one loses commits.
    pub(super) fn refs(&self) -> &[RefChange] {
        &self.changes.refs
    }

    /// The changes that would be kept.
    pub(super) fn kept(&self, withheld: &[Effect]) -> Vec<EntryChange> {
        self.sorted(withheld).1
    }

    /// The discarded changes, and the kept ones.
    fn sorted(&self, withheld: &[Effect]) -> (Vec<EntryChange>, Vec<EntryChange>) {
        let held: BTreeSet<WorkspacePath> = withheld.iter().flat_map(Effect::changed_paths).chain(&self.stays).cloned().collect();
        let is_within_held = |change: &EntryChange| {
            let mut path = Some(change.path.clone());
            while let Some(folder) = path.take().filter(|folder| !held.contains(folder)) {
                path = folder.split().map(|(around, _)| around);
                if path.is_none() {
                    return false;
                }
            }
            true
        };
        let is_withheld =
            |change: &EntryChange| is_within_held(change) || (is_gone(change) && change.path.all_within(&held).next().is_some());
        let (held, mut kept): (Vec<EntryChange>, Vec<EntryChange>) = self.changes.judged.iter().cloned().partition(is_withheld);
        kept.extend_from_slice(&self.changes.history);
        (held, kept)
    }

    /// Why not everything landed, where the rest is, and the command's output.
    fn unfinished(&self, problem: Problem) -> Problem {
        let printed = self.outcome.report(&[], &[]).map_or_else(|problem| problem.message, |output| output.text);
        let text = format!(
            "{} Not all of the command's changes could be kept; nothing was deleted. The rest is in {}; tell the user. The command printed:\n{printed}",
            problem.message,
            self.upper().display()
        );
        Problem::new(problem.code, text)
    }

    /// Reverts the command's changes, and reports its result.
    ///
    /// # Errors
    /// Changes that it made in place can't be restored.
    pub fn take_back(self, why: &str) -> Result<Output, Problem> {
        let done = self.undo()?;
        let count = self.changes.judged.len() + self.changes.history.len();
        let mut report = self.outcome.report(&[], &[]);
        add(&mut report, &format!("[{why} None of the command's changes was kept: {count} changes were reverted.]"));
        for line in left_lines(&done) {
            add(&mut report, &line);
        }
        report.map(|output| output.with("taken_back", count))
    }

    /// Discards the command's changes, and restores those made in place. Returns what can't be restored.
    fn undo(&self) -> Result<PutBack, Problem> {
        let done = if self.upper().is_dir() {
            PutBack::default()
        } else {
            put_back(&self.workspace, &self.mirror(), &self.changes.all(), &self.changes.odd)?
        };
        planwright_sandbox::remove_folder(&self.folder);
        Ok(done)
    }

    pub(super) fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }
}

/// Maximum number of listed paths.
const MOST_NAMED: usize = 100;

/// Adds a line for the model, whether the command succeeded or not.
fn add(report: &mut Result<Output, Problem>, line: &str) {
    let text = match report {
        Ok(output) => &mut output.text,
        Err(problem) => &mut problem.message,
    };
    text.push('\n');
    text.push_str(line);
}

/// Disk limit for copies of hard links: a command's limit, and at most half of the free space.
fn room_for_copies(cx: &ToolContext, folder: &Path) -> u64 {
    let free = Space::of(folder).map_or(0, |space| space.free.bytes / 2);
    cx.command.settings().disk_bytes().min(free)
}

/// The folders of a call's changes and of the copies of previous files.
fn places(cx: &ToolContext) -> Result<Option<(PathBuf, PathBuf)>, Problem> {
    let CommandContext { commands: Some(commands), call: Some(call), .. } = &cx.command else { return Ok(None) };
    let commands: &Commands = commands;
    Ok(Some((commands.stage(*call), commands.mirror(&cx.workspace.host_path()?))))
}

/// Whether a stage is complete. It is not if the server ended while creating or removing it, or if the command could change
/// nothing.
fn is_whole(stage: &Path) -> bool {
    stage.join("upper").is_dir() || is_noted(stage)
}

/// Restores what a command changed in place, and nothing else.
fn put_back(workspace: &Workspace, mirror: &Mirror<'_>, changes: &[EntryChange], odd: &[String]) -> Result<PutBack, Problem> {
    let permit = permit_put_back(changes.iter().map(|change| &change.path), odd);
    workspace.put_back(&permit, mirror, changes, odd)
}
