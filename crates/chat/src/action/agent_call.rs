//! Tool calls of a model, in three records: the call as the model made it, the intent with the images of the files that it will
//! change, and the result. After a crash the images show what happened.

use super::tool::{self, Toolbox};
use super::{
    Action, Call, Cause, End, Preparation, Principal, Proposal, Refusal, approval, perform_side_by_side, recovery, result, signal,
};
use crate::chat::{Change, Chat};
use crate::crash;
use crate::delegation;
use crate::exploration;
use crate::metrics;
use crate::versions;
use async_trait::async_trait;
use planwright_protocol::Agent;
use planwright_protocol::message::{ApprovalMoment, CallStatus, Category};
use planwright_protocol::{CallMessage, ErrorCode, Event, Message, Mode, Problem};
use planwright_tools::tool::{Input, tool_named};
use planwright_tools::{AgentKind, Consent, Effect, Explore, FileChange, Output, Situation, ToolContext, WorkspacePath};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use tokio_util::task::TaskTracker;

pub enum CallOutcome {
    /// The result, and other messages that the call led to.
    Done(Vec<Message>),
    /// The user must answer first.
    Asked(Vec<Message>),
    /// Another role must do the call's task.
    HandedOn(Box<CallMessage>),
}

/// Takes the calls that can run now: the next one, and those after it while all of them only read.
pub fn take_together(open: &mut VecDeque<CallMessage>) -> Vec<CallMessage> {
    let reading = open.iter().take_while(|call| only_reads(call)).count();
    open.drain(..reading.max(1).min(open.len())).collect()
}

/// `ask_user` and `explore` change nothing either, but the one ends the turn, and the other is work of its own.
fn only_reads(call: &CallMessage) -> bool {
    tool_named(&call.body.tool).is_ok_and(|tool| tool.spec().read_only && !["ask_user", Explore::SPEC.name].contains(&tool.spec().name))
}

/// Performs the calls that [`take_together`] returned.
///
/// # Errors
/// The server failed.
pub async fn perform_together(chat: &Arc<Chat>, calls: Vec<CallMessage>, history: &[Message]) -> Result<Vec<CallOutcome>, Problem> {
    if let [call] = calls.as_slice()
        && call.body.status == CallStatus::Running
    {
        return Box::pin(recovery::recover(chat, call.clone(), history)).await;
    }
    // A process that hands its chats over lets no further call begin.
    let _permit = chat.calls.acquire().await;
    let (mut outcomes, mut actions) = (Vec::new(), Vec::new());
    for call in calls {
        match Agent::of(&call) {
            Ok(agent) => actions.push(AgentCall::action(chat, Principal::Model(agent), call, history)),
            Err(problem) => {
                metrics::count_verdict("denied");
                outcomes.push(result::record(chat, &call, Err(problem), Change::default()).await?);
            }
        }
    }
    outcomes.extend(Box::pin(perform_side_by_side(actions)).await?);
    Ok(outcomes)
}

struct AgentCall<'a> {
    chat: &'a Arc<Chat>,
    agent: Agent,
    call: CallMessage,
    history: &'a [Message],
    consent: Consent,
    /// Plans of other chats, read once for the call.
    foreign_plans: Arc<BTreeSet<WorkspacePath>>,
}

impl<'a> AgentCall<'a> {
    fn action(chat: &'a Arc<Chat>, principal: Principal, call: CallMessage, history: &'a [Message]) -> Action<Self> {
        let agent = principal.agent(chat);
        let call = Self { chat, agent, call, history, consent: Consent::Needed, foreign_plans: Arc::default() };
        Action { principal, call }
    }

    /// Why the call is refused before it is prepared.
    async fn objection(&mut self) -> Result<(), Problem> {
        acting_agent(self.chat, &self.call).await?;
        self.consent = approval::consent(&self.call, self.history)?;
        let changes_nothing = tool_named(&self.call.body.tool).is_ok_and(|tool| tool.spec().read_only);
        if self.agent.role.mode() == Mode::Act && !changes_nothing {
            self.chat.note_baseline().await?;
        }
        Ok(())
    }

    async fn context(&self) -> Result<ToolContext, Problem> {
        let mut cx = self.chat.tool_context(self.agent, Some(self.call.body.call_id)).await?;
        // A step's check is a command too.
        if let Some(Category::Execute | Category::Other) = self.call.body.category {
            cx.command.live = self.chat.output_listener(self.call.body.call_id);
        }
        Ok(cx)
    }
}

/// The agent that made the call, if the chat's role still permits it.
///
/// # Errors
/// `MODE_CHANGED` otherwise.
pub async fn acting_agent(chat: &Chat, call: &CallMessage) -> Result<Agent, Problem> {
    let agent = Agent::of(call)?;
    agent.check(chat.settled_record().await.config.role)?;
    Ok(agent)
}

#[async_trait]
impl Call for AgentCall<'_> {
    type Committed = Output;
    type Outcome = CallOutcome;

    async fn prepare(&mut self) -> Result<Preparation<Output, CallOutcome>, Problem> {
        if let Err(problem) = self.objection().await {
            return Ok(Preparation::Refused(Refusal::mistake(problem)));
        }
        let cx = self.context().await?;
        self.foreign_plans = cx.config.foreign_plans.clone();
        let toolbox = Toolbox::of_chat(self.chat, AgentKind::from(self.agent)).await?;
        Ok(match tool::prepare(&self.call.body, self.agent.role, &toolbox, cx).await {
            Ok(prepared) => Preparation::Proposed(Proposal::from(prepared)),
            Err(refusal) => Preparation::Refused(refusal),
        })
    }

    async fn situation(&mut self, consent: Consent) -> Result<Situation, Problem> {
        let (foreign_plans, tool) = (self.foreign_plans.clone(), &self.call.body.tool);
        let situation = self.chat.situation_among(foreign_plans, self.agent, tool, consent).await?;
        Ok(situation)
    }

    fn consent(&self) -> Consent {
        self.consent
    }

    fn limit(&self, effects: &[Effect]) -> Option<Problem> {
        delegation::beyond_limits(&self.call, effects, self.history)
    }

    async fn record_intent(&mut self, _: &Principal, effects: &[Effect], changes: &[FileChange]) -> Result<(), Problem> {
        metrics::count_verdict("allowed");
        self.call.body.runs_command |= effects.iter().any(Effect::is_open_ended);
        self.call.body.status = CallStatus::Running;
        if effects.iter().all(Effect::only_reads) {
            // It is repeated after a crash, so it need not be stored first.
            self.chat.publish_unstored([result::updated(&self.call)]);
            return Ok(());
        }
        let mut change = Change::default().event(result::updated(&self.call));
        change.versions = Box::new(versions::of(self.call.id, changes));
        let tasks = delegation::tasks_of(&self.call, effects);
        change.events.extend(tasks.into_iter().map(|message| Event::MessageCreated { message }));
        self.chat.publish(change, |_| {}).await?;
        crash::point("intent_stored");
        Ok(())
    }

    fn threads(&self) -> TaskTracker {
        self.chat.work.clone()
    }

    async fn record_outcome(self, _: Principal, end: End<Output>) -> Result<CallOutcome, Problem> {
        let Self { chat, agent, call, history, .. } = self;
        match end {
            End::Refused(Refusal { problem, cause }) => {
                metrics::count_verdict("denied");
                let change = match cause {
                    Cause::Policy => tool::violation(&call.body, &problem, agent.role),
                    Cause::Mistake => Change::default(),
                };
                result::record(chat, &call, Err(problem), change).await
            }
            End::Asks(_, _, wanted) if AgentKind::from(agent) == AgentKind::Helper => {
                result::record(chat, &call, Err(exploration::nobody_to_ask(&wanted)), Change::default()).await
            }
            End::Asks(effects, changes, wanted) => {
                let question = planwright_question::card::tool_approval(&call.body.tool, &wanted.reason);
                let question = match effects.iter().find_map(Effect::command) {
                    Some(command) => planwright_question::card::about_command(question, command),
                    None => match effects.iter().find_map(Effect::page) {
                        Some(url) => planwright_question::card::about_page(question, &url.to_string(), &url.host()),
                        None => question,
                    },
                };
                approval::ask(chat, &call, (effects, changes), wanted, agent, (ApprovalMoment::Before, question)).await
            }
            // A stop ended the permit, not a role switch.
            End::Committed(Err(problem)) if problem.code == ErrorCode::ModeChanged && acting_agent(chat, &call).await.is_ok() => {
                Box::pin(signal::follow(chat, &call, Err(recovery::stopped_before()), history)).await
            }
            End::Committed(outcome) => Box::pin(signal::follow(chat, &call, outcome, history)).await,
        }
    }
}
