//! Tool calls of the user, through the tools endpoint: an action like a model's call.
//!
//! It has the permissions of the chat's role, and never asks, because the user makes the call. It is not part of the
//! conversation: the model did not make it, and its changes are the user's own.

use crate::action::tool::{self, Toolbox};
use crate::action::{Action, Call, Cause, End, Preparation, Principal, Proposal, Refusal, landing, perform};
use crate::chat::{Change, no_chat};
use crate::handle::Handle;
use crate::metrics;
use crate::plan::StoredPlan;
use crate::sessions::Sessions;
use crate::workspace_tenure::WorkspaceTenure;
use async_trait::async_trait;
use futures::FutureExt;
use planwright_protocol::Agent;
use planwright_protocol::event::ToolResponse;
use planwright_protocol::message::ToolCall;
use planwright_protocol::op::Inquiry;
use planwright_protocol::{CallId, ChatId, ErrorCode, Event, Mode, Op, Problem, WorkspaceId};
use planwright_store::{Store, Tenure};
use planwright_tools::command::{Live, Reach, Stop};
use planwright_tools::{
    AgentKind, COMMAND_CHANGES, CommandContext, Consent, Effect, Epoch, Fence, FileChange, MissingPlan, Output, RecordEffect, Signal,
    Situation, ToolConfig, ToolContext, Workspace, WorkspacePath,
};
use planwright_workspaces::{Settings, WorkspaceRules};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_util::task::TaskTracker;

/// A call that the user requests.
pub struct UserCall {
    pub tool: String,
    pub args: Value,
    /// Their name, if they have an account.
    pub user: Option<String>,
}

/// Whose permissions a call has.
pub enum Place {
    /// Those of the chat's role.
    Chat(ChatId),
    /// Those of the mode's default role; `active_plan` counts as its own.
    Alone { mode: Mode, active_plan: Option<String> },
}

/// A workspace, for a call without a chat.
struct Alone {
    store: Store,
    id: WorkspaceId,
    mode: Mode,
    workspace: Arc<Workspace>,
    settings: Arc<Settings>,
    own_plan: Option<WorkspacePath>,
    /// Plans of chats.
    foreign_plans: Arc<BTreeSet<WorkspacePath>>,
    toolbox: Toolbox,
    stop: Stop,
    tenure: Tenure,
}

impl Sessions {
    /// Performs a call of the user. The response has the errors of the call itself.
    ///
    /// # Errors
    /// There is no such workspace, or no such chat in it.
    pub async fn call(&self, workspace: WorkspaceId, call: UserCall, place: Place) -> Result<ToolResponse, Problem> {
        let (mode, own_plan) = match place {
            Place::Chat(id) => {
                let handle = self.chat(id).await?;
                if handle.chat().feed.source.workspace != workspace {
                    return Err(no_chat(id));
                }
                let worker = handle.clone();
                return handle.perform(move || call.in_chat(worker)).await?;
            }
            Place::Alone { mode, active_plan } => (mode, active_plan.map(|path| WorkspacePath::parse_file(&path)).transpose()?),
        };
        let tenure = self.store().leases().tenure(workspace)?;
        let folder = self.workspaces().open(workspace).await?;
        let WorkspaceRules { settings, servers } = self.workspaces().rules(workspace).await?.0;
        let site = self.workspaces().site(workspace, &settings).await?;
        let plans = self.store().foreign_plans(workspace, ChatId::generate()).await?;
        let foreign = plans.iter().filter_map(|path| WorkspacePath::parse(path).ok()).filter(|path| Some(path) != own_plan.as_ref());
        let foreign_plans = Arc::new(foreign.collect());
        let toolbox = Toolbox { offer: settings.offer(AgentKind::Main), servers, site };
        let (store, stop) = (self.store().clone(), self.lone_stop());
        let alone = Alone { store, id: workspace, mode, workspace: folder, settings, own_plan, foreign_plans, toolbox, stop, tenure };
        let agent = Agent::own(mode.default_role());
        let tool_call = call.tool_call();
        let cx = alone.tool_context(agent, Some(tool_call.call_id));
        EndpointCall { within: Within::Workspace(Box::new(alone)), agent, call: tool_call, cx }.respond(Principal::User(call.user)).await
    }
}

impl UserCall {
    /// In a chat, whose role applies. The actor starts it, so that every later stop ends it, even before its command runs.
    fn in_chat(self, handle: Handle) -> impl Future<Output = Result<ToolResponse, Problem>> + Send + 'static {
        let stop = handle.chat().command_stop();
        self.perform_in_chat(handle, stop)
    }

    async fn perform_in_chat(self, handle: Handle, stop: Stop) -> Result<ToolResponse, Problem> {
        let chat = handle.chat().clone();
        chat.configure().await?;
        let tool_call = self.tool_call();
        let principal = Principal::User(self.user);
        let agent = principal.agent(&chat);
        let mut cx = ToolContext { seen: Arc::default(), ..chat.tool_context(agent, Some(tool_call.call_id)).await? };
        cx.command.stop = stop;
        EndpointCall { within: Within::Chat(handle), agent, call: tool_call, cx }.respond(principal).await
    }

    /// In the form that the gate decides on. It is never stored.
    fn tool_call(&self) -> ToolCall {
        ToolCall::new(CallId::generate(), self.tool.clone(), self.args.clone())
    }
}

struct EndpointCall {
    within: Within,
    agent: Agent,
    call: ToolCall,
    cx: ToolContext,
}

enum Within {
    Chat(Handle),
    Workspace(Box<Alone>),
}

impl EndpointCall {
    async fn respond(self, principal: Principal) -> Result<ToolResponse, Problem> {
        let outcome = Box::pin(perform(Action { principal, call: self })).await?;
        Ok(outcome.into())
    }
}

#[async_trait]
impl Call for EndpointCall {
    type Committed = Output;
    type Outcome = Result<Value, Problem>;

    async fn prepare(&mut self) -> Result<Preparation<Output, Self::Outcome>, Problem> {
        let of_chat;
        let toolbox = match &self.within {
            Within::Chat(handle) => {
                of_chat = Toolbox::of_chat(handle.chat(), AgentKind::Main).await?;
                &of_chat
            }
            Within::Workspace(alone) => &alone.toolbox,
        };
        Ok(match tool::prepare(&self.call, self.agent.role, toolbox, self.cx.clone()).await {
            Ok(prepared) => Preparation::Proposed(Proposal::from(prepared)),
            Err(refusal) => Preparation::Refused(refusal),
        })
    }

    async fn situation(&mut self, consent: Consent) -> Result<Situation, Problem> {
        let situation = match &self.within {
            Within::Chat(handle) => handle.chat().situation(self.agent, &self.call.tool, consent).await?,
            Within::Workspace(alone) => alone.situation(self.agent, &self.call.tool),
        };
        Ok(situation)
    }

    fn limit(&self, effects: &[Effect]) -> Option<Problem> {
        let is_report = matches!(self.within, Within::Chat(_)) && effects.contains(&RecordEffect::Progress.into());
        is_report.then(|| Problem::new(ErrorCode::ToolNotPermitted, "Only the agent that executes the plan reports on its steps."))
    }

    /// Records nothing: the changes are the user's own.
    async fn record_intent(&mut self, _: &Principal, _: &[Effect], _: &[FileChange]) -> Result<(), Problem> {
        metrics::count_verdict("allowed");
        Ok(())
    }

    fn threads(&self) -> TaskTracker {
        match &self.within {
            Within::Chat(handle) => handle.chat().work.clone(),
            Within::Workspace(_) => TaskTracker::new(),
        }
    }

    async fn record_outcome(self, principal: Principal, end: End<Output>) -> Result<Self::Outcome, Problem> {
        match end {
            End::Refused(Refusal { problem, cause }) => {
                metrics::count_verdict("denied");
                if cause == Cause::Policy {
                    let change = tool::violation(&self.call, &problem, self.agent.role).by(principal.account());
                    match &self.within {
                        Within::Chat(handle) => handle.chat().publish(change, |_| {}).await?,
                        Within::Workspace(alone) => alone.store.log(Some(alone.id), &change.audit).await?,
                    }
                }
                Ok(Err(problem))
            }
            End::Asks(_, _, approval) => Ok(Err(Problem::new(ErrorCode::ToolNotPermitted, approval.reason))),
            End::Committed(Err(problem)) => Ok(Err(problem)),
            End::Committed(Ok(output)) => Ok(self.follow(principal, output).await),
        }
    }
}

impl EndpointCall {
    /// Reacts to the output of a tool, besides answering with it.
    async fn follow(self, principal: Principal, output: Output) -> Result<Value, Problem> {
        if output.signal == Some(Signal::Staged) {
            return self.land(principal).await;
        }
        match &self.within {
            Within::Chat(handle) => follow_in_chat(handle, self.agent, output).await,
            Within::Workspace(_) => match output.signal {
                None | Some(Signal::PlanFileChanged(_) | Signal::Reviewed { .. } | Signal::Staged) => Ok(output.into_result()),
                Some(Signal::Ask(_) | Signal::ExitPlanMode(_) | Signal::Delegate { .. } | Signal::Explore { .. }) => Err(needs_chat()),
            },
        }
    }

    async fn land(self, principal: Principal) -> Result<Value, Problem> {
        let threads = self.threads();
        let situation = match &self.within {
            Within::Chat(handle) => handle.chat().situation(self.agent, COMMAND_CHANGES, Consent::Given).boxed(),
            Within::Workspace(alone) => std::future::ready(Ok(alone.situation(self.agent, COMMAND_CHANGES))).boxed(),
        };
        landing::settle_for_user(principal.account().cloned(), self.cx, threads, situation).await.map(Output::into_result)
    }
}

impl Alone {
    fn tool_context(&self, agent: Agent, call: Option<CallId>) -> ToolContext {
        let config = ToolConfig {
            plan_mode: self.mode == Mode::Plan,
            active_plan_path: self.own_plan.clone(),
            foreign_plans: self.foreign_plans.clone(),
            secrets: self.settings.secrets.clone(),
            web: self.settings.web.clone(),
            ..ToolConfig::default()
        };
        let command = CommandContext {
            call,
            commands: self.settings.commands.clone(),
            reach: Reach::of(agent.role),
            neighbours: self.toolbox.site.neighbours.clone(),
            stop: self.stop.clone(),
            live: Live::default(),
            baseline: None,
        };
        ToolContext { workspace: self.workspace.clone(), seen: Arc::default(), config, command }
    }

    fn situation(&self, agent: Agent, tool: &str) -> Situation {
        let fence = Fence::within(Epoch(0), WorkspaceTenure(self.tenure.clone()));
        Situation {
            role: agent.role,
            tool: tool.to_owned(),
            epoch: fence.epoch(),
            fence,
            own_plan: self.own_plan.clone(),
            foreign_plans: self.foreign_plans.clone(),
            scope: None,
            // Without a chat there is no approval.
            missing_plan: self.settings.policy.act_requires_plan.then_some(MissingPlan::NotApproved),
            approvals: self.settings.approvals.clone(),
            secrets: self.settings.secrets.clone(),
            grants: Arc::default(),
            hosts: self.settings.web.hosts.clone(),
            agent: AgentKind::Main,
            consent: Consent::Given,
        }
    }
}

async fn follow_in_chat(handle: &Handle, agent: Agent, output: Output) -> Result<Value, Problem> {
    let chat = handle.chat();
    match output.signal.clone() {
        None | Some(Signal::Reviewed { .. } | Signal::Staged) => Ok(output.into_result()),
        Some(Signal::PlanFileChanged(path)) => {
            match StoredPlan::read(chat, &path).await {
                Some(stored) => record(handle, agent, &stored).await?,
                // It becomes the chat's own plan before it is valid, so that there is no second one.
                None if agent.role.mode() == Mode::Plan => {
                    let file = path.to_string();
                    chat.publish(Change::default(), move |row| row.config.plan_file = row.config.plan_file.take().or(Some(file))).await?;
                }
                None => {}
            }
            Ok(output.into_result())
        }
        Some(Signal::Ask(questions)) => ask(handle, Inquiry::Questions(questions)).await,
        Some(Signal::ExitPlanMode(path)) if agent.role.mode() == Mode::Plan => ask(handle, Inquiry::Plan(path.to_string())).await,
        Some(Signal::ExitPlanMode(_)) => {
            Err(Problem::new(ErrorCode::NotInPlanMode, "The chat is not in plan mode, so there is nothing to leave."))
        }
        Some(Signal::Delegate { .. } | Signal::Explore { .. }) => {
            let text = "Only the chat's own agent can delegate. Send the task as a message.";
            Err(Problem::new(ErrorCode::ToolNotPermitted, text))
        }
    }
}

/// The user's plan becomes the newest version in the history, and on the waiting card, if any.
async fn record(handle: &Handle, agent: Agent, stored: &StoredPlan) -> Result<(), Problem> {
    let chat = handle.chat();
    let mut change = stored.change(agent.role, "");
    if chat.record().config.plan_file.as_ref().is_none_or(|own| *own == stored.path) {
        let told = stored.user_version(chat, None).await?;
        change.events.extend(told.map(|message| Event::MessageCreated { message }));
    }
    let file = stored.path.clone();
    chat.publish(change, move |row| row.config.plan_file = row.config.plan_file.take().or(Some(file))).await?;
    if chat.pending().is_some_and(|pending| pending.shows_plan(&stored.path)) {
        // If this is refused, because the run that asked has not ended yet, accepting the old card shows the new one.
        let _ = handle.submit(Op::Ask { inquiry: Inquiry::Plan(stored.path.clone()) }).await;
    }
    Ok(())
}

async fn ask(handle: &Handle, inquiry: Inquiry) -> Result<Value, Problem> {
    let reply = handle.submit(Op::Ask { inquiry }).await?;
    let question_id = reply.chat.pending_question.as_ref().map(|pending| pending["question_id"].clone());
    Ok(json!({ "status": "question_pending", "question_id": question_id }))
}

fn needs_chat() -> Problem {
    Problem::new(ErrorCode::InvalidArguments, "This tool needs a chat. Send its id as `chat_id`.")
}
