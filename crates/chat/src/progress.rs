//! The plan that a chat carries out: how far it has come, kept in the chat and ticked in the plan's file.
//!
//! What is carried out is the plan as it was approved. Its file belongs to the user, who may edit or delete it meanwhile:
//! boxes are ticked in whatever is there, and what is gone is not made again.

use crate::agent::Agent;
use crate::chat::{Change, Chat};
use crate::revert;
use crate::versions;
use planwright_plan::PlanDocument;
use planwright_protocol::message::{PlanChanged, PlanFileChange};
use planwright_protocol::plan::PlanFileStatus;
use planwright_protocol::sha256_hex;
use planwright_protocol::{ErrorCode, Event, Message, MessageId, Mode, Notice, Plan, Problem, Progress, StepStatus};
use planwright_store::{ApprovalRow, ChatRow};
use planwright_tools::tool::Input;
use planwright_tools::workspace::{Kind, Stamp};
use planwright_tools::{Consent, Effect, FileChange, Permit, UpdateStep, Verdict, Version, Workspace, WorkspacePath, decide};
use std::collections::HashMap;
use std::sync::Arc;

/// How often the file is read again when somebody else writes it at the same moment.
const TRIES: usize = 5;

pub struct Execution {
    path: WorkspacePath,
    /// The plan as it was approved.
    document: PlanDocument,
    sha256: String,
    pub progress: Progress,
}

/// The plan's file at one moment.
enum Present {
    /// As it was approved, but for its progress.
    Approved(Box<Found>),
    Edited(Box<Found>),
    /// Something is there that can't be read as a plan.
    Unreadable,
    Deleted,
}

struct Found {
    document: PlanDocument,
    sha256: String,
    bytes: Vec<u8>,
    stamp: Stamp,
}

impl Found {
    /// Has the file say how far the plan has come, if it says that at all.
    fn say(&mut self, status: PlanFileStatus) {
        if self.document.has_status() {
            self.document.status = status;
        }
    }
}

impl Execution {
    /// `None` when the chat has no approved plan.
    pub fn of(chat: &Chat) -> Option<Self> {
        let approval = chat.approval()?;
        let kept = chat.record().progress.clone().filter(|progress| progress.plan_file == approval.plan_file);
        Self::new(&approval, kept)
    }

    fn new(approval: &ApprovalRow, kept: Option<Progress>) -> Option<Self> {
        let document = PlanDocument::parse(&approval.content).ok()?;
        let progress = kept.unwrap_or_else(|| planwright_plan::begin_progress(&approval.plan_file, &document.plan, None));
        let path = WorkspacePath::parse(&approval.plan_file).ok()?;
        Some(Self { path, document, sha256: approval.sha256.clone(), progress })
    }

    /// The approved plan with the present status of each step.
    pub fn plan(&self) -> Plan {
        self.progress.apply_to(self.document.plan.clone())
    }

    /// The same, as its file would be.
    pub fn text(&self) -> String {
        let mut document = self.document.clone();
        document.plan = self.plan();
        document.status = self.progress.file_status();
        document.render()
    }

    fn look(&self, workspace: &Workspace) -> Result<Present, Problem> {
        match workspace.entry(&self.path)?.map(|entry| entry.kind) {
            None => return Ok(Present::Deleted),
            Some(Kind::File) => {}
            Some(Kind::Folder | Kind::Link | Kind::Other) => return Ok(Present::Unreadable),
        }
        let snapshot = match workspace.read(&self.path) {
            Ok(snapshot) => snapshot,
            Err(problem) if problem.code == ErrorCode::PathNotFound => return Ok(Present::Deleted),
            Err(_) => return Ok(Present::Unreadable),
        };
        let Some(document) = std::str::from_utf8(&snapshot.bytes).ok().and_then(|text| PlanDocument::parse(text).ok()) else {
            return Ok(Present::Unreadable);
        };
        let found = Box::new(Found { sha256: document.sha256(), document, bytes: snapshot.bytes, stamp: snapshot.stamp });
        Ok(if found.sha256 == self.sha256 { Present::Approved(found) } else { Present::Edited(found) })
    }

    /// Which step of an edited file is this one of the approved plan. A step that was only reworded is still the same.
    fn step_in(&self, step_number: u32, edited: &Plan) -> Result<u32, Problem> {
        let approved = self.document.plan.steps.iter().find(|step| step.step_number == step_number);
        let place = |action: &str| edited.steps.iter().find(|step| step.action == action).map(|step| step.step_number);
        let action = approved.map(|step| step.action.as_str()).unwrap_or_default();
        let is_there = match place(action) {
            Some(number) => number == step_number,
            None => edited.steps.len() == self.document.plan.steps.len(),
        };
        if is_there {
            return Ok(step_number);
        }
        let text = format!(
            "{} was edited meanwhile, and step {step_number} of the approved plan is not at its place in it any more, so nothing was recorded. Ask the user: they can put the step back, or go to plan mode and approve the edited plan.",
            self.path
        );
        Err(Problem::new(ErrorCode::ApprovalStale, text))
    }
}

/// Moves a step of the plan that is carried out: ticks its box, and gives the progress as it is then, to be stored.
///
/// # Errors
/// The role may not, the file was edited so that it has no such step, or it can't be written.
pub async fn tick(
    chat: &Arc<Chat>,
    agent: Agent,
    mut execution: Execution,
    call: MessageId,
    (step_number, status): (u32, StepStatus),
) -> Result<Execution, Problem> {
    execution.progress.set(step_number, status);
    let file_status = execution.progress.file_status();
    write(chat, agent, execution, call, move |execution, present| match present {
        Present::Approved(mut found) => {
            // All boxes: somebody may have ticked what was never reported.
            found.document.plan = execution.progress.apply_to(found.document.plan);
            found.say(file_status);
            Ok(Some(found))
        }
        Present::Edited(mut found) => {
            found.document.set_step(execution.step_in(step_number, &found.document.plan)?, status)?;
            // A draft is somebody's next plan, and has not been begun.
            if found.document.status != PlanFileStatus::Draft {
                let is_over = found.document.plan.steps.iter().all(|step| step.status.is_finished());
                found.say(if is_over { PlanFileStatus::Done } else { PlanFileStatus::InProgress });
            }
            Ok(Some(found))
        }
        Present::Unreadable | Present::Deleted => Ok(None),
    })
    .await
}

/// Has the plan's file say that it is approved, and how far it has come by what was reported.
pub async fn mark(chat: &Arc<Chat>) {
    let agent = chat.agent();
    if agent.role.mode() == Mode::Plan {
        return;
    }
    let Some(execution) = Execution::of(chat) else { return };
    let Ok(newest) = chat.store.messages_before(chat.id, None, 1).await else { return };
    let Some(newest) = newest.first() else { return };
    let marked = write(chat, agent, execution, newest.id, |execution, present| match present {
        Present::Approved(mut found) => {
            found.say(execution.progress.file_status());
            found.document.plan = execution.progress.apply_to(found.document.plan);
            Ok(Some(found))
        }
        Present::Edited(_) | Present::Unreadable | Present::Deleted => Ok(None),
    });
    if let Err(problem) = marked.await {
        tracing::warn!(chat = %chat.id, %problem, "the plan's file could not be marked as approved");
    }
}

/// Writes what `change` makes of the plan's file; nothing where it gives none. It is a change of the message named.
async fn write(
    chat: &Arc<Chat>,
    agent: Agent,
    mut execution: Execution,
    message: MessageId,
    change: impl Fn(&Execution, Present) -> Result<Option<Box<Found>>, Problem> + Send + Sync + 'static,
) -> Result<Execution, Problem> {
    let (permit, change) = (Arc::new(permit(chat, agent).await?), Arc::new(change));
    let seen = chat.tool_context(agent, None).await?.seen;
    for _ in 0..TRIES {
        let (workspace, change) = (chat.workspace.clone(), change.clone());
        let looked = chat.carry(move || change(&execution, execution.look(&workspace)?).map(|found| (execution, found))).await??;
        let Some(found) = looked.1 else { return Ok(looked.0) };
        execution = looked.0;
        let Found { document, bytes, stamp: known, .. } = *found;
        let text = document.render();
        if text.as_bytes() == bytes {
            return Ok(execution);
        }
        let (before, after) = (Version::file(bytes, None), Version::file(text.as_bytes(), None));
        let noted = versions::of(message, &[FileChange { path: execution.path.clone(), before, after }]);
        chat.publish(Change { versions: Box::new(noted), ..Change::default() }, |_| {}).await?;
        let (workspace, permit, path) = (chat.workspace.clone(), permit.clone(), execution.path.clone());
        match chat.carry(move || workspace.write_progress(&permit, &path, text.as_bytes(), known)).await? {
            Ok(stamp) => {
                // Who knew the file knows what the server made of it.
                if seen.check(&execution.path, &known).is_ok() {
                    seen.note(&execution.path, stamp);
                }
                return Ok(execution);
            }
            Err(problem) => {
                versions::forget_within(chat, message, std::slice::from_ref(&execution.path)).await?;
                if !matches!(problem.code, ErrorCode::FileChanged | ErrorCode::PathNotFound) {
                    return Err(problem);
                }
            }
        }
    }
    let text = format!("{} is being written by somebody else. Report the step again.", execution.path);
    Err(Problem::new(ErrorCode::FileChanged, text))
}

async fn permit(chat: &Arc<Chat>, agent: Agent) -> Result<Permit, Problem> {
    // Whether the call may be made was decided before; this is the leave of its role.
    match decide(&chat.situation(agent, "update_step", Consent::Given).await?, &[Effect::Progress]) {
        Verdict::Allow(permit) => Ok(permit),
        Verdict::Deny(problem) => Err(problem),
        Verdict::Ask(approval) => Err(Problem::new(ErrorCode::ApprovalDenied, approval.reason)),
    }
}

/// Tells the user and the model, once, that the file of the plan being carried out is not what was approved.
///
/// # Errors
/// It can't be stored.
pub async fn notice(chat: &Arc<Chat>) -> Result<Option<Message>, Problem> {
    if chat.record().config.role.mode() == Mode::Plan {
        return Ok(None);
    }
    let Some(execution) = Execution::of(chat).filter(|execution| !execution.progress.open_steps().is_empty()) else { return Ok(None) };
    let workspace = chat.workspace.clone();
    let (execution, present) = chat.carry(move || execution.look(&workspace).map(|present| (execution, present))).await??;
    let path = execution.path.to_string();
    let (change, now) = match present {
        Present::Approved(_) => (None, None),
        Present::Edited(found) => (Some(PlanFileChange::Edited), Some(found.sha256)),
        Present::Unreadable => (Some(PlanFileChange::Unreadable), Some(sha256_hex(b"unreadable"))),
        Present::Deleted => (Some(PlanFileChange::Deleted), Some(sha256_hex(b"deleted"))),
    };
    if execution.progress.reported_file == now {
        return Ok(None);
    }
    let message = change.map(|change| {
        let what = match change {
            PlanFileChange::Deleted => format!("{path} was deleted. It is not made again; progress is kept in the chat."),
            PlanFileChange::Unreadable => format!("{path} was changed and can't be read as a plan any more. Progress is kept in the chat."),
            PlanFileChange::Edited => format!("{path} was edited since it was approved. Boxes are ticked in it as it is now."),
        };
        let text = format!(
            "{what} What is carried out is still the plan as it was approved; to have another one carried out, go to plan mode and approve it."
        );
        Message::notice(chat.id, Notice::PlanChanged(PlanChanged { plan_file: path, change }), text)
    });
    let progress = Progress { reported_file: now, ..execution.progress };
    let change = Change { events: message.iter().cloned().map(|message| Event::MessageCreated { message }).collect(), ..Change::default() };
    chat.publish(change, move |row| row.progress = Some(progress)).await?;
    Ok(message)
}

/// How far the plan in force had come before a message, by the reports until then; also over what was taken back earlier.
pub fn before(history: &[Message], target: MessageId) -> Option<Progress> {
    let begins = |message: &Message| match message.body.notice() {
        Some(Notice::Approval(approval)) => approval.begins_with.clone(),
        Some(_) | None => None,
    };
    // What was taken back to before the approval begins as the approved plan did.
    let first: Option<Progress> = history.iter().rev().find_map(begins);
    let mut now = first.clone();
    let mut known = HashMap::new();
    for message in history {
        known.insert(message.id, now.clone());
        if message.id == target {
            break;
        }
        if let Some(begun) = begins(message) {
            now = Some(begun);
        } else if let Some(earlier) = revert::target(message).and_then(|target| known.get(&target)) {
            now.clone_from(earlier);
        } else if let (Some(progress), Some((step_number, status))) = (&mut now, reported(message)) {
            progress.set(step_number, status);
        }
    }
    now.filter(|progress| first.is_some_and(|first| first.plan_file == progress.plan_file))
}

/// The step that a report moved.
fn reported(result: &Message) -> Option<(u32, StepStatus)> {
    let facts = result.body.tool_result().filter(|result| result.tool == UpdateStep::SPEC.name)?.outcome.facts()?;
    Some((u32::try_from(facts.get("step_number")?.as_u64()?).ok()?, serde_json::from_value(facts.get("status")?.clone()).ok()?))
}

/// The steps of the plan being carried out that are neither done nor skipped.
pub fn open_steps(row: &ChatRow) -> Vec<u32> {
    let acts = row.config.role.mode() == Mode::Act;
    row.progress
        .as_ref()
        .filter(|progress| acts && row.config.plan_file.as_ref() == Some(&progress.plan_file))
        .map(Progress::open_steps)
        .unwrap_or_default()
}
