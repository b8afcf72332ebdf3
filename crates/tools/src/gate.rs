//! The gate: the one place where a role meets a tool call.
//!
//! It knows a call by its effects alone. What it does not expressly allow it denies; settings can
//! make it stricter, never laxer; nothing the model writes reaches it except as an effect.
//!
//! | module | what it holds |
//! | --- | --- |
//! | here | what a decision depends on, [`decide`], then its rules: what is refused, what the user is asked about |
//! | `permit` | the proof of a decision, of one type for each kind of change |
//! | `fence` | the lock that makes a switch of role final |
//! | `missing_plan` | the policy `act_requires_plan` in words |
//! | `reach` | what the user is asked about programs and the web |
//! | `settings` | grants, the plan's files, names of secrets |

mod fence;
mod missing_plan;
mod permit;
mod reach;
mod settings;

pub use fence::{CommitGuard, Epoch, Fence};
pub use missing_plan::MissingPlan;
pub use permit::{
    DeletePermit, FetchPermit, FolderPermit, LandPermit, MovePermit, Permit, ProgressPermit, PutBackPermit, RecordPermit, RunPermit,
    TakeBackPermit, Target, WritePermit,
};
pub use settings::{AgentKind, Grant, Scope, Secrets};

use crate::effect::{Effect, FileEffect, LandingEffect, RecordEffect, RunEffect, WebEffect};
use crate::git_name::repository_refusal;
use crate::path::WorkspacePath;
use crate::web::AllowedHosts;
use fence::Pass;
use planwright_protocol::settings::{Approvals, Rule};
use planwright_protocol::{ErrorCode, Mode, Permission, Problem, Role, Severity};
use reach::{concern_about_run, concern_about_web};
use std::collections::BTreeSet;
use std::sync::Arc;

/// All that a decision depends on, besides the effects.
#[derive(Clone, Debug)]
pub struct Situation {
    pub role: Role,
    pub tool: String,
    pub fence: Arc<Fence>,
    /// The epoch in which the role was read.
    pub epoch: Epoch,
    /// The chat's own plan, once it has one.
    pub own_plan: Option<WorkspacePath>,
    /// Plans that belong to other chats.
    pub foreign_plans: Arc<BTreeSet<WorkspacePath>>,
    /// The files of the approved plan; `None` when there is no such plan or it names none.
    pub scope: Option<Arc<Scope>>,
    /// Why the policy `act_requires_plan` allows no change in act mode; `None` where it is off or met.
    pub missing_plan: Option<MissingPlan>,
    pub approvals: Arc<Approvals>,
    pub secrets: Arc<Secrets>,
    /// What the user allowed for good in this chat.
    pub grants: Arc<Vec<Grant>>,
    /// Hosts that may be fetched without asking, also those that the user allowed in this chat.
    pub hosts: Arc<AllowedHosts>,
    pub agent: AgentKind,
    pub consent: Consent,
}

/// The name under which what a command changed is judged: whether it may run was settled before, and by another yes.
pub const KEEPING: &str = "run: changes";

/// The name under which taking changes back is judged.
pub const TAKING_BACK: &str = "revert";

/// The tool that makes a chat's first plan.
const WRITE_PLAN: &str = "write_plan";

/// Whether the user already stands behind this very call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The model makes the call.
    Needed,
    /// The user makes the call, or has approved it.
    Given,
}

#[derive(Debug)]
pub enum Verdict {
    Allow(Permit),
    Ask(Approval),
    Deny(Problem),
}

/// What the user is asked before a call goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub reason: String,
    pub severity: Severity,
}

/// Decides a call. Pure: the same situation and effects give the same verdict.
#[must_use]
pub fn decide(situation: &Situation, effects: &[Effect]) -> Verdict {
    let refusals: [fn(&Situation, &Effect) -> Option<Problem>; 8] = [
        lacks_permission,
        exceeds_helper,
        oversteps_own_plan,
        lacks_plan,
        touches_protected,
        touches_foreign_plan,
        is_senseless,
        lacks_user,
    ];
    for refusal in refusals {
        if let Some(problem) = effects.iter().find_map(|effect| refusal(situation, effect)) {
            return Verdict::Deny(problem);
        }
    }
    let mut concerns: Vec<Concern> = effects.iter().filter_map(|effect| concern(situation, effect)).collect();
    concerns.extend(situation.approvals.tools.get(&situation.tool).map(|&rule| Concern {
        rule,
        severity: Severity::Minor,
        reason: format!("`{}` is set to ask", situation.tool),
    }));
    let strictest = concerns.into_iter().max_by_key(|concern| (concern.rule, concern.severity));
    match strictest {
        Some(Concern { rule: Rule::Deny, reason, .. }) => Verdict::Deny(Problem::new(
            ErrorCode::ToolNotPermitted,
            format!("{reason}, and the settings forbid that. Find another way, or ask the user."),
        )),
        Some(Concern { rule: Rule::Ask, reason, severity }) if situation.consent == Consent::Needed => {
            Verdict::Ask(Approval { reason, severity })
        }
        Some(Concern { rule: Rule::Ask | Rule::Allow, .. }) | None => {
            Verdict::Allow(Permit::new(effects.to_vec(), Pass::new(situation.epoch, situation.fence.clone()), situation.hosts.clone()))
        }
    }
}

/// Allows to put back what a command changed in place, whatever the situation: nobody had approved the changes.
pub(crate) fn permit_put_back<'p>(changed: impl IntoIterator<Item = &'p WorkspacePath>, unspellable: &[String]) -> PutBackPermit {
    PutBackPermit::new(changed, unspellable)
}

/// The role or its mode has no right to this.
fn lacks_permission(situation: &Situation, effect: &Effect) -> Option<Problem> {
    if sufficient(effect).iter().any(|rights| rights.iter().all(|&right| situation.role.has(right))) {
        return None;
    }
    // What would change nothing is a matter of the role, in either mode.
    let changes = !matches!(effect, Effect::Record(RecordEffect::Review | RecordEffect::Explore));
    Some(match situation.role.mode() {
        Mode::Plan if changes => blocked_by_mode(situation.consent),
        Mode::Plan | Mode::Act => {
            let advice = match situation.consent {
                Consent::Needed => "Trying again won't change that. Stay within its rights, or tell the user which role could.",
                Consent::Given => "Choose a role that may.",
            };
            Problem::new(ErrorCode::ToolNotPermitted, format!("The {} role may not do this. {advice}", situation.role))
        }
    })
}

/// A helper reads, whatever its role may do.
fn exceeds_helper(situation: &Situation, effect: &Effect) -> Option<Problem> {
    (situation.agent == AgentKind::Helper && !effect.only_reads()).then(|| {
        Problem::new(ErrorCode::ToolNotPermitted, "A helper only reads. Report what you found; whoever gave you the task does the rest.")
    })
}

/// The words are agreed upon; what they mean for a model is added for models alone.
fn blocked_by_mode(consent: Consent) -> Problem {
    let text = "System is in Plan Mode. You can only modify the plan. Switch to Build Mode to apply changes.";
    let text = match consent {
        Consent::Needed => format!("{text} Put what you meant to do into the plan; the user approves it, and only then is it carried out."),
        Consent::Given => text.to_owned(),
    };
    Problem::new(ErrorCode::ToolBlockedByMode, text)
}

/// In plan mode a chat has one plan, whoever writes it. The model changes nothing else below `/plans/`, where the user may keep
/// things too; whether users tidy up there goes by the role's rights alone.
fn oversteps_own_plan(situation: &Situation, effect: &Effect) -> Option<Problem> {
    if situation.role.mode() == Mode::Act {
        return None;
    }
    let Effect::File(effect) = effect else { return None };
    match effect {
        FileEffect::Read(_) | FileEffect::ChangeRepository(_) => None,
        FileEffect::Write(path) | FileEffect::Create(path) if situation.own_plan.as_ref() == Some(path) => None,
        // The first file makes itself the chat's own plan, so that there is no second.
        FileEffect::Create(_) if situation.own_plan.is_none() => None,
        FileEffect::Write(_) if situation.own_plan.is_none() && situation.consent == Consent::Given => None,
        FileEffect::Write(path) | FileEffect::Create(path) => {
            let advice = match (&situation.own_plan, situation.consent) {
                (Some(own), Consent::Needed) => {
                    format!("A chat has one plan, and this one's is {own}: change that, or rewrite it with `write_plan`.")
                }
                (Some(own), Consent::Given) => format!("A chat has one plan, and this one's is {own}: change that, or begin another chat."),
                (None, _) => "Write your own with `write_plan`.".to_owned(),
            };
            Some(Problem::new(ErrorCode::PlanNotOwned, format!("{path} is not this chat's plan. {advice}")))
        }
        FileEffect::CreateFolder(_) | FileEffect::Delete(_) | FileEffect::Move { .. } | FileEffect::Replace(_) => {
            (situation.consent == Consent::Needed).then(|| blocked_by_mode(situation.consent))
        }
    }
}

/// The policy `act_requires_plan`: act mode reads, plans and reports until a plan is approved. A role that runs commands and
/// can't write (the Tester) runs them all the same.
fn lacks_plan(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let missing = situation.missing_plan.filter(|_| situation.role.mode() == Mode::Act)?;
    let only_runs = !situation.role.has(Permission::Write);
    let is_allowed = match effect {
        // The plan that the policy asks for has to be written: the chat's own, or its first by the tool for it.
        Effect::File(FileEffect::Create(path) | FileEffect::Write(path)) if situation.own_plan.as_ref() == Some(path) => true,
        Effect::File(FileEffect::Create(path)) => path.is_plan() && situation.own_plan.is_none() && situation.tool == WRITE_PLAN,
        Effect::File(effect) => matches!(effect, FileEffect::Read(_)),
        Effect::Record(_) | Effect::Landing(LandingEffect::TakeBack(_)) => true,
        Effect::Run(RunEffect::Consult { .. }) | Effect::Web(_) => true,
        Effect::Run(effect) => only_runs && matches!(effect, RunEffect::Execute { .. } | RunEffect::Network),
        Effect::Landing(effect) => only_runs && matches!(effect, LandingEffect::Keep),
    };
    (!is_allowed).then(|| missing.problem(situation))
}

/// The sets of rights of which each one is enough for the effect.
fn sufficient(effect: &Effect) -> &'static [&'static [Permission]] {
    use Permission::{Create, Delegate, Delete, Execute, Explore, Plan, Progress, Read, Review, Write};
    match effect {
        Effect::File(effect) => match effect {
            FileEffect::Read(_) => &[&[Read]],
            FileEffect::Create(path) if path.is_plan() => &[&[Plan], &[Create]],
            FileEffect::Create(_) => &[&[Create]],
            FileEffect::CreateFolder(path) if path.is_below_plans() => &[&[Plan], &[Create]],
            FileEffect::CreateFolder(_) => &[&[Create]],
            FileEffect::Write(path) if path.is_plan() => &[&[Plan]],
            FileEffect::Write(_) => &[&[Write]],
            FileEffect::Delete(path) if path.is_below_plans() => &[&[Plan], &[Delete]],
            FileEffect::Delete(_) => &[&[Delete]],
            FileEffect::Move { from, to } if from.is_plan() && to.is_plan() => &[&[Plan], &[Create, Delete]],
            FileEffect::Move { .. } => &[&[Create, Delete]],
            FileEffect::Replace(path) if path.is_plan() => &[&[Plan], &[Delete]],
            FileEffect::Replace(_) => &[&[Delete]],
            // Refused to everybody; who may write nothing at all is told that instead.
            FileEffect::ChangeRepository(_) => &[&[Plan], &[Create]],
        },
        Effect::Record(RecordEffect::Progress) => &[&[Progress]],
        Effect::Record(RecordEffect::Review) => &[&[Review]],
        Effect::Record(RecordEffect::Delegate(_)) => &[&[Delegate]],
        Effect::Record(RecordEffect::Explore) => &[&[Explore]],
        Effect::Web(WebEffect::Fetch(_) | WebEffect::Search(_)) => &[&[Read]],
        Effect::Run(RunEffect::Execute { .. } | RunEffect::Network) => &[&[Execute]],
        // Without the kernel's guard, whoever runs commands can change everything.
        Effect::Run(RunEffect::Unconfined) => &[&[Execute, Write, Create, Delete]],
        Effect::Run(RunEffect::Inspect | RunEffect::Consult { .. }) => &[&[Read]],
        Effect::Run(RunEffect::Call { .. }) => &[&[Write]],
        Effect::Landing(LandingEffect::Keep) => &[&[Execute]],
        Effect::Landing(LandingEffect::LoseCommits(_)) => &[&[Delete]],
        // No right of the agent's: the user does it.
        Effect::Landing(LandingEffect::TakeBack(_)) => &[&[]],
    }
}

fn touches_protected(_: &Situation, effect: &Effect) -> Option<Problem> {
    if let Effect::File(FileEffect::ChangeRepository(folder)) = effect {
        return Some(repository_refusal(folder));
    }
    let path = effect.changed_paths().into_iter().find(|path| path.is_protected())?;
    Some(Problem::new(
        ErrorCode::ProtectedPath,
        format!("{path} belongs to git or to Planwright itself, and no tool may change it. Leave it as it is."),
    ))
}

fn touches_foreign_plan(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let changed = effect.changed_paths();
    let plan = situation.foreign_plans.iter().find(|plan| changed.iter().any(|path| plan.is_within(path)))?;
    Some(Problem::new(ErrorCode::PlanNotOwned, format!("{plan} is the plan of another chat. Write a plan of your own under another name.")))
}

/// What no approval can make right.
fn is_senseless(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let invalid = |text: &str| Some(Problem::new(ErrorCode::PathInvalid, text));
    match effect {
        Effect::File(FileEffect::Delete(path)) if path.is_root() => invalid("This is the workspace itself; it can't be deleted or moved."),
        Effect::File(FileEffect::Move { from, to }) if from.is_root() || to.is_within(from) => {
            invalid("A folder can't be moved into itself.")
        }
        Effect::File(FileEffect::Replace(path)) if situation.role.mode() == Mode::Plan => {
            Some(Problem::new(ErrorCode::PathExists, format!("{path} exists already. Choose another name, or remove it first.")))
        }
        Effect::Record(RecordEffect::Delegate(role)) if !situation.role.row().delegates_to.contains(role) => {
            Some(Problem::new(ErrorCode::ToolNotPermitted, format!("The {} role can't delegate to the {role} role.", situation.role)))
        }
        Effect::Landing(LandingEffect::TakeBack(path)) if path.is_root() || path.is_protected() && !path.is_in_repository() => {
            Some(Problem::new(ErrorCode::ProtectedPath, format!("No chat changes {path}, so there is nothing of it to be taken back.")))
        }
        Effect::File(_) | Effect::Record(_) | Effect::Run(_) | Effect::Landing(_) | Effect::Web(_) => None,
    }
}

/// What the user alone may ask for.
fn lacks_user(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let is_theirs = matches!(effect, Effect::Landing(LandingEffect::TakeBack(_)));
    (is_theirs && situation.consent == Consent::Needed)
        .then(|| Problem::new(ErrorCode::ToolNotPermitted, "Only the user takes changes back. Ask them to, or make another change."))
}

struct Concern {
    rule: Rule,
    severity: Severity,
    reason: String,
}

/// Why the user may want a word in an effect that the role has the right to.
fn concern(situation: &Situation, effect: &Effect) -> Option<Concern> {
    // A standing yes to what commands change is none to what they delete.
    let is_grantable = situation.tool != KEEPING || !effect.loses();
    let granted = |path: &WorkspacePath| is_grantable && situation.grants.iter().any(|grant| grant.covers(&situation.tool, path));
    let secret = match effect {
        Effect::File(FileEffect::Read(path) | FileEffect::Move { from: path, .. }) => Some(path),
        Effect::File(_) | Effect::Record(_) | Effect::Run(_) | Effect::Landing(_) | Effect::Web(_) => None,
    };
    if let Some(path) = secret.filter(|path| situation.secrets.contains(path) && !granted(path)) {
        return Some(Concern {
            rule: Rule::Ask,
            severity: Severity::Critical,
            reason: format!("{path} looks like a secret, and what is read goes to the model's provider"),
        });
    }
    if let Effect::Run(effect) = effect {
        return concern_about_run(situation, effect);
    }
    if let Effect::Web(effect) = effect {
        return concern_about_web(situation, effect);
    }
    // In plan mode only plans can change, and those are the role's own business.
    if situation.role.mode() == Mode::Plan {
        return None;
    }
    if let Effect::Landing(LandingEffect::LoseCommits(loss)) = effect {
        return Some(Concern { rule: situation.approvals.delete, severity: Severity::Critical, reason: loss.to_string() });
    }
    let ungranted: Vec<&WorkspacePath> = effect.changed_paths().into_iter().filter(|path| !granted(path)).collect();
    let path = ungranted.first()?;
    if effect.loses() {
        return Some(Concern {
            rule: situation.approvals.delete,
            severity: Severity::Critical,
            reason: format!("{path} would be deleted"),
        });
    }
    // Its boxes say what the server saw, so a command has no business in the chat's own plan.
    if let Some(plan) = ungranted.iter().find(|path| situation.tool == KEEPING && situation.own_plan.as_ref() == Some(path)) {
        return Some(Concern {
            rule: situation.approvals.outside_plan.max(Rule::Ask),
            severity: Severity::Major,
            reason: format!("a command changed {plan}, the plan of this chat"),
        });
    }
    // The chat's own plan, and one that is not there yet, are no business of the approved one; a plan that somebody wrote is.
    let of_plans = |path: &WorkspacePath| {
        situation.own_plan.as_ref() == Some(path) || matches!(effect, Effect::File(FileEffect::Create(_))) && path.is_plan()
    };
    let outside = ungranted.iter().find(|path| !of_plans(path) && situation.scope.as_ref().is_some_and(|scope| !scope.contains(path)))?;
    Some(Concern {
        rule: situation.approvals.outside_plan,
        severity: Severity::Major,
        reason: format!("{outside} is not among the files of the approved plan"),
    })
}

#[cfg(test)]
pub(crate) mod tests;
