//! Reverts a chat's changes: recorded first, then executed, so that it is completed after a crash.

use super::{Action, Call, End, Preparation, Principal, Proposal, Refusal, perform};
use crate::chat::{Change, Chat, Draft};
use crate::crash;
use crate::plan::StoredPlan;
use crate::progress;
use crate::revert::{Conflict, Revert, named, target};
use async_trait::async_trait;
use planwright_protocol::message::{RevertNotice, RevertStatus};
use planwright_protocol::op::{OnConflict, RevertTarget};
use planwright_protocol::{ErrorCode, Event, Image, Message, MessageBody, MessageId, Notice, Problem, Progress, StepStatus};
use planwright_store::{AuditKind, FileChangeRow, OpRecord, Versions};
use planwright_tools::git_name::title_of;
use planwright_tools::workspace::{LeftAlone, Restore};
use planwright_tools::{Consent, Effect, FileChange, LandingEffect, REVERT, Situation, Version, WorkspacePath};
use serde_json::json;
use std::sync::Arc;
use tokio_util::task::TaskTracker;

/// Reverts changes of the chat; `None` if there was nothing to do.
///
/// # Errors
/// There is no such message, or some files can't be reverted.
pub async fn take_back(
    chat: &Arc<Chat>,
    target: RevertTarget,
    conflicts: OnConflict,
    user: Option<String>,
    op: Option<OpRecord>,
) -> Result<Option<Message>, Problem> {
    let call = TakeBack { chat, from: Start::Target(target, conflicts), revert: Revert::default(), op };
    Box::pin(perform(Action { principal: Principal::User(user), call })).await?
}

/// Continues a revert that a crash interrupted.
///
/// # Errors
/// It can't be stored.
pub async fn resume(chat: &Arc<Chat>, notice: Message) -> Result<(), Problem> {
    let call = TakeBack { chat, from: Start::Notice(Box::new(notice)), revert: Revert::default(), op: None };
    Box::pin(perform(Action { principal: Principal::User(None), call })).await?.map(|_| ())
}

/// The notice of an interrupted revert, if it is the chat's newest message.
///
/// # Errors
/// The store can't be read.
pub async fn unfinished(chat: &Chat) -> Result<Option<Message>, Problem> {
    let newest = chat.store.messages_before(chat.id, None, 1).await?;
    let is_open =
        |message: &Message| matches!(message.body.notice(), Some(Notice::Revert(revert)) if revert.status == RevertStatus::Running);
    Ok(newest.into_iter().find(is_open))
}

struct TakeBack<'a> {
    chat: &'a Arc<Chat>,
    from: Start,
    revert: Revert,
    /// The op that produced this revert.
    op: Option<OpRecord>,
}

enum Start {
    Target(RevertTarget, OnConflict),
    /// The intent is recorded in this message.
    Notice(Box<Message>),
}

#[async_trait]
impl Call for TakeBack<'_> {
    type Committed = Vec<LeftAlone>;
    type Outcome = Result<Option<Message>, Problem>;

    async fn prepare(&mut self) -> Result<Preparation<Vec<LeftAlone>, Self::Outcome>, Problem> {
        let wanted = match &self.from {
            Start::Target(target, conflicts) => {
                self.revert = self.chat.revert_of(target).await?;
                // Conflicts can be skipped only if there is something else to revert.
                if !self.revert.conflicts.is_empty() && (*conflicts == OnConflict::Refuse || self.revert.files.is_empty()) {
                    return Ok(Preparation::Refused(Refusal::mistake(self.revert.refused())));
                }
                if self.revert.files.is_empty() {
                    return Ok(Preparation::Over(Ok(None)));
                }
                let steps = self.revert.files.iter();
                steps.map(|step| (step.path.clone(), step.present.clone(), step.wanted.clone())).collect()
            }
            Start::Notice(message) => {
                let rows = self.chat.store.file_changes_of(message.id).await?;
                rows.into_iter().map(|row| (row.change.path, row.change.before, row.change.after)).collect::<Vec<_>>()
            }
        };
        let mut restores = Vec::new();
        for (path, present, wanted) in wanted {
            let Ok(path) = WorkspacePath::parse(&path) else { continue };
            restores.push(Restore { path, present, wanted: self.version(&wanted).await? });
        }
        let workspace = self.chat.workspace.clone();
        let effects = restores.iter().map(|restore| LandingEffect::TakeBack(restore.path.clone()).into()).collect();
        let proposal = Proposal::new(effects, Vec::new(), move |permit| workspace.restore(&permit.to_take_back(), &restores));
        Ok(Preparation::Proposed(proposal))
    }

    async fn situation(&mut self, consent: Consent) -> Result<Situation, Problem> {
        self.chat.situation(self.chat.agent(), REVERT, consent).await
    }

    async fn record_intent(&mut self, principal: &Principal, _: &[Effect], _: &[FileChange]) -> Result<(), Problem> {
        let Start::Target(target, _) = &self.from else { return Ok(()) };
        let notice = self.revert.notice(target);
        let text = description(&notice);
        let target_id = notice.message_id;
        let message = Message::notice(self.chat.id, Notice::Revert(notice), text);
        let details = json!({ "message_id": target_id, "files": self.revert.files.len(), "conflicts": self.revert.conflicts.len() });
        let role = self.chat.record().config.role;
        let change = Change::messages([message.clone()]).log(AuditKind::ChangesTakenBack, "", role, details);
        let mut change = change.by(principal.account());
        change.versions = Box::new(versions(&self.revert, message.id));
        change.op = self.op.take().map(|op| OpRecord { message_id: Some(message.id), ..op });
        // Marked as unfinished until it is done, so that the next start finds it.
        self.chat.publish(change, |chat| chat.activity.begin_revert()).await?;
        crash::point("revert_intended");
        self.from = Start::Notice(Box::new(message));
        Ok(())
    }

    fn threads(&self) -> TaskTracker {
        self.chat.work.clone()
    }

    async fn record_outcome(self, _: Principal, end: End<Vec<LeftAlone>>) -> Result<Self::Outcome, Problem> {
        let (mut message, restored) = match (self.from, end) {
            (_, End::Refused(refusal)) => return Ok(Err(refusal.problem)),
            (_, End::Asks(_, _, approval)) => return Ok(Err(Problem::new(ErrorCode::ToolNotPermitted, approval.reason))),
            (Start::Notice(message), End::Committed(restored)) => (*message, restored),
            (Start::Target(..), End::Committed(_)) => return Ok(Ok(None)),
        };
        crash::point("revert_done");
        let chat = self.chat;
        let noted = chat.store.file_changes_of(message.id).await?;
        let left: Vec<Conflict> = match restored {
            Ok(left) => left.into_iter().map(|(path, reason)| Conflict { path: path.to_string(), reason }).collect(),
            Err(problem) => noted.iter().map(|row| Conflict { path: row.change.path.clone(), reason: problem.message.clone() }).collect(),
        };
        let paths: Vec<String> = left.iter().map(|conflict| conflict.path.clone()).collect();
        chat.store.forget_changes(message.id, &paths).await?;
        if let MessageBody::Notice(Notice::Revert(revert)) = &mut message.body {
            revert.status = if left.is_empty() { RevertStatus::Done } else { RevertStatus::Incomplete };
            revert.files.retain(|file| !paths.contains(&file.path));
            revert.conflicts.extend(left);
            message.content = description(revert);
        }
        let mut change = Change::default().event(Event::MessageUpdated { message: message.clone() });
        let plans = noted.iter().filter_map(|row| WorkspacePath::parse(&row.change.path).ok()).filter(WorkspacePath::is_plan);
        for plan in plans {
            change.events.extend(StoredPlan::read(chat, &plan).await.map(|plan| plan.updated()));
        }
        let progress = progress_before(chat, &message).await?;
        if let Some((moved, _)) = &progress {
            change.events.extend(moved.iter().map(|&(step_number, status)| Event::PlanStep { step_number, status }));
        }
        let edit = move |row: &mut Draft| {
            row.activity.end_revert();
            row.progress = progress.map(|(_, progress)| progress).or(row.progress.take());
        };
        chat.publish(change, edit).await?;
        Ok(Ok(Some(message)))
    }
}

impl TakeBack<'_> {
    /// An image with its content, which may be new.
    async fn version(&self, image: &Image) -> Result<Version, Problem> {
        let new = self.revert.contents.iter().find(|content| image.content() == Some(content.sha256.as_str()));
        match new {
            Some(content) => Ok(Version { image: image.clone(), bytes: Some(content.bytes.clone()) }),
            None => self.chat.version(image).await,
        }
    }
}

/// The progress that the chat returns to, and the steps that change; `None` if it stays.
async fn progress_before(chat: &Chat, message: &Message) -> Result<Option<(Vec<(u32, StepStatus)>, Progress)>, Problem> {
    let (Some(now), Some(target)) = (chat.record().progress.clone(), target(message)) else { return Ok(None) };
    let history = chat.store.messages(chat.id).await?;
    let earlier = progress::before(&history, target).filter(|earlier| earlier.plan_file == now.plan_file);
    Ok(earlier.map(|earlier| {
        let pairs = now.steps.iter().zip(&earlier.steps).filter(|(now, earlier)| now.status != earlier.status);
        (
            pairs.map(|(_, earlier)| (earlier.step_number, earlier.status)).collect(),
            Progress { reported_file: now.reported_file, ..earlier },
        )
    }))
}

/// The revert's own changes, so that it can be reverted too.
fn versions(revert: &Revert, message_id: MessageId) -> Versions {
    let row = |step: &crate::revert::Step| FileChangeRow {
        message_id,
        path: step.path.clone(),
        before: step.present.clone(),
        after: step.wanted.clone(),
    };
    Versions {
        rows: revert.files.iter().map(row).collect(),
        contents: revert.contents.clone(),
        reverted: revert.covered.iter().map(|(id, _)| (*id, message_id)).collect(),
        ..Versions::default()
    }
}

/// The description for the user and the model.
fn description(revert: &RevertNotice) -> String {
    let titled = |path: &str| {
        let title = WorkspacePath::parse(path).ok().and_then(|parsed| title_of(&parsed));
        title.map_or(path.to_owned(), |title| format!("git's {} ({path})", title.trim_start_matches("the ")))
    };
    let (partial, whole): (Vec<_>, Vec<_>) = revert.files.iter().partition(|file| revert.hunks.contains_key(&file.path));
    let mut text = "The user reverted changes of this chat.".to_owned();
    if !whole.is_empty() {
        text.push_str(&format!(" Restored: {}.", named(whole.iter().map(|file| titled(&file.path)))));
    }
    if !partial.is_empty() {
        text.push_str(&format!(" Restored in part: {}.", named(partial.iter().map(|file| titled(&file.path)))));
    }
    text.push_str(" Read files again before you change them.");
    if !revert.conflicts.is_empty() {
        let names = named(revert.conflicts.iter().map(|conflict| format!("{} ({})", titled(&conflict.path), conflict.reason)));
        text.push_str(&format!(" Not restored: {names}."));
    }
    text
}
