//! Writes a plan that the model gave as JSON in its reply, under the same rules as `write_plan`.

use super::{Action, Call, End, Preparation, Principal, Proposal, Refusal, perform};
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::plan::StoredPlan;
use crate::versions;
use async_trait::async_trait;
use planwright_protocol::Agent;
use planwright_protocol::{ErrorCode, MessageId, Plan, Problem};
use planwright_tools::tool::tool_named;
use planwright_tools::{Consent, Effect, FileChange, Output, Signal, Situation};
use std::sync::Arc;
use tokio_util::task::TaskTracker;

const WRITE_PLAN: &str = "write_plan";
/// Maximum number of names that are tried for a new plan.
const TRIES: usize = 9;

/// Writes the plan to the chat's plan file. The change belongs to the reply's message.
///
/// # Errors
/// Why the plan was not written.
pub async fn write(chat: &Arc<Chat>, agent: Agent, plan: Plan, message: MessageId) -> Result<StoredPlan, Problem> {
    let invalid = |error: serde_json::Error| Problem::new(ErrorCode::PlanInvalid, error.to_string());
    let mut args = serde_json::to_value(plan).map_err(invalid)?;
    // The server records progress, so a new plan has none.
    for step in args["steps"].as_array_mut().into_iter().flatten().filter_map(|step| step.as_object_mut()) {
        step.remove("status");
    }
    let args = args.to_string();
    let earlier = chat.record().config.plan_file.clone();
    let mut tries = 0;
    loop {
        tries += 1;
        let call = PlanReply { chat, agent, args: &args, message };
        let problem = match perform(Action { principal: Principal::Model(agent), call }).await.flatten() {
            Ok(stored) => return Ok(stored),
            Err(problem) => problem,
        };
        name(chat, earlier.clone()).await?;
        // Chats that plan the same thing at the same time choose the same name; the next attempt uses the next one.
        let is_taken = matches!(problem.code, ErrorCode::PathExists | ErrorCode::PlanNotOwned) && earlier.is_none();
        if !is_taken || tries == TRIES {
            return Err(problem);
        }
    }
}

/// Stores which file is the chat's plan.
async fn name(chat: &Arc<Chat>, plan_file: Option<String>) -> Result<(), Problem> {
    if chat.record().config.plan_file == plan_file {
        return Ok(());
    }
    chat.publish(Change::default(), move |row| row.config.plan_file = plan_file).await
}

struct PlanReply<'a> {
    chat: &'a Arc<Chat>,
    agent: Agent,
    args: &'a str,
    message: MessageId,
}

#[async_trait]
impl Call for PlanReply<'_> {
    type Committed = Output;
    type Outcome = Result<StoredPlan, Problem>;

    async fn prepare(&mut self) -> Result<Preparation<Output, Self::Outcome>, Problem> {
        let tool = tool_named(WRITE_PLAN)?;
        let (args, cx) = (self.args.to_owned(), self.chat.tool_context(self.agent, None).await?);
        let prepared = tokio::task::spawn_blocking(move || tool.prepare(&args, &cx)).await.map_err(broken)?;
        Ok(match prepared {
            Ok(prepared) => Preparation::Proposed(Proposal::from(prepared)),
            Err(problem) => Preparation::Refused(Refusal::mistake(problem)),
        })
    }

    async fn situation(&mut self, consent: Consent) -> Result<Situation, Problem> {
        self.chat.situation(self.agent, WRITE_PLAN, consent).await
    }

    async fn record_intent(&mut self, _: &Principal, effects: &[Effect], changes: &[FileChange]) -> Result<(), Problem> {
        // After a crash the model plans again, and then writes this file, not another one beside it.
        let path = effects.iter().find_map(|effect| effect.changed_paths().first().map(ToString::to_string));
        let change = Change { versions: Box::new(versions::of(self.message, changes)), ..Change::default() };
        self.chat.publish(change, move |row| row.config.plan_file = path.or(row.config.plan_file.take())).await?;
        crash::point("plan_intended");
        Ok(())
    }

    fn threads(&self) -> TaskTracker {
        self.chat.work.clone()
    }

    async fn record_outcome(self, _: Principal, end: End<Output>) -> Result<Self::Outcome, Problem> {
        let output = match end {
            End::Refused(refusal) => return Ok(Err(refusal.problem)),
            End::Asks(_, _, approval) => return Ok(Err(Problem::new(ErrorCode::PlanNotApproved, approval.reason))),
            End::Committed(output) => output,
        };
        crash::point("plan_written");
        let unread = || Problem::new(ErrorCode::PlanInvalid, "The plan was written, but reading it back failed. Write it again.");
        match output.map(|output| output.signal) {
            Ok(Some(Signal::PlanFileChanged(path))) => Ok(StoredPlan::read(self.chat, &path).await.ok_or_else(unread)),
            Ok(
                None
                | Some(
                    Signal::Ask(_)
                    | Signal::ExitPlanMode(_)
                    | Signal::Staged
                    | Signal::Reviewed { .. }
                    | Signal::Delegate { .. }
                    | Signal::Explore { .. },
                ),
            ) => Ok(Err(unread())),
            Err(problem) => {
                versions::settle(self.chat, self.message).await?;
                Ok(Err(problem))
            }
        }
    }
}
