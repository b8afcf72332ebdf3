//! Rebuilds runs from stored messages: at their start, after a crash, and after a database outage.

use super::Run;
use crate::read_marker::{HistoryPart, as_read};
use planwright_agent::history::Replies;
use planwright_agent::turn::ReplyCounts;
use planwright_agent::{Turn, TurnOutcome, drive};
use planwright_protocol::{ErrorCode, Problem};
use planwright_store::TurnMessages;
use std::time::Duration;

/// How often a run checks whether the database is back.
const PAUSE_WITHOUT_DATABASE: Duration = Duration::from_secs(1);

impl Run {
    /// Runs to the end. During a database outage it waits, and then continues from the stored messages, as after a crash.
    pub async fn finish(self) -> TurnOutcome {
        let (chat, inbox) = (self.chat.clone(), self.inbox.clone());
        let mut run = self;
        loop {
            let outcome = match run.turn().await {
                Ok(mut turn) => drive(&mut turn, &mut run).await,
                Err(problem) => TurnOutcome::Failed(problem),
            };
            match &outcome {
                TurnOutcome::Failed(problem) if problem.code == ErrorCode::NotReady && problem.retryable => {
                    tokio::time::sleep(PAUSE_WITHOUT_DATABASE).await;
                    run = Self { asked: run.asked.clone(), ..Self::new(chat.clone(), inbox.clone()) };
                }
                TurnOutcome::Done | TurnOutcome::Parked(_) | TurnOutcome::Failed(_) => return outcome,
            }
        }
    }

    pub(crate) async fn turn(&self) -> Result<Turn, Problem> {
        let limit = self.chat.settings().limits.turns;
        let TurnMessages { messages, is_cut } = self.chat.turn_messages().await?;
        let history = self.thread_of(messages);
        // A delegate's conversation begins after the last compaction and is never cut, so it is complete.
        let start = self.chat.record().turn_start.filter(|_| self.delegate.is_none());
        let before = start.map_or_else(ReplyCounts::default, |start| ReplyCounts {
            since_user: start.replies,
            replies: Replies { plan: start.plan_replies, act: start.act_replies },
        });
        Ok(match start {
            _ if is_cut && self.delegate.is_none() => Turn::replay_cut(before, as_read(history, HistoryPart::End), limit),
            None => Turn::replay(as_read(history, HistoryPart::Whole), limit),
            Some(_) => Turn::replay_after(before, as_read(history, HistoryPart::End), limit),
        })
    }
}
