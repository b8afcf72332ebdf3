//! The gate: the one place where a role meets a tool call.
//!
//! It knows a call by its effects alone. What it does not expressly allow it denies; settings can
//! make it stricter, never laxer; nothing the model writes reaches it except as an effect.

mod missing_plan;
mod permit;
mod settings;

pub use missing_plan::MissingPlan;
pub use permit::{CommitGuard, Epoch, Fence, Permit};
pub use settings::{Grant, Scope, Secrets};

use crate::effect::Effect;
use crate::git_name::repository_refusal;
use crate::path::WorkspacePath;
use planwright_protocol::settings::{Approvals, Rule};
use planwright_protocol::{ErrorCode, Mode, Permission, Problem, Role, Severity};
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
    pub consent: Consent,
}

/// The name under which what a command changed is judged: whether it may run was settled before, and by another yes.
pub const KEEPING: &str = "run: changes";

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
    let refusals: [fn(&Situation, &Effect) -> Option<Problem>; 6] =
        [lacks_permission, oversteps_own_plan, lacks_plan, touches_protected, touches_foreign_plan, is_senseless];
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
            Verdict::Allow(Permit::new(effects.to_vec(), situation.epoch, situation.fence.clone()))
        }
    }
}

/// The role or its mode has no right to this.
fn lacks_permission(situation: &Situation, effect: &Effect) -> Option<Problem> {
    if sufficient(effect).iter().any(|rights| rights.iter().all(|&right| situation.role.has(right))) {
        return None;
    }
    // What would change nothing is a matter of the role, in either mode.
    let changes = !matches!(effect, Effect::Review);
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
    match effect {
        Effect::Write(path) | Effect::Create(path) if situation.own_plan.as_ref() == Some(path) => None,
        // The first file makes itself the chat's own plan, so that there is no second.
        Effect::Create(_) if situation.own_plan.is_none() => None,
        Effect::Write(_) if situation.own_plan.is_none() && situation.consent == Consent::Given => None,
        Effect::Write(path) | Effect::Create(path) => {
            let advice = match (&situation.own_plan, situation.consent) {
                (Some(own), Consent::Needed) => {
                    format!("A chat has one plan, and this one's is {own}: change that, or rewrite it with `write_plan`.")
                }
                (Some(own), Consent::Given) => format!("A chat has one plan, and this one's is {own}: change that, or begin another chat."),
                (None, _) => "Write your own with `write_plan`.".to_owned(),
            };
            Some(Problem::new(ErrorCode::PlanNotOwned, format!("{path} is not this chat's plan. {advice}")))
        }
        Effect::CreateFolder(_) | Effect::Delete(_) | Effect::Move { .. } | Effect::Replace(_) if situation.consent == Consent::Given => {
            None
        }
        Effect::CreateFolder(_) | Effect::Delete(_) | Effect::Move { .. } | Effect::Replace(_) => Some(blocked_by_mode(situation.consent)),
        Effect::Read(_) | Effect::Progress | Effect::Review | Effect::Delegate(_) => None,
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => None,
        Effect::Consult { .. } | Effect::Call { .. } | Effect::LoseCommits(_) | Effect::ChangeRepository(_) => None,
    }
}

/// The policy `act_requires_plan`: act mode reads, plans and reports until a plan is approved. A role that runs commands and
/// can't write (the Tester) runs them all the same.
fn lacks_plan(situation: &Situation, effect: &Effect) -> Option<Problem> {
    let missing = situation.missing_plan.filter(|_| situation.role.mode() == Mode::Act)?;
    match effect {
        Effect::Read(_) | Effect::Consult { .. } | Effect::Progress | Effect::Review | Effect::Delegate(_) => None,
        // The plan that the policy asks for has to be written: the chat's own, or its first by the tool for it.
        Effect::Create(path) | Effect::Write(path) if situation.own_plan.as_ref() == Some(path) => None,
        Effect::Create(path) if path.is_plan() && situation.own_plan.is_none() && situation.tool == WRITE_PLAN => None,
        Effect::Execute { .. } | Effect::Network | Effect::Keep if !situation.role.has(Permission::Write) => None,
        Effect::Create(_) | Effect::CreateFolder(_) | Effect::Write(_) => Some(missing.problem(situation)),
        Effect::Delete(_) | Effect::Move { .. } | Effect::Replace(_) => Some(missing.problem(situation)),
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => Some(missing.problem(situation)),
        Effect::Call { .. } | Effect::LoseCommits(_) | Effect::ChangeRepository(_) => Some(missing.problem(situation)),
    }
}

/// The sets of rights of which each one is enough for the effect.
fn sufficient(effect: &Effect) -> &'static [&'static [Permission]] {
    use Permission::{Create, Delegate, Delete, Execute, Plan, Progress, Read, Review, Write};
    match effect {
        Effect::Read(_) => &[&[Read]],
        Effect::Create(path) if path.is_plan() => &[&[Plan], &[Create]],
        Effect::Create(_) => &[&[Create]],
        Effect::CreateFolder(path) if path.is_below_plans() => &[&[Plan], &[Create]],
        Effect::CreateFolder(_) => &[&[Create]],
        Effect::Write(path) if path.is_plan() => &[&[Plan]],
        // Refused to everybody; who may write nothing at all is told that instead.
        Effect::ChangeRepository(_) => &[&[Plan], &[Create]],
        Effect::Write(_) => &[&[Write]],
        Effect::Delete(path) if path.is_below_plans() => &[&[Plan], &[Delete]],
        Effect::Delete(_) | Effect::LoseCommits(_) => &[&[Delete]],
        Effect::Move { from, to } if from.is_plan() && to.is_plan() => &[&[Plan], &[Create, Delete]],
        Effect::Move { .. } => &[&[Create, Delete]],
        Effect::Replace(path) if path.is_plan() => &[&[Plan], &[Delete]],
        Effect::Replace(_) => &[&[Delete]],
        Effect::Progress => &[&[Progress]],
        Effect::Review => &[&[Review]],
        Effect::Delegate(_) => &[&[Delegate]],
        Effect::Execute { .. } | Effect::Network | Effect::Keep => &[&[Execute]],
        // Without the kernel's guard, whoever runs commands can change everything.
        Effect::Unconfined => &[&[Execute, Write, Create, Delete]],
        Effect::Inspect | Effect::Consult { .. } => &[&[Read]],
        Effect::Call { .. } => &[&[Write]],
    }
}

fn touches_protected(_: &Situation, effect: &Effect) -> Option<Problem> {
    if let Effect::ChangeRepository(folder) = effect {
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
    match effect {
        Effect::Delete(path) if path.is_root() => {
            Some(Problem::new(ErrorCode::PathInvalid, "This is the workspace itself; it can't be deleted or moved."))
        }
        Effect::Move { from, to } if from.is_root() || to.is_within(from) => {
            Some(Problem::new(ErrorCode::PathInvalid, "A folder can't be moved into itself."))
        }
        Effect::Replace(path) if situation.role.mode() == Mode::Plan => {
            Some(Problem::new(ErrorCode::PathExists, format!("{path} exists already. Choose another name, or remove it first.")))
        }
        Effect::Delegate(role) if !situation.role.row().delegates_to.contains(role) => {
            Some(Problem::new(ErrorCode::ToolNotPermitted, format!("The {} role can't delegate to the {role} role.", situation.role)))
        }
        Effect::Delete(_) | Effect::Move { .. } | Effect::Replace(_) | Effect::Delegate(_) => None,
        Effect::Read(_) | Effect::Create(_) | Effect::CreateFolder(_) | Effect::Write(_) | Effect::Progress | Effect::Review => None,
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => None,
        Effect::Consult { .. } | Effect::Call { .. } | Effect::LoseCommits(_) | Effect::ChangeRepository(_) => None,
    }
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
        Effect::Read(path) | Effect::Move { from: path, .. } => Some(path),
        Effect::Create(_) | Effect::CreateFolder(_) | Effect::Write(_) | Effect::Delete(_) | Effect::Replace(_) => None,
        Effect::Progress | Effect::Review | Effect::Delegate(_) => None,
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => None,
        Effect::Consult { .. } | Effect::Call { .. } | Effect::LoseCommits(_) | Effect::ChangeRepository(_) => None,
    };
    if let Some(path) = secret.filter(|path| situation.secrets.contains(path) && !granted(path)) {
        return Some(Concern {
            rule: Rule::Ask,
            severity: Severity::Critical,
            reason: format!("{path} looks like a secret, and what is read goes to the model's provider"),
        });
    }
    if let Some(concern) = concern_about_command(situation, effect).or_else(|| concern_about_server(situation, effect)) {
        return Some(concern);
    }
    // In plan mode only plans can change, and those are the role's own business.
    if situation.role.mode() == Mode::Plan {
        return None;
    }
    if let Effect::LoseCommits(loss) = effect {
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
    let of_plans =
        |path: &WorkspacePath| situation.own_plan.as_ref() == Some(path) || matches!(effect, Effect::Create(_)) && path.is_plan();
    let outside = ungranted.iter().find(|path| !of_plans(path) && situation.scope.as_ref().is_some_and(|scope| !scope.contains(path)))?;
    Some(Concern {
        rule: situation.approvals.outside_plan,
        severity: Severity::Major,
        reason: format!("{outside} is not among the files of the approved plan"),
    })
}

fn concern_about_command(situation: &Situation, effect: &Effect) -> Option<Concern> {
    let granted = |folder: &WorkspacePath| situation.grants.iter().any(|grant| grant.covers(&situation.tool, folder));
    let (rule, severity, reason) = match effect {
        Effect::Execute { folder, .. } if granted(folder) => return None,
        Effect::Execute { .. } => (situation.approvals.execute, Severity::Minor, "a command would be run"),
        // Leaving the sandbox is asked about each time: a yes to one command says nothing about the next.
        Effect::Network => (Rule::Ask, Severity::Major, "the command would leave the sandbox and reach the network"),
        Effect::Unconfined => (Rule::Ask, Severity::Major, "the sandbox is switched off, so nothing would hold the command back"),
        Effect::Inspect | Effect::Keep | Effect::Progress | Effect::Review | Effect::Delegate(_) => return None,
        Effect::Read(_) | Effect::Create(_) | Effect::CreateFolder(_) | Effect::Write(_) => return None,
        Effect::Delete(_) | Effect::Move { .. } | Effect::Replace(_) => return None,
        Effect::Consult { .. } | Effect::Call { .. } | Effect::LoseCommits(_) | Effect::ChangeRepository(_) => return None,
    };
    Some(Concern { rule, severity, reason: reason.to_owned() })
}

fn concern_about_server(situation: &Situation, effect: &Effect) -> Option<Concern> {
    let rule = situation.approvals.mcp;
    let server = match effect {
        Effect::Call { server, .. } => server,
        // That it only reads is settled by the user's trust; that no server is called at all is another matter.
        Effect::Consult { server, .. } if rule == Rule::Deny => server,
        Effect::Consult { .. } => return None,
        Effect::Read(_) | Effect::Create(_) | Effect::CreateFolder(_) | Effect::Write(_) => return None,
        Effect::Delete(_) | Effect::Move { .. } | Effect::Replace(_) | Effect::LoseCommits(_) | Effect::ChangeRepository(_) => return None,
        Effect::Inspect | Effect::Keep | Effect::Progress | Effect::Review | Effect::Delegate(_) => return None,
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined => return None,
    };
    let granted = situation.grants.iter().any(|grant| grant.covers(&situation.tool, &WorkspacePath::root()));
    (rule == Rule::Deny || !granted).then(|| Concern {
        rule,
        severity: Severity::Major,
        reason: format!("a tool of the MCP server `{server}` would be called, and what it does is not known"),
    })
}

#[cfg(test)]
mod tests;
