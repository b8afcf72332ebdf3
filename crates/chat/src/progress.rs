//! The plan that a chat carries out: how far it has come, kept in the chat and ticked in the plan's file.
//!
//! What is carried out is the plan as it was approved. Its file belongs to the user, who may edit or delete it meanwhile:
//! boxes are ticked in whatever is there, and what is gone is not made again.

use crate::chat::{Change, Chat};
use crate::revert;
use planwright_plan::PlanDocument;
use planwright_protocol::message::{PlanChanged, PlanFileChange};
use planwright_protocol::plan::{PlanFileStatus, StepChoice};
use planwright_protocol::sha256_hex;
use planwright_protocol::{ErrorCode, Event, Message, MessageId, Mode, Notice, Plan, Problem, Progress, StepStatus};
use planwright_store::{ApprovalRow, ChatRow};
use planwright_tools::tool::Input;
use planwright_tools::workspace::{Kind, Stamp};
use planwright_tools::{UpdateStep, Workspace, WorkspacePath};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone)]
pub struct Execution {
    pub path: WorkspacePath,
    /// The plan as it was approved.
    document: PlanDocument,
    sha256: String,
    pub progress: Progress,
    /// The steps that the user approved.
    pub choice: StepChoice,
}

/// The plan's file at one moment.
pub enum PlanFileState {
    /// As it was approved, but for its progress.
    Approved(Box<Found>),
    Edited(Box<Found>),
    /// Something is there that can't be read as a plan.
    Unreadable,
    Deleted,
}

pub struct Found {
    pub document: PlanDocument,
    sha256: String,
    pub bytes: Vec<u8>,
    pub stamp: Stamp,
}

impl Found {
    /// Has the file say how far the plan has come, if it says that at all.
    pub fn say(&mut self, status: PlanFileStatus) {
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
        Some(Self { path, document, sha256: approval.sha256.clone(), progress, choice: approval.choice.clone() })
    }

    /// The approved plan with the present status of each step.
    pub fn plan(&self) -> Plan {
        self.progress.apply_to(self.document.plan.clone())
    }

    /// The same, as its file would be, with the limits of the approval.
    pub fn text(&self) -> String {
        let mut document = self.document.clone();
        document.plan = self.plan();
        document.status = self.progress.file_status();
        let text = document.render();
        match self.choice.text() {
            Some(limits) => format!("{text}\n{limits} Leave the other steps alone.\n"),
            None => text,
        }
    }

    pub fn look(&self, workspace: &Workspace) -> Result<PlanFileState, Problem> {
        match workspace.entry(&self.path)?.map(|entry| entry.kind) {
            None => return Ok(PlanFileState::Deleted),
            Some(Kind::File) => {}
            Some(Kind::Folder | Kind::Link | Kind::Other) => return Ok(PlanFileState::Unreadable),
        }
        let snapshot = match workspace.read(&self.path) {
            Ok(snapshot) => snapshot,
            Err(problem) if problem.code == ErrorCode::PathNotFound => return Ok(PlanFileState::Deleted),
            Err(_) => return Ok(PlanFileState::Unreadable),
        };
        let Some(document) = std::str::from_utf8(&snapshot.bytes).ok().and_then(|text| PlanDocument::parse(text).ok()) else {
            return Ok(PlanFileState::Unreadable);
        };
        let found = Box::new(Found { sha256: document.sha256(), document, bytes: snapshot.bytes, stamp: snapshot.stamp });
        Ok(if found.sha256 == self.sha256 { PlanFileState::Approved(found) } else { PlanFileState::Edited(found) })
    }

    /// Which step of an edited file is this one of the approved plan. A step that was only reworded is still the same.
    pub fn step_in(&self, step_number: u32, edited: &Plan) -> Result<u32, Problem> {
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

/// Tells the user and the model, once, that the file of the plan being carried out is not what was approved.
///
/// # Errors
/// It can't be stored.
pub async fn notice(chat: &Arc<Chat>) -> Result<Option<Message>, Problem> {
    if chat.record().config.role.mode() == Mode::Plan {
        return Ok(None);
    }
    let Some(execution) = Execution::of(chat).filter(|execution| !execution.choice.open_steps(&execution.progress).is_empty()) else {
        return Ok(None);
    };
    let workspace = chat.workspace.clone();
    let (execution, present) = chat.carry(move || execution.look(&workspace).map(|present| (execution, present))).await??;
    let path = execution.path.to_string();
    let (change, now) = match present {
        PlanFileState::Approved(_) => (None, None),
        PlanFileState::Edited(found) => (Some(PlanFileChange::Edited), Some(found.sha256)),
        PlanFileState::Unreadable => (Some(PlanFileChange::Unreadable), Some(sha256_hex(b"unreadable"))),
        PlanFileState::Deleted => (Some(PlanFileChange::Deleted), Some(sha256_hex(b"deleted"))),
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

/// The approved steps of the plan being carried out, up to the stop, that are neither done nor skipped.
pub fn open_steps(row: &ChatRow) -> Vec<u32> {
    let acts = row.config.role.mode() == Mode::Act;
    row.progress
        .as_ref()
        .filter(|progress| acts && row.config.plan_file.as_ref() == Some(&progress.plan_file))
        .map(Progress::open_allowed_steps)
        .unwrap_or_default()
}
