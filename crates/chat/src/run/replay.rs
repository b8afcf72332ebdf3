//! Runs from what is stored: at their start, after a crash, and after an outage of the database.

use super::Run;
use crate::reading::{Extent, as_read};
use planwright_agent::history::Replies;
use planwright_agent::turn::ReplyCounts;
use planwright_agent::{Turn, TurnOutcome, drive};
use planwright_protocol::{ErrorCode, Problem};
use planwright_store::TurnMessages;
use std::time::Duration;

/// How long a run waits before it looks whether the database is back.
const PAUSE_WITHOUT_DATABASE: Duration = Duration::from_secs(1);

impl Run {
    /// Runs to the end. While the database is away it waits, and then goes on by what is stored, as after a crash.
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
        // A delegate's conversation begins after the chat's own was last summed up and is never cut, so all of it is there.
        let start = self.chat.record().turn_start.filter(|_| self.delegate.is_none());
        let before = start.map_or_else(ReplyCounts::default, |start| ReplyCounts {
            since_user: start.replies,
            replies: Replies { plan: start.plan_replies, act: start.act_replies },
        });
        Ok(match start {
            _ if is_cut && self.delegate.is_none() => Turn::replay_cut(before, as_read(history, Extent::End), limit),
            None => Turn::replay(as_read(history, Extent::Whole), limit),
            Some(_) => Turn::replay_after(before, as_read(history, Extent::End), limit),
        })
    }
}
