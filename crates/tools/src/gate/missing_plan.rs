//! The messages of the policy `act_requires_plan` when it forbids a change.

use super::{Consent, Situation};
use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};

/// Why a chat has no approved plan in the sense of the policy `act_requires_plan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingPlan {
    /// The user has not approved the chat's plan, or there is none.
    NotApproved,
    /// The chat's plan is newer than the approved version.
    Revised,
    /// The user reverted to before the approval.
    TakenBack,
    /// The approved plan has no open step.
    Done,
}

impl MissingPlan {
    /// For the model, or for the user who makes the call.
    pub(super) fn problem(self, situation: &Situation) -> Problem {
        let why = match situation.consent {
            Consent::Needed => self.for_model(situation.own_plan.as_ref()),
            Consent::Given => self.for_user(situation.own_plan.as_ref()),
        };
        let text = format!("This workspace requires an approved plan before anything changes, and {why}");
        Problem::new(ErrorCode::PlanRequired, text)
    }

    fn for_model(self, own_plan: Option<&WorkspacePath>) -> String {
        match (self, own_plan) {
            (Self::NotApproved, None) => {
                "this chat has none. Write the plan with `write_plan`, then call `exit_plan_mode`, which asks the user to approve it.".to_owned()
            }
            (Self::NotApproved, Some(plan)) => {
                format!("this chat's plan, {plan}, is not approved. Call `exit_plan_mode`, which asks the user to approve it.")
            }
            (Self::Revised, _) => {
                "the plan has changed since the approval. Call `exit_plan_mode`, which asks the user to approve it.".to_owned()
            }
            (Self::TakenBack, _) => {
                "changes were reverted to before the approval. Call `exit_plan_mode`, which asks the user to approve the plan again.".to_owned()
            }
            (Self::Done, _) => {
                "the approved plan has no open step. To work on one of its steps again, report it as `in_progress` with `update_step`; for anything else write the next plan with `write_plan`, then call `exit_plan_mode`, which asks the user to approve it.".to_owned()
            }
        }
    }

    fn for_user(self, own_plan: Option<&WorkspacePath>) -> String {
        match (self, own_plan) {
            (Self::NotApproved, None) => {
                "there is none. Make the call in a chat whose plan you have approved (`chat_id`), or ask for a plan and approve it."
                    .to_owned()
            }
            (Self::NotApproved, Some(plan)) => {
                format!("{plan} is not approved. Approve it in its chat with *Execute plan*, then try again.")
            }
            (Self::Revised, _) => "the plan has changed since you approved it. Approve it again with *Execute plan*.".to_owned(),
            (Self::TakenBack, _) => "changes were reverted to before the approval. Approve the plan again with *Execute plan*.".to_owned(),
            (Self::Done, _) => "the approved plan has no open step. Ask for the next plan and approve it.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_plan_is_told_to_who_calls_and_by_whether_there_is_one() {
        let plan = WorkspacePath::parse("/plans/x.plan").unwrap();
        let tools = ["exit_plan_mode", "update_step", "write_plan"];
        for missing in [MissingPlan::NotApproved, MissingPlan::Revised, MissingPlan::TakenBack, MissingPlan::Done] {
            for own in [None, Some(&plan)] {
                assert!(tools.iter().any(|tool| missing.for_model(own).contains(tool)), "{missing:?}");
                assert!(!tools.iter().any(|tool| missing.for_user(own).contains(tool)), "{missing:?}");
            }
        }
        for told in [MissingPlan::for_model, MissingPlan::for_user] {
            assert!(told(MissingPlan::NotApproved, Some(&plan)).contains("/plans/x.plan"));
            assert!(told(MissingPlan::NotApproved, None).contains("none"));
        }
    }
}
