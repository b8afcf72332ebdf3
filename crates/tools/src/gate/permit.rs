//! Proof of the gate's decision: one permit for the whole call, from which one is derived for each kind of change.
//!
//! Their fields are private, and no public function creates one from nothing, so only the gate's decision yields a permit. A
//! specific permit names its target, and its user must name the same target.

use super::fence::{CommitGuard, Pass};
use crate::effect::{Effect, FileEffect, LandingEffect, RecordEffect, RunEffect, WebEffect};
use crate::path::WorkspacePath;
use crate::web::AllowedHosts;
use planwright_fetch::WebUrl;
use planwright_protocol::{ErrorCode, Problem};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The gate allowed exactly these effects, in this epoch.
#[derive(Debug)]
pub struct Permit {
    effects: Vec<Effect>,
    pass: Pass,
    hosts: Arc<AllowedHosts>,
}

/// Permits changing the content or the times of one file.
#[derive(Debug)]
pub struct WritePermit {
    path: WorkspacePath,
    target: Target,
    pass: Pass,
}

/// Whether the file that is written exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    New,
    Existing,
}

impl Target {
    /// From the file that the caller decided on; `None` if it does not exist yet.
    pub fn of<T>(expected: Option<&T>) -> Self {
        if expected.is_some() { Self::Existing } else { Self::New }
    }
}

/// Permits creating one folder.
#[derive(Debug)]
pub struct FolderPermit {
    path: WorkspacePath,
    pass: Pass,
}

/// Permits deleting one entry, with everything in it.
#[derive(Debug)]
pub struct DeletePermit {
    path: WorkspacePath,
    pass: Pass,
}

/// Permits moving one entry.
#[derive(Debug)]
pub struct MovePermit {
    from: WorkspacePath,
    to: WorkspacePath,
    /// Whether a file at the new path may be lost.
    replaces: bool,
    pass: Pass,
}

/// Permits something that the chat records.
#[derive(Debug)]
pub struct RecordPermit {
    pass: Pass,
}

/// Permits ticking boxes in one plan file.
#[derive(Debug)]
pub struct ProgressPermit {
    plan: WorkspacePath,
    pass: Pass,
}

/// Permits running a command, or a tool of an MCP server.
#[derive(Debug)]
pub struct RunPermit {
    effects: Vec<RunEffect>,
    pass: Pass,
}

/// Permits fetching one page. Redirects may lead to its own host and to hosts that need no approval.
#[derive(Debug)]
pub struct FetchPermit {
    url: WebUrl,
    hosts: Arc<AllowedHosts>,
    pass: Pass,
}

/// Permits landing a command's changes in the workspace.
#[derive(Debug)]
pub struct LandPermit {
    /// The decided paths.
    decided: BTreeSet<WorkspacePath>,
    pass: Pass,
}

/// Permits restoring paths to their state before changes of the chat.
#[derive(Debug)]
pub struct TakeBackPermit {
    paths: BTreeSet<WorkspacePath>,
    pass: Pass,
}

/// Permits restoring what a command changed in place, from the copies made before. Valid in every epoch, because nobody approved
/// the change.
#[derive(Debug)]
pub struct PutBackPermit {
    paths: BTreeSet<WorkspacePath>,
    /// Entries whose names a call can't contain.
    unspellable: BTreeSet<String>,
}

impl Permit {
    pub(super) fn new(effects: Vec<Effect>, pass: Pass, hosts: Arc<AllowedHosts>) -> Self {
        Self { effects, pass, hosts }
    }

    /// # Errors
    /// The gate did not allow it.
    pub fn to_write(&self, path: &WorkspacePath, target: Target) -> Result<WritePermit, Problem> {
        self.check(&match target {
            Target::New => FileEffect::Create(path.clone()).into(),
            Target::Existing => FileEffect::Write(path.clone()).into(),
        })?;
        Ok(WritePermit { path: path.clone(), target, pass: self.pass.clone() })
    }

    /// # Errors
    /// The gate did not allow it.
    pub fn to_make_folder(&self, path: &WorkspacePath) -> Result<FolderPermit, Problem> {
        self.check(&FileEffect::CreateFolder(path.clone()).into())?;
        Ok(FolderPermit { path: path.clone(), pass: self.pass.clone() })
    }

    /// # Errors
    /// The gate did not allow it.
    pub fn to_delete(&self, path: &WorkspacePath) -> Result<DeletePermit, Problem> {
        self.check(&FileEffect::Delete(path.clone()).into())?;
        Ok(DeletePermit { path: path.clone(), pass: self.pass.clone() })
    }

    /// # Errors
    /// The gate did not allow it.
    pub fn to_move(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<MovePermit, Problem> {
        self.check(&FileEffect::Move { from: from.clone(), to: to.clone() }.into())?;
        let replaces = self.covers(&FileEffect::Replace(to.clone()).into());
        Ok(MovePermit { from: from.clone(), to: to.clone(), replaces, pass: self.pass.clone() })
    }

    /// # Errors
    /// The gate did not allow it.
    pub fn to_record(&self, record: RecordEffect) -> Result<RecordPermit, Problem> {
        self.check(&record.into())?;
        Ok(RecordPermit { pass: self.pass.clone() })
    }

    /// # Errors
    /// The gate allowed no progress, or the file is not a plan (`NOT_A_PLAN_FILE`).
    pub fn to_tick(&self, plan: &WorkspacePath) -> Result<ProgressPermit, Problem> {
        self.check(&RecordEffect::Progress.into())?;
        if !plan.is_plan() {
            return Err(Problem::new(ErrorCode::NotAPlanFile, format!("{plan} is not a plan file, so it has no progress.")));
        }
        Ok(ProgressPermit { plan: plan.clone(), pass: self.pass.clone() })
    }

    /// Everything that the gate allowed the call to run.
    #[must_use]
    pub fn to_run(&self) -> RunPermit {
        let run = |effect: &Effect| if let Effect::Run(run) = effect { Some(run.clone()) } else { None };
        RunPermit { effects: self.effects.iter().filter_map(run).collect(), pass: self.pass.clone() }
    }

    /// # Errors
    /// The gate did not allow it.
    pub fn to_fetch(&self, url: &WebUrl) -> Result<FetchPermit, Problem> {
        self.check(&WebEffect::Fetch(url.clone()).into())?;
        Ok(FetchPermit { url: url.clone(), hosts: self.hosts.clone(), pass: self.pass.clone() })
    }

    /// For a query to the search service.
    ///
    /// # Errors
    /// The gate did not allow it.
    pub fn to_search(&self, search: &WebEffect) -> Result<RecordPermit, Problem> {
        self.check(&search.clone().into())?;
        Ok(RecordPermit { pass: self.pass.clone() })
    }

    /// For the effects of a command, of which those `withheld` do not land.
    ///
    /// # Errors
    /// `FILE_CHANGED` if one of the effects is neither allowed nor withheld.
    pub(crate) fn to_land(&self, effects: &[Effect], withheld: &[Effect]) -> Result<LandPermit, Problem> {
        // Both are in the order of the decision, so no effect must be searched among all others.
        let (mut allowed, mut held) = (self.effects.iter().peekable(), withheld.iter().peekable());
        let is_decided = |effect: &Effect| {
            held.next_if_eq(&effect).is_some() || allowed.next_if_eq(&effect).is_some() || self.covers(effect) || withheld.contains(effect)
        };
        if !effects.iter().all(is_decided) {
            let text = "The files changed again after the decision; none of the command's changes was kept. Run it again.";
            return Err(Problem::new(ErrorCode::FileChanged, text));
        }
        self.check(&LandingEffect::Keep.into())?;
        let decided = self.effects.iter().chain(withheld).flat_map(Effect::changed_paths).cloned().collect();
        Ok(LandPermit { decided, pass: self.pass.clone() })
    }

    /// Everything that the gate allowed to revert.
    #[must_use]
    pub fn to_take_back(&self) -> TakeBackPermit {
        let path = |effect: &Effect| if let Effect::Landing(LandingEffect::TakeBack(path)) = effect { Some(path.clone()) } else { None };
        TakeBackPermit { paths: self.effects.iter().filter_map(path).collect(), pass: self.pass.clone() }
    }

    fn covers(&self, effect: &Effect) -> bool {
        self.effects.contains(effect)
    }

    fn check(&self, effect: &Effect) -> Result<(), Problem> {
        named(self.covers(effect))
    }
}

impl WritePermit {
    /// Allows writing this file while the guard is held.
    ///
    /// # Errors
    /// The permit is for another file, or the role was switched since.
    pub fn enter(&self, path: &WorkspacePath, target: Target) -> Result<CommitGuard<'_>, Problem> {
        named((&self.path, self.target) == (path, target))?;
        self.pass.enter()
    }
}

impl FolderPermit {
    /// Allows creating this folder while the guard is held.
    ///
    /// # Errors
    /// The permit is for another folder, or the role was switched since.
    pub fn enter(&self, path: &WorkspacePath) -> Result<CommitGuard<'_>, Problem> {
        named(self.path == *path)?;
        self.pass.enter()
    }
}

impl DeletePermit {
    /// Allows deleting this entry while the guard is held.
    ///
    /// # Errors
    /// The permit is for another entry, or the role was switched since.
    pub fn enter(&self, path: &WorkspacePath) -> Result<CommitGuard<'_>, Problem> {
        named(self.path == *path)?;
        self.pass.enter()
    }
}

impl MovePermit {
    /// Allows this move while the guard is held. `there` says whether it loses a file.
    ///
    /// # Errors
    /// The permit is for another move, or the role was switched since.
    pub fn enter(&self, from: &WorkspacePath, to: &WorkspacePath, there: Target) -> Result<CommitGuard<'_>, Problem> {
        named((&self.from, &self.to) == (from, to) && (self.replaces || there == Target::New))?;
        self.pass.enter()
    }
}

impl RecordPermit {
    /// # Errors
    /// The role was switched since.
    pub fn enter(&self) -> Result<CommitGuard<'_>, Problem> {
        self.pass.enter()
    }
}

impl ProgressPermit {
    /// Allows writing this plan while the guard is held.
    ///
    /// # Errors
    /// The permit is for another plan, or the role was switched since.
    pub fn enter(&self, plan: &WorkspacePath) -> Result<CommitGuard<'_>, Problem> {
        named(self.plan == *plan)?;
        self.pass.enter()
    }
}

impl RunPermit {
    /// Allows running this. The guard is not held during the run: a role switch ends a command and does not wait for it.
    ///
    /// # Errors
    /// The permit is for something else, or the role was switched since.
    pub fn enter(&self, effects: &[RunEffect]) -> Result<CommitGuard<'_>, Problem> {
        named(effects.iter().all(|effect| self.effects.contains(effect)))?;
        self.pass.enter()
    }
}

impl FetchPermit {
    /// Opens the way to send the request. The guard is not for the time of the request.
    ///
    /// # Errors
    /// It is for another page, or the role was switched since.
    pub fn enter(&self, url: &WebUrl) -> Result<CommitGuard<'_>, Problem> {
        named(self.url == *url)?;
        self.pass.enter()
    }

    /// Whether a redirect may lead to this host, as long as the role is the same.
    #[must_use]
    pub fn may_reach(&self, host: &str) -> bool {
        (self.url.host() == host || self.hosts.contains(host)) && self.pass.enter().is_ok()
    }
}

impl LandPermit {
    /// Allows landing these paths while the guard is held. Parent folders of a decided path land with it. So do git's own
    /// records, if anything at all may be kept.
    ///
    /// # Errors
    /// A path was not decided, or the role was switched since.
    pub fn enter<'p>(&self, paths: impl IntoIterator<Item = &'p WorkspacePath>) -> Result<CommitGuard<'_>, Problem> {
        let is_decided = |path: &WorkspacePath| path.is_in_repository() || path.all_within(&self.decided).next().is_some();
        named(paths.into_iter().all(is_decided))?;
        self.pass.enter()
    }
}

impl TakeBackPermit {
    /// Allows restoring these paths while the guard is held.
    ///
    /// # Errors
    /// The permit does not cover one of them, or the role was switched since.
    pub fn enter<'p>(&self, paths: impl IntoIterator<Item = &'p WorkspacePath>) -> Result<CommitGuard<'_>, Problem> {
        named(paths.into_iter().all(|path| self.paths.contains(path)))?;
        self.pass.enter()
    }
}

impl PutBackPermit {
    pub(super) fn new<'p>(changed: impl IntoIterator<Item = &'p WorkspacePath>, unspellable: &[String]) -> Self {
        Self { paths: changed.into_iter().cloned().collect(), unspellable: unspellable.iter().cloned().collect() }
    }

    /// # Errors
    /// The permit does not cover one of these entries.
    pub fn check<'p>(&self, changed: impl IntoIterator<Item = &'p WorkspacePath>, unspellable: &[String]) -> Result<(), Problem> {
        let is_spelled = changed.into_iter().all(|path| self.paths.contains(path));
        named(is_spelled && unspellable.iter().all(|name| self.unspellable.contains(name)))
    }
}

/// Fails if the permit does not name the change.
fn named(is_named: bool) -> Result<(), Problem> {
    if is_named {
        return Ok(());
    }
    Err(Problem::new(ErrorCode::ToolNotPermitted, "The tool tried a change that it had not announced; nothing was changed."))
}

#[cfg(test)]
mod tests;
