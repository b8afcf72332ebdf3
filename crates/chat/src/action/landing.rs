//! Lands the changes of an ended command in the workspace, reverts them, or asks the user first.

use super::agent_call::CallOutcome;
use super::approval::{self, ChangesDecision};
use super::landing_text::{LandedPaths, named, summary};
use super::{Action, Call, End, Preparation, Principal, Proposal, perform, result, signal, without_denied};
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::versions;
use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use planwright_protocol::Agent;
use planwright_protocol::message::{ApprovalMoment, Category};
use planwright_protocol::{CallMessage, ErrorCode, Message, Problem};
use planwright_tools::command::Landed;
use planwright_tools::{Approval, COMMAND_CHANGES, Consent, Effect, FileChange, Output, Situation, Staged, ToolContext};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::task::TaskTracker;

/// Whether the call runs a command, which ends with the server.
pub fn runs_command(call: &CallMessage) -> bool {
    call.body.category == Some(Category::Execute) || call.body.runs_command
}

/// Decides about the changes of a model's command.
pub async fn settle(chat: &Arc<Chat>, call: &CallMessage, history: &[Message]) -> Result<CallOutcome, Problem> {
    crash::point("command_ended");
    let (agent, changes_decision) = (Agent::of(call)?, approval::changes_decision(call, history));
    let consent = if changes_decision == ChangesDecision::Keep { Consent::Given } else { Consent::Needed };
    let reason_to_drop = match changes_decision {
        ChangesDecision::TakeBack(Some(reason)) => Some(format!("The user reverted it, with this reason: {reason}")),
        ChangesDecision::TakeBack(None) => Some("The user reverted it.".to_owned()),
        ChangesDecision::NotAsked | ChangesDecision::Keep => None,
    };
    let landing = Landing {
        call: Some((chat, call.clone())),
        cx: context(chat, call).await?,
        threads: chat.work.clone(),
        reason_to_drop,
        consent,
        situation: Some(chat.situation(agent, COMMAND_CHANGES, consent).boxed()),
        decided_by: None,
        staged: Arc::default(),
    };
    match Box::pin(perform(Action { principal: Principal::Model(agent), call: landing })).await? {
        Outcome::Ended(call_now, outcome) => signal::record_output(chat, call_now.as_deref().unwrap_or(call), outcome).await,
        Outcome::Lost => unknown(chat, call).await,
        Outcome::Asks(effects, changes, approval) => {
            let question =
                planwright_question::card::keep_changes(&summary(&effects), &format!("{}. {}", approval.reason, named(&effects)));
            approval::ask(chat, call, (effects, changes), approval, agent, (ApprovalMoment::After, question)).await
        }
    }
}

/// Decides about the changes of a command that a user ran through the tools endpoint.
///
/// # Errors
/// The error response.
pub async fn settle_for_user(
    user: Option<String>,
    cx: ToolContext,
    threads: TaskTracker,
    situation: BoxFuture<'_, Result<Situation, Problem>>,
) -> Result<Output, Problem> {
    let landing = Landing {
        call: None,
        cx,
        threads,
        reason_to_drop: None,
        consent: Consent::Given,
        situation: Some(situation),
        decided_by: None,
        staged: Arc::default(),
    };
    match Box::pin(perform(Action { principal: Principal::User(user), call: landing })).await? {
        Outcome::Ended(_, outcome) => outcome,
        Outcome::Lost => {
            Err(Problem::new(ErrorCode::OutcomeUnknown, "The command's changes are missing. Check the files before you continue."))
        }
        Outcome::Asks(_, _, approval) => Err(Problem::new(ErrorCode::ToolNotPermitted, approval.reason)),
    }
}

/// The result of a command that the user stopped. None of its changes is kept.
pub async fn stopped(chat: &Arc<Chat>, call: &CallMessage) -> Result<Value, Problem> {
    let cx = context(chat, call).await?;
    chat.run_on_thread(move || Staged::discard(&cx)).await??;
    if call.body.is_landing {
        let text =
            "The user stopped the run while this command's changes were landing in the workspace. Check the files before you continue.";
        return Err(Problem::new(ErrorCode::OutcomeUnknown, text));
    }
    if call.body.category != Some(Category::Execute) {
        let text =
            "The user stopped the run during this call. None of its changes in the workspace was kept; its effects elsewhere are unknown.";
        return Err(Problem::new(ErrorCode::Cancelled, text));
    }
    Err(Problem::new(ErrorCode::Cancelled, "The user stopped the run. None of this command's changes was kept."))
}

async fn context(chat: &Arc<Chat>, call: &CallMessage) -> Result<ToolContext, Problem> {
    chat.tool_context(Agent::of(call)?, Some(call.body.call_id)).await
}

struct Landing<'a> {
    /// The model's call; `None` for a user's call, which has no records in the chat.
    call: Option<(&'a Arc<Chat>, CallMessage)>,
    cx: ToolContext,
    threads: TaskTracker,
    /// Why it is reverted without asking the gate.
    reason_to_drop: Option<String>,
    consent: Consent,
    /// Set when the changes are known.
    situation: Option<BoxFuture<'a, Result<Situation, Problem>>>,
    decided_by: Option<Situation>,
    /// Present until it is committed.
    staged: Arc<Mutex<Option<Staged>>>,
}

enum Outcome {
    /// The command's output, with the call as it is stored now.
    Ended(Option<Box<CallMessage>>, Result<Output, Problem>),
    Asks(Vec<Effect>, Vec<FileChange>, Approval),
    /// The server ended in the middle of the command.
    Lost,
}

#[async_trait]
impl Call for Landing<'_> {
    type Committed = Landed;
    type Outcome = Outcome;

    async fn prepare(&mut self) -> Result<Preparation<Landed, Outcome>, Problem> {
        let cx = self.cx.clone();
        let Some(staged) = self.on_thread(move || Staged::load(&cx)).await?? else { return Ok(Preparation::Over(Outcome::Lost)) };
        if let Some(why) = staged.half_done().map(str::to_owned).or(self.reason_to_drop.take()) {
            return Ok(Preparation::Over(self.take_back(staged, &why).await?));
        }
        let situation = match self.situation.take() {
            Some(situation) => situation.await,
            None => return Ok(Preparation::Over(Outcome::Lost)),
        };
        let situation = match situation {
            Err(problem) if problem.code == ErrorCode::ModeChanged => {
                return Ok(Preparation::Over(self.take_back(staged, "The user switched the role while the command ran.").await?));
            }
            other => other?,
        };
        let (_, withheld) = without_denied(&situation, staged.effects());
        let with_changes = self.call.is_some();
        // Before the user is asked, so that no forbidden change exists meanwhile.
        let (staged, withheld) = self.on_thread(move || staged.put_back_withheld(withheld)).await??;
        let (effects, _) = without_denied(&situation, staged.effects());
        let (staged, withheld, changes) = self
            .on_thread(move || {
                let changes = if with_changes { staged.file_changes(&withheld) } else { Vec::new() };
                (staged, withheld, changes)
            })
            .await?;
        self.decided_by = Some(situation);
        *lock(&self.staged) = Some(staged);
        let staged = self.staged.clone();
        let commit = move |permit: &_| match lock(&staged).take() {
            Some(staged) => staged.keep(permit, &withheld),
            None => Err(Problem::new(ErrorCode::OutcomeUnknown, "The command's changes are missing. Check the files before you continue.")),
        };
        Ok(Preparation::Proposed(Proposal::new(effects, changes, commit)))
    }

    async fn situation(&mut self, _: Consent) -> Result<Situation, Problem> {
        let lost = || Problem::new(ErrorCode::Internal, "A command's changes were decided before they were read.");
        self.decided_by.take().ok_or_else(lost)
    }

    fn consent(&self) -> Consent {
        self.consent
    }

    async fn record_intent(&mut self, _: &Principal, _: &[Effect], changes: &[FileChange]) -> Result<(), Problem> {
        let Some((chat, call)) = &mut self.call else { return Ok(()) };
        let mut landing = call.clone();
        // From here on its changes may be in the workspace, even if its stage is missing.
        landing.body.is_landing = true;
        let mut change = Change::default().event(result::updated(&landing));
        change.versions = Box::new(versions::of(landing.id, changes));
        chat.publish(change, |_| {}).await?;
        crash::point("command_landing");
        Ok(())
    }

    fn threads(&self) -> TaskTracker {
        self.threads.clone()
    }

    async fn record_outcome(mut self, _: Principal, end: End<Landed>) -> Result<Outcome, Problem> {
        let landed = match end {
            End::Asks(effects, changes, approval) if self.call.is_some() => return Ok(Outcome::Asks(effects, changes, approval)),
            End::Asks(_, _, approval) => return self.take_back_kept(&approval.reason).await,
            End::Refused(refusal) => return self.take_back_kept(&refusal.problem.message).await,
            End::Committed(landed) => landed,
        };
        let Some((chat, mut call)) = self.call else { return Ok(Outcome::Ended(None, landed.and_then(|landed| landed.report))) };
        crash::point("command_landed");
        let is_resumed = std::mem::replace(&mut call.body.is_landing, true);
        let outcome = match landed {
            Ok(Landed { report, left }) => {
                versions::forget_within(chat, call.id, &left).await?;
                report
            }
            Err(problem) => Err(problem),
        };
        let outcome = if is_resumed { with_found(chat, &call, outcome).await? } else { outcome };
        Ok(Outcome::Ended(Some(Box::new(call)), outcome))
    }
}

impl Landing<'_> {
    fn on_thread<T, W>(&self, work: W) -> impl Future<Output = Result<T, Problem>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        let done = self.threads.spawn_blocking(work);
        async move { done.await.map_err(broken) }
    }

    async fn take_back_kept(&mut self, why: &str) -> Result<Outcome, Problem> {
        let staged = lock(&self.staged).take();
        match staged {
            Some(staged) => self.take_back(staged, why).await,
            None => Ok(Outcome::Lost),
        }
    }

    async fn take_back(&mut self, staged: Staged, why: &str) -> Result<Outcome, Problem> {
        let why = why.to_owned();
        let outcome = self.on_thread(move || staged.take_back(&why)).await?;
        let Some((chat, call)) = self.call.take() else { return Ok(Outcome::Ended(None, outcome)) };
        crash::point("command_taken_back");
        let outcome = if call.body.is_landing { with_found(chat, &call, outcome).await? } else { outcome };
        versions::settle(chat, call.id).await?;
        Ok(Outcome::Ended(Some(Box::new(call)), outcome))
    }
}

fn lock(staged: &Mutex<Option<Staged>>) -> std::sync::MutexGuard<'_, Option<Staged>> {
    staged.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The server ended during the command, and so ended the command.
async fn unknown(chat: &Arc<Chat>, call: &CallMessage) -> Result<CallOutcome, Problem> {
    let cx = context(chat, call).await?;
    chat.run_on_thread(move || Staged::discard(&cx)).await??;
    let problem = if call.body.is_landing {
        let found = LandedPaths::of(versions::observed_paths(chat, call.id).await?);
        let text = format!(
            "Outcome unknown: the server was restarted right after this command ended, and its output is lost. {}. Check these files before you run it again.",
            found.text()
        );
        Problem::new(ErrorCode::OutcomeUnknown, text).with_details(found.facts())
    } else if call.body.category == Some(Category::Write) {
        let text = "Outcome unknown: the server was restarted during this call. Its answer is lost, and none of its changes in the workspace was kept; its effects elsewhere are unknown. It was not repeated.";
        Problem::new(ErrorCode::OutcomeUnknown, text)
    } else {
        let text = "Outcome unknown: the server was restarted while this command ran, which ended it. Its output is lost, and none of its changes in the workspace was kept. It was not run again; run it again only if that is harmless outside the workspace.";
        Problem::new(ErrorCode::OutcomeUnknown, text)
    };
    signal::record_output(chat, call, Err(problem)).await
}

/// Adds the state of each path: some of the changes had landed before the server was restarted.
async fn with_found(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Output, Problem>) -> Result<Result<Output, Problem>, Problem> {
    let found = LandedPaths::of(versions::observed_paths(chat, call.id).await?);
    let line = format!("\n[the server was restarted while the command's changes were landing in the workspace. {}.]", found.text());
    Ok(match outcome {
        Ok(output) => Ok(Output { text: output.text + &line, ..output }),
        Err(problem) => Err(Problem { message: problem.message.clone() + &line, ..problem }),
    })
}
