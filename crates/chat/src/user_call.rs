//! A call that the user makes, by the tools endpoint: prepared, judged and logged like the model's.
//!
//! It has the rights of the chat's role, and nothing asks, because who would be asked makes the call. It is no part of the
//! conversation: the model has not made it, and what it changes is the user's own change.

use crate::agent::Agent;
use crate::call::command::{sift, verdict};
use crate::call::judge::{Desk, Judged, examine};
use crate::chat::{Change, Chat, broken, no_chat};
use crate::handle::Handle;
use crate::plan::StoredPlan;
use crate::sessions::Sessions;
use planwright_protocol::event::ToolResponse;
use planwright_protocol::message::ToolCall;
use planwright_protocol::op::Inquiry;
use planwright_protocol::{CallId, ChatId, ErrorCode, Event, Mode, Op, Problem, WorkspaceId};
use planwright_store::Store;
use planwright_tools::command::{Live, Reach, Stop};
use planwright_tools::{
    CommandContext, Consent, Effect, Epoch, Fence, KEEPING, MissingPlan, Output, Permit, Prepared, Signal, Situation, Staged, ToolConfig,
    ToolContext, Verdict, Workspace, WorkspacePath,
};
use planwright_workspaces::{Settings, WorkspaceRules};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the user wants done.
pub struct UserCall {
    pub tool: String,
    pub args: Value,
    /// Their name, if they have an account.
    pub user: Option<String>,
}

/// Whose rights a call has.
pub enum Place {
    /// Those of the chat's role.
    Chat(ChatId),
    /// Those of the mode's usual role; `active_plan` counts as its own.
    Alone { mode: Mode, active_plan: Option<String> },
}

/// Where there is no chat whose role holds.
struct Bare {
    id: WorkspaceId,
    mode: Mode,
    workspace: Arc<Workspace>,
    settings: Arc<Settings>,
    own_plan: Option<WorkspacePath>,
    /// Plans of chats.
    foreign_plans: Arc<BTreeSet<WorkspacePath>>,
    desk: Desk,
    stop: Stop,
}

impl Sessions {
    /// Carries out a call of the user's. What goes wrong with the call itself is in the response.
    ///
    /// # Errors
    /// No such workspace, or no such chat in it.
    pub async fn call(&self, workspace: WorkspaceId, call: UserCall, place: Place) -> Result<ToolResponse, Problem> {
        let (mode, own_plan) = match place {
            Place::Chat(id) => {
                let handle = self.chat(id).await?;
                if handle.chat().feed.source.workspace != workspace {
                    return Err(no_chat(id));
                }
                return call.in_chat(&handle).await;
            }
            Place::Alone { mode, active_plan } => (mode, active_plan.map(|path| WorkspacePath::parse_file(&path)).transpose()?),
        };
        let folder = self.workspaces().open(workspace).await?;
        let WorkspaceRules { settings, servers } = self.workspaces().rules(workspace).await?.0;
        let site = self.workspaces().site(workspace, &settings).await?;
        let plans = self.store().foreign_plans(workspace, ChatId::generate()).await?;
        let foreign = plans.iter().filter_map(|path| WorkspacePath::parse(path).ok()).filter(|path| Some(path) != own_plan.as_ref());
        let foreign_plans = Arc::new(foreign.collect());
        let desk = Desk { inspect: settings.inspect(), servers, site };
        let stop = self.inner.stop.clone();
        let bare = Bare { id: workspace, mode, workspace: folder, settings, own_plan, foreign_plans, desk, stop };
        call.without_chat(self.store(), bare).await
    }
}

impl UserCall {
    /// In a chat: its role holds, and what is refused is logged there.
    async fn in_chat(self, handle: &Handle) -> Result<ToolResponse, Problem> {
        let chat = handle.chat();
        chat.configure().await?;
        let user = self.user.clone();
        let (agent, call) = (chat.agent(), self.call());
        let cx = ToolContext { seen: Arc::default(), ..chat.tool_context(agent, Some(call.call_id)).await? };
        let situation = chat.situation(agent, &call.tool, Consent::Given);
        let desk = Desk { inspect: chat.settings().inspect(), servers: chat.rules().servers, site: chat.site().await? };
        let judged = examine(&call, agent, &desk, cx.clone(), situation).await?;
        judged.count();
        let outcome = match judged {
            Judged::Allowed(prepared, _) if prepared.effects.contains(&Effect::Progress) => {
                Err(Problem::new(ErrorCode::ToolNotPermitted, "Only the agent that carries out the plan reports on its steps."))
            }
            Judged::Allowed(prepared, permit) => match commit(prepared, permit, Some(chat)).await? {
                Ok(output) => conclude(handle, agent, &cx, output).await,
                Err(problem) => Err(problem),
            },
            Judged::Refused(problem, change) => {
                chat.publish(change.by(user.as_ref()), |_| {}).await?;
                Err(problem)
            }
            Judged::Asks(_, approval, _) => Err(Problem::new(ErrorCode::ToolNotPermitted, approval.reason)),
        };
        Ok(outcome.into())
    }

    /// Without a chat: as the Planner, or as the Actor.
    async fn without_chat(self, store: &Store, bare: Bare) -> Result<ToolResponse, Problem> {
        let user = self.user.clone();
        let call = self.call();
        let agent = Agent::own(bare.mode.default_role());
        let cx = bare.tool_context(agent, Some(call.call_id));
        let situation = std::future::ready(Ok(bare.situation(agent, &call.tool)));
        let judged = examine(&call, agent, &bare.desk, cx.clone(), situation).await?;
        judged.count();
        let outcome = match judged {
            Judged::Allowed(prepared, permit) => match commit(prepared, permit, None).await? {
                Ok(output) => bare.conclude(agent, &cx, output).await,
                Err(problem) => Err(problem),
            },
            Judged::Refused(problem, change) => {
                store.log(Some(bare.id), &change.by(user.as_ref()).audit).await?;
                Err(problem)
            }
            Judged::Asks(_, approval, _) => Err(Problem::new(ErrorCode::ToolNotPermitted, approval.reason)),
        };
        Ok(outcome.into())
    }

    /// In the form in which calls are judged. It is never stored.
    fn call(self) -> ToolCall {
        ToolCall::new(CallId::generate(), self.tool, self.args)
    }
}

impl Bare {
    fn tool_context(&self, agent: Agent, call: Option<CallId>) -> ToolContext {
        let config = ToolConfig {
            plan_mode: self.mode == Mode::Plan,
            active_plan_path: self.own_plan.clone(),
            foreign_plans: self.foreign_plans.clone(),
            secrets: self.settings.secrets.clone(),
            ..ToolConfig::default()
        };
        let command = CommandContext {
            call,
            commands: self.settings.commands.clone(),
            reach: Reach::of(agent.role),
            neighbours: self.desk.site.neighbours.clone(),
            stop: self.stop.clone(),
            live: Live::default(),
            baseline: None,
        };
        ToolContext { workspace: self.workspace.clone(), seen: Arc::default(), config, command }
    }

    fn situation(&self, agent: Agent, tool: &str) -> Situation {
        let fence = Fence::new(Epoch(0));
        Situation {
            role: agent.role,
            tool: tool.to_owned(),
            epoch: fence.epoch(),
            fence,
            own_plan: self.own_plan.clone(),
            foreign_plans: self.foreign_plans.clone(),
            scope: None,
            // No chat, so no approval.
            missing_plan: self.settings.policy.act_requires_plan.then_some(MissingPlan::NotApproved),
            approvals: self.settings.approvals.clone(),
            secrets: self.settings.secrets.clone(),
            grants: Arc::default(),
            consent: Consent::Given,
        }
    }

    async fn conclude(&self, agent: Agent, cx: &ToolContext, output: Output) -> Result<Value, Problem> {
        match output.signal {
            None | Some(Signal::PlanFileChanged(_) | Signal::Reviewed { .. }) => Ok(output.into_result()),
            Some(Signal::Staged) => {
                let landed = land(cx.clone(), self.situation(agent, KEEPING));
                tokio::task::spawn_blocking(landed).await.map_err(broken)?.map(Output::into_result)
            }
            Some(Signal::Ask(_) | Signal::ExitPlanMode(_) | Signal::Delegate { .. }) => Err(needs_chat()),
        }
    }
}

/// Brings the effects about; in a chat, so that a switch of the role waits for it.
async fn commit(prepared: Prepared, permit: Permit, chat: Option<&Arc<Chat>>) -> Result<Result<Output, Problem>, Problem> {
    let work = move || prepared.commit(&permit);
    match chat {
        Some(chat) => chat.carry(work).await,
        None => tokio::task::spawn_blocking(work).await.map_err(broken),
    }
}

/// What the chat has to do about what a tool gave back.
async fn conclude(handle: &Handle, agent: Agent, cx: &ToolContext, output: Output) -> Result<Value, Problem> {
    let chat = handle.chat();
    match output.signal.clone() {
        None | Some(Signal::Reviewed { .. }) => Ok(output.into_result()),
        Some(Signal::PlanFileChanged(path)) => {
            match StoredPlan::read(chat, &path).await {
                Some(stored) => record(handle, agent, &stored).await?,
                // It is the chat's own before it can be read as a plan, so that there is no second one beside it.
                None if agent.role.mode() == Mode::Plan => {
                    let file = path.to_string();
                    chat.publish(Change::default(), move |row| row.config.plan_file = row.config.plan_file.take().or(Some(file))).await?;
                }
                None => {}
            }
            Ok(output.into_result())
        }
        Some(Signal::Staged) => {
            let situation = chat.situation(agent, KEEPING, Consent::Given).await?;
            chat.carry(land(cx.clone(), situation)).await?.map(Output::into_result)
        }
        Some(Signal::Ask(questions)) => ask(handle, Inquiry::Questions(questions)).await,
        Some(Signal::ExitPlanMode(path)) if agent.role.mode() == Mode::Plan => ask(handle, Inquiry::Plan(path.to_string())).await,
        Some(Signal::ExitPlanMode(_)) => {
            Err(Problem::new(ErrorCode::NotInPlanMode, "The chat is not in plan mode, so there is nothing to leave."))
        }
        Some(Signal::Delegate { .. }) => {
            let text = "Only the chat's own agent hands tasks on. Send the task as a message.";
            Err(Problem::new(ErrorCode::ToolNotPermitted, text))
        }
    }
}

/// The plan as the user wrote it becomes the newest version in the history, and on the card that waits, if one does.
async fn record(handle: &Handle, agent: Agent, stored: &StoredPlan) -> Result<(), Problem> {
    let chat = handle.chat();
    let mut change = stored.change(agent.role, "");
    if chat.record().config.plan_file.as_ref().is_none_or(|own| *own == stored.path) {
        let told = stored.tell_edit(chat).await?;
        change.events.extend(told.map(|message| Event::MessageCreated { message }));
    }
    let file = stored.path.clone();
    chat.publish(change, move |row| row.config.plan_file = row.config.plan_file.take().or(Some(file))).await?;
    if chat.pending().is_some_and(|pending| pending.shows_plan(&stored.path)) {
        // Where this is refused, because the run that asked is not over yet, accepting the old card brings up the new one.
        let _ = handle.submit(Op::Ask { inquiry: Inquiry::Plan(stored.path.clone()) }).await;
    }
    Ok(())
}

async fn ask(handle: &Handle, inquiry: Inquiry) -> Result<Value, Problem> {
    let reply = handle.submit(Op::Ask { inquiry }).await?;
    let question_id = reply.chat.pending_question.as_ref().map(|pending| pending["question_id"].clone());
    Ok(json!({ "status": "question_pending", "question_id": question_id }))
}

/// Decides on what a command changed and brings it into the workspace.
fn land(cx: ToolContext, situation: Situation) -> impl FnOnce() -> Result<Output, Problem> {
    move || {
        let gone = || Problem::new(ErrorCode::OutcomeUnknown, "What the command changed is gone. Look at the files before you go on.");
        let staged = Staged::load(&cx)?.ok_or_else(gone)?;
        if let Some(why) = staged.half_done() {
            return staged.take_back(why);
        }
        let (_, withheld) = sift(&situation, staged.effects());
        let (staged, withheld) = staged.put_back_withheld(withheld)?;
        let (effects, _) = sift(&situation, staged.effects());
        match verdict(&situation, &effects) {
            Verdict::Allow(permit) => staged.keep(&permit, &withheld)?.told,
            Verdict::Ask(approval) => staged.take_back(&approval.reason),
            Verdict::Deny(problem) => staged.take_back(&problem.message),
        }
    }
}

fn needs_chat() -> Problem {
    Problem::new(ErrorCode::InvalidArguments, "This tool needs a chat. Send its id as `chat_id`.")
}
