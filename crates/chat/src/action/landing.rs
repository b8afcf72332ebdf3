//! The changes of a command that has ended: brought into the workspace, taken back, or shown to the user first.

use super::agent_call::CallOutcome;
use super::approval::{self, Keeping};
use super::landing_text::{Found, named, summary};
use super::{Action, Call, End, Preparation, Principal, Proposal, perform, result, signal, without_denied};
use crate::agent::Agent;
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::versions;
use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use planwright_protocol::message::{ApprovalMoment, Category};
use planwright_protocol::{CallMessage, ErrorCode, Message, Problem};
use planwright_tools::command::Landed;
use planwright_tools::{Approval, Consent, Effect, FileChange, KEEPING, Output, Situation, Staged, ToolContext};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::task::TaskTracker;

/// Whether a command belongs to the call. It ended with the server.
pub fn runs_command(call: &CallMessage) -> bool {
    call.body.category == Some(Category::Execute) || call.body.runs_command
}

/// Decides on what the command of a model's call changed.
pub async fn settle(chat: &Arc<Chat>, call: &CallMessage, history: &[Message]) -> Result<CallOutcome, Problem> {
    crash::point("command_ended");
    let (agent, keeping) = (Agent::of(call)?, approval::keeping(call, history));
    let consent = if keeping == Keeping::Keep { Consent::Given } else { Consent::Needed };
    let reason_to_drop = match keeping {
        Keeping::TakeBack(Some(reason)) => Some(format!("The user had it taken back, with this reason: {reason}")),
        Keeping::TakeBack(None) => Some("The user had it taken back.".to_owned()),
        Keeping::NotAsked | Keeping::Keep => None,
    };
    let landing = Landing {
        call: Some((chat, call.clone())),
        cx: context(chat, call).await?,
        threads: chat.work.clone(),
        reason_to_drop,
        consent,
        situation: Some(chat.situation(agent, KEEPING, consent).boxed()),
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

/// Decides on what a command changed that a user ran by the tools endpoint.
///
/// # Errors
/// What the response says.
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
            Err(Problem::new(ErrorCode::OutcomeUnknown, "What the command changed is gone. Look at the files before you go on."))
        }
        Outcome::Asks(_, _, approval) => Err(Problem::new(ErrorCode::ToolNotPermitted, approval.reason)),
    }
}

/// What to tell of a command that the user stopped. Nothing it changed is kept.
pub async fn stopped(chat: &Arc<Chat>, call: &CallMessage) -> Result<Value, Problem> {
    let cx = context(chat, call).await?;
    chat.carry(move || Staged::discard(&cx)).await??;
    if call.body.is_landing {
        let text = "The user stopped the run while what this command changed was being brought into the workspace. Look at the files before you go on.";
        return Err(Problem::new(ErrorCode::OutcomeUnknown, text));
    }
    if call.body.category != Some(Category::Execute) {
        let text = "The user stopped the run in the middle of this call. Nothing it changed in the workspace was kept; what it did elsewhere is not known.";
        return Err(Problem::new(ErrorCode::Cancelled, text));
    }
    Err(Problem::new(ErrorCode::Cancelled, "The user stopped the run. Nothing that this command changed was kept."))
}

async fn context(chat: &Arc<Chat>, call: &CallMessage) -> Result<ToolContext, Problem> {
    chat.tool_context(Agent::of(call)?, Some(call.body.call_id)).await
}

struct Landing<'a> {
    /// The model's call; `None` for a user's, which has no records in the chat.
    call: Option<(&'a Arc<Chat>, CallMessage)>,
    cx: ToolContext,
    threads: TaskTracker,
    /// Why it is taken back without asking the gate.
    reason_to_drop: Option<String>,
    consent: Consent,
    /// Asked for when the changes are known.
    situation: Option<BoxFuture<'a, Result<Situation, Problem>>>,
    decided_by: Option<Situation>,
    /// Until it is committed.
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
        // Before anybody is asked: nothing that no command may do is there meanwhile.
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
            None => Err(Problem::new(ErrorCode::OutcomeUnknown, "What the command changed is gone. Look at the files before you go on.")),
        };
        Ok(Preparation::Proposed(Proposal::new(effects, changes, commit)))
    }

    async fn situation(&mut self, _: Consent) -> Result<Situation, Problem> {
        let lost = || Problem::new(ErrorCode::Internal, "What a command changed was not looked at before it was decided on.");
        self.decided_by.take().ok_or_else(lost)
    }

    fn consent(&self) -> Consent {
        self.consent
    }

    async fn record_intent(&mut self, _: &Principal, _: &[Effect], changes: &[FileChange]) -> Result<(), Problem> {
        let Some((chat, call)) = &mut self.call else { return Ok(()) };
        let mut landing = call.clone();
        // From here on what it changed may be in the workspace, also if its stage is gone.
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
        let Some((chat, mut call)) = self.call else { return Ok(Outcome::Ended(None, landed.and_then(|landed| landed.told))) };
        crash::point("command_landed");
        let is_resumed = std::mem::replace(&mut call.body.is_landing, true);
        let outcome = match landed {
            Ok(Landed { told, left }) => {
                versions::forget_within(chat, call.id, &left).await?;
                told
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

/// The server ended in the middle of it, and with it the command.
async fn unknown(chat: &Arc<Chat>, call: &CallMessage) -> Result<CallOutcome, Problem> {
    let cx = context(chat, call).await?;
    chat.carry(move || Staged::discard(&cx)).await??;
    let problem = if call.body.is_landing {
        let found = Found::of(versions::looked_at(chat, call.id).await?);
        let text = format!(
            "Outcome unknown: the server was restarted right after this command ended, and its output is lost. {}. Don't run it again before you have looked there.",
            found.text()
        );
        Problem::new(ErrorCode::OutcomeUnknown, text).with_details(found.facts())
    } else if call.body.category == Some(Category::Write) {
        let text = "Outcome unknown: the server was restarted while this call was under way. Its answer is lost, and nothing it changed in the workspace was kept; what it did elsewhere is not known. It was not made again.";
        Problem::new(ErrorCode::OutcomeUnknown, text)
    } else {
        let text = "Outcome unknown: the server was restarted while this command ran, which ended it. Its output is lost, and nothing it changed in the workspace was kept. It was not run again; do so only if that does no harm outside the workspace.";
        Problem::new(ErrorCode::OutcomeUnknown, text)
    };
    signal::record_output(chat, call, Err(problem)).await
}

/// Adds what is known about each path: some of the changes had landed before the server was restarted.
async fn with_found(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Output, Problem>) -> Result<Result<Output, Problem>, Problem> {
    let found = Found::of(versions::looked_at(chat, call.id).await?);
    let line = format!("\n[the server was restarted while what the command changed was on its way into the workspace. {}.]", found.text());
    Ok(match outcome {
        Ok(output) => Ok(Output { text: output.text + &line, ..output }),
        Err(problem) => Err(Problem { message: problem.message.clone() + &line, ..problem }),
    })
}
