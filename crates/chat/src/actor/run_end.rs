//! Stores the end of a run.

use super::Actor;
use crate::chat::{Activity, Change};
use crate::commits;
use crate::crash;
use crate::progress::open_steps;
use planwright_agent::TurnOutcome;
use planwright_protocol::event::{ChatState, RunOutcome};
use planwright_protocol::{ErrorCode, Event, Message, Problem};
use std::time::Duration;

/// The delay before storing the end of a run is retried.
const RETRY_END: Duration = Duration::from_secs(2);

impl Actor {
    /// Stores how a run ended; starts another if the user sent a message meanwhile.
    pub(super) async fn conclude(&mut self, outcome: Option<TurnOutcome>) -> Result<(), Problem> {
        if self.running.take().is_none() {
            return Ok(());
        }
        crash::point("run_over");
        let open_steps = open_steps(&self.chat.record());
        let failed = |interrupted: Option<Message>, problem: Problem| {
            Change::messages(interrupted)
                .event(Event::RunFinished { outcome: RunOutcome::Failed, error: Some(problem), open_steps: open_steps.clone() })
                .event(Event::StateChanged { state: ChatState::Failed })
        };
        match outcome {
            Some(TurnOutcome::Done | TurnOutcome::Parked(_)) if !self.chat.inbox.is_empty() => {
                self.chat.amend(|chat| chat.activity.continue_run()).await?;
                self.start();
                Ok(())
            }
            // Everything about the question was stored with it.
            Some(TurnOutcome::Parked(_)) => {
                self.chat.publish(Change::default(), |chat| chat.activity.end_run()).await?;
                crash::point("run_parked");
                Ok(())
            }
            Some(TurnOutcome::Done) if let Some(plan) = self.ordered_plan().await? => self.raise_card(&plan, None).await,
            Some(TurnOutcome::Done) => {
                commits::commit_work(&self.chat, None).await;
                let change = Change::default()
                    .event(Event::RunFinished { outcome: RunOutcome::Done, error: None, open_steps })
                    .event(Event::StateChanged { state: ChatState::Idle });
                self.chat.publish(change, |chat| chat.activity = Activity::Idle).await?;
                crash::point("run_end_stored");
                Ok(())
            }
            Some(TurnOutcome::Failed(problem)) => {
                let interrupted = self.chat.settle().await;
                self.chat.publish(failed(interrupted, problem), |chat| chat.activity = Activity::Failed).await
            }
            None => {
                let problem = Problem::new(
                    ErrorCode::Internal,
                    "Planwright failed internally during the run. Stored data is safe; send a message to continue.",
                );
                self.chat.publish(failed(None, problem), |chat| chat.activity = Activity::Failed).await
            }
        }
    }

    /// A temporary failure such as a full disk must not leave the chat running forever.
    pub(super) async fn store_end_again(&mut self) {
        let Some(problem) = self.unstored_end.clone() else { return };
        let problem = Problem { message: format!("Can't store the end of the run. {}", problem.message), ..problem };
        let open_steps = open_steps(&self.chat.record());
        let change = Change::default()
            .event(Event::RunFinished { outcome: RunOutcome::Failed, error: Some(problem), open_steps })
            .event(Event::StateChanged { state: ChatState::Failed });
        if self.chat.publish(change, |chat| chat.activity = Activity::Failed).await.is_ok() {
            self.unstored_end = None;
        }
    }
}

pub(super) async fn pause_before_retry(unstored_end: Option<&Problem>) {
    match unstored_end {
        Some(_) => tokio::time::sleep(RETRY_END).await,
        None => std::future::pending().await,
    }
}
