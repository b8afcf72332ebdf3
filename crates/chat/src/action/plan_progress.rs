//! Ticks the boxes in the file of the approved plan, which only the server does.

use super::{Action, Call, End, Preparation, Principal, Proposal, perform};
use crate::chat::{Change, Chat};
use crate::progress::{Execution, PlanFile, PlanFileState};
use crate::versions;
use async_trait::async_trait;
use planwright_protocol::Agent;
use planwright_protocol::plan::PlanFileStatus;
use planwright_protocol::{ErrorCode, MessageId, Mode, Problem, StepStatus};
use planwright_tools::tool::Input;
use planwright_tools::workspace::Stamp;
use planwright_tools::{Consent, Effect, FileChange, RecordEffect, Situation, UpdateStep, Version};
use std::sync::Arc;
use tokio_util::task::TaskTracker;

/// How often the file is read again if others write it at the same time.
const TRIES: usize = 5;

/// Changes the status of a step: ticks its box, and returns the new progress, to be stored.
///
/// # Errors
/// The role may not do this, the edited file has no such step, or it can't be written.
pub async fn tick(
    chat: &Arc<Chat>,
    agent: Agent,
    mut execution: Execution,
    message: MessageId,
    (step_number, status): (u32, StepStatus),
) -> Result<Execution, Problem> {
    execution.progress.set(step_number, status);
    let file_status = execution.progress.file_status();
    let edit = move |execution: &Execution, present| match present {
        PlanFileState::Approved(mut found) => {
            // All boxes: a user may have ticked a step that was never reported.
            found.document.plan = execution.progress.apply_to(found.document.plan);
            found.say(file_status);
            Ok(Some(found))
        }
        PlanFileState::Edited(mut found) => {
            found.document.set_step(execution.step_in(step_number, &found.document.plan)?, status)?;
            // A draft is the next plan, and has not been started.
            if found.document.status != PlanFileStatus::Draft {
                let is_over = found.document.plan.steps.iter().all(|step| step.status.is_finished());
                found.say(if is_over { PlanFileStatus::Done } else { PlanFileStatus::InProgress });
            }
            Ok(Some(found))
        }
        PlanFileState::Unreadable | PlanFileState::Deleted => Ok(None),
    };
    write(chat, agent, &execution, message, edit).await?;
    Ok(execution)
}

/// Marks the plan file as approved, with the reported progress.
pub async fn mark(chat: &Arc<Chat>) {
    let agent = chat.agent();
    if agent.role.mode() == Mode::Plan {
        return;
    }
    let Some(execution) = Execution::of(chat) else { return };
    let Ok(newest) = chat.store.messages_before(chat.id, None, 1).await else { return };
    let Some(newest) = newest.first() else { return };
    let marked = write(chat, agent, &execution, newest.id, |execution, present| match present {
        PlanFileState::Approved(mut found) => {
            found.say(execution.progress.file_status());
            found.document.plan = execution.progress.apply_to(found.document.plan);
            Ok(Some(found))
        }
        PlanFileState::Edited(_) | PlanFileState::Unreadable | PlanFileState::Deleted => Ok(None),
    });
    if let Err(problem) = marked.await {
        tracing::warn!(chat = %chat.id, %problem, "can't mark the plan file as approved");
    }
}

/// Writes the result of `edit` to the plan file, or nothing if it returns `None`. The change belongs to the message.
async fn write(
    chat: &Arc<Chat>,
    agent: Agent,
    execution: &Execution,
    message: MessageId,
    edit: impl Fn(&Execution, PlanFileState) -> Result<Option<Box<PlanFile>>, Problem> + Send + Sync + 'static,
) -> Result<(), Problem> {
    let (execution, edit): (_, Arc<Edit>) = (Arc::new(execution.clone()), Arc::new(edit));
    for _ in 0..TRIES {
        let call = ProgressWrite { chat, agent, execution: execution.clone(), message, edit: edit.clone(), known: None };
        match perform(Action { principal: Principal::Server, call }).await? {
            // Others wrote the file meanwhile.
            Err(problem) if matches!(problem.code, ErrorCode::FileChanged | ErrorCode::PathNotFound) => {}
            written => return written,
        }
    }
    let text = format!("{} is being written by somebody else. Report the step again.", execution.path);
    Err(Problem::new(ErrorCode::FileChanged, text))
}

type Edit = dyn Fn(&Execution, PlanFileState) -> Result<Option<Box<PlanFile>>, Problem> + Send + Sync;

struct ProgressWrite<'a> {
    chat: &'a Arc<Chat>,
    agent: Agent,
    execution: Arc<Execution>,
    message: MessageId,
    edit: Arc<Edit>,
    /// The file as it was read.
    known: Option<Stamp>,
}

#[async_trait]
impl Call for ProgressWrite<'_> {
    type Committed = Stamp;
    type Outcome = Result<(), Problem>;

    async fn prepare(&mut self) -> Result<Preparation<Stamp, Self::Outcome>, Problem> {
        let (workspace, execution, edit) = (self.chat.workspace.clone(), self.execution.clone(), self.edit.clone());
        let found = self.chat.run_on_thread(move || edit(&execution, execution.look(&workspace)?)).await??;
        let Some(found) = found else { return Ok(Preparation::Over(Ok(()))) };
        let PlanFile { document, bytes, stamp, .. } = *found;
        let text = document.render();
        if text.as_bytes() == bytes {
            return Ok(Preparation::Over(Ok(())));
        }
        self.known = Some(stamp);
        let path = self.execution.path.clone();
        let (before, after) = (Version::file(bytes, None), Version::file(text.as_bytes(), None));
        let change = FileChange { path: path.clone(), before, after };
        let workspace = self.chat.workspace.clone();
        let proposal = Proposal::new(vec![RecordEffect::Progress.into()], vec![change], move |permit| {
            workspace.write_progress(&permit.to_tick(&path)?, &path, text.as_bytes(), stamp)
        });
        Ok(Preparation::Proposed(proposal))
    }

    async fn situation(&mut self, consent: Consent) -> Result<Situation, Problem> {
        self.chat.situation(self.agent, UpdateStep::SPEC.name, consent).await
    }

    async fn record_intent(&mut self, _: &Principal, _: &[Effect], changes: &[FileChange]) -> Result<(), Problem> {
        let change = Change { versions: Box::new(versions::of(self.message, changes)), ..Change::default() };
        self.chat.publish(change, |_| {}).await
    }

    fn threads(&self) -> TaskTracker {
        self.chat.work.clone()
    }

    async fn record_outcome(self, _: Principal, end: End<Stamp>) -> Result<Self::Outcome, Problem> {
        let path = &self.execution.path;
        match end {
            End::Refused(refusal) => Ok(Err(refusal.problem)),
            End::Asks(_, _, approval) => Ok(Err(Problem::new(ErrorCode::ApprovalDenied, approval.reason))),
            End::Committed(Ok(stamp)) => {
                let seen = &self.chat.seen;
                // A model that knew the file also knows the server's change of it.
                if self.known.is_some_and(|known| seen.check(path, &known).is_ok()) {
                    seen.note(path, stamp);
                }
                Ok(Ok(()))
            }
            End::Committed(Err(problem)) => {
                versions::forget_within(self.chat, self.message, std::slice::from_ref(path)).await?;
                Ok(Err(problem))
            }
        }
    }
}
