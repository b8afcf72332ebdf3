//! The gate: the only place that decides whether a role may make a call.
//!
//! It sees only the effects of a call. It denies everything that it does not expressly allow. Settings can make it stricter,
//! never laxer. Nothing the model writes reaches it except as an effect.
//!
//! | module | what it holds |
//! | --- | --- |
//! | here | the inputs of a decision, [`decide`], and its rules: what is refused, and what needs the user's approval |
//! | `permit` | the proof of a decision, with one type for each kind of change |
//! | `fence` | the lock that makes a role switch final |
//! | `missing_plan` | the messages of the policy `act_requires_plan` |
//! | `reach` | what needs the user's approval outside the workspace: programs and the web |
//! | `settings` | grants, the plan's files, names of secrets |

mod fence;
mod missing_plan;
mod permit;
mod reach;
mod settings;

pub use fence::{CommitGuard, Epoch, Fence, TenureCheck};
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

/// The inputs of a decision, besides the effects.
#[derive(Clone, Debug)]
pub struct Situation {
    pub role: Role,
    pub tool: String,
    pub fence: Arc<Fence>,
    /// The epoch in which the role was read.
    pub epoch: Epoch,
    /// The chat's own plan, once it has one.
    pub own_plan: Option<WorkspacePath>,
    /// Plans of other chats.
    pub foreign_plans: Arc<BTreeSet<WorkspacePath>>,
    /// The files of the approved plan; `None` if there is no approved plan or it lists none.
    pub scope: Option<Arc<Scope>>,
    /// Why the policy `act_requires_plan` forbids changes in act mode; `None` if it is off or satisfied.
    pub missing_plan: Option<MissingPlan>,
    pub approvals: Arc<Approvals>,
    pub secrets: Arc<Secrets>,
    /// What the user always allows in this chat.
    pub grants: Arc<Vec<Grant>>,
    /// Hosts that may be fetched without asking, also those that the user allowed in this chat.
    pub hosts: Arc<AllowedHosts>,
    pub agent: AgentKind,
    pub consent: Consent,
}

/// The tool name for decisions about a command's changes. Permission to run the command does not cover them.
pub const COMMAND_CHANGES: &str = "run: changes";

/// The tool name for decisions about reverts.
pub const REVERT: &str = "revert";

/// The tool that creates a chat's first plan.
const WRITE_PLAN: &str = "write_plan";

/// Whether the user has consented to this call.
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

/// The question to the user before a call continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub reason: String,
    pub severity: Severity,
}

/// Decides a call. Pure: the same situation and effects yield the same verdict.
#[must_use]
pub fn decide(situation: &Situation, effects: &[Effect]) -> Verdict {
    let refusals: [fn(&Situation, &Effect) -> Option<Problem>; 8] = [
        lacks_permission,
        exceeds_helper,
        oversteps_own_plan,
        lacks_plan,
        touches_protected,
        touches_foreign_plan,
        is_never_allowed,
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
            format!("{reason}, and the settings forbid this. Find another way, or ask the user."),
        )),
        Some(Concern { rule: Rule::Ask, reason, severity }) if situation.consent == Consent::Needed => {
            Verdict::Ask(Approval { reason, severity })
        }
        Some(Concern { rule: Rule::Ask | Rule::Allow, .. }) | None => {
            Verdict::Allow(Permit::new(effects.to_vec(), Pass::new(situation.epoch, situation.fence.clone()), situation.hosts.clone()))
        }
    }
}

/// Allows restoring what a command changed in place, in any situation: nobody approved those changes.
pub(crate) fn permit_put_back<'p>(changed: impl IntoIterator<Item = &'p WorkspacePath>, unspellable: &[String]) -> PutBackPermit {
    PutBackPermit::new(changed, unspellable)
}

/// The role or its mode lacks the permission.
fn lacks_permission(situation: &Situation, effect: &Effect) -> Option<Problem> {
    if sufficient(effect).iter().any(|rights| rights.iter().all(|&right| situation.role.has(right))) {
        return None;
    }
    // In either mode, the role decides about effects that change nothing.
    let changes = !matches!(effect, Effect::Record(RecordEffect::Review | RecordEffect::Explore));
    Some(match situation.role.mode() {
        Mode::Plan if changes => blocked_by_mode(situation.consent),
        Mode::Plan | Mode::Act => {
            let advice = match situation.consent {
                Consent::Needed => "Retrying won't help. Stay within its permissions, or tell the user which role could do it.",
                Consent::Given => "Choose a role that may do it.",
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

/// The text is part of the contract; only models get the additional advice.
fn blocked_by_mode(consent: Consent) -> Problem {
    let text = "System is in Plan Mode. You can only modify the plan. Switch to Build Mode to apply changes.";
    let text = match consent {
        Consent::Needed => format!("{text} Put your intended changes into the plan; they are made after the user has approved it."),
        Consent::Given => text.to_owned(),
    };
    Problem::new(ErrorCode::ToolBlockedByMode, text)
}

/// In plan mode a chat has one plan, whoever writes it. The model changes nothing else below `/plans/`, because the user may keep
/// files there. The user's own changes there depend only on the role's permissions.
fn oversteps_own_plan(situation: &Situation, effect: &Effect) -> Option<Problem> {
    if situation.role.mode() == Mode::Act {
        return None;
    }
    let Effect::File(effect) = effect else { return None };
    match effect {
        FileEffect::Read(_) | FileEffect::ChangeRepository(_) => None,
        FileEffect::Write(path) | FileEffect::Create(path) if situation.own_plan.as_ref() == Some(path) => None,
        // The first file becomes the chat's own plan, so that there is no second.
        FileEffect::Create(_) if situation.own_plan.is_none() => None,
        FileEffect::Write(_) if situation.own_plan.is_none() && situation.consent == Consent::Given => None,
        FileEffect::Write(path) | FileEffect::Create(path) => {
            let advice = match (&situation.own_plan, situation.consent) {
                (Some(own), Consent::Needed) => {
                    format!("A chat has one plan, and the plan of this chat is {own}: change it, or rewrite it with `write_plan`.")
                }
                (Some(own), Consent::Given) => {
                    format!("A chat has one plan, and the plan of this chat is {own}: change it, or start another chat.")
                }
                (None, _) => "Write your own with `write_plan`.".to_owned(),
            };
            Some(Problem::new(ErrorCode::PlanNotOwned, format!("{path} is not this chat's plan. {advice}")))
        }
        FileEffect::CreateFolder(_) | FileEffect::Delete(_) | FileEffect::Move { .. } | FileEffect::Replace(_) => {
            (situation.consent == Consent::Needed).then(|| blocked_by_mode(situation.consent))
        }
    }
}

/// The policy `act_requires_plan`: act mode can only read, plan and report until a plan is approved. A role that runs commands
/// but can't write (the Tester) may still run them.
fn lacks_plan(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let missing = situation.missing_plan.filter(|_| situation.role.mode() == Mode::Act)?;
    let only_runs = !situation.role.has(Permission::Write);
    let is_allowed = match effect {
        // The plan that the policy requires must be writable: the chat's own plan, or its first one by `write_plan`.
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

/// Sets of permissions, each of which suffices for the effect.
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
            // Refused to every role; a role without write permission gets that message instead.
            FileEffect::ChangeRepository(_) => &[&[Plan], &[Create]],
        },
        Effect::Record(RecordEffect::Progress) => &[&[Progress]],
        Effect::Record(RecordEffect::Review) => &[&[Review]],
        Effect::Record(RecordEffect::Delegate(_)) => &[&[Delegate]],
        Effect::Record(RecordEffect::Explore) => &[&[Explore]],
        Effect::Web(WebEffect::Fetch(_) | WebEffect::Search(_)) => &[&[Read]],
        Effect::Run(RunEffect::Execute { .. } | RunEffect::Network) => &[&[Execute]],
        // Without the sandbox, a command can change everything.
        Effect::Run(RunEffect::Unconfined) => &[&[Execute, Write, Create, Delete]],
        Effect::Run(RunEffect::Inspect | RunEffect::Consult { .. }) => &[&[Read]],
        Effect::Run(RunEffect::Call { .. }) => &[&[Write]],
        Effect::Landing(LandingEffect::Keep) => &[&[Execute]],
        Effect::Landing(LandingEffect::LoseCommits(_)) => &[&[Delete]],
        // No permission suffices: only the user can do it.
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
        format!("{path} belongs to git or to Planwright itself, and no tool may change it. Leave it unchanged."),
    ))
}

fn touches_foreign_plan(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let changed = effect.changed_paths();
    let plan = situation.foreign_plans.iter().find(|plan| changed.iter().any(|path| plan.is_within(path)))?;
    Some(Problem::new(ErrorCode::PlanNotOwned, format!("{plan} is the plan of another chat. Write your own plan under another name.")))
}

/// Effects that no approval can allow.
fn is_never_allowed(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let invalid = |text: &str| Some(Problem::new(ErrorCode::PathInvalid, text));
    match effect {
        Effect::File(FileEffect::Delete(path)) if path.is_root() => invalid("This is the workspace itself; it can't be deleted or moved."),
        Effect::File(FileEffect::Move { from, to }) if from.is_root() || to.is_within(from) => {
            invalid("A folder can't be moved into itself.")
        }
        Effect::File(FileEffect::Replace(path)) if situation.role.mode() == Mode::Plan => {
            Some(Problem::new(ErrorCode::PathExists, format!("{path} already exists. Choose another name, or delete it first.")))
        }
        Effect::Record(RecordEffect::Delegate(role)) if !situation.role.row().delegates_to.contains(role) => {
            Some(Problem::new(ErrorCode::ToolNotPermitted, format!("The {} role can't delegate to the {role} role.", situation.role)))
        }
        Effect::Landing(LandingEffect::TakeBack(path)) if path.is_root() || path.is_protected() && !path.is_in_repository() => {
            Some(Problem::new(ErrorCode::ProtectedPath, format!("No chat changes {path}, so there is nothing to revert.")))
        }
        Effect::File(_) | Effect::Record(_) | Effect::Run(_) | Effect::Landing(_) | Effect::Web(_) => None,
    }
}

/// Effects that only the user may request.
fn lacks_user(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let is_theirs = matches!(effect, Effect::Landing(LandingEffect::TakeBack(_)));
    (is_theirs && situation.consent == Consent::Needed)
        .then(|| Problem::new(ErrorCode::ToolNotPermitted, "Only the user can revert changes. Ask the user, or make another change."))
}

struct Concern {
    rule: Rule,
    severity: Severity,
    reason: String,
}

/// Why an effect that the role permits may need the user's approval.
fn concern(situation: &Situation, effect: &Effect) -> Option<Concern> {
    // "Always allow" for a command's changes never covers deletions.
    let is_grantable = situation.tool != COMMAND_CHANGES || !effect.loses();
    let granted = |path: &WorkspacePath| is_grantable && situation.grants.iter().any(|grant| grant.covers(&situation.tool, path));
    let secret = match effect {
        Effect::File(FileEffect::Read(path) | FileEffect::Move { from: path, .. }) => Some(path),
        Effect::File(_) | Effect::Record(_) | Effect::Run(_) | Effect::Landing(_) | Effect::Web(_) => None,
    };
    if let Some(path) = secret.filter(|path| situation.secrets.contains(path) && !granted(path)) {
        return Some(Concern {
            rule: Rule::Ask,
            severity: Severity::Critical,
            reason: format!("{path} looks like a secret, and its content would be sent to the model's provider"),
        });
    }
    if let Effect::Run(effect) = effect {
        return concern_about_run(situation, effect);
    }
    if let Effect::Web(effect) = effect {
        return concern_about_web(situation, effect);
    }
    // In plan mode only plans can change, which the role covers.
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
    // Only the server ticks boxes, so a command must not change the chat's own plan.
    if let Some(plan) = ungranted.iter().find(|path| situation.tool == COMMAND_CHANGES && situation.own_plan.as_ref() == Some(path)) {
        return Some(Concern {
            rule: situation.approvals.outside_plan.max(Rule::Ask),
            severity: Severity::Major,
            reason: format!("a command changed {plan}, the plan of this chat"),
        });
    }
    // The scope check skips the chat's own plan and new plan files; it applies to plans written by other people.
    let of_plans = |path: &WorkspacePath| {
        situation.own_plan.as_ref() == Some(path) || matches!(effect, Effect::File(FileEffect::Create(_))) && path.is_plan()
    };
    let outside = ungranted.iter().find(|path| !of_plans(path) && situation.scope.as_ref().is_some_and(|scope| !scope.contains(path)))?;
    Some(Concern {
        rule: situation.approvals.outside_plan,
        severity: Severity::Major,
        reason: format!("{outside} is not one of the approved plan's files"),
    })
}

#[cfg(test)]
pub(crate) mod tests;
