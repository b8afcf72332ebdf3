//! Proof that the gate allowed something: one permit for the whole call, and of it one for each kind of change.
//!
//! Their fields are private and nothing here is public that makes one out of nothing, so only the gate's decision leads to a
//! permit. A permit of a kind names what it is for, and whoever uses it says that again.

use super::fence::{CommitGuard, Pass};
use crate::effect::{Effect, FileEffect, LandingEffect, RecordEffect, RunEffect, WebEffect};
use crate::path::WorkspacePath;
use crate::web::AllowedHosts;
use planwright_fetch::WebUrl;
use planwright_protocol::{ErrorCode, Problem};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The gate allowed a call exactly these effects, in this epoch.
#[derive(Debug)]
pub struct Permit {
    effects: Vec<Effect>,
    pass: Pass,
    hosts: Arc<AllowedHosts>,
}

/// For the content or the times of one file.
#[derive(Debug)]
pub struct WritePermit {
    path: WorkspacePath,
    target: Target,
    pass: Pass,
}

/// Whether a file that is written is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    New,
    Existing,
}

impl Target {
    /// By the file that the caller decided on; `None` where there is none yet.
    pub fn of<T>(expected: Option<&T>) -> Self {
        if expected.is_some() { Self::Existing } else { Self::New }
    }
}

/// For making one folder.
#[derive(Debug)]
pub struct FolderPermit {
    path: WorkspacePath,
    pass: Pass,
}

/// For deleting one entry, with all that is in it.
#[derive(Debug)]
pub struct DeletePermit {
    path: WorkspacePath,
    pass: Pass,
}

/// For giving one entry another path.
#[derive(Debug)]
pub struct MovePermit {
    from: WorkspacePath,
    to: WorkspacePath,
    /// Whether a file at the new path may be lost.
    replaces: bool,
    pass: Pass,
}

/// For something that the chat records.
#[derive(Debug)]
pub struct RecordPermit {
    pass: Pass,
}

/// For ticking boxes in the file of one plan.
#[derive(Debug)]
pub struct ProgressPermit {
    plan: WorkspacePath,
    pass: Pass,
}

/// For running a command, or a tool of an MCP server.
#[derive(Debug)]
pub struct RunPermit {
    effects: Vec<RunEffect>,
    pass: Pass,
}

/// For fetching one page. Redirects may lead to its own host and to hosts that need no approval.
#[derive(Debug)]
pub struct FetchPermit {
    url: WebUrl,
    hosts: Arc<AllowedHosts>,
    pass: Pass,
}

/// For bringing what a command changed into the workspace.
#[derive(Debug)]
pub struct LandPermit {
    /// The paths that were decided on.
    decided: BTreeSet<WorkspacePath>,
    pass: Pass,
}

/// For putting paths back as they were before changes of the chat.
#[derive(Debug)]
pub struct TakeBackPermit {
    paths: BTreeSet<WorkspacePath>,
    pass: Pass,
}

/// For putting back what a command changed in place, from the copies made before it. It holds in every epoch: the change had
/// nobody's approval, whatever the role is by now.
#[derive(Debug)]
pub struct PutBackPermit {
    paths: BTreeSet<WorkspacePath>,
    /// Entries whose names no call could spell.
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

    /// For the effects that a command had, of which those `withheld` do not land.
    ///
    /// # Errors
    /// `FILE_CHANGED` if one of the effects is neither allowed nor withheld.
    pub(crate) fn to_land(&self, effects: &[Effect], withheld: &[Effect]) -> Result<LandPermit, Problem> {
        // They come in the order in which they were decided on, so that none is looked for among all others.
        let (mut allowed, mut held) = (self.effects.iter().peekable(), withheld.iter().peekable());
        let is_decided = |effect: &Effect| {
            held.next_if_eq(&effect).is_some() || allowed.next_if_eq(&effect).is_some() || self.covers(effect) || withheld.contains(effect)
        };
        if !effects.iter().all(is_decided) {
            let text = "The files changed once more after they were judged; nothing of what the command did was kept. Run it again.";
            return Err(Problem::new(ErrorCode::FileChanged, text));
        }
        self.check(&LandingEffect::Keep.into())?;
        let decided = self.effects.iter().chain(withheld).flat_map(Effect::changed_paths).cloned().collect();
        Ok(LandPermit { decided, pass: self.pass.clone() })
    }

    /// Everything that the gate allowed to be taken back.
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
    /// Opens the way to write this file, for as long as the guard is held.
    ///
    /// # Errors
    /// It is for another file, or the role was switched since.
    pub fn enter(&self, path: &WorkspacePath, target: Target) -> Result<CommitGuard<'_>, Problem> {
        named((&self.path, self.target) == (path, target))?;
        self.pass.enter()
    }
}

impl FolderPermit {
    /// Opens the way to make this folder, for as long as the guard is held.
    ///
    /// # Errors
    /// It is for another folder, or the role was switched since.
    pub fn enter(&self, path: &WorkspacePath) -> Result<CommitGuard<'_>, Problem> {
        named(self.path == *path)?;
        self.pass.enter()
    }
}

impl DeletePermit {
    /// Opens the way to delete this entry, for as long as the guard is held.
    ///
    /// # Errors
    /// It is for another entry, or the role was switched since.
    pub fn enter(&self, path: &WorkspacePath) -> Result<CommitGuard<'_>, Problem> {
        named(self.path == *path)?;
        self.pass.enter()
    }
}

impl MovePermit {
    /// Opens the way for this move, for as long as the guard is held. `there` says whether a file is lost by it.
    ///
    /// # Errors
    /// It is for another move, or the role was switched since.
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
    /// Opens the way to write this plan, for as long as the guard is held.
    ///
    /// # Errors
    /// It is for another plan, or the role was switched since.
    pub fn enter(&self, plan: &WorkspacePath) -> Result<CommitGuard<'_>, Problem> {
        named(self.plan == *plan)?;
        self.pass.enter()
    }
}

impl RunPermit {
    /// Opens the way to run this. The guard is not for the time that it runs: a switch of role ends a command and does not wait.
    ///
    /// # Errors
    /// It is for something else, or the role was switched since.
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
    /// Opens the way for these paths to land, for as long as the guard is held. Folders on the way to a path that was decided
    /// on land with it; so do git's own records, for which the allowance to keep anything at all is enough.
    ///
    /// # Errors
    /// Nobody decided on one of the paths, or the role was switched since.
    pub fn enter<'p>(&self, paths: impl IntoIterator<Item = &'p WorkspacePath>) -> Result<CommitGuard<'_>, Problem> {
        let is_decided = |path: &WorkspacePath| path.is_in_repository() || path.all_within(&self.decided).next().is_some();
        named(paths.into_iter().all(is_decided))?;
        self.pass.enter()
    }
}

impl TakeBackPermit {
    /// Opens the way to put these paths back, for as long as the guard is held.
    ///
    /// # Errors
    /// It is not for one of them, or the role was switched since.
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
    /// It is not for one of these entries.
    pub fn check<'p>(&self, changed: impl IntoIterator<Item = &'p WorkspacePath>, unspellable: &[String]) -> Result<(), Problem> {
        let is_spelled = changed.into_iter().all(|path| self.paths.contains(path));
        named(is_spelled && unspellable.iter().all(|name| self.unspellable.contains(name)))
    }
}

/// Whether a permit names what is to be done.
fn named(is_named: bool) -> Result<(), Problem> {
    if is_named {
        return Ok(());
    }
    Err(Problem::new(ErrorCode::ToolNotPermitted, "The tool tried something it had not announced; nothing was changed."))
}

#[cfg(test)]
mod tests;
