//! Taking back: noted first, then done, so that a crash in the middle is made good at the next start.

use super::Actor;
use crate::chat::{Change, broken};
use crate::crash;
use crate::plan::StoredPlan;
use crate::progress;
use crate::revert::{Conflict, Revert, named, target};
use planwright_protocol::message::{RevertNotice, RevertStatus};
use planwright_protocol::op::OnConflict;
use planwright_protocol::{ErrorCode, Event, Message, MessageBody, MessageId, Notice, Problem, Progress, RunId, StepStatus};
use planwright_store::{AuditKind, FileChangeRow, Versions};
use planwright_tools::git_name::title_of;
use planwright_tools::workspace::Restore;
use planwright_tools::{Permit, WorkspacePath};
use serde_json::json;

impl Actor {
    /// Takes back everything from a message on; `None` if there was nothing to do.
    pub(super) async fn revert(&mut self, message_id: MessageId, conflicts: OnConflict) -> Result<Option<Message>, Problem> {
        let row = self.chat.record();
        if self.running.is_some() || row.pending.is_some() {
            return Err(Problem::new(ErrorCode::Conflict, "A run is in progress or waits for an answer. Stop it first, then take back."));
        }
        let revert = self.chat.revert(message_id).await?;
        // Skipping is for the rest, of which there must be some.
        if !revert.conflicts.is_empty() && (conflicts == OnConflict::Refuse || revert.files.is_empty()) {
            return Err(revert.refused());
        }
        if revert.files.is_empty() {
            return Ok(None);
        }
        let notice = revert.notice(message_id);
        let text = told(&notice);
        let message = Message::notice(self.chat.id, Notice::Revert(notice), text);
        let change = Change::messages([message.clone()]).log(
            AuditKind::ChangesTakenBack,
            "",
            row.config.role,
            json!({ "message_id": message_id, "files": revert.files.len(), "conflicts": revert.conflicts.len() }),
        );
        let mut change = change.by(self.account());
        change.versions = Box::new(versions(&revert, message.id));
        // Unfinished until it is done, so that the next start finds it.
        self.chat.publish(change, |row| row.run = Some(RunId::generate())).await?;
        crash::point("revert_intended");
        self.finish_revert(message).await.map(Some)
    }

    /// Goes on with a revert that was cut off; whether there was one.
    pub(super) async fn resume_revert(&mut self) -> Result<bool, Problem> {
        let newest = self.chat.store.messages_before(self.chat.id, None, 1).await?;
        let is_open =
            |message: &Message| matches!(message.body.notice(), Some(Notice::Revert(revert)) if revert.status == RevertStatus::Running);
        let Some(message) = newest.into_iter().find(is_open) else { return Ok(false) };
        self.finish_revert(message).await?;
        Ok(true)
    }

    async fn finish_revert(&mut self, mut message: Message) -> Result<Message, Problem> {
        let noted = self.chat.store.file_changes_of(message.id).await?;
        let mut wanted = Vec::new();
        for row in &noted {
            let Ok(path) = WorkspacePath::parse(&row.change.path) else { continue };
            wanted.push(Restore { path, present: row.change.before.clone(), wanted: self.chat.version(&row.change.after).await? });
        }
        let (workspace, permit) = (self.chat.workspace.clone(), Permit::to_take_back_for_user(&self.chat.fence));
        let put_back = tokio::task::spawn_blocking(move || workspace.restore(&permit, &wanted)).await.map_err(broken)?;
        crash::point("revert_done");
        let left: Vec<Conflict> = match put_back {
            Ok(left) => left.into_iter().map(|(path, reason)| Conflict { path: path.to_string(), reason }).collect(),
            Err(problem) => noted.iter().map(|row| Conflict { path: row.change.path.clone(), reason: problem.message.clone() }).collect(),
        };
        let paths: Vec<String> = left.iter().map(|conflict| conflict.path.clone()).collect();
        self.chat.store.forget_changes(message.id, &paths).await?;
        if let MessageBody::Notice(Notice::Revert(revert)) = &mut message.body {
            revert.status = if left.is_empty() { RevertStatus::Done } else { RevertStatus::Incomplete };
            revert.files.retain(|file| !paths.contains(&file.path));
            revert.conflicts.extend(left);
            message.content = told(revert);
        }
        let mut change = Change::default().event(Event::MessageUpdated { message: message.clone() });
        let plans = noted.iter().filter_map(|row| WorkspacePath::parse(&row.change.path).ok()).filter(WorkspacePath::is_plan);
        for plan in plans {
            change.events.extend(StoredPlan::read(&self.chat, &plan).await.map(|plan| plan.updated()));
        }
        let progress = self.progress_before(&message).await?;
        if let Some((moved, _)) = &progress {
            change.events.extend(moved.iter().map(|&(step_number, status)| Event::PlanStep { step_number, status }));
        }
        self.chat
            .publish(change, move |row| {
                row.run = None;
                row.progress = progress.map(|(_, progress)| progress).or(row.progress.take());
            })
            .await?;
        Ok(message)
    }

    /// The progress that the chat goes back to with what was taken back, and the steps that move; `None` if it stays.
    async fn progress_before(&self, message: &Message) -> Result<Option<(Vec<(u32, StepStatus)>, Progress)>, Problem> {
        let (Some(now), Some(target)) = (self.chat.record().progress.clone(), target(message)) else { return Ok(None) };
        let history = self.chat.store.messages(self.chat.id).await?;
        let earlier = progress::before(&history, target).filter(|earlier| earlier.plan_file == now.plan_file);
        Ok(earlier.map(|earlier| {
            let pairs = now.steps.iter().zip(&earlier.steps).filter(|(now, earlier)| now.status != earlier.status);
            (
                pairs.map(|(_, earlier)| (earlier.step_number, earlier.status)).collect(),
                Progress { reported_file: now.reported_file, ..earlier },
            )
        }))
    }
}

/// What it changes itself: it can be taken back as well.
fn versions(revert: &Revert, message_id: MessageId) -> Versions {
    let row = |step: &crate::revert::Step| FileChangeRow {
        message_id,
        path: step.path.clone(),
        before: step.present.clone(),
        after: step.wanted.clone(),
    };
    Versions {
        rows: revert.files.iter().map(row).collect(),
        reverted: revert.covered.iter().map(|(id, _)| (*id, message_id)).collect(),
        ..Versions::default()
    }
}

/// What the user and the model read of it.
fn told(revert: &RevertNotice) -> String {
    let titled = |path: &str| {
        let title = WorkspacePath::parse(path).ok().and_then(|parsed| title_of(&parsed));
        title.map_or(path.to_owned(), |title| format!("git's {} ({path})", title.trim_start_matches("the ")))
    };
    let names = named(revert.files.iter().map(|file| titled(&file.path)));
    let mut text =
        format!("The user took back changes of this chat. As they were before: {names}. Read files again before you change them.");
    if !revert.conflicts.is_empty() {
        let names = named(revert.conflicts.iter().map(|conflict| format!("{} ({})", titled(&conflict.path), conflict.reason)));
        text.push_str(&format!(" Left as they are: {names}."));
    }
    text
}
