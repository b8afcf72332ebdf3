//! The user's answer at the stop after a step.

use super::{Actor, mode_changed, switch_note};
use crate::action;
use crate::chat::{Activity, Change};
use crate::commits;
use crate::progress::open_steps;
use planwright_agent::thread::open_calls;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::event::{ChatState, RunOutcome};
use planwright_protocol::question::StopDecision;
use planwright_protocol::{Event, Message, Mode, Problem, Progress, SwitchedBy, Timestamp};
use planwright_store::{ApprovalRow, AuditKind};
use serde_json::json;

impl Actor {
    pub(super) async fn decide_at_stop(
        &mut self,
        change: Change,
        pending: &Pending,
        decision: StopDecision,
        answer: &Message,
    ) -> Result<(), Problem> {
        match decision {
            StopDecision::Continue => {
                let change = self.logged(change, AuditKind::ApprovalGiven, pending);
                self.continue_past_stop(change, answer).await
            }
            StopDecision::Revise => {
                let change = self.logged(change, AuditKind::ApprovalDenied, pending);
                self.revise_plan(change).await
            }
            StopDecision::End => {
                let change = self.logged(change, AuditKind::ApprovalDenied, pending);
                self.end_at_stop(change).await
            }
        }
    }

    /// Approves the rest of the chosen steps: a new approval of the same plan, without the stop.
    async fn continue_past_stop(&mut self, change: Change, answer: &Message) -> Result<(), Problem> {
        let record = self.chat.record();
        let (Some(approval), Some(progress)) = (record.approval(), record.progress.clone()) else {
            return self.publish_and_start(change, answer).await;
        };
        let choice = approval.choice.past_stop();
        if choice.open_steps(&progress).is_empty() {
            return self.publish_and_start(change, answer).await;
        }
        let limits = choice.text().map(|limits| format!(" {limits}")).unwrap_or_default();
        let text = format!("The user continued after the stop. Carry out the open steps now.{limits}");
        let approval = ApprovalRow {
            choice: choice.clone(),
            approver: self.by.clone(),
            given_by: SwitchedBy::Approval,
            at: Timestamp::now(),
            ..(*approval).clone()
        };
        let comment = answer.body.answer().and_then(|answer| answer.comment.clone());
        self.begin_execution(change, approval, Some(Progress { choice, ..progress }), (text, comment)).await.map(|_| ())
    }

    /// Goes back to plan mode, where the agent revises the plan.
    async fn revise_plan(&mut self, change: Change) -> Result<(), Problem> {
        let mut change = self.without_open_calls(change).await?;
        let (row, role) = (self.chat.record(), Mode::Plan.default_role());
        let text = "The user stopped the execution and wants the plan revised. Steps that are done stay done. Revise the rest with \
            `write_plan`, or ask what should change.";
        change = change
            .event(Event::MessageCreated { message: switch_note(&row, role, SwitchedBy::User, text) })
            .event(mode_changed(&row, role, row.config.plan_file.clone(), SwitchedBy::User))
            .log(AuditKind::ModeEntered, "", role, json!({ "mode": role.mode(), "by": SwitchedBy::User }))
            .by(self.account())
            .event(Event::StateChanged { state: ChatState::Thinking });
        let edit = move |row: &mut crate::chat::Draft| {
            row.config.role = role;
            row.activity.begin_run();
        };
        self.chat.switch(change, edit).await?;
        self.start();
        Ok(())
    }

    /// Ends the run. Finished steps stay done.
    async fn end_at_stop(&mut self, change: Change) -> Result<(), Problem> {
        let change = self.without_open_calls(change).await?;
        commits::commit_work(&self.chat, None).await;
        let open_steps = open_steps(&self.chat.record());
        let change = change
            .event(Event::RunFinished { outcome: RunOutcome::Done, error: None, open_steps })
            .event(Event::StateChanged { state: ChatState::Idle });
        self.chat.publish(change, |chat| chat.activity = Activity::Idle).await
    }

    /// Ends the run that asked, and cancels the rest of its reply.
    async fn without_open_calls(&mut self, mut change: Change) -> Result<Change, Problem> {
        let interrupted = self.halt().await;
        let mut events = Change::messages(interrupted).events;
        for open in open_calls(&self.chat.turn_messages().await?.messages) {
            events.extend(action::cancelled(&self.chat, &open).await);
        }
        change.events.splice(0..0, events);
        Ok(change)
    }
}
