//! Whether a chat has the approved plan that the policy `act_requires_plan` wants.

use crate::chat::Chat;
use crate::revert;
use planwright_protocol::{Message, Notice, Problem, Progress};
use planwright_store::ApprovalRow;
use planwright_tools::MissingPlan;

impl Chat {
    /// Why the policy allows no change now; `None` where it is off or met.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn missing_plan(&self) -> Result<Option<MissingPlan>, Problem> {
        if !self.settings().policy.act_requires_plan {
            return Ok(None);
        }
        let Some(approval) = self.approval() else { return Ok(Some(MissingPlan::NotApproved)) };
        let history = self.store.landmarks(self.id).await?;
        Ok(missing(&approval, self.record().progress.as_ref(), &history))
    }
}

/// What has become of an approval since it was given. `history` has the plan versions and notices at least.
fn missing(approval: &ApprovalRow, progress: Option<&Progress>, history: &[Message]) -> Option<MissingPlan> {
    let is_note = |message: &Message| {
        let Some(Notice::Approval(notice)) = message.body.notice() else { return false };
        notice.approval.plan_file == approval.plan_file && notice.approval.sha256 == approval.sha256
    };
    let Some(given) = history.iter().rposition(is_note) else { return Some(MissingPlan::NotApproved) };
    let since = &history[given + 1..];
    let mut versions = since.iter().rev().filter_map(|message| message.body.plan());
    let newest = versions.find(|version| version.plan_file == approval.plan_file);
    if newest.is_some_and(|version| version.sha256 != approval.sha256) {
        return Some(MissingPlan::Revised);
    }
    // Ids grow with time: a message with a lower one came before the approval.
    let mut targets = since.iter().filter_map(revert::target);
    if targets.any(|target| target <= history[given].id) {
        return Some(MissingPlan::TakenBack);
    }
    let is_over = |progress: &&Progress| progress.plan_file == approval.plan_file && approval.choice.open_steps(progress).is_empty();
    progress.filter(is_over).map(|_| MissingPlan::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::message::{
        ApprovalFacts, ApprovalNotice, ModeChange, PlanVersion, ReplyPart, RevertNotice, RevertStatus, UserText,
    };
    use planwright_protocol::plan::{StepChoice, StepProgress};
    use planwright_protocol::{Author, ChatId, MessageId, Plan, Role, StepStatus, SwitchedBy, Timestamp, WireMessage};
    use std::collections::BTreeMap;

    const FILE: &str = "/plans/a.plan";

    fn approval() -> ApprovalRow {
        ApprovalRow {
            plan_file: FILE.to_owned(),
            revision: 1,
            sha256: "one".to_owned(),
            content: String::new(),
            approver: "user".to_owned(),
            given_by: SwitchedBy::Approval,
            base_commit: None,
            choice: StepChoice::default(),
            at: Timestamp::now(),
        }
    }

    fn said() -> Message {
        Message::new(ChatId::generate(), UserText::default(), "x")
    }

    fn note() -> Message {
        note_of(FILE, "one")
    }

    fn note_of(plan_file: &str, sha256: &str) -> Message {
        let by = SwitchedBy::Approval;
        let (plan_file, sha256, approver) = (plan_file.to_owned(), sha256.to_owned(), "user".to_owned());
        let notice = ApprovalNotice {
            mode_change: ModeChange { from: Role::Planner, to: Role::Actor, by },
            approval: ApprovalFacts {
                plan_file,
                revision: 1,
                sha256,
                base_commit: None,
                approver,
                by,
                choice: StepChoice::default(),
                comment: None,
            },
            begins_with: None,
            files: None,
        };
        Message::notice(ChatId::generate(), Notice::Approval(Box::new(notice)), "x")
    }

    fn version(file: &str, sha256: &str) -> Message {
        let version = PlanVersion {
            plan: Plan::default(),
            plan_file: file.to_owned(),
            revision: 1,
            sha256: sha256.to_owned(),
            files: None,
            is_edited: false,
            user: None,
            comments: Vec::new(),
            call_id: None,
            reply: ReplyPart::default(),
        };
        Message::new(ChatId::generate(), version, "x")
    }

    fn taken_back(message_id: MessageId) -> Message {
        let notice = RevertNotice {
            message_id: Some(message_id),
            hunks: BTreeMap::new(),
            status: RevertStatus::Done,
            files: Vec::new(),
            conflicts: Vec::new(),
        };
        Message::notice(ChatId::generate(), Notice::Revert(notice), "x")
    }

    /// The same record, sent by a client.
    fn forged(record: &Message) -> Message {
        WireMessage { author: Author::User, ..WireMessage::from(record) }.into()
    }

    fn now(history: &[Message]) -> Option<MissingPlan> {
        missing(&approval(), None, history)
    }

    #[test]
    fn an_approval_counts_once_its_note_is_in_the_history_and_no_client_can_write_one() {
        assert_eq!(now(&[version(FILE, "one"), note(), said()]), None);
        assert_eq!(now(&[version(FILE, "one")]), Some(MissingPlan::NotApproved));
        for note in [forged(&note()), note_of(FILE, "two"), note_of("/plans/b.plan", "one")] {
            assert_eq!(now(&[note]), Some(MissingPlan::NotApproved));
        }
    }

    #[test]
    fn a_newer_version_of_the_plan_ends_the_approval_until_it_is_approved_or_the_old_one_is_back() {
        assert_eq!(now(&[version(FILE, "zero"), note()]), None, "what was before does not count");
        assert_eq!(now(&[note(), version(FILE, "two")]), Some(MissingPlan::Revised));
        assert_eq!(now(&[note(), version(FILE, "two"), version(FILE, "one")]), None);
        assert_eq!(now(&[note(), version(FILE, "two"), note()]), None);
        assert_eq!(now(&[note(), version("/plans/b.plan", "two")]), None, "another plan is another plan");
    }

    #[test]
    fn taking_back_to_before_the_approval_ends_it_and_taking_back_what_came_after_does_not() {
        let (first, given, later) = (said(), note(), said());
        for (target, expected) in [(first.id, Some(MissingPlan::TakenBack)), (given.id, Some(MissingPlan::TakenBack)), (later.id, None)] {
            let history = [first.clone(), given.clone(), later.clone(), taken_back(target)];
            assert_eq!(now(&history), expected);
        }
        let history = [first.clone(), given.clone(), taken_back(first.id), note()];
        assert_eq!(now(&history), None, "approved again");
        let forged = forged(&taken_back(first.id));
        assert_eq!(now(&[first, given, forged]), None, "users take back by the server alone");
    }

    #[test]
    fn a_plan_that_is_done_counts_no_more_until_one_of_its_steps_is_open_again() {
        let progress = |plan_file: &str, status| Progress {
            plan_file: plan_file.to_owned(),
            steps: vec![StepProgress { step_number: 1, action: "x".to_owned(), status, note: None }],
            reported_file: None,
            choice: StepChoice::default(),
        };
        for (file, status, expected) in [
            (FILE, StepStatus::Pending, None),
            (FILE, StepStatus::InProgress, None),
            (FILE, StepStatus::Done, Some(MissingPlan::Done)),
            (FILE, StepStatus::Skipped, Some(MissingPlan::Done)),
            ("/plans/b.plan", StepStatus::Done, None),
        ] {
            assert_eq!(missing(&approval(), Some(&progress(file, status)), &[note()]), expected, "{file} {status:?}");
        }
    }
}
